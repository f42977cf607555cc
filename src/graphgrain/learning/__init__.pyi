# The names that this package offers; __init__.py loads each when it is asked for.
from .classifier import TreePlusPlusClassifier as TreePlusPlusClassifier
from .graph_classifier import GraphClassifier as GraphClassifier
from .graph_regressor import GraphRegressor as GraphRegressor
from .model_file import load_model as load_model
from .pattern_weights import PatternWeights as PatternWeights
from .regressor import TreePlusPlusRegressor as TreePlusPlusRegressor
