# The names that this package offers; __init__.py loads each when it is asked for.
from .clusters import Clusters as Clusters
from .clusters import sphere_exclusion as sphere_exclusion
from .cross_duplicates import near_duplicates as near_duplicates
from .diversity import pick_diverse as pick_diverse
from .graph_index import GraphIndex as GraphIndex
