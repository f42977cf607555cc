"""graphgrain: how similar are graphs, at every grain."""

from .graphs.batch import GraphBatch
from .graphs.convert import as_graphs
from .graphs.datasets import fetch_tu, load_drugs
from .graphs.duplicates import duplicates
from .graphs.libraries import from_grakel, from_igraph, from_pyg
from .graphs.matlab import load_mat
from .graphs.molecule_files import load_molecules
from .graphs.molecules import from_rdkit, from_smiles
from .graphs.nx import from_networkx, to_networkx
from .graphs.plain import from_adjacency
from .graphs.registry import tu_datasets
from .graphs.statistics import describe
from .graphs.tables import from_edge_list
from .graphs.tu import load_tu
from .graphs.tu_write import save_tu
from .kernels.deep_graph_kernel import DeepGraphKernel
from .kernels.hashed_attributes import HashedAttributes
from .kernels.histograms import EdgeHistogram, VertexHistogram
from .kernels.multiscale_laplacian import MultiscaleLaplacian
from .kernels.propagation import Propagation
from .kernels.pyramid_match import PyramidMatch
from .kernels.return_probability import ReturnProbability
from .kernels.shortest_path import ShortestPath
from .kernels.spectral_distance import SpectralDistance
from .kernels.tree_plus_plus import PathPattern, TreePlusPlus
from .kernels.views import AttributeBins, EdgeFilter, EdgeLengths
from .kernels.weisfeiler_lehman import WeisfeilerLehman
from .learning.classifier import TreePlusPlusClassifier
from .learning.regressor import TreePlusPlusRegressor

__version__ = "0.1.0"
__all__ = [
    "AttributeBins",
    "DeepGraphKernel",
    "EdgeFilter",
    "EdgeHistogram",
    "EdgeLengths",
    "GraphBatch",
    "HashedAttributes",
    "MultiscaleLaplacian",
    "PathPattern",
    "Propagation",
    "PyramidMatch",
    "ReturnProbability",
    "ShortestPath",
    "SpectralDistance",
    "TreePlusPlus",
    "TreePlusPlusClassifier",
    "TreePlusPlusRegressor",
    "VertexHistogram",
    "WeisfeilerLehman",
    "as_graphs",
    "describe",
    "duplicates",
    "fetch_tu",
    "from_adjacency",
    "from_edge_list",
    "from_grakel",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_rdkit",
    "from_smiles",
    "load_drugs",
    "load_mat",
    "load_molecules",
    "load_tu",
    "save_tu",
    "to_networkx",
    "tu_datasets",
]
