"""Explanations of models, of classes, and of the similarity of two graphs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
