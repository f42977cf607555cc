# Public names of this package; __init__.py loads them lazily.
from .dask import dask_features as dask_features
from .dask import dask_partial_fit as dask_partial_fit
from .feature_shards import FeatureShards as FeatureShards
from .feature_shards import Shard as Shard
from .feature_shards import save_features as save_features
from .gram_tiles import save_gram as save_gram
