"""Steps toward the minimum of the regularized program, from its curvature.

With D_i = c_i / (hi - lo) for rows between the margins and 0 for the others, v = sum_i D_i y_i a_i
and s = sum_i D_i, the second derivative of (P) in (beta, t) is

    [ I + A' D A    -v ]
    [    -v'         s ]

and a step solves it against the gradient (g, e).  Eliminating t (if it is free and s > 0),

    H step = -(g + v e / s),    H = I + A' D A - v v' / s,    shift = (v.step - e) / s.

Ways to such a step:

Whole       H formed and factored: an exact Newton step.  From step to step few rows cross a margin,
            so A'DA is brought up to date by the rows that did; with hundreds of columns they are
            taken into the last factor (``changed``), and where rows between the margins are few,
            they are solved for by their products with each other (``dual``).
Sampled     H of a sample that stands for all rows, corrected by the gradients seen so far (limited
            memory BFGS).  Forming H reads the rows at a cost of n per entry; this does it for few.
Conjugate   H only multiplied, for problems large in both directions.
LightFirst  Conjugate while its products are few beside what forming H costs, then Whole.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.changed import Changed
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.factor import Factored, Threshold
from lincent.solvers.newton.oracle import Inside, Reading
from lincent.sources.kernel import SelectedColumns


@dataclass(frozen=True)
class Tuning:
    """What a step may cost; measured on the shapes of ``benchmarks/regularized_times.py``."""

    memory: int = 8
    """Gradients that correct the curvature of a sample: more seldom help."""
    stale_share: float = 0.002
    """A curvature that is wrong for no more rows than this is used as it is, while it serves."""
    serves: float = 0.1
    """A curvature serves if the step that it gave left no more than this share of the gradient."""
    many_rows: int = 1_000
    """From so many rows on a Gram matrix is added up by class, where costs are mostly equal."""
    compact_share: float = 0.85
    """With a smaller share of rows between the margins, these are gathered before they are used."""
    cg_steps: int = 200
    cg_share: float = 0.1
    """Conjugate gradients at most, and the residual that they may leave far from the solution."""
    light_share: float = 0.15
    """Products with all rows, per column, after which exact steps follow: on columns that hardly
    depend 30 to 100 are enough at 5,000 x 1,000, where exact steps cost more than 100."""
    first_share: float = 1e-3
    """The residual of the first step, from which all others begin."""
    first_products: float = 0.04
    """Products, per column, after which the first step is left as it is and exact ones follow: 7 to
    9 are enough on columns that hardly depend, and 150 are not where they do."""
    changed_order: int = 300
    """From this order on rows that change are taken into account without a new factor."""
    changed_share: float = 0.3
    """Rows that may have changed since a factor was made, per column."""
    dual_share: float = 0.75
    """Rows between the margins, per column, up to which their products with each other are less
    work than a matrix of the columns."""
    light_rows: float = 0.33
    """The share of rows between the margins from which on products are cheaper than a matrix."""


TUNING = Tuning()


class Curvature(Protocol):
    """Where to go from a point."""

    @property
    def coarse(self) -> bool:
        """Whether rows in single precision no longer tell where to go."""

    def step(self, point: Reading) -> tuple[Vector, float]:
        """The step in beta and the one in t."""

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        """A step was taken from one point to the other, cut short or not."""


def between(program: RegularizedProgram, inside: Inside) -> Vector:
    """D: the curvature that each row contributes."""
    return np.where(inside, program.costs / program.width, 0.0)


class Whole:
    """Exact Newton steps."""

    def __init__(
        self,
        program: RegularizedProgram,
        stale: float = TUNING.stale_share,
        *,
        rough: bool = False,
    ) -> None:
        self.program, self.stale, self.rough = program, stale, rough
        self.inside: Inside | None = None
        self.gram: Matrix = np.empty((0, 0))
        self.v: Vector = np.empty(0)
        self.total = 0.0
        self.factor: Factored | None = None
        self.changed: Changed | None = None
        self.dual = Dual(program)
        self.serves = True
        self.torn: Inside | None = None
        self.crossed: Inside | None = None

    def with_costs(self, program: RegularizedProgram, ratio: float) -> None:
        """The same rows from here on, at costs that are so many times those before."""
        self.program, self.dual = program, Dual(program)
        self.gram, self.v = self.gram * ratio, self.v * ratio
        self.total *= ratio
        self.factor = self.changed = None
        self.torn = self.crossed = None

    def exchange(self, old: Whole, rows: SelectedColumns, new: Index) -> None:
        """Begin where another left off whose program had other columns at these places."""
        if old.inside is None:
            return
        n, before = rows.shape[1], len(old.gram)
        self.inside, self.total = old.inside, old.total
        D = between(self.program, old.inside)
        self.gram = np.empty((n, n))
        self.gram[:before, :before] = old.gram
        self.gram[:, new] = cross = rows.cross(D, new)
        self.gram[new] = cross.T
        self.v = rows.tdot(D * self.program.sign)

    def at(self, inside: Inside) -> tuple[Matrix, Vector, float]:
        """A'DA, v and s where these rows are between the margins."""
        self._update(inside)
        return self.gram, self.v, self.total

    def thin(self, inside: Inside, every: int) -> Factored:
        """About the same curvature from every k-th row alone; what it costs is not lost."""
        mask = np.zeros_like(inside)
        mask[::every] = inside[::every]
        gram, v, total = self.at(mask)
        whole = float(self.program.costs @ inside) / self.program.width
        share = whole / total if total > 0.0 else 1.0
        return Factored(Threshold(share * v, whole if self.program.free else 0.0), share * gram)

    def factored(self, inside: Inside) -> Factored:
        """The curvature where these rows are between the margins."""
        if self._update(inside) or self.factor is None:
            threshold = Threshold(self.v, self.total if self.program.free else 0.0)
            self.factor = Factored(threshold, self.gram.copy(), rough=self.rough)
            if self.program.shape[1] >= TUNING.changed_order:
                self.changed = Changed(self.program, self.factor)
        return self.factor

    @property
    def coarse(self) -> bool:
        return self.dual.coarse or (self.factor is not None and self.factor.coarse)

    def _update(self, inside: Inside) -> bool:
        """A'DA, v and s: brought up to date by the rows that changed, or anew if they are many."""
        count = int(np.count_nonzero(inside))
        if self.inside is not None:
            changed = np.flatnonzero(inside != self.inside)
            # A single row can matter: its class may be small and its cost large.
            if changed.size <= (self.stale * inside.size if self.serves else 0):
                return False
            if changed.size < count:
                entered = inside[changed]
                self._add(changed[entered], 1.0)
                self._add(changed[~entered], -1.0)
                self.inside = inside
                return True
        self.inside = inside
        program, n = self.program, self.program.shape[1]
        if count >= TUNING.compact_share * inside.size:
            D = between(program, inside)
            self.gram, self.total = program.rows.gram(D), float(D.sum())
            if program.free:
                self.v = program.rows.tdot(D * program.sign)
            return True
        self.gram, self.v, self.total = np.zeros((n, n)), np.zeros(n), 0.0
        self._add(np.flatnonzero(inside), 1.0)
        return True

    def _add(self, index: Index, way: float) -> None:
        """Rows that enter (1) or leave (-1)."""
        parts = [index]
        if index.size > TUNING.many_rows:
            # By class, since the rows of a class often cost the same, which a Gram matrix can use.
            positive = self.program.sign[index] > 0
            parts = [index[positive], index[~positive]]
        for part in parts:
            if part.size:
                self._add_part(part, way)

    def _add_part(self, index: Index, way: float) -> None:
        rows = self.program.rows.take(index)
        weight = self.program.costs[index] / self.program.width
        gram = rows.gram(weight)
        gram *= way
        self.gram += gram
        self.total += way * float(weight.sum())
        if self.program.free:
            self.v += rows.tdot(weight * self.program.sign[index] * way)

    def step(self, point: Reading) -> tuple[Vector, float]:
        inside = point.inside if self.torn is None else point.inside | self.torn
        if self.program.shape[1] < TUNING.changed_order:
            return self.factored(inside).solve(point.gradient, point.slope)
        found = self._changed_step(inside, point)
        if found is not None:
            return found
        if np.count_nonzero(inside) <= TUNING.dual_share * self.program.shape[1]:
            return self.dual.step_at(point, inside)
        return self.factored(inside).solve(point.gradient, point.slope)

    def _changed_step(self, inside: Inside, point: Reading) -> tuple[Vector, float] | None:
        """The step by the last factor and the rows that changed since, unless they are too many."""
        if self.changed is None or self.inside is None or not np.any(inside):
            return None
        index = np.flatnonzero(inside != self.inside)
        more = len(self.changed.unknown(index))
        if self.changed.known + more > TUNING.changed_share * self.program.shape[1]:
            return None
        came = np.where(inside[index], 1.0, -1.0)
        return self.changed.step(index, came, point.gradient, point.slope)

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        """Every step starts from the curvature at its own point.

        But where rows at a margin (many at once, if they are equal) cut steps short and cross it
        back and forth, that would be endless: they count as curved until a step is long again.
        """
        left, had = (
            math.hypot(float(np.linalg.norm(p.gradient)), p.slope) for p in (after, before)
        )
        self.serves = left <= TUNING.serves * had
        if not short:
            self.torn = self.crossed = None
            return
        crossed = before.inside != after.inside
        if self.crossed is not None:
            again = crossed & self.crossed
            self.torn = again if self.torn is None else self.torn | again
        self.crossed = crossed


