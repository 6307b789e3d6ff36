"""The paper's two procedures, and the honest one, as plans of cells.

    procedure 1   R stratified 70/30 splits, default parameters, the same splits for all methods
    procedure 2   10 stratified folds, every value of each grid; the best mean over the test folds
                  is what the paper ranks. Selection and score use the same folds: optimistic
    nested        the splits of procedure 1, selection by cross-validation inside the training part

Preparation (constant columns dropped, z-scores) is fitted on the training part in all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lincent.paper.study.cells import Cell, make_cell
from lincent.paper.study.methods import Method, find_method
from lincent.paper.study.problem import Problem
from lincent.paper.study.runner import Plan

FOLDS = 10


def procedure1(
    problems: Iterable[Problem], methods: Iterable[Any], *, runs: int = 100, seed: int = 0
) -> Plan:
    """Plan R stratified 70/30 splits at default parameters.

    Parameters
    ----------
    problems : iterable of Problem
        The data sets.
    methods : iterable of str, estimator, (name, estimator) or Method
        Codes, titles, methods or classifiers; see `find_method`.
    runs : int
        Splits; the paper has 100 (50 in its appendix).
    seed : int
        Decides the splits, with their numbers.

    Returns
    -------
    Plan
        The cells of the procedure.
    """
    return _splits("holdout", problems, methods, runs, seed)


def nested(
    problems: Iterable[Problem], methods: Iterable[Any], *, runs: int = 20, seed: int = 0
) -> Plan:
    """Plan splits with selection inside the training part only.

    Parameters
    ----------
    problems : Iterable of Problem
        The data sets.
    methods : Iterable of object
        Codes, titles, methods or classifiers; see `find_method`.
    runs : int, default=20
        How many splits.
    seed : int, default=0
        Decides the splits, with their numbers.

    Returns
    -------
    Plan
        The cells of the procedure.
    """
    return _splits("nested", problems, methods, runs, seed)


def procedure2(
    problems: Iterable[Problem],
    methods: Iterable[Any],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    every: int = 1,
) -> Plan:
    """Plan all values of each grid on stratified folds.

    Parameters
    ----------
    problems : Iterable of Problem
        As in `procedure1`.
    methods : Iterable of object
        As in `procedure1`.
    folds : int
        How many of the ten folds are run; fewer for a quick look.
    seed : int
        Decides the splits, with their numbers.
    every : int
        1 takes the 15 values of each grid, 3 every third one.

    Returns
    -------
    Plan
        The cells of the procedure.
    """
    if not 1 <= folds <= FOLDS:
        raise ValueError(f"folds is a number from 1 to {FOLDS}, got {folds}.")
    return _plan(
        problems,
        methods,
        lambda problem, method: [
            make_cell(problem, method, "folds", fold, seed, point)
            for fold in range(folds)
            for point in grid_values(method, every)
        ],
    )


def grid_values(method: Method, every: int = 1) -> Sequence[dict[str, Any]]:
    """Return the values to try, the middle of the grid among them; one empty value if none."""
    offset = (len(method.grid) // 2) % every
    return method.grid[offset::every] or ({},)


def _splits(
    procedure: str, problems: Iterable[Problem], methods: Iterable[Any], runs: int, seed: int
) -> Plan:
    if runs < 1:
        raise ValueError(f"runs is a number of splits, 1 or more, got {runs}.")
    return _plan(
        problems,
        methods,
        lambda problem, method: [
            make_cell(problem, method, procedure, split, seed) for split in range(runs)
        ],
    )


def _plan(problems: Iterable[Problem], methods: Iterable[Any], cells_of: Any) -> Plan:
    problems = list(problems)
    found = [find_method(method) for method in methods]
    cells: list[Cell] = []
    for problem in problems:
        columns = [cells_of(problem, method) for method in found]
        # Split by split, so that a study that is stopped early has all methods on fewer splits.
        longest = max((len(column) for column in columns), default=0)
        for position in range(longest):
            cells += [column[position] for column in columns if position < len(column)]
    return Plan(
        tuple(cells),
        {problem.digest: problem for problem in problems},
        {method.code: method for method in found},
    )
