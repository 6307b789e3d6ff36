"""Small programs whose optimum is known, each with its derivation.

Every program is, with s the margin, C the cost and w_i the weight of a row,

    minimize  F(beta) = -d.beta + sum_i C w_i max(-s, -a_i.beta),    |beta_j| <= 1,  d.beta >= s

(findings: a_i = y_i (x_i - l)).  Most data sets are mirrored: the negative rows are the positive
ones with every sign turned.  Then l = 0, d is twice the mean of the positive rows, and each
positive row x counts twice as a = x.
"""

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.centralization import Program
from lincent.sources.dense import DenseRows
from support.degenerate import program_of


@dataclass(frozen=True)
class Problem:
    """A program, its optimal value, and the optimal point where it is the only one."""

    name: str
    program: Program
    optimum: float
    beta: tuple[float, ...] | None = None

    @property
    def infeasible(self) -> bool:
        return np.isinf(self.optimum)


def mirrored(positive, weight=None, **settings):
    """The program of some positive rows and the same rows turned around as negative ones."""
    X = np.atleast_2d(np.asarray(positive, dtype=float))
    sign = np.repeat([1.0, -1.0], len(X))
    weight = None if weight is None else np.tile(weight, 2)
    return program_of(np.vstack([X, -X]), sign, weight, **settings)


def two_rows():
    # a = 1 twice, d = 2.  F = -2b + 4 max(-s, -b): falls up to the box.  At b = 1: -2 - 4s.
    return Problem("two rows", mirrored([[1.0]], C=2.0, margin=0.01), -2.04, (1.0,))


def more_wrong_than_right():
    # Positive rows 1, 1, -3, mean -1/3, d = -2/3: the center is on the wrong side of most rows.
    # With b = -beta >= 1.5 s:  F = -(2/3) b + 2 (4 b - 2 s) = (22/3) b - 4 s: rises.  So d.beta = s
    # is met with equality, b = 1.5 s and F = 11 s - 4 s = 7 s.
    program = mirrored([[1.0], [1.0], [-3.0]], C=2.0, margin=0.01)
    return Problem("gap constraint active", program, 0.07, (-0.015,))


def noisy():
    # Positive rows 1, 1, 1, -1: d = 1, and for b >= s  F = -b + C (2 b - 6 s).  C = 2: rising,
    # b = s, where six rows at the margin and d.beta = s coincide: -s + 2 (2 s - 6 s) = -9 s.
    program = mirrored([[1.0], [1.0], [1.0], [-1.0]], C=2.0, margin=0.01)
    return Problem("margin and gap coincide", program, -0.09, (0.01,))


def cheap_noise():
    # The same with C = 1/4: F = -b/2 - 1.5 s falls up to the box.
    program = mirrored([[1.0], [1.0], [1.0], [-1.0]], C=0.25, margin=0.01)
    return Problem("box active", program, -0.515, (1.0,))


def face():
    # The same with C = 1/2: F = -3 s for every b in [s, 1].
    program = mirrored([[1.0], [1.0], [1.0], [-1.0]], C=0.5, margin=0.01)
    return Problem("face of optima", program, -0.03)


def redundant_columns():
    # The column of ``more_wrong_than_right`` twice, and a constant one.  Only b1 + b2 counts, and
    # it has the same optimum: any split of -1.5 s, and anything on the constant column.
    column = np.array([1.0, 1.0, -3.0, -1.0, -1.0, 3.0])
    X = np.column_stack([column, column, np.full(6, 7.0)])
    sign = np.repeat([1.0, -1.0], 3)
    return Problem("redundant columns", program_of(X, sign, C=2.0, margin=0.01), 0.07)


def separable():
    # Positive rows (1, 1), (1, -1): d = (2, 0).  b1 = 1 is best for every term, and all rows keep
    # the margin while |b2| <= 1 - s.  F = -2 - 8 s on that face.
    program = mirrored([[1.0, 1.0], [1.0, -1.0]], C=2.0, margin=0.01)
    return Problem("separable", program, -2.08)


BENT = [[1.0, -2.0], [1.0, 4.0], [1.0, 1.0]]


def bent():
    # Mean (1, 1), d = (2, 2).  The corner (1, 1) breaks row (1, -2); beyond its hinge
    # b2 = (b1 - s)/2 the slope in b2 is -2 + 4 C = 6 > 0, below it -2.  Along the hinge F falls
    # with b1.  So beta = (1, (1 - s)/2): F = -2 - (1 - s) - 12 s = -3 - 11 s.
    program = mirrored(BENT, C=2.0, margin=0.01)
    return Problem("hinge and box", program, -3.11, (1.0, 0.495))


def hard_margin():
    # The same with C = inf: row (1, -2) is a constraint and the constant is left out: -3 + s.
    program = mirrored(BENT, C=np.inf, margin=0.01)
    return Problem("hard margin", program, -2.99, (1.0, 0.495))


def hard_margin_impossible():
    # Positive rows 1, 1, 1, -1: a = 1 and a = -1 cannot both be above s.
    program = mirrored([[1.0], [1.0], [1.0], [-1.0]], C=np.inf, margin=0.01)
    return Problem("hard margin, not separable", program, np.inf)