class Sampled:
    """Steps from the curvature of a sample, corrected by the gradients seen on all rows.

    ``crowd`` is the number of columns per row of the sample between the margins.
    """

    coarse = False

    def __init__(self, curvature: Factored, crowd: float) -> None:
        self.H = curvature
        # The inverse curvature of few rows is too large in the mean (Wishart): shorter steps.
        crowd = min(0.5, crowd)
        self.relax = (1.0 - crowd) ** 2 / (1.0 + crowd)
        self.pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=TUNING.memory)

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        taken = np.append(after.beta - before.beta, after.t - before.t)
        change = np.append(after.gradient - before.gradient, after.slope - before.slope)
        product = float(taken @ change)
        if product > 0.0:
            self.pairs.append((taken, change, product))

    def step(self, point: Reading) -> tuple[Vector, float]:
        q = np.append(point.gradient, point.slope)
        used = []
        for taken, change, product in reversed(self.pairs):
            share = float(taken @ q) / product
            q -= share * change
            used.append(share)
        step, shift = self.H.solve(q[:-1], float(q[-1]))
        q = np.append(step, shift) * -self.relax
        for (taken, change, product), share in zip(self.pairs, reversed(used), strict=True):
            q += (share - float(change @ q) / product) * taken
        return -q[:-1], -float(q[-1])


