# The names that this package offers; __init__.py loads each when it is asked for.
from .diagnostics import diagnose as diagnose
from .labelled_graphs import LabelledGraphs as LabelledGraphs
from .labelled_graphs import prepare as prepare
from .protocol import Protocol as Protocol
from .results_file import ResultsFile as ResultsFile
from .results_file import read_results as read_results
from .significance import corrected_t_test as corrected_t_test
from .significance import rank as rank
from .significance import wilcoxon_p as wilcoxon_p
from .summary import experiments as experiments
from .summary import summarise as summarise
