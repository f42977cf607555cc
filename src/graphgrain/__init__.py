"""graphgrain: how similar are graphs, at every grain."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.3.0"
