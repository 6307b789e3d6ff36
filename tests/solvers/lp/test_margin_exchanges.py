"""From margin to margin by exchanges: the optimum of every program, however the path came there."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import dispatch, margin_exchanges
from lincent.solvers.lp.margin_exchanges import MarginExchanges, Vertex
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows

SHARES = 2.0 ** -np.arange(1, 12)


def random_rows(seed):
    """Signed rows and the difference of the centers: separable or not, whole numbers or not."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(40, 160)), int(rng.integers(2, 20))
    X = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-1, 1, n)
    if seed % 3 == 0:
        X = np.round(2 * X)
    y = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    X += np.outer(y, rng.normal(size=n)) * rng.choice([0.3, 3.0])
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    return DenseRows(y[:, None] * (X - (low + high) / 2)), high - low


def optimum(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate


def vertex(program, beta):
    return Vertex(program, beta, program.rows.dot(beta))


@pytest.mark.parametrize("drift", [0, 200])
@pytest.mark.parametrize("seed", range(12))
def test_every_margin_has_its_optimum(seed, drift, monkeypatch):
    """Whether the tableau is formed anew at every margin or carried along."""
    monkeypatch.setattr(margin_exchanges, "TUNING", replace(margin_exchanges.TUNING, drift=drift))
    rows, difference = random_rows(seed)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    walk, last = MarginExchanges(), None
    for share in SHARES:
        program = lcc_program(rows, difference, costs, share * largest)
        wanted = optimum(program)
        start = wanted.beta if last is None else last.beta
        before = program if last is None else last.program
        found = walk.solve(program, vertex(before, start), Controls())
        assert found is not None
        assert found.relative_gap <= 1e-9
        size = max(1.0, abs(wanted.objective))
        assert abs(found.certificate.objective - wanted.objective) <= 2e-9 * size
        last = vertex(program, found.certificate.beta)


def test_a_margin_that_changes_nothing_takes_no_exchange():
    rows, difference = random_rows(1)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    program = lcc_program(rows, difference, costs, 0.25 * largest)
    walk = MarginExchanges()
    first = walk.solve(program, vertex(program, optimum(program).beta), Controls())
    again = walk.solve(program, vertex(program, first.certificate.beta), Controls())
    assert again.iterations == 0
    np.testing.assert_allclose(again.certificate.beta, first.certificate.beta, rtol=1e-12)


def test_other_costs_have_a_tableau_of_their_own():
    rows, difference = random_rows(2)
    largest = np.abs(difference).sum()
    walk = MarginExchanges()
    point = None
    for cost in (2.0, 0.01):
        program = lcc_program(rows, difference, np.full(rows.shape[0], cost), 0.1 * largest)
        wanted = optimum(program)
        point = point or vertex(program, wanted.beta)
        found = walk.solve(program, point, Controls()).certificate
        assert found.objective == pytest.approx(wanted.objective, rel=1e-9)


def test_large_or_sparse_programs_are_left_to_others():
    def program(m, n):
        return lcc_program(DenseRows(np.zeros((m, n))), np.ones(n), np.ones(m), 0.1)

    assert margin_exchanges.worthwhile(program(100, 5), 100)  # calls are what counts
    assert margin_exchanges.worthwhile(program(4000, 5), 2)
    assert not margin_exchanges.worthwhile(program(4000, 5), 3)  # Newton steps pass many at once
    assert margin_exchanges.worthwhile(program(20, 5), 20)  # where there are rows to sum up
    assert not margin_exchanges.affordable(program(20_000, 2))


@pytest.mark.parametrize(
    ("m", "n", "turned", "expected"),
    [
        (3000, 10, 5, True),
        (3001, 10, 5, False),  # too many entries
        (3000, 10, 6, False),  # too many rows turn
        (600, 10, 600, True),  # so few entries that calls are what counts
        (601, 10, 601, False),
        (300, 65, 5, False),  # too many columns
        (319, 64, 319, True),  # so few rows that steps have nothing to sum up
        (320, 64, 320, False),
    ],
)
def test_worthwhile(m, n, turned, expected):
    rows = DenseRows(np.ones((m, n)))
    program = lcc_program(rows, np.ones(n), np.ones(m), 0.1)
    assert margin_exchanges.worthwhile(program, turned) is expected
    assert margin_exchanges.affordable(program) is (m * n <= 30_000 and n <= 64)


def test_stiffness_is_the_inverse_square_of_a_distance():
    rows, difference = random_rows(2)
    program = lcc_program(rows, difference, np.ones(rows.shape[0]), 0.1)
    program = replace(program, upper=2.0 * program.upper, separation=0.05)
    beta = program.feasible(np.full(rows.shape[1], 0.3))
    found = vertex(program, beta).stiffness()
    missed = program.margin - rows.dense() @ beta
    reach = difference @ beta - 0.05
    distance = np.concatenate([missed, beta - program.lower, program.upper - beta, [reach]])
    met = margin_exchanges.TUNING.met * (np.mean(missed**2) + program.margin**2)
    np.testing.assert_allclose(found, 1.0 / (distance**2 + met), atol=1e-12)


def test_a_tableau_is_carried_along_and_formed_anew_after_so_many_exchanges(monkeypatch):
    rows, difference = random_rows(4)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    made, anew, total = [], [], 0
    real, aim = margin_exchanges.Tableau, margin_exchanges.Tableau.aim
    monkeypatch.setattr(margin_exchanges, "Tableau", lambda *args: made.append(1) or real(*args))
    monkeypatch.setattr(
        real,
        "aim",
        lambda self, program, fresh: anew.append(fresh) or aim(self, program, fresh=fresh),
    )
    monkeypatch.setattr(margin_exchanges, "TUNING", replace(margin_exchanges.TUNING, drift=5))
    walk, last, due = MarginExchanges(), None, []
    for share in SHARES:
        program = lcc_program(rows, difference, costs, share * largest)
        start = vertex(program, program.farthest_point) if last is None else last
        if last is not None:
            due.append(total > 5)
            total = 0 if total > 5 else total
        found = walk.solve(program, start, Controls())
        total += found.iterations
        last = vertex(program, found.certificate.beta)
    assert len(made) == 1
    assert anew == due
    assert any(anew)
    assert not all(anew)
    # Other costs are another program, and a path that went elsewhere is forgotten.
    other = lcc_program(rows, difference, 2.0 * costs, 0.1 * largest)
    walk.solve(other, vertex(other, program.farthest_point), Controls())
    assert len(made) == 2
    walk.forget()
    walk.solve(other, vertex(other, program.farthest_point), Controls())
    assert len(made) == 3


def test_what_is_not_certified_is_not_an_answer():
    rows, difference = random_rows(1)
    program = lcc_program(rows, difference, np.ones(rows.shape[0]), 0.1)
    walk = MarginExchanges()
    assert walk.solve(program, vertex(program, program.farthest_point), Controls(tol=-1.0)) is None
    assert walk._tableau is None
