"""All rows of a program in Dask blocks, looked at and split: every question is one read."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent._memory import entries
from lincent.problems.arrays import Checked, Matrix, Rows, Vector
from lincent.sources.band import TINY
from lincent.sources.dask import block_work
from lincent.sources.dask.block import Setting, Taken, add, chained
from lincent.sources.dask.block_work import Part, Spread
from lincent.sources.multipliers import Multipliers

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


class BlocksAtOnce:
    """All rows of a program, looked at block by block."""

    here = False
    sampled_by_size = False  # the sizes of all rows would be one more read, a second sample another

    def __init__(self, run: Run, lengths: Lengths, setting: Setting, per_block: Vector) -> None:
        self._run, self.lengths, self.setting, self.per_block = run, lengths, setting, per_block
        self.remembered: Rows | None = None
        self.m, n = int(lengths.sum()), len(setting.center)
        self.most_sampled = max(entries(SAMPLE_ENTRIES) // n, 1)
        self.spare_rows = min(entries(SPARE_ENTRIES) // n, SPARE_WORK // n**2)

    def run(self, verb: str, function: Any, **how: Any) -> Any:
        return self._run(verb, function, setting=self.setting, **how)

    def sized(self, ruler: Matrix | None) -> BlocksAtOnce:
        """The same rows; each block measures their sizes whenever it is read."""
        if ruler is None:
            return self
        other = copy(self)
        other.setting = replace(self.setting, ruler=ruler)
        return other

    def look(self, beta: Vector, band: int = 0) -> ViewOfBlocks:
        return ViewOfBlocks(self, beta, self._guess(beta, band), small=band <= self.spare_rows)

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
        taken: Taken = self.run("sample", block_work.sample, each=each, merge=Taken.joined)
        rows = taken.signed(self.setting.center)
        step = -(-rows.shape[0] // REMEMBERED)
        self.remembered = rows.take(np.arange(0, rows.shape[0], step))
        return rows, taken.costs * (total / k)


class ViewOfBlocks:
    """All rows, seen from one point."""

    def __init__(self, whole: BlocksAtOnce, beta: Vector, guess: float, *, small: bool) -> None:
        self.whole, self.beta, self.guess = whole, beta, guess
        self.seen: Spread = whole.run(
            "look", block_work.look, beta=beta, width=guess, small=small, merge=Spread.joined
        )
        self.loss = self.seen.loss

    def along(self, other: ViewOfBlocks, lengths: Vector) -> Vector:
        ends = [self.beta, other.beta]
        losses: tuple[Vector] = self.whole.run(
            "along", block_work.along, ends=ends, lengths=lengths, merge=add
        )
        return losses[0]

    def between(self, other: ViewOfBlocks, length: float, loss: float) -> None:
        """Nothing is kept of the rows, so a look is needed."""

    @property
    def below(self) -> float:
        """By the rows of the sample that are remembered: no read."""
        total = float(self.whole.per_block.sum())
        away = self.whole.remembered_away(self.beta)
        return total / 2 if away is None else total * float(np.mean(away < 0))

    def crossed(self, other: ViewOfBlocks, width: float) -> float:
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
            "smooth", block_work.smoothed, beta=self.beta, width=width, merge=add
        )
        return answer

    def split(self, width: float) -> SplitOfBlocks:
        part = self._ahead(width, Part) or self.whole.run(
            "split", block_work.split, beta=self.beta, width=width, merge=Part.joined
        )
        return SplitOfBlocks(self.whole, width, [self.beta], part)


class SplitOfBlocks:
    """The band on the client, and what the rows beyond it add up to."""

    def __init__(self, whole: BlocksAtOnce, width: float, points: list[Vector], part: Part) -> None:
        self.whole, self.width, self.points, self.part = whole, width, points, part
        self.summed, self.summed_cost = part.summed, part.summed_cost
        self.costs = part.taken.costs
        self.rows = part.taken.signed(whole.setting.center)

    def check(self, beta: Vector) -> Checked:
        points = [*self.points, beta]
        part = self.whole.run(
            "check", block_work.check, points=points, width=self.width, merge=Part.joined
        )
        return Checked(part.loss, len(part.taken.sign), (points, part))

    def grow(self, checked: Checked) -> SplitOfBlocks:
        if not checked.misplaced:
            return self
        points, part = checked.found
        joined = Part.joined([self.part, part])
        return SplitOfBlocks(self.whole, self.width, points, joined)

    def wider(self, view: ViewOfBlocks, width: float) -> SplitOfBlocks:
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
            block_work.multipliers,
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