def weighted():
    # The bent rows with weights 2, 1, 1: mean (1, 1/4), d = (2, 1/2), total weight 8, C = 2.
    # Same hinge: F = -2 - (1 - s)/4 - 16 s = -2.25 - 15.75 s.
    program = mirrored(BENT, weight=[2.0, 1.0, 1.0], C=2.0, margin=0.01)
    return Problem("weighted", program, -2.4075, (1.0, 0.495))


def repeated():
    # A weight of 2 is a repeated row: the same as ``weighted``.
    program = mirrored([BENT[0], *BENT], C=2.0, margin=0.01)
    return Problem("repeated rows", program, -2.4075, (1.0, 0.495))


def rows_without_weight():
    # ``two_rows`` and a row that would spoil it, but weighs nothing.
    program = mirrored([[1.0], [-100.0]], weight=[1.0, 0.0], C=2.0, margin=0.01)
    return Problem("a row of weight zero", program, -2.04, (1.0,))


def margin_limit():
    # Positive row (1, 1/2): d = (2, 1), and s = 3 = |d|_1 leaves beta = (1, 1), where both rows are
    # 1.5 from the midpoint: F = -3 + 4 (-1.5) = -9.
    program = mirrored([[1.0, 0.5]], C=2.0, margin=3.0)
    return Problem("margin limit", program, -9.0, (1.0, 1.0))


def margin_limit_with_a_free_column():
    # The rows of ``separable`` at s = 2 = |d|_1: b1 = 1 and b2 is free,
    # F = -2 + 4 (-(1 + b2) - (1 - b2)) = -10 whatever b2 is.
    program = mirrored([[1.0, 1.0], [1.0, -1.0]], C=2.0, margin=2.0)
    return Problem("margin limit, free column", program, -10.0)


def margin_limit_with_a_working_column():
    # Positive rows (1, 3), (1, 1), (1, -4): d = (2, 0), s = 2 = |d|_1, so b1 = 1.  With C = 2 the
    # rest is 4 [max(-2, -1 - 3 b) + max(-2, -1 - b) + max(-2, -1 + 4 b)].  The bracket is -3 for
    # -1/4 <= b <= 1/3, -4 + 3 b above (rising), -4 - 4 b below (falling towards -1/4): a face that
    # ends where rows reach the margin.  F = -2 - 12 = -14.
    program = mirrored([[1.0, 3.0], [1.0, 1.0], [1.0, -4.0]], C=2.0, margin=2.0)
    return Problem("margin limit, working column", program, -14.0)


def more_columns_than_rows():
    # Positive row x = (1, 2, 3, 0, -1): beta = sign(x) with the fourth free, F = -2 |x|_1 - 4 s.
    program = mirrored([[1.0, 2.0, 3.0, 0.0, -1.0]], C=2.0, margin=0.01)
    return Problem("more columns than rows", program, -14.04)


def scales():
    # As above with x = (1e-6, 1e6).  The first column adds 2e-6 to an optimum of 2e6: beyond any
    # tolerance on F, so only the second coefficient is settled.
    program = mirrored([[1e-6, 1e6]], C=2.0, margin=0.01)
    return Problem("scales", program, -2.0 * (1e6 + 1e-6) - 0.04)


def general_form():
    # What screening hands on: another box, another linear term, gap and margin apart, an offset.
    # b + 3 (0.1 - b)_+ + (0.1 + b)_+ + 5 on [0.2, 0.5] with b >= 0.3: rises, so b = 0.3: 5.7.
    program = Program(
        rows=DenseRows(np.array([[1.0], [-1.0]])),
        costs=np.array([3.0, 1.0]),
        margin=0.1,
        linear=np.array([1.0]),
        difference=np.array([1.0]),
        separation=0.3,
        lower=np.array([0.2]),
        upper=np.array([0.5]),
        offset=5.0,
    )
    return Problem("general form", program, 5.7, (0.3,))


def infeasible():
    # d = 2 and s = 2.5: no point of the box has d.beta >= s.
    return Problem("infeasible", mirrored([[1.0]], C=2.0, margin=2.5), np.inf)


def coinciding_centers():
    # Positive rows 1, -1: d = 0, so no margin at all is feasible.
    return Problem("coinciding centers", mirrored([[1.0], [-1.0]], C=2.0, margin=0.01), np.inf)


PROBLEMS = [
    make()
    for make in (
        two_rows,
        more_wrong_than_right,
        noisy,
        cheap_noise,
        face,
        redundant_columns,
        separable,
        bent,
        hard_margin,
        hard_margin_impossible,
        weighted,
        repeated,
        rows_without_weight,
        margin_limit,
        margin_limit_with_a_free_column,
        margin_limit_with_a_working_column,
        more_columns_than_rows,
        scales,
        general_form,
        infeasible,
        coinciding_centers,
    )
]


def tiled(problem: Problem, times: int) -> Problem:
    """Every row ``times`` times at a fraction of its cost: the same function, the same optimum."""
    program = problem.program
    rows = DenseRows(np.tile(program.rows.dense(), (times, 1)))
    many = replace(program, rows=rows, costs=np.tile(program.costs / times, times))
    return replace(problem, name=f"{problem.name}, tiled", program=many)
