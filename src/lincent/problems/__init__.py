"""Equations: a problem as data, its objective, its dual, its certificate."""

from lincent.problems.joint import MarginLoss

__all__ = ["MarginLoss"]
