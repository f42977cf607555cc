# The names that this package offers; __init__.py loads each when it is asked for.
from .labelled_graphs import LabelledGraphs as LabelledGraphs
from .labelled_graphs import prepare as prepare
from .protocol import Protocol as Protocol
from .records import ResultsFile as ResultsFile
from .records import read_results as read_results
from .splits import scaffold_split as scaffold_split
from .statistics import corrected_t_test as corrected_t_test
from .statistics import rank as rank
from .statistics import wilcoxon_p as wilcoxon_p
from .summary import diagnose as diagnose
from .summary import experiments as experiments
from .summary import summarise as summarise
