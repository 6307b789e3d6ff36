"""Programs of every kind, against HiGHS and Clarabel, and against themselves changed.

For a certified answer with objective P and bound D, and the point beta that another solver finds,
moved into the feasible set and valued by us,

    D <= value(beta) + slack      or the bound is no bound
    P <= value(beta) + slack      or the answer is not the best

so that the other solver's own tolerances do not matter.  Then the same data is permuted, its rows
are repeated at half the weight, split, shifted, scaled or relabeled, and the objective must follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from campaigns.outcome import Outcome
from lincent.estimators.problem import BinaryProblem
from lincent.problems.centralization import Program
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls, Solution

TOL = 1e-9
SLACK = 4e-9
KINDS = (
    "plain", "degenerate", "scales", "scaled", "shifted", "heavy", "weighted", "repeated", "wide",
    "binary", "outlier", "tiny margin", "large margin",
)  # fmt: skip
CHANGES = ("permute", "halve", "split", "scale", "shift", "relabel", "free row", "columns")


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """An instance: rows, signs, weights, C and the margin as a share of the largest."""
    kind = KINDS[rng.integers(len(KINDS))]
    m, n = int(rng.integers(3, 60)), int(rng.integers(1, 9))
    if kind == "wide":
        m, n = int(rng.integers(3, 12)), int(rng.integers(8, 30))
    X = rng.standard_normal((m, n))
    sign = np.where(rng.random(m) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    sign[:2] = -1.0, 1.0
    X += np.outer(sign, rng.standard_normal(n)) * rng.uniform(0, 1.5)
    weight, share = np.ones(m), float(10.0 ** rng.uniform(-4, -0.3))
    X, weight, share = _shaped(kind, X, weight, share, rng)
    C = float(10.0 ** rng.uniform(-2, 2))
    return {"kind": kind, "X": X, "sign": sign, "weight": weight, "C": C, "share": share}


def _shaped(
    kind: str, X: np.ndarray, weight: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    m, n = X.shape
    if kind == "degenerate":
        X = np.round(X)
    elif kind == "binary":
        X = (X > 0).astype(np.float64)
    elif kind == "scales":
        X = X * 10.0 ** rng.uniform(-6, 6, n)
    elif kind == "scaled":
        X = X * 10.0 ** rng.uniform(-100, 100)
    elif kind == "shifted":
        X = X + 10.0 ** rng.uniform(0, 8, n)
    elif kind == "heavy":
        X = X**3 * np.exp(X)
    elif kind == "outlier":
        X[rng.integers(m), rng.integers(n)] *= 10.0 ** rng.uniform(2, 6)
    elif kind == "weighted":
        weight = 10.0 ** rng.uniform(-6, 6, m)
    elif kind == "repeated":
        X = X[rng.integers(max(1, m // 4), size=m)]
    elif kind == "tiny margin":
        share = float(10.0 ** rng.uniform(-14, -6))
    elif kind == "large margin":
        share = float(rng.uniform(0.9, 1.0))
    return X, weight, share


def problem_of(instance: dict[str, Any]) -> tuple[BinaryProblem, Program] | None:
    """The two-class problem and its program; None where the class centers coincide."""
    weight = instance["weight"]
    problem = BinaryProblem(instance["X"], instance["sign"], weight, weight)
    margin = instance.get("margin", instance["share"] * problem.largest_margin)
    if not 0 < margin <= problem.largest_margin < np.inf:
        return None
    return problem, problem.program(problem.costs(instance["C"]), margin)


def solved(program: Program) -> Solution:
    return dispatch.solve(program, "auto", Controls(tol=TOL), np.random.default_rng(0))


def check(instance: dict[str, Any]) -> Outcome:
    """One instance against the other solvers, and changed."""
    made = problem_of(instance)
    if made is None:
        return Outcome("no program", checks=0)
    problem, program = made
    found = solved(program)
    sure = found.certified(TOL)
    faults = [_against(name, program, found, sure) for name in ("highs", "clarabel")]
    rng = np.random.default_rng(len(instance["sign"]))
    change = CHANGES[rng.integers(len(CHANGES))]
    faults.append(_changed(change, instance, problem, program, found, rng))
    fault = "; ".join(entry for entry in faults if entry)
    kind = "certified" if sure else "warned"
    return Outcome(kind, fault, instance if fault else {}, checks=3)


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check(draw(rng))


def _against(name: str, program: Program, found: Solution, sure: bool) -> str:
    other = _other_point(name, program)
    if other is None or not sure:
        return ""
    beta = program.feasible(other)
    value = program.primal(beta, program.rows.dot(beta))
    answer = found.certificate
    size = SLACK * max(answer.unit, abs(answer.objective), abs(value))
    if answer.dual_objective > value + size + answer.rounding:
        return f"{name}: the bound {answer.dual_objective!r} is above the value {value!r}"
    if answer.objective > value + size + answer.rounding:
        return f"{name}: the objective {answer.objective!r} is above the value {value!r}"
    return ""


def _other_point(name: str, program: Program) -> np.ndarray | None:
    """The optimum by another solver, in the variables beta and slack; None where it fails."""
    from scipy.optimize import linprog

    A = program.rows.dense()
    m, n = A.shape
    unit = float(np.abs(A).max()) or 1.0
    if not 1e-9 < unit < 1e9:  # out of their reach without our scaling
        return None
    c = np.concatenate([program.linear, program.costs])
    G = np.block([[-A, -np.eye(m)], [-program.difference[None], np.zeros((1, m))]])
    h = np.concatenate([np.full(m, -program.margin), [-program.separation]])
    low = np.concatenate([program.lower, np.zeros(m)])
    high = np.concatenate([program.upper, np.full(m, np.inf)])
    if name == "highs":
        answer = linprog(c, G, h, bounds=np.stack([low, high], 1), method="highs-ds")
        return None if answer.x is None else answer.x[:n]
    try:
        import clarabel
    except ImportError:
        return None
    import scipy.sparse as sp

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    eye = np.eye(n + m)
    rows = sp.csc_matrix(np.vstack([G, -eye, eye[:n]]))
    right = np.concatenate([h, -low, high[:n]])
    nothing = sp.csc_matrix((n + m, n + m))
    cones = [clarabel.NonnegativeConeT(len(right))]
    answer = clarabel.DefaultSolver(nothing, c, rows, right, cones, settings).solve()
    point = np.asarray(answer.x)[:n]
    return point if np.isfinite(point).all() else None


def _changed(
    change: str,
    instance: dict[str, Any],
    problem: BinaryProblem,
    program: Program,
    found: Solution,
    rng: np.random.Generator,
) -> str:
    X, sign, weight = instance["X"], instance["sign"], instance["weight"]
    m, n = X.shape
    new, unit = dict(instance, margin=program.margin), 1.0
    if change == "permute":
        order = rng.permutation(m)
        new.update(X=X[order], sign=sign[order], weight=weight[order])
    elif change == "halve":
        new.update(X=np.vstack([X, X]), sign=np.tile(sign, 2), weight=np.tile(weight / 2, 2))
    elif change == "split":
        new.update(X=np.vstack([X, X[:1]]), sign=np.append(sign, sign[0]))
        new["weight"] = np.append(weight, weight[0] * 0.75)
        new["weight"][0] *= 0.25
    elif change == "scale":
        unit = 2.0 ** int(rng.integers(-60, 60))
        new.update(X=X * unit, margin=program.margin * unit)
    elif change == "shift":
        new["X"] = X + np.round(np.abs(X).max() * rng.integers(-8, 8, n))
    elif change == "relabel":
        new["sign"] = -sign
    elif change == "free row":
        new.update(X=np.vstack([X, X[:1] + 1]), sign=np.append(sign, 1.0))
        new["weight"] = np.append(weight, 0.0)
    else:
        new["X"] = X[:, rng.permutation(n)]
    return _compare(change, new, found, unit, np.abs(X).max())


def _compare(change: str, new: dict[str, Any], found: Solution, unit: float, size: float) -> str:
    made = problem_of(new)
    if made is None:  # rounding can move a margin beyond the largest feasible one
        return ""
    other = solved(made[1]).certificate
    first = found.certificate
    gap = first.gap + other.gap / unit
    slack = SLACK * max(first.unit, abs(first.objective)) + gap
    if change == "shift":  # the shifted rows are rounded at their new place
        costs = float(np.asarray(made[1].costs).sum())
        slack += 1e-14 * size * costs * float(np.abs(first.beta).sum())
    if abs(other.objective / unit - first.objective) > slack:
        return f"{change}: {first.objective!r} becomes {other.objective / unit!r}, gaps {gap:.1e}"
    return ""
