# Public names of this package; __init__.py loads them lazily.
from .activity_cliffs import Cliffs as Cliffs
from .graph_index import GraphIndex as GraphIndex
from .groups import Clusters as Clusters
from .groups import NearDuplicates as NearDuplicates
from .groups import near_duplicates as near_duplicates
from .groups import pick_diverse as pick_diverse
from .groups import sphere_exclusion as sphere_exclusion
from .similar_pairs import Pairs as Pairs
from .similar_pairs import iter_pairs as iter_pairs
from .similar_pairs import pairs as pairs
