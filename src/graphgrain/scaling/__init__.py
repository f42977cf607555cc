"""Large data: features in shards on disk, kernel matrices in tiles, Dask."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
