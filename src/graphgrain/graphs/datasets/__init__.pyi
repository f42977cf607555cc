# Public names of this package; __init__.py loads them lazily.
from .fetch import DataSet as DataSet
from .fetch import fetch_tu as fetch_tu
from .fetch import load_drugs as load_drugs
from .fetch import tu_datasets as tu_datasets
