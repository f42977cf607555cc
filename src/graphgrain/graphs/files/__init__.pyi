# Public names of this package; __init__.py loads them lazily.
from .matlab import load_mat as load_mat
from .molecules import iter_molecules as iter_molecules
from .molecules import load_molecules as load_molecules
from .tu import load_tu as load_tu
from .tu import save_tu as save_tu
