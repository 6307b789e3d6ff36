"""The optimal vertex of a program in few variables, by exchanging one bound at a time.

(W) of ``few_variables`` with its bounds as hinges of a large price is

    minimize over w    -q.w + sum_i price (low_i - v_i)_+ + price (v_i - high_i)_+,    v = v0 + N w

and at a vertex k independent rows, the set E, sit exactly at a bound.  With the subgradient

    G = -q + price (sum of N_i over the rows above high - the same over those below low)

of all other rows, the vertex is optimal if  y = -inv(N_E') G  lies in [-price, 0] for rows at
``low`` and in [0, price] for rows at ``high``.  Otherwise the row that is furthest outside leaves
its bound: its column of inv(N_E) is the direction, v is followed past other bounds while the
objective falls, and the row at which it stops falling takes the place.  Each exchange costs one
product with N and a rank-one change of inv(N_E), a matrix of the few variables.

A vertex need not be feasible, so any guess is a start: the exchanges repair it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from lincent.problems.arrays import Matrix, Vector
from lincent.solvers.lp.crossover import independent_rows
from lincent.solvers.solution import Controls

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Tuning:
    """Measured on null-space programs of sparse 50,000 x 5,000 data."""

    price: float = 1e4
    """Price of a violated bound in units of the largest multiplier: exact if above one."""
    optimal: float = 1e-10
    """A multiplier is outside its range if by this share of the largest."""
    tiny: float = 1e-11
    """A row is not moved by a direction if by less than this share of the largest move."""
    refresh: int = 100
    """Exchanges after which inv(N_E) is computed anew."""
    spread: float = 1e-10
    """Bounds are moved apart by up to this share of their width, so that no two tie."""


TUNING = Tuning()


class Vertex:
    """A vertex of (W), improved exchange by exchange; rows and variables may be added."""

    def __init__(
        self,
        N: Matrix,
        value: Vector,
        high: Vector,
        gain: Vector,
        held: Vector,
        unit: float,
        tuning: Tuning = TUNING,
    ) -> None:
        """``value`` is v now, between 0 and ``high``; ``gain`` are the prices of v in q = N'gain.

        ``held`` says how firmly each row is at a bound; the firmest independent rows make E.
        ``unit`` is the size of a multiplier.
        """
        self.N, self.value, self.high, self.gain = N, value.copy(), high, gain
        self.tuning, self.unit = tuning, unit
        self.E: Index = independent_rows(N * held[:, None])
        self.q = N.T @ gain
        self.at_high = value > high / 2
        self.exchanges = 0
        self.refresh()

    def refresh(self) -> bool:
        """inv(N_E) computed anew, and the rows of E put at their bounds with it."""
        if len(self.E) == 0:
            self.inverse = np.zeros((0, 0))
            return True
        factor, pivots, failed = lapack.dgetrf(self.N[self.E])
        if failed:
            return False
        self.inverse = np.ascontiguousarray(lapack.dgetri(factor, pivots)[0])
        self.settle()
        return True

    def settle(self) -> None:
        """The rows of E put exactly at their bounds."""
        wanted = np.where(self.at_high[self.E], self.high[self.E], 0.0)
        self.value += self.N @ (self.inverse @ (wanted - self.value[self.E]))
        self.value[self.E] = wanted

    def join(self, columns: Matrix, value: Vector, high: Vector, gain: Vector) -> None:
        """New rows, each at a bound, with a new variable each; ``columns`` are their effects."""
        have, k = self.N.shape
        count = len(value)
        N = np.zeros((have + count, k + count))
        N[:have, :k], N[:have, k:] = self.N, columns
        N[have:, k:] = np.eye(count)
        inverse = np.zeros((k + count, k + count))
        inverse[:k, :k] = self.inverse
        inverse[:k, k:] = -self.inverse @ columns[self.E]
        inverse[k:, k:] = np.eye(count)
        self.N, self.inverse = N, inverse
        self.E = np.concatenate([self.E, have + np.arange(count)])
        self.at_high = np.concatenate([self.at_high, value > high / 2])
        self.value = np.concatenate([self.value, value])
        self.high = np.concatenate([self.high, high])
        self.q = np.concatenate([self.q, self.gain @ columns + gain])
        self.gain = np.concatenate([self.gain, gain])

    def multipliers(self) -> Vector:
        """How far each row wants beyond its bound: zero off E."""
        p = np.zeros(len(self.N))
        p[self.E] = -(self.inverse.T @ self.q)
        return p

    @np.errstate(over="ignore", invalid="ignore")  # a singular basis ends the pivots
    def descend(self, most: int, controls: Controls) -> bool:
        """Exchange until the vertex is optimal; False if it takes more than ``most``."""
        tuning = self.tuning
        slack = tuning.spread * np.where(np.isfinite(self.high), self.high, 1.0)
        slack = slack * (np.arange(1, len(slack) + 1) * 0.6180339887498949 % 1.0)
        unit, price = self.unit, tuning.price * self.unit
        G, outside = self._subgradient(price, slack)
        for count in range(most):
            y = -(self.inverse.T @ G)
            if not np.isfinite(y).all():
                return False
            at_high = self.at_high[self.E]
            wrong = np.where(at_high, np.maximum(-y, y - price), np.maximum(y, -y - price))
            length = np.einsum("ij,ij->j", self.inverse, self.inverse)
            steep = np.where(wrong > tuning.optimal * unit, wrong / np.sqrt(length), 0.0)
            worst = int(steep.argmax()) if len(steep) else 0
            if not steep.any():
                return True
            if count % 16 == 15 and controls.out_of_time():
                return False
            # y beyond the price: further out; y of the wrong sign: inwards.
            inward = bool(y[worst] < 0) == bool(at_high[worst])
            up = bool(at_high[worst]) != inward
            direction = self.inverse[:, worst] if up else -self.inverse[:, worst]
            move = self.N @ direction
            leaving = int(self.E[worst])
            if not inward:
                outside[leaving] = 1.0 if up else -1.0  # beyond its bound already
            found = self._follow(move, -float(wrong[worst]), price, slack, outside)
            if found is None:
                return False
            length, entering, bound_high = found
            self.value += length * move
            self.exchanges += 1
            if entering == leaving:  # it reaches its own other bound first
                self.at_high[leaving] = bound_high
            else:
                self._replace(worst, entering, bound_high)
            if self.exchanges % tuning.refresh == 0 and not self.refresh():
                return False
            G, outside = self._subgradient(price, slack)
        return False

    def _subgradient(self, price: float, slack: Vector) -> tuple[Vector, Vector]:
        """G, and for each row -1 below its range, 1 above it, 0 inside or in E."""
        outside = np.where(self.value < -slack, -1.0, 0.0)
        outside[self.value > self.high + slack] = 1.0
        outside[self.E] = 0.0
        beyond = np.flatnonzero(outside)
        return price * (outside[beyond] @ self.N[beyond]) - self.q, outside

    def _follow(
        self, move: Vector, slope: float, price: float, slack: Vector, outside: Vector
    ) -> tuple[float, int, bool] | None:
        """How far to go, the row that stops it, and whether at its upper bound."""
        free = np.abs(move) > self.tuning.tiny * float(np.abs(move).max())
        rising, falling = free & (move > 0), free & (move < 0)
        # Each row can bend at low and at high; going up it meets low (if below), then high.
        parts = []
        for rows, bound, top in (
            (rising & (outside < 0), -slack, False),
            (rising & (outside <= 0) & np.isfinite(self.high), self.high + slack, True),
            (falling & (outside > 0), self.high + slack, True),
            (falling & (outside >= 0), -slack, False),
        ):
            index = np.flatnonzero(rows)
            when = (bound[index] - self.value[index]) / move[index]
            parts.append((index, np.maximum(when, 0.0), np.full(len(index), top)))
        index = np.concatenate([part[0] for part in parts])
        when = np.concatenate([part[1] for part in parts])
        is_high = np.concatenate([part[2] for part in parts])
        order = np.argsort(when)
        rises = np.cumsum(price * np.abs(move[index[order]]))
        place = int(np.searchsorted(rises, -slope))
        if place == len(order):
            return None
        chosen = order[place]
        return float(when[chosen]), int(index[chosen]), bool(is_high[chosen])

    def _replace(self, position: int, entering: int, at_high: bool) -> None:
        """The row takes the place in E: a rank-one change of the inverse."""
        self.E[position] = entering
        self.at_high[entering] = at_high
        change = self.N[entering] @ self.inverse
        pivot = change[position]
        change[position] -= 1.0
        self.inverse -= np.outer(self.inverse[:, position], change / pivot)
