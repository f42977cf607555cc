# The names that this package offers; __init__.py loads each when it is asked for.
from .feature_shards import FeatureShards as FeatureShards
from .feature_shards import Shard as Shard
from .sharding import save_features as save_features
