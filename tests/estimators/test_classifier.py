"""time_limit, Ctrl-C, max_iter, verbose: what happens when a fit does not run to its end."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import lincent
from lincent import LCC, LCCCV
from lincent.estimators import base
from lincent.paper import baselines
from lincent.solvers.lp import dispatch, interior_point
from support.clock import Clock
from support.samples import three_classes, two_classes

SLOW = 100.0
"""Seconds that a step takes by a clock of ours: more than any machine needs to get there."""


def unfitted(model):
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    return vars(model).keys() == vars(LCC()).keys()


class TestTimeLimit:
    @pytest.fixture
    def steps(self, monkeypatch):
        """The interior-point steps that are made, each of which takes long."""
        clock, made = Clock(monkeypatch, interior_point), []
        step = interior_point.InteriorPoint.step

        def slow(point):
            made.append(point)
            clock.pass_by(SLOW)
            step(point)

        monkeypatch.setattr(interior_point.InteriorPoint, "step", slow)
        return made

    @pytest.mark.parametrize(("limit", "most"), [(1e-9, 0), (0.9 * SLOW, 1), (2.5 * SLOW, 3)])
    def test_stops_in_time_with_a_usable_model(self, steps, limit, most):
        X, y = two_classes(m=1000, n=200)
        model = LCC(time_limit=limit, solver="interior-point")
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, y)
        assert len(steps) <= most
        message = str(caught[0].message)
        assert f"time_limit={limit} s" in message
        assert f"relative duality gap of {model.duality_gap_:.1e}" in message
        assert model.duality_gap_ > 1e-9
        assert np.isfinite(model.objective_)
        assert np.abs(model.coef_).max() <= 1
        assert (model.centers_[1] - model.centers_[0]) @ model.coef_[0] >= 0.01 * (1 - 1e-9)
        assert model.score(X, y) > 0.5

    @pytest.mark.parametrize("shape", [(8000, 5), (300, 5)], ids=["band", "whole"])
    def test_no_time_at_all_still_gives_a_model(self, shape):
        X, y = two_classes(*shape)
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            model = LCC(time_limit=1e-9).fit(X, y)
        assert model.score(X, y) > 0.6
        best = LCC().fit(X, y)
        size = max(1.0, abs(best.objective_))
        assert model.dual_objective_ <= best.objective_ + 1e-9 * size
        assert best.objective_ <= model.objective_ + 1e-9 * size

    def test_a_step_that_would_end_late_is_not_begun(self, steps):
        """With thousands of columns a step takes seconds."""
        X, y = two_classes(m=300, n=40)
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            LCC(time_limit=1.6 * SLOW, solver="interior-point").fit(X, y)
        assert len(steps) == 1  # the second would have ended at twice the time of a step

    def test_is_for_the_whole_fit_and_not_for_each_of_its_problems(self, steps):
        X, _ = two_classes(m=300, n=40)
        y = np.arange(len(X)) % 6
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            LCC(time_limit=0.9 * SLOW, solver="interior-point").fit(X, y)
        assert len(steps) == 1

    def test_enough_time_is_silent(self):
        X, y = two_classes()
        model = LCC(time_limit=60.0).fit(X, y)
        assert model.duality_gap_ <= 1e-9


class TestIterationLimit:
    def test_warns_and_names_the_gap(self):
        X, y = two_classes(m=6000, n=300)  # too large for the fallback to be cheap, small for us
        with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
            model = LCC(max_iter=1, solver="interior-point", time_limit=2.0).fit(X, y)
        assert model.predict(X).shape == y.shape


class TestInterrupt:
    @pytest.fixture
    def interrupted(self, monkeypatch):
        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(dispatch, "solve", stop)

    @pytest.mark.usefixtures("interrupted")
    def test_leaves_a_new_estimator_unfitted(self):
        model = LCC()
        with pytest.raises(KeyboardInterrupt):
            model.fit(*two_classes())
        assert unfitted(model)

    def test_restores_a_fitted_estimator(self, monkeypatch):
        X, y = two_classes()
        model = LCC().fit(X, y)
        before = model.decision_function(X)

        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(dispatch, "solve", stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*three_classes(n=7))
        np.testing.assert_array_equal(model.decision_function(X), before)

    def test_restores_it_while_the_fit_is_closed(self, monkeypatch):
        """When the results are set, and listeners and threads are restored."""
        X, y = two_classes()
        model = LCC().fit(X, y)
        before = dict(vars(model))

        @contextmanager
        def stop_at_the_end(*_):
            yield
            raise KeyboardInterrupt

        monkeypatch.setattr(base._threads, "limits_for_data", stop_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[::-1], y)
        assert vars(model) == before

    def test_keeps_parameters_and_output_settings(self, monkeypatch):
        X, y = two_classes()
        model = LCC(C=3.0).set_output(transform="pandas")

        def stop(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "solve", stop)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, y)
        assert model.C == 3.0
        assert list(model.fit(X, y).transform(X).columns) == ["lcc0"]


class TestFailedFit:
    def test_a_new_estimator_stays_unfitted(self):
        X, y = two_classes()
        model = LCC(margin=1e9)
        with pytest.raises(ValueError, match="largest feasible margin"):
            model.fit(X, y)
        assert unfitted(model)

    def test_a_fitted_model_is_not_lost(self):
        X, y = two_classes()
        model = LCC().fit(X, y)
        before = model.decision_function(X)
        broken = X.copy()
        broken[0, 0] = np.nan
        for bad_X, bad_y in ((broken, y), (X, np.zeros(len(y))), (X[:, :2] * 1e-9, y)):
            with pytest.raises(ValueError):
                model.fit(bad_X, bad_y)
            np.testing.assert_array_equal(model.decision_function(X), before)


class TestVerbose:
    def test_one_line_per_iteration(self, capsys):
        X, y = two_classes()
        model = LCC(verbose=2, solver="interior-point").fit(X, y)
        route, *lines, last = capsys.readouterr().out.splitlines()
        assert last.startswith("class 0 against class 1: ")
        assert model.solver_ == "interior-point"
        assert route.startswith("route interior-point: dense, 200 rows")
        assert len(lines) == model.n_iter_ + 1
        assert all("objective" in line and "gap" in line for line in lines)

    @pytest.mark.parametrize(("m", "band"), [(200, "all 200"), (2000, "160")])
    def test_one_line_per_step_before_the_pivots(self, capsys, m, band):
        model = LCC(verbose=2).fit(*two_classes(m=m, n=6))
        route, *lines, last = capsys.readouterr().out.splitlines()
        assert last.startswith("class 0 against class 1: ")
        assert model.solver_ == "simplex"
        assert route.startswith(f"route simplex: dense, {m} rows")
        steps = [line for line in lines if "objective" in line]
        assert len(steps) == model.n_iter_
        objectives = [float(line.split()[2]) for line in steps]
        assert sorted(objectives, reverse=True) == objectives
        assert min(objectives) >= model.objective_ - 1e-9
        assert lines[len(steps) :][0].startswith(f"pivots among {band} rows")

    def test_rounds_show_the_band(self, capsys):
        X, y = two_classes(m=20_000, n=5)
        model = LCC(verbose=2, random_state=0).fit(X, y)
        rounds = [line for line in capsys.readouterr().out.splitlines() if "round" in line]
        assert model.solver_ == "screening"
        assert rounds
        assert all("objective" in line and "band" in line for line in rounds)

    def test_silent_by_default(self, capsys):
        LCC().fit(*two_classes())
        assert capsys.readouterr().out == ""

    def test_verbose_speaks_of_folds_then_of_the_solver(self, capsys):
        X, y = two_classes(m=120, n=3)
        model = LCCCV(margins=2, cv=3, solver="interior-point")
        told = []
        for verbose in (0, 1, 2):
            model.set_params(verbose=verbose).fit(X, y)
            told.append(capsys.readouterr().out.splitlines())
        silent, folds, steps = told
        assert silent == []
        assert folds[:3] == [f"search, fold {k} of 3: 2 candidates" for k in (1, 2, 3)]
        assert folds[3].startswith("class 0 against class 1: interior-point, ")
        assert len(folds) == 4
        assert set(folds) < set(steps)
        assert any(line.startswith("step 1: objective") for line in steps)


class TestAtomicFit:
    """A fit that fails restores the estimator; attributes that others set are kept."""

    @pytest.mark.parametrize(
        "name",
        ["RegularizedLDA", "DiscriminativeLeastSquares", "DiscriminativeElasticNet", "TwinSVC"],
    )
    def test_a_fitted_baseline_survives_a_failed_fit(self, name):
        X, y = two_classes()
        model = getattr(baselines, name)().fit(X, y)
        before = model.decision_function(X)
        with pytest.raises(ValueError, match="one class"):
            model.fit(X[:, :2], np.zeros(len(y)))
        np.testing.assert_array_equal(model.decision_function(X), before)


def test_no_estimator_is_more_than_two_classes_above_scikit_learn():
    def depth(kind):
        if not kind.__module__.startswith("lincent"):
            return 0
        return 1 + max(depth(base) for base in kind.__bases__)

    public = [
        getattr(package, name) for package in (lincent, baselines) for name in package.__all__
    ]
    kinds = [kind for kind in public if isinstance(kind, type)]
    assert len(kinds) > 10
    assert {kind.__name__: depth(kind) for kind in kinds if depth(kind) > 2} == {}


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("no"), ZeroDivisionError()])
def test_arithmetic_that_fails_is_a_sentence_and_the_old_model_stays(error, monkeypatch):
    X, y = two_classes()
    model = LCC().fit(X, y)
    kept = model.coef_.copy()

    def fails(*_):
        raise error

    monkeypatch.setattr(LCC, "_fit_task", fails)
    with pytest.raises(ValueError, match=r"LCC was not fitted: .* standardize"):
        model.fit(X[::-1], y)
    np.testing.assert_array_equal(model.coef_, kept)
