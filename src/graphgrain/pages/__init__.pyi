# The names that this package offers; __init__.py loads each when it is asked for.
from .distributions import plot_distributions as plot_distributions
from .evaluation import evaluation_page as evaluation_page
from .graph_pages import write_neighbours as write_neighbours
