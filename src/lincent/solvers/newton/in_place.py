"""Newton's method over remote data: on a cluster, on a device, in a stream.

Everything that a step needs is a sum over the samples (``sources.gradients``), so that one pass
gives the objective at a point, its gradient, its Hessian and its duality gap.  The way is short,
because it begins at the optimum of a subsample, which is off by about sqrt(n / samples drawn).  The
problems are piecewise quadratic, and a step ends at the solution once the right samples are active:
the passes are about as many for 10^5 samples as for 10^9.  A step that does not bring the objective
down is halved, at a pass each.  For several C one pass answers all that are still on their way
(``lockstep``).

The Hessian of all K classifiers of n features is formed here,

    r I + C sum over pairs of classes of (e_y - e_k)(e_y - e_k)' x gram,        K (n + 1) columns;

a binary problem has one classifier and one pair.  After the first pass it is formed by those
samples that start or stop being curved, mostly few.  Of many samples a share suffices for it
(``SAMPLES`` for each feature, or what ``WORK`` allows): a step then leaves about (features /
samples of the share) of the distance to the optimum, squared.  Where steps bring less, the share
grows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lincent._memory import sample_entries
from lincent.problems.arrays import Matrix
from lincent.problems.regularized import RegularizedProgram, unit_of
from lincent.solvers import cholesky
from lincent.solvers.bounds import Bounds
from lincent.solvers.newton import ridge
from lincent.solvers.newton.descent import NAME, Walk, newton_loop
from lincent.solvers.newton.joint import JointSolution
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.gradients import JointPoint, JointSums, LossStructure
from lincent.sources.rows import SignedRows

SAMPLE_ENTRIES = 4_000_000
"""Entries of the subsample (32 MB, less where memory is short): a larger one saves no pass and is
slower to solve here."""
SAMPLES_PER_FEATURE = 50
"""At least so many, or a subsample says little about the whole."""
SAMPLES = 100
"""Samples that make a Hessian, for each coefficient,"""
WORK = 1_000
"""or as many as take this many products for each sample and feature, ten times what computing a
kernel feature takes: only the first pass forms whole Gram matrices, and of 400,000 samples with 140
features and four classes five passes with all take 2.4 s where eight with a sixth take 3.4."""

Loop = Generator[Any, Any, Any]


@dataclass(frozen=True)
class RemoteProgram:
    """The regularized problem with samples, signs and costs left where they are."""

    rows: SignedRows
    costs: Any
    low: float
    high: float
    free: bool


def solve_path(
    program: RemoteProgram, scales: Sequence[float], controls: Controls, rng: np.random.Generator
) -> list[Solution]:
    """Return the optima for the costs times each scale, all from one subsample.

    Dual weights are left with the samples: those of the certificates are empty.
    """
    structure = LossStructure.of_two(np.ones(2), program.low, program.high, free=program.free)
    starts, total = _starts(program, scales, controls, rng)
    units = [unit_of(program.low, program.high, float(scale) * total) for scale in scales]
    loops = [
        _loop(structure, float(scale), start, program.rows.shape[0], controls, unit)
        for scale, start, unit in zip(scales, starts, units, strict=True)
    ]
    solutions = []
    for walk in lockstep(
        loops, lambda points: program.rows.joint_sums(program.costs, structure, points)
    ):
        end = walk.bounds.primal.position[:, 0]
        best = walk.bounds.certificate(end[:-1], np.empty(0), -float(end[-1]))
        solutions.append(Solution(walk.status, best, walk.steps, NAME))
    return solutions


def _starts(
    program: RemoteProgram, scales: Sequence[float], controls: Controls, rng: np.random.Generator
) -> tuple[list[Matrix], float]:
    """Return the optima of a subsample, which is freed before the next pass, and the total cost."""
    m, n = program.rows.shape
    rows, sign, costs = program.rows.draw(program.costs, _sample_size(m, n), rng)
    total = float(costs.sum())
    if not np.min(sign, initial=1.0) < 0 < np.max(sign, initial=-1.0):  # one class only
        return [np.zeros((n + 1, 1))] * len(scales), total
    sample = RegularizedProgram(rows, sign, costs, program.low, program.high, program.free)
    # Far below what the subsample is off by.
    loose = replace(controls, tol=max(1e-7, controls.tol), watch=None)
    optima = [one.certificate for one in ridge.solve_path(sample, scales, loose, rng)]
    return [np.append(one.beta, -one.t)[:, None] for one in optima], total


def _sample_size(m: int, n: int) -> int:
    most = sample_entries(max(SAMPLE_ENTRIES, SAMPLES_PER_FEATURE * n * n)) // max(1, n)
    return min(m, max(1, most))


@dataclass(frozen=True)
class _Limits(Controls):
    """Limits with a clock of the caller."""

    is_late: Callable[[], bool] = field(default=lambda: False)

    def out_of_time(self, ahead: float = 0.0) -> bool:
        return self.is_late()


def solve_joint_path(
    read: Callable[[list[JointPoint]], list[JointSums]],
    structure: LossStructure,
    scales: Sequence[float],
    starts: Sequence[Matrix],
    samples: int,
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> list[JointSolution]:
    """Return the classifiers for each C, from a start each, over so many samples."""
    limits = _Limits(tol, max_iter, is_late=out_of_time)
    loops = [
        _loop(structure, float(scale), start, samples, limits, 1.0)
        for scale, start in zip(scales, starts, strict=True)
    ]
    return [
        JointSolution(
            walk.bounds.primal.position,
            np.array([walk.bounds.objective]),
            np.array([walk.bounds.bound]),
            max(walk.steps, 1),
        )
        for walk in lockstep(loops, read)
    ]


def lockstep(loops: Sequence[Loop], read: Callable[[list[Any]], Sequence[Any]]) -> list[Any]:
    """Run generators together: ``read`` answers the questions of all that are on their way."""
    asked = {k: next(loop) for k, loop in enumerate(loops)}
    done: dict[int, Any] = {}
    while asked:
        answers = read(list(asked.values()))
        for k, answer in zip(list(asked), answers, strict=True):
            try:
                asked[k] = loops[k].send(answer)
            except StopIteration as end:
                done[k] = end.value
                del asked[k]
    return [done[k] for k in range(len(loops))]


class _Point:
    """Classifiers and what all samples say about them."""

    def __init__(
        self, structure: LossStructure, scale: float, at: JointPoint, sums: JointSums
    ) -> None:
        self.structure, self.scale, self.at, self.sums = structure, scale, at, sums
        self.position = position = at.rules
        size = structure.ridge / 2 * float((position[:-1] ** 2).sum())
        self.objective = size + scale * float(sums.loss.sum())
        factor = structure.factors(sums.flow)
        combined = scale * (factor[:, None] * sums.combined[:, :-1]).T @ structure.direction
        total = structure.high * float(factor @ sums.flow)
        total -= structure.width / 2 * float(factor**2 @ sums.squares)
        self.bound = scale * total - float((combined**2).sum()) / (2 * structure.ridge)

    def step(self) -> Matrix:
        k = self.position.shape[1]
        gradient = -self.scale * self.sums.combined.T @ self.structure.direction
        gradient[:-1] += self.structure.ridge * self.position[:-1]
        n = len(gradient) if self.structure.free else len(gradient) - 1
        edges, curvature = self.structure.edges, self.sums.curvature[:, :n, :n]
        hessian = np.einsum("ea,eb,eij->aibj", edges, edges, curvature)
        hessian = self.scale * hessian.reshape(n * k, n * k)
        diagonal = np.full((k, n), self.structure.ridge)
        if self.structure.free:
            # Offsets of all classifiers may move together, which changes nothing: this holds them.
            diagonal[:, -1] = 1e-13 * max(float(hessian.diagonal().max()), 1.0)
        hessian.flat[:: n * k + 1] += diagonal.reshape(-1)
        lower, _ = cholesky.factor_with_ridge(hessian, 1e-13)
        step = np.zeros_like(self.position)
        step[:n] = -cholesky.solve(lower, gradient[:n].T.reshape(-1)).reshape(k, n).T
        return step


def _loop(
    structure: LossStructure,
    scale: float,
    start: Matrix,
    samples: int,
    limits: Controls,
    unit: float,
) -> Generator[JointPoint, JointSums, Walk]:
    """Ask for sums at one point after the other until the gap is small; return the walk."""
    share = max(SAMPLES * start.size / max(samples, 1), WORK / start.size)
    share, before = share if share < 0.25 else 1.0, np.inf  # a larger one spares little
    start = start.copy()
    if structure.rules > 1:  # what all classifiers have in common has no effect, and is left out
        start[-1] -= start[-1].mean()

    def ask(position: Matrix, before: _Point | None = None) -> Loop:
        if before is not None and before.at.share != share:
            before = None  # its matrices are those of other samples
        at = JointPoint(position, share, None if before is None else before.position)
        sums = yield at
        if before is not None:
            sums = replace(sums, gram=before.sums.gram + sums.gram)
        return _Point(structure, scale, at, sums)

    def advance(point: _Point, bounds: Bounds) -> Loop:
        nonlocal share
        step, length = point.step(), 1.0
        for _ in range(30):
            end = yield from ask(point.position + length * step, point)
            if end.objective < point.objective or end.bound > point.bound:
                break
            length /= 2
        if end.objective < point.objective or share == 1.0:
            return end
        share = min(1.0, 4.0 * share)  # more samples must say where to go from here
        return (yield from ask(point.position))

    def stop(steps: int, gap: float, point: _Point) -> Status | None:
        nonlocal share, before
        slow, before = gap > 0.1 * before, gap
        share = min(1.0, 4.0 * share) if slow else share
        # Newton's last step goes far beyond the gap asked for; so must one by a share of the
        # samples, or its result would depend on which samples were in it.
        fine = share == 1.0 or slow or gap <= 1e-2 * limits.tol
        return Status.OPTIMAL if gap <= limits.tol and fine else None

    first = yield from ask(start)
    return (yield from newton_loop(first, advance, limits, unit, stop=stop))
