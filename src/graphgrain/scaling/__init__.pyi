# Names of this package; __init__.py loads them lazily.
from .dask import dask_features as dask_features
from .feature_shards import FeatureShards as FeatureShards
from .feature_shards import Shard as Shard
from .feature_shards import load_features as load_features
from .feature_shards import save_features as save_features
