"""Procedures, runs, statistics: the study of the paper, and the same study on one's own data."""

from lincent.paper.study.compare import compare, make_problem
from lincent.paper.study.methods import Method, find_method, list_methods, register_method
from lincent.paper.study.problem import Problem, load_problem
from lincent.paper.study.procedures import nested, procedure1, procedure2
from lincent.paper.study.reproduce import Extent, reproduce
from lincent.paper.study.results import StudyResult, load_result
from lincent.paper.study.runner import Plan, run_plan
from lincent.paper.study.seizure import reproduce_seizure
from lincent.paper.study.store import RunStore, read_runs
from lincent.tables import TableError

__all__ = [
    "Extent",
    "Method",
    "Plan",
    "Problem",
    "RunStore",
    "StudyResult",
    "TableError",
    "compare",
    "find_method",
    "list_methods",
    "load_problem",
    "load_result",
    "make_problem",
    "nested",
    "procedure1",
    "procedure2",
    "read_runs",
    "register_method",
    "reproduce",
    "reproduce_seizure",
    "run_plan",
]
