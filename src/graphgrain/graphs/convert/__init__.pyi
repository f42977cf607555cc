# Public names of this package; __init__.py loads them lazily.
from .dispatch import as_graphs as as_graphs
from .edge_list import from_edge_list as from_edge_list
from .igraph import from_igraph as from_igraph
from .networkx import from_networkx as from_networkx
from .networkx import to_networkx as to_networkx
from .plain import from_adjacency as from_adjacency
from .plain import from_grakel as from_grakel
from .pyg import from_pyg as from_pyg
from .rdkit import from_rdkit as from_rdkit
from .rdkit import from_smiles as from_smiles
