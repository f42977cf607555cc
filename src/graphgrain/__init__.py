"""graphgrain: how similar are graphs, at every grain."""

from .graphs.batch import GraphBatch
from .graphs.convert import as_graphs, from_networkx
from .kernels.tree_plus_plus import PathPattern, TreePlusPlus

__version__ = "0.1.0"
__all__ = ["GraphBatch", "PathPattern", "TreePlusPlus", "as_graphs", "from_networkx"]
