"""Two sets of graphs: whether they differ, by how much, and in what."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
