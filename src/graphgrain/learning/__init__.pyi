# The names that this package offers; __init__.py loads each when it is asked for.
from .classifier import TreePlusPlusClassifier as TreePlusPlusClassifier
from .pattern_weights import PatternWeights as PatternWeights
from .regressor import TreePlusPlusRegressor as TreePlusPlusRegressor
