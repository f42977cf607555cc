# The names that this package offers; __init__.py loads each when it is asked for.
from .figures import plot_distributions as plot_distributions
from .figures import write_figures as write_figures
from .graph_pages import write_neighbours as write_neighbours
from .results_page import write_report as write_report
