# The names that this package offers; __init__.py loads each when it is asked for.
from .distributions import plot_distributions as plot_distributions
from .neighbours import write_neighbours as write_neighbours
from .page import write_report as write_report
from .paper_figures import write_figures as write_figures
