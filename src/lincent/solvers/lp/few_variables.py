"""A linear program in few variables with many two-sided rows.

    maximize over w    q.w      subject to    low <= N w <= high                           (W)

``high`` may be infinite.  With S the slacks of all finite bounds and Z their multipliers,

    spread(v) = [v; -v_F]       F the rows with a finite upper bound
    fold(Z)   = Z_low, less Z_high on the rows F                 (the transpose of spread)

the optimality conditions are

    spread(N w) - bounds = S,     q + N' fold(Z) = 0,     S Z = 0,     S, Z >= 0,

and Mehrotra's predictor-corrector needs one matrix N' D N of the few variables per step.  The
multipliers p = fold(Z) say by how much each row wants to leave its bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Matrix, Vector
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """What the solve trades; measured on null-space programs of 300 to 1,000 variables."""

    start_slack: float = 0.02
    """Least slack at the start, as a share of a row's width: less jams, more is further away."""
    start_price: float = 0.3
    """Multipliers at the start, as a share of the largest price in q."""
    step_back: float = 0.995
    stationary: float = 1e-8
    """q + N'p relative to the largest q: what is left is taken out by the caller's refinement."""
    met: float = 1e-9
    """The bounds are met to this share of a row's width."""
    floor: float = 1e-14
    """Below this share of its start the complementarity is rounding."""
    ridge: float = 1e-13
    most_steps: int = 80


TUNING = Tuning()


@dataclass(frozen=True)
class FewVariables:
    """The solution of (W): the variables, the multipliers of the rows, the steps taken."""

    w: Vector
    multipliers: Vector
    held: Vector
    """How firmly each row is at a bound: the root of its price over its distance."""
    steps: int


def maximize(
    N: Matrix,
    low: Vector,
    high: Vector,
    q: Vector,
    tol: float,
    controls: Controls,
    tuning: Tuning = TUNING,
) -> FewVariables:
    """The solution of (W) with complementarity below ``tol``; w = 0 is near feasible."""
    if N.shape[1] == 0:  # a working set of independent hinges leaves nothing to choose
        nothing = np.zeros(len(low))
        return FewVariables(np.zeros(0), nothing, nothing, 0)
    return _Iterate(N, low, high, q, tuning).run(tol, controls)


class _Iterate:
    def __init__(self, N: Matrix, low: Vector, high: Vector, q: Vector, tuning: Tuning) -> None:
        self.N, self.q, self.tuning = N, q, tuning
        self.finite = np.flatnonzero(np.isfinite(high))
        width = high - low
        typical = float(np.median(width[self.finite])) if len(self.finite) else 1.0
        self.width = np.where(np.isfinite(width), np.maximum(width, 1e-9 * typical), typical)
        self.bounds = np.concatenate([low, -high[self.finite]])
        self.widths = np.concatenate([self.width, self.width[self.finite]])
        self.price = float(np.abs(q).max(initial=0.0)) or 1.0
        self.w = np.zeros(N.shape[1])
        self.S = np.maximum(-self.bounds, tuning.start_slack * self.widths)
        self.Z = np.full(len(self.S), tuning.start_price * self.price)

    def spread(self, v: Vector) -> Vector:
        return np.concatenate([v, -v[self.finite]])

    def fold(self, x: Vector, sign: float = -1.0) -> Vector:
        rows = x[: len(self.width)].copy()
        rows[self.finite] += sign * x[len(self.width) :]
        return rows

    @np.errstate(divide="ignore", over="ignore", invalid="ignore")
    def run(self, tol: float, controls: Controls) -> FewVariables:
        tuning, unit = self.tuning, self.price * float(self.widths.mean())
        steps = 0
        while steps < tuning.most_steps:
            self.r_rows = self.spread(self.N @ self.w) - self.bounds - self.S
            self.r_price = -(self.q + self.N.T @ self.fold(self.Z))
            mu = float(self.S @ self.Z) / len(self.S)
            unmet = float(np.abs(self.r_rows / self.widths).max(initial=0.0))
            unpaid = float(np.abs(self.r_price).max(initial=0.0))
            close = unmet < tuning.met and unpaid < tuning.stationary * self.price
            if (mu < tol * unit and close) or mu < tuning.floor * unit or controls.out_of_time():
                break
            if not self._advance(mu):
                break
            steps += 1
        p = self.fold(self.Z)
        firm = np.sqrt(self.Z * self.widths / (self.S * self.price))
        held = firm[: len(self.width)].copy()
        held[self.finite] = np.maximum(held[self.finite], firm[len(self.width) :])
        return FewVariables(self.w, p, held, steps)

    def _advance(self, mu: float) -> bool:
        """One step; False where the matrix cannot be factored or the step is not finite."""
        D = self.fold(self.Z / self.S, sign=1.0)
        scaled = self.N * np.sqrt(D)[:, None]
        H = blas.dsyrk(1.0, scaled.T, lower=1)
        H.flat[:: len(H) + 1] *= 1.0 + self.tuning.ridge
        self.factor, failed = lapack.dpotrf(H, lower=1, overwrite_a=1)
        if failed:
            return False
        product = self.S * self.Z
        _, dS, dZ = self._direction(-product)
        primal, dual = _length(self.S, dS), _length(self.Z, dZ)
        ahead = float((self.S + primal * dS) @ (self.Z + dual * dZ)) / len(self.S)
        center = min((ahead / mu) ** 3, 1.0) * mu
        dw, dS, dZ = self._direction(center - product - dS * dZ)
        primal = self.tuning.step_back * _length(self.S, dS)
        dual = self.tuning.step_back * _length(self.Z, dZ)
        if not np.isfinite(primal + dual):
            return False
        self.w = self.w + primal * dw
        self.S = self.S + primal * dS
        self.Z = self.Z + dual * dZ
        return True

    def _direction(self, R: Vector) -> tuple[Vector, Vector, Vector]:
        """The Newton step for Z dS + S dZ = R."""
        push = self.fold((R - self.Z * self.r_rows) / self.S)
        dw = lapack.dpotrs(self.factor, self.N.T @ push - self.r_price, lower=1)[0]
        dS = self.spread(self.N @ dw) + self.r_rows
        return dw, dS, (R - self.Z * dS) / self.S


def _length(x: Vector, dx: Vector) -> float:
    """The longest step up to 1 that keeps x nonnegative."""
    return 1.0 / max(1.0, float((-dx / x).max()))
