"""Everything of the paper that can be run again, as one experiment.

    procedure1   stratified 70/30 splits of seven sets at default parameters, for the paper's
                 methods, the other forms of LCC, and modern baselines
    procedure2   the 15-value grids on ten folds, for the paper's methods. It ranks the best
                 mean over the test folds: selection and score use the same folds, which is
                 optimistic
    nested       the same methods with selection inside the training part
    kernel       four shapes in the plane, five widths of the RBF kernel, chosen on the splits
                 that give the score (as in the paper) and inside the training part

Sets that are not on this machine are listed with the way to get them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lincent.model_selection.comparison import find_methods
from lincent.model_selection.experiment import Plan, Problem, plan_runs
from lincent.model_selection.methods import Method
from lincent.model_selection.runner import ExperimentResult, run_experiment
from lincent.paper.datasets import DatasetNotFoundError, load_dataset
from lincent.paper.seizure.subjects import HOW as SEIZURE_HOW
from lincent.paper.study import paper
from lincent.paper.study.figures import chosen_widths, example_plot_data, shape_plot_data

PARTS = ("procedure1", "procedure2", "nested", "kernel")
SHAPES = ("Jain", "Spiral", "Circles", "Flame")
SLOW = ("FQCC", "KernelLCC-box", "StructuralMPM")
VARIANTS = ("LCC-1NN", "LCC-1SV", *SLOW)
DESCENDANTS = ("RegularizedLCC", "StructuredLCC")
MODERN = (
    "LogReg", "LogReg-bal", "LinearSVC", "LinearSVC-bal", "sk-LDA", "sk-LDA-bal", "SVC-RBF",
    "HistGB",
)  # fmt: skip


@dataclass(frozen=True)
class Extent:
    """How much of the study is run.

    Parameters
    ----------
    runs : int, default=100
        Splits of procedure 1.
    folds : int, default=10
        Folds of procedure 2.
    every : int, default=1
        Procedure 2 takes every so many values of a grid.
    nested_runs : int, default=10
        Splits of the nested procedure.
    kernel_runs : int, default=20
        Splits of the kernel test.
    slow_runs : int, default=100
        Splits of FQCC, KernelLCC and StructuralMPM, which cost more than all others together.
    """

    runs: int = 100
    folds: int = 10
    every: int = 1
    nested_runs: int = 10
    kernel_runs: int = 20
    slow_runs: int = 100


FULL = Extent()
QUICK = Extent(5, 5, 7, 0, 2, 1)


def reproduce(
    *,
    quick: bool = False,
    sets: Iterable[str] = paper.SETS,
    methods: Iterable[Any] | None = None,
    extent: Extent | None = None,
    parts: Iterable[str] = PARTS,
    random_state: int = 0,
    **options: Any,
) -> ExperimentResult:
    """Run the study of the paper.

    Parameters
    ----------
    quick : bool
        A few splits and a coarse grid: minutes instead of hours.
    sets : iterable of str
        Codes of the paper's sets.
    methods : iterable or None
        Methods of procedure 1; None for the paper's, their descendants and modern baselines.
    extent : Extent or None
        How much is run; overrides ``quick``.
    parts : iterable of str
        Of "procedure1", "procedure2", "nested" and "kernel".
    random_state : int
        Seed of the splits.
    **options
        ``n_jobs``, ``time_limit``, ``folder``, ``progress``, ``retry``: as in
        `lincent.model_selection.compare`.

    Returns
    -------
    ExperimentResult
        Of the kind ``"reproduce"``.
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise ValueError(
            f"There is no part {sorted(unknown)[0]!r}: choose from {', '.join(PARTS)}."
        )
    extent = extent or (QUICK if quick else FULL)
    everything = (*paper.METHODS, *VARIANTS, *DESCENDANTS, *MODERN)
    available, missing = find_methods(everything if methods is None else methods)
    problems, absent = load_problems(sets)
    shapes, absent_shapes = load_problems(SHAPES) if "kernel" in parts else ([], [])
    plan = make_plan(available, problems, shapes, extent, set(parts), random_state)
    if not plan.runs:
        raise DatasetNotFoundError(
            "No data set of the paper is on this machine: "
            + "; ".join(f"{name}: {remedy}" for name, remedy in absent)
        )
    result = run_experiment(
        "reproduce",
        plan,
        {"quick": quick, "metric": "paper_auc", "sets": list(sets), "parts": list(parts)}
        | asdict(extent),
        [*absent, *absent_shapes, ("SD", f"the 12 subjects: {SEIZURE_HOW}"), *missing],
        random_state=random_state,
        **options,
    )
    drawn = {"example": example_plot_data()}
    if shapes:
        drawn["shapes"] = shape_plot_data(shapes, chosen_widths(result.frame))
    return replace(result, plot_data=drawn)


def load_problem(name: str, *, download_if_missing: bool = False) -> Problem:
    """Return a data set of `lincent.paper.datasets` as a problem.

    Parameters
    ----------
    name : str
        A code of the paper or a name of `load_dataset`.
    download_if_missing : bool, default=False
        Whether to use the network.

    Returns
    -------
    Problem
        The data set, ready to be split.

    Examples
    --------
    >>> from lincent.paper.study import load_problem
    >>> load_problem("circles").describe()["classes"]
    {'inner': 200, 'outer': 200}
    """
    data = load_dataset(name, download_if_missing=download_if_missing)
    return Problem(
        name=data.code or data.name,
        title=data.DESCR.splitlines()[0],
        X=np.asarray(data.data, dtype=float),
        y=np.asarray(data.target).astype(str),
        origin=str(data.origin),
        licence=str(data.licence),
    )


def load_problems(codes: Iterable[str]) -> tuple[list[Problem], list[tuple[str, str]]]:
    """Return the data sets on this machine, and (code, remedy) of the others.

    Spiral, with three classes, becomes one arm against the rest.
    """
    problems, absent = [], []
    for code in codes:
        try:
            problem = load_problem(code)
        except DatasetNotFoundError as error:
            absent.append((code, str(error)))
            continue
        if code == "Spiral":
            first = np.unique(problem.y)[0]
            y = np.where(problem.y == first, f"arm {first}", "other arms")
            title = problem.title + ", one arm against the rest"
            problem = replace(problem, y=y, title=title, digest="")
        problems.append(problem)
    return problems, absent


def make_plan(
    methods: list[Method],
    problems: list[Problem],
    shapes: list[Problem],
    extent: Extent,
    parts: set[str],
    random_state: int,
) -> Plan:
    """Join the parts of the study."""

    def among(codes: Iterable[str]) -> list[Any]:
        return [method for method in methods if method.code in codes]

    of_paper, kernel = among(paper.METHODS), ["KernelLCC-box"]
    usual = [method for method in methods if method.code not in SLOW]
    plan = Plan()
    for part, sets, which, procedure, n_splits, every in (
        ("procedure1", problems, usual, "holdout", extent.runs, 0),
        ("procedure1", problems, among(SLOW), "holdout", min(extent.runs, extent.slow_runs), 0),
        ("procedure2", problems, of_paper, "folds", extent.folds, extent.every),
        ("nested", problems, of_paper, "nested", extent.nested_runs, 0),
        ("kernel", shapes, kernel, "holdout", extent.kernel_runs, 1),
        ("kernel", shapes, kernel, "nested", extent.kernel_runs, 0),
    ):
        if part in parts and sets and n_splits:
            splits = {"n_splits": n_splits, "random_state": random_state}
            plan += plan_runs(sets, which, procedure, every=every, **splits)
    return plan
