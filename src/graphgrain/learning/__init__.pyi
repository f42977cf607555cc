# Public names of this package; __init__.py imports each on first access.
from .classifier import GraphClassifier as GraphClassifier
from .estimator import CountedGraphs as CountedGraphs
from .model_file import load_model as load_model
from .regressor import GraphRegressor as GraphRegressor
