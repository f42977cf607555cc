# The names that this package offers; __init__.py loads each when it is asked for.
from .classifier import GraphClassifier as GraphClassifier
from .machine import KernelMachine as KernelMachine
from .model_file import load_model as load_model
from .regressor import GraphRegressor as GraphRegressor