class Conjugate:
    """Truncated Newton steps: conjugate gradients, scaled by the size of the columns."""

    coarse = False

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.squares = program.rows.column_scale() ** 2
        self.products = 0.0
        """Products so far, each by its share of the rows."""
        self.share = TUNING.cg_share
        self.limit = np.inf
        """Products after which a step is left as far as it is."""

    def step(self, point: Reading) -> tuple[Vector, float]:
        rows = self.program.rows
        D = between(self.program, point.inside)
        threshold = Threshold.of(self.program, D)
        share = float(np.count_nonzero(D)) / max(1, len(D))
        if not rows.sparse and share < TUNING.compact_share:
            inside = np.flatnonzero(D)  # the others have no part in any product
            rows, D = rows.take(inside), D[inside]
        else:
            share = 1.0
        diagonal = 1.0 + float(D.sum()) * self.squares
        x = np.zeros_like(point.beta)
        residual = -threshold.gradient(point.gradient, point.slope)
        scaled = residual / diagonal
        direction = scaled
        size = float(residual @ scaled)
        # Near the solution the step is made more exact, for fast final convergence.
        enough = size * min(self.share, float(np.sqrt(np.linalg.norm(point.gradient)))) ** 2
        for _ in range(TUNING.cg_steps):
            if size <= enough or size == 0.0 or self.products > self.limit:
                break
            self.products += share
            product = direction + rows.tdot(D * rows.dot(direction))
            product = product - threshold.multiply(direction)
            length = size / float(direction @ product)
            x = x + length * direction
            residual = residual - length * product
            scaled = residual / diagonal
            previous, size = size, float(residual @ scaled)
            direction = scaled + (size / previous) * direction
        return x, threshold.shift(x, point.slope)

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        """Every step starts from the curvature at its own point."""


class LightFirst:
    """Truncated steps while they are cheap, exact ones afterwards.

    Cheap they no longer are once their products have cost about what an exact step costs, where few
    rows are between the margins (then those are solved for by their products with each other),
    where one was cut short, or where, close to the solution, one does not bring the gradient down.
    """

    def __init__(self, program: RegularizedProgram) -> None:
        self.program, self.light = program, Conjugate(program)
        self.exact = Whole(program, rough=True)
        self.light.limit = TUNING.first_products * program.shape[1]
        self.light.share = TUNING.first_share
        self.cheap, self.close = True, False

    @property
    def coarse(self) -> bool:
        return self.exact.coarse

    def step(self, point: Reading) -> tuple[Vector, float]:
        if np.count_nonzero(point.inside) < TUNING.light_rows * len(point.inside):
            self.cheap = False
        if not self.cheap:
            return self.exact.step(point)
        found = self.light.step(point)
        if self.light.share == TUNING.first_share:
            self.cheap = self.light.products <= self.light.limit
            self.light.share = TUNING.cg_share
            self.light.limit = TUNING.light_share * self.light.program.shape[1]
        return found

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        if not self.cheap:
            return self.exact.learn(before, after, short)
        self.light.products += 1  # a step reads the rows as well
        left, had = (float(np.linalg.norm(p.gradient)) for p in (after, before))
        poor = self.close and left > TUNING.serves * had
        self.cheap = not (short or poor or self.light.products > self.light.limit)
        return None
