"""Centralization classifiers: pull rows to their own class center, push the centers apart."""

from lincent.estimators.linear import LCC

__all__ = ["LCC", "__version__"]
__version__ = "0.1.0"
