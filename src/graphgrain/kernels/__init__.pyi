# The names that this package offers; __init__.py loads each when it is asked for.
from .deep_graph_kernel import DeepGraphKernel as DeepGraphKernel
from .graphlet import Graphlet as Graphlet
from .hashed_attributes import HashedAttributes as HashedAttributes
from .histograms import EdgeHistogram as EdgeHistogram
from .histograms import VertexHistogram as VertexHistogram
from .multiscale_laplacian import MultiscaleLaplacian as MultiscaleLaplacian
from .propagation import Propagation as Propagation
from .pyramid_match import PyramidMatch as PyramidMatch
from .registry import list_kernels as list_kernels
from .return_probability import ReturnProbability as ReturnProbability
from .shortest_path import ShortestPath as ShortestPath
from .spectral_distance import SpectralDistance as SpectralDistance
from .tree_plus_plus import PathPattern as PathPattern
from .tree_plus_plus import TreePlusPlus as TreePlusPlus
from .weisfeiler_lehman import WeisfeilerLehman as WeisfeilerLehman
from .wl_optimal_assignment import WLOptimalAssignment as WLOptimalAssignment
