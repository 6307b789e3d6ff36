"""Procedures, runs, statistics: the study of the paper, and the same study on one's own data."""

from lincent.study.compare import compare, make_problem
from lincent.study.methods import Method, find_method, list_methods, register_method
from lincent.study.problem import Problem, load_problem
from lincent.study.procedures import nested, procedure1, procedure2
from lincent.study.reproduce import Extent, reproduce
from lincent.study.results import StudyResult, load_result
from lincent.study.runner import Plan, run_plan
from lincent.study.seizure import reproduce_seizure
from lincent.study.store import RunStore, read_runs
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
