"""Newton steps: exact, updated, from a subsample, by products; the factored Hessian."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import curvature
from lincent.solvers.newton.curvature import (
    ChangedFactor,
    Exact,
    FactoredHessian,
    Sampled,
    ThresholdTerm,
    Truncated,
    TruncatedFirst,
    diagonal_of,
)
from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.evaluation import Evaluator
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.constants import set_constants
from support.regularized_problems import PROBLEMS, make


def newton_step(program, point):
    """The step of the whole second derivative in (beta, t), written out."""
    A, D = program.rows.dense(), diagonal_of(program, point.active)
    n = A.shape[1]
    v = A.T @ (D * program.sign)
    H = np.eye(n) + A.T @ (D[:, None] * A)
    if not program.free:
        return np.linalg.solve(H, -point.gradient), 0.0
    whole = np.block([[H, -v[:, None]], [-v[None], np.array([[D.sum()]])]])
    step = np.linalg.solve(whole, -np.append(point.gradient, point.slope))
    return step[:-1], step[-1]


def points(program, count, seed=0, size=0.2):
    rng, evaluator = np.random.default_rng(seed), Evaluator(program)
    for _ in range(count):
        yield evaluator.at(size * rng.normal(size=program.shape[1]), 0.1 if program.free else 0.0)


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "square"])
def test_exact_steps_at_one_point_after_the_other(name):
    program = make(*PROBLEMS[name])
    steps = Exact(program)
    for point in points(program, 6):  # updated by the samples that changed
        step, shift = steps.step(point)
        wanted, t = newton_step(program, point)
        np.testing.assert_allclose(step, wanted, rtol=1e-8, atol=1e-10)
        assert shift == pytest.approx(t, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("name", ["plain", "midpoint", "wide"])
def test_products_alone_give_nearly_the_same_step(name):
    program = make(*PROBLEMS[name])
    for point in points(program, 3):
        step, _ = Truncated(program).step(point)
        wanted, _ = newton_step(program, point)
        assert point.descent(step, 0.0) < 0
        assert np.linalg.norm(step - wanted) <= 0.5 * np.linalg.norm(wanted)


def test_what_a_sample_knows_is_corrected_by_the_gradients_seen():
    program = make(*PROBLEMS["midpoint"])
    rough = FactoredHessian(
        ThresholdTerm(np.empty(0), 0.0), np.zeros((5, 5))
    )  # knows nothing of the samples
    steps = Sampled(rough, crowd=0.0)
    before, after = points(program, 2)
    steps.learn(before, after, short=False)
    # The secant condition of BFGS: the change of the gradient asks for the step that made it.
    change = Evaluator(program).at(after.beta, 0.0)
    asked = type(change)(**{**vars(change), "gradient": after.gradient - before.gradient})
    step, _ = steps.step(asked)
    np.testing.assert_allclose(step, -(after.beta - before.beta), atol=1e-10)


def many_columns(dependent):
    rng = np.random.default_rng(1)
    m, n = 900, 300
    A = rng.standard_normal((m, n))
    if dependent:
        A = A @ (rng.standard_normal((n, n)) * (np.arange(1, n + 1) ** -1.5)[:, None])
    sign = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    return RegularizedProgram(DenseRows(A), sign, np.ones(m), -1.0, 3.0, True)


@pytest.mark.parametrize("dependent", [False, True])
def test_light_steps_are_given_up_where_they_are_many(dependent):
    program = many_columns(dependent)
    steps = TruncatedFirst(program)
    found = descend(program, steps, Controls())
    exact = descend(program, Exact(program), Controls())
    assert found.relative_gap <= 1e-9
    assert found.certificate.objective == pytest.approx(exact.certificate.objective, rel=1e-8)
    assert not (steps.cheap and dependent)
    assert steps.light.products <= curvature.LIGHT_SHARE * 300 + 10


def test_a_light_step_that_is_cut_short_is_the_last():
    program = many_columns(dependent=False)
    steps, evaluator = TruncatedFirst(program), Evaluator(program)
    before = evaluator.at_zero()
    step, shift = steps.step(before)
    steps.learn(before, evaluator.at(before.beta + 0.01 * step, before.t + shift), short=True)
    assert not steps.cheap


def test_products_of_active_samples_are_all_there_are():
    program = make(600, 4, (-1.0, 3.0), 1.0, True, 0.0, 1.0)
    point = next(points(program, 1))
    some = replace(point, u=np.where(np.arange(600) % 3, 1.0, 0.5))
    wanted, _ = newton_step(program, some)
    steps = Truncated(program)
    steps.share = 1e-10
    np.testing.assert_allclose(steps.step(some)[0], wanted, rtol=1e-6, atol=1e-9)
    assert 0.0 < steps.products <= 4 / 3 + 1


@pytest.mark.parametrize("dependent", [False, True])
def test_single_precision_is_used_where_its_pivots_allow_it(dependent):
    rng = np.random.default_rng(0)
    n = curvature.SINGLE_ORDER
    A = rng.standard_normal((2 * n, n))
    if dependent:
        A[:, -1] = A[:, 0] + 1e-4 * A[:, -1]
    gram, threshold = A.T @ A, ThresholdTerm(A[0] * 0.1, 50.0)
    rough = FactoredHessian(threshold, 1e3 * gram, rough=True)
    exact = FactoredHessian(threshold, 1e3 * gram)
    assert rough.lower.dtype == (np.float64 if dependent else np.float32)
    assert exact.lower.dtype == np.float64
    gradient = rng.standard_normal(n)
    (one, shift), (other, wanted) = (H.solve(gradient, 0.3) for H in (rough, exact))
    np.testing.assert_allclose(one, other, atol=1e-3 * np.abs(other).max())
    assert shift == pytest.approx(wanted, rel=1e-3)
    assert not rough.coarse


def test_a_rough_matrix_that_is_not_definite_is_coarse_and_still_gives_a_way_down():
    rng = np.random.default_rng(1)
    n = curvature.SINGLE_ORDER
    A = rng.standard_normal((n, 5)).astype(np.float32)
    gram = np.asarray(A @ A.T, dtype=np.float64) * 1e9  # of rank 5 but for rounding
    assert np.linalg.eigvalsh(gram).min() < -1.0
    rough = FactoredHessian(ThresholdTerm(np.empty(0), 0.0), gram.copy(), rough=True)
    assert rough.coarse
    gradient = rng.standard_normal(n)
    assert rough.solve(gradient, 0.0)[0] @ gradient < 0.0


@pytest.mark.parametrize("total", [0.0, 20.0])
def test_many_right_sides_at_once_are_each_by_itself(total):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((40, 6))
    H = FactoredHessian(ThresholdTerm(A[0] if total else np.empty(0), total), A.T @ A)
    right, last = rng.standard_normal((6, 3)), rng.standard_normal(3) * (total > 0)
    found, shifts = H.solve_many(right, last)
    for k in range(3):
        step, shift = H.solve(-right[:, k], -last[k])
        np.testing.assert_allclose(found[:, k], step, rtol=1e-10)
        assert shifts[k] == pytest.approx(shift, abs=1e-12)


def near_points(program, count, size=0.02):
    """Points close to each other, between which some samples cross a margin."""
    rng, evaluator = np.random.default_rng(3), Evaluator(program)
    beta = 0.5 * rng.normal(size=program.shape[1])
    for _ in range(count):
        beta = beta + size * rng.normal(size=program.shape[1])
        yield evaluator.at(beta, 0.1 if program.free else 0.0)


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "square"])
def test_samples_that_come_and_go_give_the_step_of_a_new_factor(name):
    program = make(*PROBLEMS[name])
    first, *others = near_points(program, 5)
    changed = ChangedFactor(program, Exact(program).factored(first.active))
    crossed = 0
    for point in others:
        index = np.flatnonzero(point.active != first.active)
        sign = np.where(point.active[index], 1.0, -1.0)
        step, shift = changed.step(index, sign, point.gradient, point.slope)
        wanted, t = Exact(program).step(point)
        np.testing.assert_allclose(step, wanted, rtol=1e-7, atol=1e-9)
        assert shift == pytest.approx(t, rel=1e-7, abs=1e-9)
        assert not len(changed.new(index))
        crossed += len(index)
    assert crossed


def test_exact_steps_keep_their_factor_while_few_samples_change(monkeypatch):
    program = make(*PROBLEMS["plain"])
    set_constants(monkeypatch, curvature, changed_order=1, changed_share=10.0)
    steps = Exact(program)
    first, *others = near_points(program, 4)
    steps.step(first)
    held = steps.factor
    for point in others:
        step, _ = steps.step(point)
        np.testing.assert_allclose(step, Exact(program).step(point)[0], rtol=1e-7, atol=1e-9)
        assert steps.factor is held
    far = next(near_points(program, 1, size=5.0))
    set_constants(monkeypatch, curvature, changed_order=1, changed_share=0.0)
    steps.step(far)
    assert steps.factor is not held
