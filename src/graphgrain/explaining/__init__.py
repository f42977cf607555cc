"""From a model or a pair of graphs to patterns, vertices, edges and pictures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
