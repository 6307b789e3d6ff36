"""Everything of the paper that can be run again, as one study.

    procedure 1     seven sets, the paper's methods, the other forms of LCC, and today's methods
    procedure 2     the 15-value grids on ten folds, for the paper's methods; for the twin machines
                    also with their two kinds of constants apart
    nested          the same methods with selection inside the training part
    kernel test     four shapes in the plane, five widths of the RBF kernel, the width chosen on the
                    splits that give the score (the paper's way) and inside the training part
    readings        what else the text could mean, on the same splits

Sets that are not on this machine are listed with the way to get them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lincent.paper.datasets import DatasetNotFoundError, list_datasets
from lincent.paper.seizure.catalog import HOW as SEIZURE_HOW
from lincent.paper.study import paper
from lincent.paper.study.cells import make_cell
from lincent.paper.study.compare import find_methods
from lincent.paper.study.methods import TWINS, Method
from lincent.paper.study.pictures import chosen_widths, example_picture, shape_pictures
from lincent.paper.study.problem import Problem, load_problem
from lincent.paper.study.procedures import nested, procedure1, procedure2
from lincent.paper.study.readings import reading_plan
from lincent.paper.study.results import StudyResult, run_study
from lincent.paper.study.runner import TIME_LIMIT, Plan, Progress

PARTS = ("procedure1", "procedure2", "nested", "kernel", "readings")
SHAPES = ("Jain", "Spiral", "Circles", "Flame")
VARIANTS = ("LCC-1NN", "LCC-1SV", "FQCC", "KernelLCC", "StructuralMPM")
UNTIED = tuple(f"{code}-untied" for code in TWINS)
FAMILY = ("RegularizedLCC", "RegularizedLCCCV", "StructuredLCC", "StructuredLCCCV")
SLOW = ("FQCC", "KernelLCC", "StructuralMPM")
TUNED = ("RegularizedLCCCV", "StructuredLCCCV")
TODAY = (
    "LogReg",
    "LogReg-bal",
    "LinearSVC",
    "LinearSVC-bal",
    "sk-LDA",
    "sk-LDA-bal",
    "SVC-RBF",
    "HistGB",
)


@dataclass(frozen=True)
class Extent:
    """How much is run.

    Parameters
    ----------
    runs : int, default=100
        Random splits of procedure 1.
    folds : int, default=10
        Folds of procedure 2.
    every : int, default=1
        Take every so many settings of a grid.
    nested_runs : int, default=10
        Splits of the nested procedure.
    kernel_runs : int, default=20
        Splits of the kernel part.
    reading_runs : int, default=20
        Splits for other readings of the paper.
    slow_runs : int, default=100
        Splits of methods that take long.
    tuned_runs : int, default=20
        Splits of methods that tune themselves.
    """

    runs: int = 100
    folds: int = 10
    every: int = 1
    nested_runs: int = 10
    kernel_runs: int = 20
    reading_runs: int = 20
    slow_runs: int = 100
    """Runs of FQCC, KernelLCC and StructuralMPM, which cost more than all the others together."""
    tuned_runs: int = 20
    """Runs of the methods that tune themselves: a hundred small fits in each."""


FULL = Extent()
QUICK = Extent(
    runs=5,
    folds=5,
    every=7,
    nested_runs=0,
    kernel_runs=2,
    reading_runs=0,
    slow_runs=1,
    tuned_runs=1,
)


def reproduce(
    *,
    quick: bool = False,
    sets: Iterable[str] = paper.SETS,
    methods: Iterable[Any] | None = None,
    extent: Extent | None = None,
    parts: Iterable[str] = PARTS,
    jobs: int = 1,
    seed: int = 0,
    time_limit: float = TIME_LIMIT,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    retry: bool = False,
) -> StudyResult:
    """Run the study of the paper.

    Parameters
    ----------
    quick : bool
        A few splits and a coarse grid: minutes instead of hours.
    sets : iterable of str
        Codes of the paper's sets.
    methods : iterable or None
        Methods of procedure 1; None for the paper's, the family and today's.
    extent : Extent or None
        How much is run; overrides ``quick``.
    parts : iterable of str
    jobs, seed, time_limit, folder, progress, retry
        As in `compare`.

    Returns
    -------
    StudyResult
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise ValueError(
            f"There is no part {sorted(unknown)[0]!r}: choose from {', '.join(PARTS)}."
        )
    extent = extent or (QUICK if quick else FULL)
    everything = (*paper.METHODS, *VARIANTS, *UNTIED, *FAMILY, *TODAY)
    wanted = everything if methods is None else methods
    found, missing = find_methods(wanted)
    problems, absent = load_problems(sets)
    shapes, absent_shapes = load_problems(SHAPES) if "kernel" in parts else ([], [])
    plan = make_plan(found, problems, shapes, extent, set(parts), seed)
    if not plan.cells:
        raise DatasetNotFoundError(
            "No data set of the paper is on this machine: "
            + "; ".join(f"{name}: {how}" for name, how in absent)
        )

    def pictures(rows: list[dict[str, Any]]) -> dict[str, Any]:
        drawn = {"example": example_picture()}
        return drawn | ({"shapes": shape_pictures(shapes, chosen_widths(rows))} if shapes else {})

    return run_study(
        "reproduce",
        plan,
        {"quick": quick, "metric": "paper_auc", "sets": list(sets), "parts": list(parts)}
        | asdict(extent),
        [*absent, *absent_shapes, ("SD", f"the 12 subjects: {SEIZURE_HOW}"), *missing],
        seed=seed,
        jobs=jobs,
        time_limit=time_limit,
        folder=folder,
        progress=progress,
        retry=retry,
        pictures=pictures,
    )


