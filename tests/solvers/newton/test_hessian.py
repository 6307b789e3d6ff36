"""Steps from the curvature: exact, from a sample, by products."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import hessian
from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.factor import Factored, Threshold
from lincent.solvers.newton.hessian import Conjugate, LightFirst, Sampled, Whole, between
from lincent.solvers.newton.oracle import Reader
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.regularized_problems import PROBLEMS, make


def newton_step(program, point):
    """The step of the whole second derivative in (beta, t), written out."""
    A, D = program.rows.dense(), between(program, point.inside)
    n = A.shape[1]
    v = A.T @ (D * program.sign)
    H = np.eye(n) + A.T @ (D[:, None] * A)
    if not program.free:
        return np.linalg.solve(H, -point.gradient), 0.0
    whole = np.block([[H, -v[:, None]], [-v[None], np.array([[D.sum()]])]])
    step = np.linalg.solve(whole, -np.append(point.gradient, point.slope))
    return step[:-1], step[-1]


def points(program, count, seed=0, size=0.2):
    rng, reader = np.random.default_rng(seed), Reader(program)
    for _ in range(count):
        yield reader.at(size * rng.normal(size=program.shape[1]), 0.1 if program.free else 0.0)


@pytest.mark.parametrize("name", ["plain", "midpoint", "uneven costs", "square"])
def test_exact_steps_at_one_point_after_the_other(name):
    program = make(*PROBLEMS[name])
    curvature = Whole(program, stale=0.0)
    for point in points(program, 6):  # brought up to date by the rows that changed
        step, shift = curvature.step(point)
        wanted, t = newton_step(program, point)
        np.testing.assert_allclose(step, wanted, rtol=1e-8, atol=1e-10)
        assert shift == pytest.approx(t, rel=1e-8, abs=1e-10)


def test_few_changed_rows_are_passed_over_only_while_the_steps_serve():
    program = make(*PROBLEMS["plain"])
    curvature = Whole(program, stale=1.0)
    first, second = points(program, 2, size=2.0)
    held = curvature.factored(first.inside)
    assert curvature.factored(second.inside) is held
    curvature.learn(first, first, short=False)  # a step that left all of the gradient
    assert curvature.factored(second.inside) is not held


def test_rows_torn_between_two_sides_count_as_curved_until_a_step_is_long():
    program = make(*PROBLEMS["plain"])
    curvature = Whole(program)
    first, second = points(program, 2, size=2.0)
    crossed = first.inside != second.inside
    assert crossed.any()
    curvature.learn(first, second, short=True)
    assert curvature.torn is None
    curvature.learn(second, first, short=True)
    np.testing.assert_array_equal(curvature.torn, crossed)
    curvature.learn(first, second, short=False)
    assert curvature.torn is None


@pytest.mark.parametrize("name", ["plain", "midpoint", "wide"])
def test_products_alone_give_nearly_the_same_step(name):
    program = make(*PROBLEMS[name])
    for point in points(program, 3):
        step, _ = Conjugate(program).step(point)
        wanted, _ = newton_step(program, point)
        assert point.descent(step, 0.0) < 0
        assert np.linalg.norm(step - wanted) <= 0.5 * np.linalg.norm(wanted)


def test_what_a_sample_knows_is_corrected_by_the_gradients_seen():
    program = make(*PROBLEMS["midpoint"])
    rough = Factored(Threshold(np.empty(0), 0.0), np.zeros((5, 5)))  # knows nothing of the rows
    curvature = Sampled(rough, crowd=0.0)
    before, after = points(program, 2)
    curvature.learn(before, after, short=False)
    # The secant condition of BFGS: the change of the gradient asks for the step that made it.
    change = Reader(program).at(after.beta, 0.0)
    asked = type(change)(**{**vars(change), "gradient": after.gradient - before.gradient})
    step, _ = curvature.step(asked)
    np.testing.assert_allclose(step, -(after.beta - before.beta), atol=1e-10)


def test_every_kth_row_stands_for_all():
    program = make(600, 4, (-1.0, 3.0), 1.0, True, 0.0, 1.0)
    point = next(points(program, 1))
    thin = Whole(program).thin(point.inside, 3).solve(point.gradient, point.slope)[0]
    wanted, _ = newton_step(program, point)
    assert np.linalg.norm(thin - wanted) <= 0.3 * np.linalg.norm(wanted)


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
    curvature = LightFirst(program)
    found = descend(program, curvature, Controls())
    exact = descend(program, Whole(program), Controls())
    assert found.relative_gap <= 1e-9
    assert found.certificate.objective == pytest.approx(exact.certificate.objective, rel=1e-8)
    assert not (curvature.cheap and dependent)
    assert curvature.light.products <= hessian.TUNING.light_share * 300 + 10


def test_a_light_step_that_is_cut_short_is_the_last():
    program = many_columns(dependent=False)
    curvature, reader = LightFirst(program), Reader(program)
    before = reader.at_zero(0.0)
    step, shift = curvature.step(before)
    curvature.learn(before, reader.at(before.beta + 0.01 * step, shift), short=True)
    assert not curvature.cheap


def test_products_of_rows_between_the_margins_are_all_there_are():
    program = make(600, 4, (-1.0, 3.0), 1.0, True, 0.0, 1.0)
    point = next(points(program, 1))
    some = replace(point, pull=np.where(np.arange(600) % 3, 1.0, 0.5))
    wanted, _ = newton_step(program, some)
    curvature = Conjugate(program)
    curvature.share = 1e-10
    np.testing.assert_allclose(curvature.step(some)[0], wanted, rtol=1e-6, atol=1e-9)
    assert 0.0 < curvature.products <= 4 / 3 + 1
