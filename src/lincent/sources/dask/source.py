"""All rows of a program in Dask blocks, looked at and split: every question is one read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent._memory import sample_entries
from lincent.problems.arrays import Checked, Index, Matrix, Rows, Vector, root_mean
from lincent.sources.dask import blocks
from lincent.sources.dask.blocks import Part, Setting, Sides, Spread, Taken, add, chained
from lincent.sources.evaluation import TINY, Deferred, Multipliers, one_cost
from lincent.sources.gradients import LossSums, QueryPoint
from lincent.sources.rows import Sample, Source

SPARE_ENTRIES = 3_000_000
SPARE_WORK = 60_000_000
"""A band up to this size, and whose rows times columns squared are up to this number, is solved as
it is: about a second, where a Newton step would cost another read.  Smaller where memory is
short."""
SAMPLE_ENTRIES = 50_000_000
"""The largest sample that is brought to the client: 400 MB, less where memory is short."""
REMEMBERED = 100_000
"""Rows of the sample that are kept to guess widths."""


Run = Callable[..., Any]
Lengths = NDArray[np.int64]


class BlockRows:
    """All rows of a program, looked at block by block."""

    on_host = False
    sampled_by_size = False  # the sizes of all rows would be one more read, a second sample another

    def __init__(self, run: Run, lengths: Lengths, setting: Setting, per_block: Vector) -> None:
        self._run, self.lengths, self.setting, self.per_block = run, lengths, setting, per_block
        self.remembered: Rows | None = None
        self.m, n = int(lengths.sum()), len(setting.center)
        self.most_sampled = max(sample_entries(SAMPLE_ENTRIES) // n, 1)
        self.spare_rows = min(sample_entries(SPARE_ENTRIES) // n, SPARE_WORK // n**2)

    def run(self, verb: str, function: Any, **how: Any) -> Any:
        return self._run(verb, function, setting=self.setting, **how)

    def sized(self, ruler: Matrix | None) -> BlockRows:
        """The same rows; each block measures their sizes whenever it is read."""
        if ruler is None:
            return self
        other = copy(self)
        other.setting = replace(self.setting, ruler=ruler)
        return other

    def look(self, beta: Vector, band: int = 0) -> BlockEvaluation:
        return BlockEvaluation(self, beta, self._guess(beta, band), small=band <= self.spare_rows)

    def _guess(self, beta: Vector, band: int) -> float:
        """The width of the band as the sample has it, so that one read answers two questions."""
        away = self.remembered_away(beta) if band > 0 else None
        return 0.0 if away is None else float(np.quantile(np.abs(away), min(1.0, band / self.m)))

    def remembered_away(self, beta: Vector) -> Vector | None:
        """How far rows of the sample are from the kink, in their sizes; negative below it."""
        rows, ruler = self.remembered, self.setting.ruler
        if rows is None:
            return None
        away = rows.dot(beta) - self.setting.margin
        return away if ruler is None else away / (rows.sizes(ruler) + TINY)

    def sample(self, k: int, rng: np.random.Generator) -> tuple[Rows, Vector]:
        total = float(self.per_block.sum())
        if self.setting.cost is None:
            size: Any = self.per_block
            points = np.sort(rng.random(k) * total)
        else:
            size = self.lengths
            points = np.sort(rng.integers(0, self.m, k))
        begin = np.concatenate([[0], np.cumsum(size)[:-1]])
        cuts = np.searchsorted(points, begin[1:])
        each = [(part - low,) for part, low in zip(np.split(points, cuts), begin, strict=True)]
        taken: Taken = self.run("sample", blocks.sample, each=each, merge=Taken.joined)
        rows = taken.signed(self.setting.center)
        step = -(-rows.shape[0] // REMEMBERED)
        self.remembered = rows.take(np.arange(0, rows.shape[0], step))
        return rows, taken.costs * (total / k)


class BlockEvaluation:
    """All rows, seen from one point."""

    def __init__(self, whole: BlockRows, beta: Vector, guess: float, *, small: bool) -> None:
        self.whole, self.beta, self.guess = whole, beta, guess
        self.seen: Spread = whole.run(
            "look", blocks.look, beta=beta, width=guess, small=small, merge=Spread.joined
        )
        self.loss = self.seen.loss

    def along(self, other: BlockEvaluation, lengths: Vector) -> Vector:
        ends = [self.beta, other.beta]
        losses: tuple[Vector] = self.whole.run(
            "along", blocks.along, ends=ends, lengths=lengths, merge=add
        )
        return losses[0]

    def between(self, other: BlockEvaluation, length: float, loss: float) -> None:
        """Nothing is kept of the rows, so a look is needed."""

    @property
    def below(self) -> float:
        """By the rows of the sample that are remembered: no read."""
        total = float(self.whole.per_block.sum())
        away = self.whole.remembered_away(self.beta)
        return total / 2 if away is None else total * float(np.mean(away < 0))

    def crossed(self, other: BlockEvaluation, width: float) -> float:
        """By the rows of the sample that are remembered: no read."""
        here, there = (self.whole.remembered_away(view.beta) for view in (self, other))
        if here is None or there is None:
            return 0.0
        return self.whole.m * float(np.mean((np.abs(here) > width) & ((here < 0) != (there < 0))))

    def width(self, k: int) -> float:
        width = self.seen.width(k, self.whole.m)
        # Nothing depends on the width being exact, so a guess that is about right saves a read.
        near = k / 2 <= self.seen.below(self.guess) <= 2 * k
        return self.guess if near and self.guess >= width / 2 else width

    def _ahead(self, width: float, kind: type) -> Any:
        """The answer that came with the look, where it is to this question."""
        right = width == self.guess and isinstance(self.seen.ahead, kind)
        return self.seen.ahead if right else None

    def smoothed(self, width: float, most: int, rng: np.random.Generator) -> tuple[Vector, Matrix]:
        """All rows of the band make the Hessian, each in its block: nothing is drawn."""
        answer: tuple[Vector, Matrix] = self._ahead(width, tuple) or self.whole.run(
            "smooth", blocks.smoothed, beta=self.beta, width=width, merge=add
        )
        return answer

    def split(self, width: float) -> BlockSplit:
        part = self._ahead(width, Part) or self.whole.run(
            "split", blocks.split, beta=self.beta, width=width, merge=Part.joined
        )
        return BlockSplit(self.whole, width, [self.beta], part)


class BlockSplit:
    """The band on the client, and what the rows beyond it add up to."""

    def __init__(self, whole: BlockRows, width: float, points: list[Vector], part: Part) -> None:
        self.whole, self.width, self.points, self.part = whole, width, points, part
        self.summed, self.summed_cost = part.summed, part.summed_cost
        self.costs = part.taken.costs
        self.rows = part.taken.signed(whole.setting.center)

    def check(self, beta: Vector) -> Checked:
        points = [*self.points, beta]
        part = self.whole.run(
            "check", blocks.check, points=points, width=self.width, merge=Part.joined
        )
        return Checked(part.loss, len(part.taken.sign), (points, part))

    def grow(self, checked: Checked) -> BlockSplit:
        if not checked.misplaced:
            return self
        points, part = checked.found
        joined = Part.joined([self.part, part])
        return BlockSplit(self.whole, self.width, points, joined)

    def wider(self, view: BlockEvaluation, width: float) -> BlockSplit:
        """A split of its own: which rows joined before would be asked of every block again."""
        return view.split(width)

    def multipliers(self, alpha: Vector, combined: Vector) -> Multipliers:
        return Multipliers(
            (self.whole.m,),
            lambda: self._full(alpha),
            combined,
            self.summed_cost + float(alpha.sum()),
        )

    def _full(self, alpha: Vector) -> Vector:
        pairs = self.whole.run(
            "multipliers",
            blocks.multipliers,
            points=self.points,
            width=self.width,
            merge=chained,
        )
        full = np.concatenate([outside for outside, _ in pairs])
        joined = np.concatenate([stage for _, stage in pairs])
        # The band's rows are in the order in which they joined, then as in the data.
        members = [np.flatnonzero(joined == stage) for stage in range(len(self.points))]
        full[np.concatenate(members)] = alpha
        return full


COLLECT_BYTES = 2**30


class DaskSource(Source):
    """The rows of one two-class problem in blocks; signs and weights stay with them."""

    is_remote = True

    def __init__(self, table: Any, sides: Sides) -> None:
        self.table, self.sides = table, sides
        self.part = sides.side != 0
        self.lengths = table.survey.counts[:, self.part].sum(axis=1)
        self.shape = (int(self.lengths.sum()), table.n)
        origin = table.survey.origin
        self.origin = origin if origin.any() else None

    @property
    def sign(self) -> Deferred:
        return Deferred((self.shape[0],), lambda: self._per_row(1.0)[0])

    @property
    def weight(self) -> Deferred:
        return Deferred((self.shape[0],), lambda: self._per_row(None)[1])

    @property
    def costs(self) -> Any:
        """The costs: one number repeated where all are the same, else left with the rows."""
        survey, factors = self.table.survey, self.sides.factor[self.part]
        least, most = survey.least * factors.min(), survey.most * factors.max()
        if least == most:
            return np.broadcast_to(most, self.shape[0])
        per_block = survey.totals[:, self.part] @ factors
        return DaskCosts(self, 1.0, per_block, least, most)

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        """The weighted means of the two sides, negative first: known from the survey."""
        survey = self.table.survey
        totals, centers = self.table.totals, []
        for side in (-1, 1):
            these = self.sides.side == side
            centers.append(survey.sums[these].sum(axis=0) / totals[these].sum())
        return np.array(centers)

    def project(self, v: Vector) -> Vector:
        parts = self.run("project", blocks.project, merge=chained, v=v)
        return np.concatenate(parts)

    def combine(self, w: Vector) -> Vector:
        return np.asarray(self.run("combine", blocks.combine, each=self._cut(w), merge=add))

    def gram(self, w: Vector) -> Matrix:
        return np.asarray(self.run("gram", blocks.gram, each=self._cut(w), merge=add))

    def take(self, index: Index, sign: Any, center: Vector) -> Rows:
        """The rows in the order of the index, which may repeat; the blocks know their signs."""
        if len(index) == self.shape[0] and np.array_equal(index, np.arange(len(index))):
            return self._everything().signed(center)
        bounds = np.concatenate([[0], np.cumsum(self.lengths)])
        order = np.argsort(index, kind="stable")
        cuts = np.searchsorted(index[order], bounds)
        each = [
            (index[order[low:high]] - begin,)
            for low, high, begin in zip(cuts, cuts[1:], bounds, strict=False)
        ]
        taken: Taken = self.run(
            "take", blocks.sample, setting=self.setting(1.0), each=each, merge=Taken.joined
        )
        return taken.signed(center).take(np.searchsorted(np.unique(index), index))

    def columns(self, index: Index, sign: Any, center: Vector) -> Rows:
        return self._everything().signed(center).columns(index)

    def array(self) -> Matrix:
        taken = self._everything()
        return np.asarray(taken.signed(np.zeros(self.shape[1])).dense() * taken.sign[:, None])

    def _everything(self) -> Taken:
        m, n = self.shape
        if m * n * 8 > COLLECT_BYTES:
            raise MemoryError(
                f"This solver needs all {m} x {n} rows in this process "
                f"({m * n * 8 / 2**30:.1f} GiB as float64): "
                'use solver="auto", which reads them in place.'
            )
        setting = self.setting(1.0)
        taken: Taken = self.run("collect", blocks.collect, setting=setting, merge=Taken.joined)
        return taken

    def column_scale(self, center: Vector) -> Vector:
        setting = replace(self.setting(1.0), center=center)
        total = self.run("scale", blocks.squares, setting=setting, merge=add)
        return root_mean(np.asarray(total), self.shape[0])

    def constant_columns(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        ends = np.array(self.run("extent", blocks.extent, merge=chained, index=index))
        return np.asarray(ends[:, 0].min(axis=0) == ends[:, 1].max(axis=0))

    def all_rows(self, rows: Any, costs: Any, margin: float) -> BlockRows:
        setting = replace(self._costing(costs), center=rows.center, margin=margin)
        if isinstance(costs, DaskCosts):
            per_block = costs.scale * costs.per_block
        else:
            per_block = setting.cost * self.lengths
        return BlockRows(self.run, self.lengths, setting, per_block)

    def pulls(self, rows: Any, costs: Any, points: Sequence[QueryPoint]) -> list[LossSums]:
        setting = replace(self._costing(costs), center=rows.center)
        pulls: list[LossSums] = self.run(
            "pulls", blocks.pulls, setting=setting, merge=LossSums.joined_each, points=points
        )
        return pulls

    def draw(self, rows: Any, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        m = self.shape[0]
        places = np.arange(m) if k >= m else np.sort(rng.integers(0, m, k))
        begin = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        cuts = np.searchsorted(places, begin[1:])
        each = [(part - low,) for part, low in zip(np.split(places, cuts), begin, strict=True)]
        setting = self._costing(costs)
        taken: Taken = self.run("draw", blocks.draw, setting=setting, each=each, merge=Taken.joined)
        sign = taken.sign.astype(np.float64)
        return taken.signed(rows.center), sign, taken.costs * (m / len(places))

    def cost_means(self, rows: Any, costs: Any) -> tuple[tuple[float, float], Matrix]:
        """Known from the survey."""
        survey, side = self.table.survey, self.sides.side
        if isinstance(costs, DaskCosts):
            price = costs.sides.factor
        else:  # all rows cost the same, so all of them weigh the same
            price = np.full(len(side), float(np.max(costs)) / survey.most)
        amounts, means = [], []
        for one in (-1, 1):
            share = np.where(side == one, price, 0.0)
            amounts.append(float(share @ self.table.totals))
            means.append(one * (share @ survey.sums / amounts[-1] - rows.center))
        return (amounts[0], amounts[1]), np.array(means)

    def priced(self, low: float, high: float) -> DaskSource:
        """The same rows, a unit of weight costing this much on each side."""
        factor = np.where(self.sides.side > 0, high, low)
        return DaskSource(self.table, replace(self.sides, factor=factor))

    def _costing(self, costs: Any) -> Setting:
        """The setting in which rows have these costs."""
        if isinstance(costs, DaskCosts):
            return self.setting(None, costs.sides)
        shared = one_cost(costs)
        if shared is None:
            raise TypeError("Costs of rows in blocks are one number or stay with the rows.")
        return self.setting(shared)

    def setting(self, cost: float | None = None, sides: Sides | None = None) -> Setting:
        """What a block needs to know to open its rows."""
        sides = self.sides if sides is None else sides
        return Setting(sides, np.zeros(self.shape[1]), 0.0, cost, self.origin)

    def run(self, verb: str, function: Any, *, setting: Setting | None = None, **how: Any) -> Any:
        setting = self.setting() if setting is None else setting
        return self.table.schedule.run(verb, function, setting=setting, **how)

    def _cut(self, w: Vector) -> list[tuple[Vector]]:
        """The part of a vector that belongs to each block."""
        return [(part,) for part in np.split(w, np.cumsum(self.lengths)[:-1])]

    def _per_row(self, cost: float | None) -> tuple[Vector, Vector]:
        """Signs and costs (weights, where every class has the factor 1) of all rows."""
        plain = replace(self.sides, factor=np.ones_like(self.sides.factor))
        pairs = self.run(
            "labels",
            blocks.labels_and_weights,
            setting=self.setting(cost, plain),
            merge=chained,
        )
        signs, weights = zip(*pairs, strict=True)
        return np.concatenate(signs).astype(np.float64), np.concatenate(weights)


@dataclass(frozen=True)
class DaskCosts:
    """One cost per row, left with the rows: scale times factor of the class times weight."""

    source: DaskSource
    scale: float
    per_block: Vector
    least: float
    most: float

    @property
    def shape(self) -> tuple[int]:
        return (self.source.shape[0],)

    def scaled(self, scale: float) -> Any:
        if np.isinf(scale):  # rows without weight are left out, so every cost is infinite
            return np.broadcast_to(np.inf, self.shape)
        return replace(self, scale=self.scale * scale)

    def __truediv__(self, unit: float) -> Any:
        return self.scaled(1.0 / unit)

    def min(self) -> float:
        return self.scale * self.least

    def max(self, initial: float = 0.0) -> float:
        return max(self.scale * self.most, initial)

    def sum(self) -> float:
        return self.scale * float(self.per_block.sum())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        setting = self.source.setting(None, self.sides)
        pairs = self.source.run("labels", blocks.labels_and_weights, setting=setting, merge=chained)
        return np.concatenate([costs for _, costs in pairs]).astype(dtype or np.float64)

    @property
    def sides(self) -> Sides:
        sides = self.source.sides
        return replace(sides, factor=sides.factor * self.scale)
