"""The path of margins: every point is the optimum of its own program."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import LCC, lcc_path
from lincent.solvers.lp import choose, screening, simplex
from lincent.solvers.lp import path as paths
from support.clock import Clock
from support.labeled import noisy, separable


@pytest.mark.parametrize("make", [noisy, separable])
def test_path_agrees_with_single_fits(make):
    X, y = make()
    path = lcc_path(X, y, Cs=[0.01, 2.0])
    assert path.certified[:, path.feasible].all()
    assert (~path.feasible).any()
    assert np.isnan(path.coefs[:, ~path.feasible]).all()
    for i, C in enumerate(path.Cs):
        for k, margin in enumerate(path.margins):
            if not path.feasible[k]:
                with pytest.raises(ValueError, match="largest feasible margin"):
                    LCC(C, margin).fit(X, y)
                continue
            single = LCC(C, margin).fit(X, y)
            size = max(1.0, abs(single.objective_))
            assert abs(path.objectives[i, k] - single.objective_) <= 3e-9 * size
            beta = path.coefs[i, k]
            assert np.all(np.abs(beta) <= 1 + 1e-12)


def test_path_certificate_is_true():
    """The objective is recomputed from the paper's definition."""
    X, y = noisy()
    path = lcc_path(X, y)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * (X - (low + high) / 2)
    for k in np.flatnonzero(path.feasible):
        beta, margin = path.coefs[0, k], path.margins[k]
        slack = np.maximum(margin - signed @ beta, 0.0) - margin
        objective = (low - high) @ beta + 2.0 * slack.sum()
        assert objective == pytest.approx(path.objectives[0, k], rel=1e-12)
        assert (high - low) @ beta >= margin * (1 - 1e-9)
    assert (path.duality_gaps[0, path.feasible] >= 0).all()


def test_inactive_box_only_scales():
    X, y = noisy()
    path = lcc_path(X, y)
    scaled = np.flatnonzero(path.solvers[0] == "scaled")
    assert len(scaled) >= 3
    for k in scaled:  # margins are followed from the largest down
        ratio = path.margins[k] / path.margins[k + 1]
        np.testing.assert_allclose(path.coefs[0, k], ratio * path.coefs[0, k + 1], rtol=1e-12)
    assert (path.n_iters[0, scaled] == 0).all()


@pytest.mark.parametrize("make", [noisy, separable])
def test_path_is_found_near_the_last_point(make, monkeypatch):
    """Beyond the first point nothing is solved from nothing, and few steps are needed."""
    X, y = make(5000, 12)
    cold = []
    afresh = paths.Follower._afresh
    monkeypatch.setattr(
        paths.Follower, "_afresh", lambda self, program: cold.append(1) or afresh(self, program)
    )
    path = lcc_path(X, y)
    assert path.certified[:, path.feasible].all()
    assert len(cold) <= 2
    assert path.n_iters.sum() <= 8 * path.feasible.sum()
    for k in np.flatnonzero(path.feasible):
        single = LCC(margin=path.margins[k]).fit(X, y)
        assert path.objectives[0, k] == pytest.approx(single.objective_, rel=3e-9, abs=3e-9)


def test_path_order_of_margins_does_not_matter():
    X, y = noisy()
    margins = [4.0, 0.1, 1.0, 0.5]
    one, other = lcc_path(X, y, margins=margins), lcc_path(X, y, margins=sorted(margins))
    np.testing.assert_allclose(one.objectives[0][[1, 3, 2, 0]], other.objectives[0], rtol=1e-9)
    assert list(one.margins) == margins


def test_path_of_sparse_rows_and_weights():
    import scipy.sparse as sp

    X, y = noisy(150, 4)
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    dense = lcc_path(X, y, sample_weight=weight, margins=[0.1, 1.0])
    sparse = lcc_path(sp.csr_array(X), y, sample_weight=weight, margins=[0.1, 1.0])
    repeated = lcc_path(np.repeat(X, weight, axis=0), np.repeat(y, weight), margins=[0.1, 1.0])
    np.testing.assert_allclose(dense.objectives, sparse.objectives, rtol=1e-9)
    np.testing.assert_allclose(dense.objectives, repeated.objectives, rtol=1e-9)


