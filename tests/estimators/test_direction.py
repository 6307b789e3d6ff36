"""A direction: its rule on the line, its unit, and what is stored of several."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import LCC
from lincent.estimators.base import open_training
from lincent.estimators.linear import OFFSET_LOSS, squeeze_single, warn_of_offset
from lincent.estimators.problem import binary_tasks
from lincent.estimators.threshold import Threshold
from lincent.estimators.validation import check_class_weight
from lincent.solvers.solution import Controls, Solution, Status
from support.labeled import noisy

EPS = float(np.finfo(np.float64).eps)


def problem(offset=0.0):
    X, y = noisy()
    training = open_training(LCC(), X + offset, y, None)
    costs = check_class_weight(None, training.classes, training.totals)
    return training.task(binary_tasks(2, "ovr")[0], costs), X + offset, y


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_line_is_that_of_the_data_whatever_the_origin(offset):
    two, X, y = problem(offset)
    found = LCC()._fit_direction(two, 0.01)
    centers = [X[y == k].mean(axis=0) for k in (0, 1)]
    np.testing.assert_allclose(found.centers, centers, rtol=1e-9)
    low, high = (center @ found.beta for center in centers)
    unit = abs(low) + abs(high)
    assert found.midpoint == pytest.approx((low + high) / 2, abs=1e-9 * unit)
    assert found.width == pytest.approx(high - low, abs=1e-9 * unit)
    assert found.half == found.width / 2
    score = found.rule.score(X @ found.beta)
    np.testing.assert_allclose(score, X @ found.beta + found.intercept, atol=1e-8 * unit)


def test_rules_other_than_a_cut_leave_the_midpoint_as_intercept():
    two, *_ = problem()
    found = LCC(discriminator="nearest")._fit_direction(two, 0.01)
    assert not isinstance(found.rule, Threshold)
    assert found.intercept == -found.midpoint


def test_a_solve_that_fell_short_is_told_with_its_cause():
    two, *_ = problem()
    solved = LCC()._fit_direction(two, 0.01).solution
    worse = replace(solved.certificate, dual_objective=-1e9)
    for status, cause in (
        (Status.TIME_LIMIT, "time_limit=3 s ended the solve"),
        (Status.ITERATION_LIMIT, "max_iter=200 ended the solve"),
        (Status.STALLED, "the solvers stalled"),
    ):
        with pytest.warns(ConvergenceWarning, match=cause):
            LCC(time_limit=3)._warn_if_not_converged(two, 0.01, Solution(status, worse, 1, "any"))
    LCC()._warn_if_not_converged(two, 0.01, solved)  # in silence


def test_one_task_stores_a_number_and_several_an_array():
    assert squeeze_single([3.0]) == 3.0
    assert isinstance(squeeze_single([3.0]), float)
    np.testing.assert_array_equal(squeeze_single([1.0, 2.0]), [1.0, 2.0])


def test_stored_attributes_give_the_midpoints_and_the_lines():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + np.eye(3)[y]
    model = LCC().fit(X, y)
    lines = model._project(X)
    assert lines.shape == (90, 3)
    for k, middle in enumerate(model._midpoints()):
        own = [lines[y == k, k].mean(), lines[y != k, k].mean()]
        assert middle == pytest.approx(np.mean(own))


def test_controls_are_those_of_the_estimator(capsys):
    from lincent.estimators.linear import controls

    limits = controls(LCC(tol=1e-6, max_iter=7, time_limit=5, verbose=2), began=100.0)
    assert limits == Controls(1e-6, 7, 105.0, print)
    assert controls(LCC(), 0.0).deadline == np.inf


def test_the_error_is_that_of_the_sums():
    with pytest.warns(
        ConvergenceWarning, match=r"so far from zero \(class 0 against class 1\) .* 2.2e-06 of"
    ):
        warn_of_offset(problem()[0], 1e10, 1.0)
    with pytest.warns(ConvergenceWarning, match="error of about inf"):
        warn_of_offset(problem()[0], 1.0, 0.0)


def test_up_to_the_bound_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_offset(problem()[0], OFFSET_LOSS / EPS, 1.0)


def test_the_certificate_is_about_the_stored_coefficients():
    X, y = noisy()
    for offset in (0.0, 1e7):
        model = LCC().fit(X + offset, y)
        rows = X + offset
        low, high = (rows[y == k].mean(axis=0) for k in (0, 1))
        signed = np.where(y == 1, 1.0, -1.0)[:, None] * (rows - (low + high) / 2)
        slack = np.maximum(model.margin - signed @ model.coef_[0], 0.0) - model.margin
        stated = (low - high) @ model.coef_[0] + model.C * slack.sum()
        assert stated == pytest.approx(model.objective_, abs=1e-6 * abs(stated))


def test_a_seed_becomes_a_generator_only_where_it_is_drawn_from():
    made = LCC(random_state=3)._draws()
    assert callable(made)
    assert made().integers(1000, size=5).tolist() == (
        LCC(random_state=3)._generator().integers(1000, size=5).tolist()
    )
    assert isinstance(LCC(random_state=np.random.RandomState(0))._draws(), np.random.Generator)
    assert isinstance(LCC()._draws()(), np.random.Generator)


@pytest.mark.parametrize("seed", ["first", -1, 2**32, 1.5])
def test_an_invalid_random_state_is_refused_on_small_problems_too(seed):
    X, y = noisy()
    with pytest.raises(ValueError, match="'random_state' parameter"):
        LCC(random_state=seed).fit(X, y)
