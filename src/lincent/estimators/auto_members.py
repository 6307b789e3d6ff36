"""The members of AutoLCC: rules on maps, fitted and certified."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lincent import _progress
from lincent.estimators.auto_search import Costs
from lincent.estimators.joint_blocks import Limits, fit_in_blocks
from lincent.estimators.portfolio import Blocks
from lincent.estimators.problem import BlockTraining
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import Design, JointSolution, solve_path

MOST_SUM_BYTES = 2**28
"""Where a block would answer with more, for many classes and features, members stay those of the
sample."""

LIGHT_STEPS = 25
"""In single precision; some more than are usual."""


@dataclass(frozen=True)
class Member:
    """One rule (or one for each class) on one map; the last row of ``rules`` is the offset."""

    map: str
    C: float
    rules: np.ndarray
    objective: np.ndarray
    gap: float
    iterations: int


def fit_members(
    blocks: Blocks,
    costs: Costs,
    chosen: Mapping[str, Sequence[float]],
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> list[Member]:
    """For each map the rules for some C (per row) on the rows of ``blocks``."""
    coupling = costs.coupling(blocks.codes, blocks.weight)
    members: list[Member] = []
    for done, (name, Cs) in enumerate(chosen.items()):
        _progress.step("fit to all rows, map", done, len(chosen), f"{name}, {len(Cs)} of its C")
        members += _of_map(blocks, name, sorted(Cs), coupling, tol, max_iter, out_of_time)
    return members


def refit_members(
    training: BlockTraining,
    blocks: Blocks,
    unit: tuple[np.ndarray, np.ndarray],
    costs: Costs,
    members: Sequence[Member],
    limits: Limits,
) -> list[Member]:
    """The members over all rows in blocks, begun at those of the sample that made ``blocks``.

    ``unit`` is center and scale of the columns.  All maps and C ask in the same reads.
    """

    def of_map(name: str) -> list[Member]:
        mine = [member for member in members if member.map == name]
        mapping = blocks.mapping(name, *unit)
        if answer_bytes(mapping.width, len(costs.by_class), len(mine)) > MOST_SUM_BYTES:
            return mine
        starts, Cs = [member.rules for member in mine], [member.C for member in mine]
        found = fit_in_blocks(training, mapping, costs, Cs, starts, limits)
        return [member_of(name, C, one) for C, one in zip(Cs, found, strict=True)]

    maps = list(dict.fromkeys(member.map for member in members))
    done = training.each([partial(of_map, name) for name in maps], None)
    return [member for mine in done for member in mine]


def answer_bytes(features: int, classes: int, points: int) -> int:
    """Bytes that a block answers with."""
    pairs = 1 if classes == 2 else classes * (classes - 1) // 2
    return 8 * points * pairs * (features + 1) ** 2


def member_of(name: str, C: float, found: JointSolution) -> Member:
    """A member from its solution."""
    gap = float(found.relative_gap.max())
    return Member(name, C, found.rules, found.objective, gap, found.iterations)


def _of_map(
    blocks: Blocks,
    name: str,
    Cs: Sequence[float],
    coupling: SeparateLoss | JointLoss,
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> list[Member]:
    """The members of one map; its features are gone before those of the next one are made."""
    features = blocks.features(name, blocks.Z)
    scales = [C * float(blocks.weight.sum()) for C in Cs]
    path = fit_path(features, coupling, scales, tol, max_iter, out_of_time, light=True)
    return [member_of(name, C, found) for C, found in zip(Cs, path, strict=True)]


def fit_path(
    features: np.ndarray,
    coupling: SeparateLoss | JointLoss,
    scales: Sequence[float],
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
    *,
    light: bool = False,
) -> list[JointSolution]:
    """Certified rules; with more columns than rows they are found as combinations of the rows.

    ``light`` steps, in single precision, end near the optimum of an objective that is flat there:
    rules of weighted rows are then those of repeated ones to seven digits, not to nine.
    """
    m, n = features.shape
    basis = None
    if n > m:
        basis, turned = np.linalg.qr(features.T)
        features = np.ascontiguousarray(turned.T)
    if light:
        path = _by_light_steps(features, coupling, scales, tol, max_iter, out_of_time)
    else:
        design = Design(features, coupling.codes, coupling.weight)
        path = solve_path(design, coupling, scales, tol, max_iter, out_of_time=out_of_time)
    if basis is None:
        return path
    return [
        JointSolution(
            np.concatenate([basis @ found.rules[:-1], found.rules[-1:]]),
            found.objective,
            found.bound,
            found.iterations,
        )
        for found in path
    ]


def _by_light_steps(
    features: np.ndarray,
    coupling: SeparateLoss | JointLoss,
    scales: Sequence[float],
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> list[JointSolution]:
    """Rules by steps in single precision to points in double; where these do not arrive, double."""
    rows = coupling.codes, coupling.weight
    light = Design(features, *rows, light=features.astype(np.float32))
    most = min(max_iter, LIGHT_STEPS)
    path = solve_path(light, coupling, scales, tol, most, out_of_time=out_of_time)
    design = None
    for k, found in enumerate(path):
        if found.relative_gap.max() <= tol or max_iter <= most or out_of_time():
            continue
        design = Design(features, *rows) if design is None else design
        left = max_iter - found.iterations
        path[k] = solve_path(
            design,
            coupling,
            scales[k : k + 1],
            tol,
            left,
            start=found.rules,
            out_of_time=out_of_time,
        )[0]
        path[k] = replace(path[k], iterations=path[k].iterations + found.iterations)
    return path
