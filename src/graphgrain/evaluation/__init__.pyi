# The names that this package offers; __init__.py loads each when it is asked for.
from .evaluate import evaluate as evaluate
from .result import Evaluation as Evaluation
from .splits import scaffold_split as scaffold_split
from .statistics import corrected_t_test as corrected_t_test
