# The names that this package offers; __init__.py loads each when it is asked for.
from .fetch import fetch_tu as fetch_tu
from .fetch import load_drugs as load_drugs
from .fetch import tu_datasets as tu_datasets