def test_hard_margin_path():
    X, y = separable()
    path = lcc_path(X, y, Cs=[np.inf], margins=[0.01, 0.02])
    assert path.certified.all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"margins": []}, "margins"),
        ({"margins": [0.1, -1.0]}, "margins=-1.0"),
        ({"Cs": [0.0]}, "Cs=0.0"),
        ({"solver": "magic"}, "solver"),
    ],
)
def test_path_refuses(change, words):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=words):
        lcc_path(X, y, **change)


def test_path_is_for_two_classes():
    X, y = noisy(90, classes=3)
    with pytest.raises(ValueError, match="3 classes"):
        lcc_path(X, y)


def test_wrong_shortcut_is_not_taken(monkeypatch):
    """A shortcut is believed by its certificate, never by its word."""
    X, y = noisy()
    expected = lcc_path(X, y)
    scaled = paths._scaled

    def broken(program, last, tol):
        answer = scaled(program, last, tol)
        if answer is None:
            return None
        return paths.certify(program, 0.5 * answer.beta, answer.alpha, answer.t)

    monkeypatch.setattr(paths, "_scaled", broken)
    found = lcc_path(X, y)
    assert not (found.solvers == "scaled").any()
    np.testing.assert_allclose(
        found.objectives[0, found.feasible], expected.objectives[0, expected.feasible], rtol=1e-9
    )


def test_time_limit_of_a_path_is_honest():
    X, y = noisy(3000, 20)
    with pytest.warns(ConvergenceWarning, match="points of the path are not certified"):
        path = lcc_path(X, y, time_limit=1e-9)
    assert not path.certified.all()


def test_after_the_deadline_no_other_solver_is_asked(monkeypatch):
    """A solve that time cut short is not made again by the next solver, and no point is begun."""
    X, y = noisy(6000, 5)
    clock, begun = Clock(monkeypatch), []
    screen = screening.solve

    def cut_short(program, controls, rng, start=None):
        begun.append(clock.passed)
        clock.pass_by(20.0)
        return screen(program, controls, rng, start=start)

    monkeypatch.setattr(screening, "solve", cut_short)
    monkeypatch.setattr(simplex, "worthwhile", lambda m, n: False)
    for name in ("solve", "_best_of"):
        monkeypatch.setattr(choose, name, lambda *_: pytest.fail("begun after the deadline"))
    with pytest.warns(ConvergenceWarning, match="3 of 3 points of the path are not certified"):
        path = lcc_path(X, y, margins=[0.01, 0.1, 0.2], time_limit=10.0)
    assert begun == [0.0]
    assert np.isnan(path.coefs[0, :2]).all()
    assert np.isfinite(path.coefs[0, 2]).all()
    assert np.isnan(path.objectives[0]).tolist() == [True, True, False]


def with_flat_column(flat, seed=0):
    """Two classes of 60 rows whose centers differ in column 0, and by ``flat`` in column 1."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(60, 2))
    half -= half.mean(axis=0)
    X = np.vstack([half, half[::-1] * [1.0, -1.0] + [2.0, flat]])
    return X, np.repeat([0, 1], 60)


@pytest.mark.parametrize("flat", [0.0, 1e-17, 1e-14, 1e-6, 1e-2])
def test_at_the_largest_margin_flat_columns_are_still_chosen(flat):
    """Only columns whose centers differ are at the corner, and no rounding proves otherwise."""
    X, y = with_flat_column(flat)
    low, high = X[:60].mean(axis=0), X[60:].mean(axis=0)
    largest = float(np.abs(high - low).sum())
    path = lcc_path(X, y, margins=[largest])
    assert path.certified.all()
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * (X - (low + high) / 2)
    sides = [-1.0, 1.0] if flat >= 1e-6 else np.linspace(-1, 1, 2001)
    values = [
        (low - high) @ [1.0, side] + 2.0 * np.maximum(-signed @ [1.0, side], -largest).sum()
        for side in sides
        if (high - low) @ [1.0, side] >= largest * (1 - 1e-9)
    ]
    assert path.objectives[0, 0] <= min(values) + 1e-9 * abs(min(values))
