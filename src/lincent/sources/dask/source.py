"""A binary problem over rows in blocks: a source, and its evaluation for the active-set solver.

A pass is one Dask graph, or one iteration over batches: every block is opened where it is, returns
a few numbers, and is freed.  Nothing as long as the data is transferred to the client, and nothing
is kept on the workers: what travels is the points (as wide as the data), the sample and the band.

    survey      classes, weights, sums by class, from which the centers follow
    sample      about 2 (m^2 n)^(1/3) rows, from which a point near the optimum follows
    look        the loss there, the histogram of the distances to the margin and, for a width
                guessed from the sample, a Newton step; at its end again the loss, the rows of the
                band and the sum of those beyond
    check       after the exact solve: the loss at its solution, and misplaced rows

That is five passes, one more for each further Newton step or round, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from lincent._memory import sample_entries
from lincent.problems.arrays import Checked, Index, Mask, Matrix, Rows, Vector, root_mean
from lincent.sources.dask import blocks
from lincent.sources.dask.blocks import Setting, SplitPart, Taken
from lincent.sources.evaluation import TINY, Deferred, Multipliers, one_cost
from lincent.sources.gradients import JointPoint, JointSums, LossStructure
from lincent.sources.rows import Sample, Source
from lincent.sources.shared_reads import BaseSchedule, merge_results

T = TypeVar("T")
SPARE_ENTRIES = 3_000_000
SPARE_WORK = 60_000_000
"""A band up to this size, and whose rows times columns squared are up to this number, is solved
without further reduction: about a second, where a Newton step would cost another pass.  Smaller
where memory is short."""
SAMPLE_ENTRIES = 50_000_000
"""The largest sample that is transferred to the client: 400 MB, less where memory is short."""
REMEMBERED = 100_000
"""Rows of the sample that are kept to guess widths."""
COLLECT_BYTES = 2**30
"""Rows up to this size are transferred to the client where a solver needs all of them."""


class DaskSource(Source):
    """The rows of one binary problem in blocks; signs and weights stay with them."""

    is_remote = True

    def __init__(self, table: Any, setting: Setting) -> None:
        self.table, self.setting = table, setting
        self.part = setting.side != 0
        self.lengths = table.survey.counts[:, self.part].sum(axis=1)
        self.shape = (int(self.lengths.sum()), table.n)
        self.origin = setting.origin

    @property
    def sign(self) -> Deferred:
        """One sign per row, left with the rows."""
        return Deferred((self.shape[0],), lambda: self.signs_and_costs(self.setting)[0])

    @property
    def weight(self) -> Deferred:
        """One weight per row, left with the rows."""
        plain = self.priced(1.0, 1.0).setting
        return Deferred((self.shape[0],), lambda: self.signs_and_costs(plain)[1])

    @property
    def costs(self) -> Any:
        """The costs: one number repeated where all are the same, else left with the rows."""
        costs = DaskCosts(self)
        return np.broadcast_to(costs.max(), costs.shape) if costs.min() == costs.max() else costs

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        """Return the weighted means of the two sides, negative first, from the survey."""
        totals, sums = self.table.totals, self.table.survey.sums
        sides = (self.setting.side < 0, self.setting.side > 0)
        return np.array([sums[side].sum(axis=0) / totals[side].sum() for side in sides])

    def local_project(self, v: Vector) -> Vector:
        return np.concatenate(self.run("project", blocks.project, v=v))

    def local_combine(self, w: Vector) -> Vector:
        each = [(part,) for part in np.split(w, np.cumsum(self.lengths)[:-1])]
        return self.run("combine", blocks.combine, each=each)

    def take(self, index: Index, sign: Any, center: Vector) -> Rows:
        return self.take_all(sign, center).take(index)

    def take_all(self, sign: Any, center: Vector) -> Rows:
        return self._collected().signed(center)  # blocks have the signs

    def array(self) -> Matrix:
        return blocks.open_rows(self._collected().rows).array()

    def _collected(self) -> Taken:
        """Transfer all rows."""
        m, n = self.shape
        if m * n * 8 > COLLECT_BYTES:
            raise MemoryError(
                f"This solver needs all {m} x {n} rows in this process "
                f"({m * n * 8 / 2**30:.1f} GiB as float64): "
                'use solver="auto", which reads them in place.'
            )
        return self.run("collect", blocks.collect)

    def column_scale(self, center: Vector) -> Vector:
        around = self.run("scale", blocks.spread, setting=replace(self.setting, center=center))
        return root_mean(around.squares, self.shape[0])

    def constant_columns(self, index: Index) -> Mask:
        ends = self.run("extent", blocks.spread)
        return np.asarray(ends.low == ends.high)[index]

    def all_rows(self, rows: Any, costs: Any, margin: float) -> BlockRows:
        if isinstance(costs, DaskCosts):
            setting, per_block = costs.source.setting, costs.per_block
        else:
            shared = one_cost(costs)
            if shared is None:
                raise TypeError("Costs of rows in blocks are one number or stay with the rows.")
            setting, per_block = replace(self.setting, cost=shared), shared * self.lengths
        setting = replace(setting, center=rows.center, margin=margin)
        return BlockRows(self, setting, per_block)

    def signed_sums(
        self, rows: Any, costs: Any, losses: LossStructure, points: list[JointPoint]
    ) -> list[JointSums]:
        whole = self.all_rows(rows, costs, 0.0)
        return list(whole.run("sums", blocks.signed_sums, losses=losses, points=points))

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        taken = self.all_rows(rows, costs, 0.0).draw("draw", k, rng)
        return taken.signed(rows.center), taken.sign.astype(np.float64), taken.costs

    def priced(self, low: float, high: float) -> DaskSource:
        """Return the same rows with these costs per weight on each side."""
        return self.with_factor(np.where(self.setting.side > 0, high, low))

    def with_factor(self, factor: Vector) -> DaskSource:
        """Return the same rows with these costs per weight of each class."""
        return DaskSource(self.table, replace(self.setting, factor=factor))

    def run(
        self, verb: str, function: Callable[..., T], *, setting: Setting | None = None, **how: Any
    ) -> T:
        """Run a function of ``blocks`` on all blocks: one pass."""
        schedule: BaseSchedule = self.table.schedule
        return schedule.run(verb, function, setting=setting or self.setting, **how)

    def signs_and_costs(self, setting: Setting) -> tuple[Vector, Vector]:
        """Return signs and costs of all rows."""
        pairs = self.run("labels", blocks.signs_and_costs, setting=setting)
        signs, costs = zip(*pairs, strict=True)
        return np.concatenate(signs).astype(np.float64), np.concatenate(costs)


def _by_block(numbers: Any, lengths: Any) -> list[tuple[Any]]:
    """Return sorted numbers, counted from the first row of all, as those within each block."""
    begin = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    parts = np.split(numbers, np.searchsorted(numbers, begin[1:]))
    return [(part - first,) for part, first in zip(parts, begin, strict=True)]


@dataclass(frozen=True)
class DaskCosts:
    """One cost per row, left with the rows: the factor of its class times its weight."""

    source: DaskSource

    @property
    def shape(self) -> tuple[int]:
        return (self.source.shape[0],)

    @property
    def factors(self) -> Vector:
        """The cost per weight of each class that takes part."""
        return np.asarray(self.source.setting.factor[self.source.part])

    @property
    def per_block(self) -> Vector:
        """The sum of the costs in each block."""
        totals = self.source.table.survey.totals[:, self.source.part]
        return np.asarray(totals @ self.factors)

    def scaled(self, scale: float) -> Any:
        """Return scale times the costs."""
        if np.isinf(scale):  # rows without weight are left out, so every cost is infinite
            return np.broadcast_to(np.inf, self.shape)
        return DaskCosts(self.source.with_factor(self.source.setting.factor * scale))

    def __truediv__(self, unit: float) -> Any:
        return self.scaled(1.0 / unit)

    def min(self) -> float:
        return float(self.source.table.survey.least * self.factors.min())

    def max(self, initial: float = 0.0) -> float:
        return max(float(self.source.table.survey.most * self.factors.max()), initial)

    def sum(self) -> float:
        return float(self.per_block.sum())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        return self.source.signs_and_costs(self.source.setting)[1].astype(dtype or np.float64)


class BlockRows:
    """All rows of a problem, evaluated block by block."""

    on_host = False
    sampled_by_size = False  # the sizes of all rows would be one more pass, a second sample another

    def __init__(self, source: DaskSource, setting: Setting, per_block: Vector) -> None:
        self.source, self.setting, self.per_block = source, setting, per_block
        self.remembered: Rows | None = None
        self.m, n = source.shape
        self.most_sampled = max(sample_entries(SAMPLE_ENTRIES) // n, 1)
        self.spare_rows = min(sample_entries(SPARE_ENTRIES) // n, SPARE_WORK // n**2)

    def run(self, verb: str, function: Callable[..., T], **how: Any) -> T:
        """Run a function of ``blocks`` on all blocks: one pass."""
        return self.source.run(verb, function, setting=self.setting, **how)

    def sized(self, ruler: Matrix | None) -> BlockRows:
        """Return the same rows; each block computes their sizes in each pass."""
        if ruler is None:
            return self
        other = copy(self)
        other.setting = replace(self.setting, ruler=ruler)
        return other

    def look(self, beta: Vector, band: int = 0) -> BlockEvaluation:
        """Evaluate all rows at beta, with the split or Newton step of a guessed width."""
        away = self.remembered_away(beta) if band > 0 else None
        fraction = min(1.0, band / self.m)
        guess = 0.0 if away is None else float(np.quantile(np.abs(away), fraction))
        return BlockEvaluation(self, beta, guess, small=band <= self.spare_rows)

    def remembered_away(self, beta: Vector) -> Vector | None:
        """Return the distances of rows of the sample in their sizes; negative: violated."""
        rows, ruler = self.remembered, self.setting.ruler
        if rows is None:
            return None
        away = rows.dot(beta) - self.setting.margin
        return away if ruler is None else away / (rows.sizes(ruler) + TINY)

    def draw(self, verb: str, k: int, rng: np.random.Generator) -> Taken:
        """Draw k rows by their costs, with costs that represent all: one pass."""
        if k >= self.m:
            return self.run(verb, blocks.collect)
        total = float(self.per_block.sum())
        each = _by_block(np.sort(rng.random(k) * total), self.per_block)
        taken = self.run(verb, blocks.sample, each=each)
        return replace(taken, costs=taken.costs * (total / k))

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        """Draw k rows, and the costs with which they represent all."""
        taken = self.draw("sample", k, rng)
        rows = taken.signed(self.setting.center)
        step = -(-rows.shape[0] // REMEMBERED)
        self.remembered = rows.take(np.arange(0, rows.shape[0], step))
        return rows, taken.costs


class BlockEvaluation:
    """All rows, evaluated at one point."""

    def __init__(self, whole: BlockRows, beta: Vector, guess: float, *, small: bool) -> None:
        self.whole, self.beta, self.guess = whole, beta, guess
        self.seen = whole.run("look", blocks.look, beta=beta, width=guess, small=small)
        self.loss = self.seen.loss

    def along(self, other: BlockEvaluation, lengths: Vector) -> Vector:
        """Return the loss at points between this one and another."""
        ends = [self.beta, other.beta]
        return self.whole.run("along", blocks.along, ends=ends, lengths=lengths)

    def between(self, other: BlockEvaluation, length: float, loss: float) -> None:
        """Return None: no distances are kept, so a pass is needed."""

    @property
    def below(self) -> float:
        """The cost of rows that violate the margin, estimated from the sample: no pass."""
        total = float(self.whole.per_block.sum())
        away = self.whole.remembered_away(self.beta)
        return total / 2 if away is None else total * float(np.mean(away < 0))

    def crossed(self, other: BlockEvaluation, width: float) -> float:
        """Estimate from the sample how many rows beyond the width change sides: no pass."""
        z, other_z = (self.whole.remembered_away(view.beta) for view in (self, other))
        if z is None or other_z is None:
            return 0.0
        return self.whole.m * float(np.mean((np.abs(z) > width) & ((z < 0) != (other_z < 0))))

    def width(self, k: int) -> float:
        """Return about the k-th smallest distance."""
        width = self.seen.width(k, self.whole.m)
        # Nothing depends on the width being exact, so a guess that is about right saves a pass.
        close = k / 2 <= self.seen.below(self.guess) <= 2 * k
        return self.guess if close and self.guess >= width / 2 else width

    def _ahead(self, width: float, kind: type) -> Any:
        """Return the result that came with the evaluation, if it is of this width and type."""
        right = width == self.guess and isinstance(self.seen.ahead, kind)
        return self.seen.ahead if right else None

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """Return gradient and Hessian of the smoothed problem, from all rows of the band."""
        sums: tuple[Vector, Matrix] = self._ahead(width, tuple) or self.whole.run(
            "smooth", blocks.smoothed, beta=self.beta, width=width
        )
        return sums

    def split(self, width: float) -> BlockSplit:
        """Return the rows within this width of the margin, and the others as a sum."""
        part = self._ahead(width, SplitPart) or self.whole.run(
            "split", blocks.split, points=[self.beta], width=width
        )
        return BlockSplit(self.whole, width, [self.beta], part)


class BlockSplit:
    """The band on the client, and the sum of the rows beyond it."""

    def __init__(
        self, whole: BlockRows, width: float, points: list[Vector], part: SplitPart
    ) -> None:
        self.whole, self.width, self.points, self.part = whole, width, points, part
        self.summed, self.summed_cost = part.summed, part.summed_cost
        self.costs = part.taken.costs
        self.rows = part.taken.signed(whole.setting.center)

    def check(self, beta: Vector) -> Checked:
        """Evaluate a new point: rows outside the band that changed sides are misplaced."""
        points = [*self.points, beta]
        part = self.whole.run("check", blocks.split, points=points, width=self.width)
        return Checked(part.loss, len(part.taken.sign), (points, part))

    def grow(self, checked: Checked) -> BlockSplit:
        """Add the misplaced rows to the band."""
        if not checked.misplaced:
            return self
        points, part = checked.found
        return BlockSplit(self.whole, self.width, points, merge_results([self.part, part]))

    def wider(self, view: BlockEvaluation, width: float) -> BlockSplit:
        """Return a new split: which rows joined before would need another pass."""
        return view.split(width)

    def multipliers(self, alpha: Vector, combined: Vector) -> Multipliers:
        """Return the multipliers of all rows, deferred."""
        total = self.summed_cost + float(alpha.sum())
        return Multipliers((self.whole.m,), lambda: self._full(alpha), combined, total)

    def _full(self, alpha: Vector) -> Vector:
        pairs = self.whole.run(
            "multipliers", blocks.multipliers, points=self.points, width=self.width
        )
        full = np.concatenate([outside for outside, _ in pairs])
        joined = np.concatenate([stage for _, stage in pairs])
        # The band's rows are in the order in which they joined, then as in the data.
        members = [np.flatnonzero(joined == stage) for stage in range(len(self.points))]
        full[np.concatenate(members)] = alpha
        return full
