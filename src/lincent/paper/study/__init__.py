"""The study of the paper: its experiments, its printed numbers, and the reports on both."""

from lincent.paper.study.reproduce import Extent, load_problem, reproduce
from lincent.paper.study.seizure import reproduce_seizure

__all__ = ["Extent", "load_problem", "reproduce", "reproduce_seizure"]