def load_problems(codes: Iterable[str]) -> tuple[list[Problem], list[tuple[str, str]]]:
    """Load what is on this machine; of the rest, say how to get it."""
    ways = {record.code: record.how for record in list_datasets()}
    problems, absent = [], []
    for code in codes:
        try:
            problem = load_problem(code)
        except DatasetNotFoundError:
            absent.append((code, ways.get(code, "")))
            continue
        problems.append(one_against_rest(problem) if code == "Spiral" else problem)
    return problems, absent


def one_against_rest(problem: Problem) -> Problem:
    """Make two classes of three: the first against the others."""
    first = np.unique(problem.y)[0]
    y = np.where(problem.y == first, f"arm {first}", "other arms")
    return Problem(
        problem.name,
        problem.X,
        y,
        problem.title + ", one arm against the rest",
        origin=problem.origin,
        licence=problem.licence,
    )


def make_plan(
    methods: list[Method],
    problems: list[Problem],
    shapes: list[Problem],
    extent: Extent,
    parts: set[str],
    seed: int,
) -> Plan:
    """Join the parts of the study."""
    plan = Plan((), {}, {})
    slow = [method for method in methods if method.code in SLOW]
    tuned = [method for method in methods if method.code in TUNED]
    untied = [method for method in methods if method.code in UNTIED]
    usual = [method for method in methods if method.code not in SLOW + TUNED + UNTIED]
    of_paper = [method for method in methods if method.code in paper.METHODS]
    if "procedure1" in parts:
        plan += procedure1(problems, usual, runs=extent.runs, seed=seed)
        plan += procedure1(problems, slow, runs=min(extent.runs, extent.slow_runs), seed=seed)
        plan += procedure1(problems, tuned, runs=min(extent.runs, extent.tuned_runs), seed=seed)
    if "procedure2" in parts:
        plan += procedure2(problems, of_paper, folds=extent.folds, every=extent.every, seed=seed)
        if extent.every == 1:  # 225 points on every fold are for the full study
            plan += procedure2(problems, untied, folds=extent.folds, seed=seed)
    if "nested" in parts and extent.nested_runs:
        honest = of_paper + [method for method in methods if method.code == "LogReg-bal"]
        plan += nested(problems, honest, runs=extent.nested_runs, seed=seed)
    if "kernel" in parts:
        plan += kernel_plan(shapes, extent.kernel_runs, seed)
    if "readings" in parts and extent.reading_runs:
        plan += reading_plan(problems, of_paper, min(extent.runs, extent.reading_runs), seed)
    return plan


def kernel_plan(shapes: list[Problem], runs: int, seed: int) -> Plan:
    """Plan the kernel test: every width on the same splits, and selection inside each of them."""
    found, _ = find_methods(["KernelLCC"] if shapes else [])
    cells = [
        make_cell(problem, method, "holdout", split, seed, point)
        for problem in shapes
        for method in found
        for split in range(runs)
        for point in method.grid
    ]
    every_width = Plan(
        tuple(cells),
        {problem.digest: problem for problem in shapes},
        {method.code: method for method in found},
    )
    return every_width + nested(shapes, found, runs=runs, seed=seed)
