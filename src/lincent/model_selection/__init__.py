"""Model selection: folds, metrics, scoring, search, ensembles of fold models, and experiments."""

from typing import TYPE_CHECKING

from lincent._lazy import lazily

__all__ = [
    "ExperimentResult",
    "Method",
    "Plan",
    "Problem",
    "compare",
    "find_method",
    "list_methods",
    "load_result",
    "make_problem",
    "plan_runs",
    "read_runs",
    "run_plan",
]

if TYPE_CHECKING:
    from lincent.model_selection.comparison import compare, make_problem
    from lincent.model_selection.experiment import Plan, Problem, plan_runs
    from lincent.model_selection.methods import Method, find_method, list_methods
    from lincent.model_selection.runner import ExperimentResult, load_result, read_runs, run_plan
else:
    __getattr__ = lazily(
        __name__,
        dict.fromkeys(("compare", "make_problem"), "comparison")
        | dict.fromkeys(("Plan", "Problem", "plan_runs"), "experiment")
        | dict.fromkeys(("Method", "find_method", "list_methods"), "methods")
        | dict.fromkeys(("ExperimentResult", "load_result", "read_runs", "run_plan"), "runner"),
    )
