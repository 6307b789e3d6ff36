"""What must not change the answer: repetition for weight, labels, order, place, units of cost."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lincent import LCC
from lincent.estimators.registry import ESTIMATORS, estimator_class

TOL = 1e-9
SOLVERS = st.sampled_from(["auto", "highs"])
CLASS_WEIGHTS = st.sampled_from([None, "balanced", {0: 1.0, 1: 3.0}])


@st.composite
def tables(draw, least=12, most=60, columns=5):
    """Overlapping classes of continuous features: the optimum is unique up to rare accidents."""
    seed = draw(st.integers(0, 2**32 - 1))
    m, n = draw(st.integers(least, most)), draw(st.integers(1, columns))
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.standard_normal((m, n)) + draw(st.floats(0.3, 1.5)) * y[:, None]
    if draw(st.booleans()):
        X = np.where(rng.random((m, n)) < 0.5, X, 0.0)
        X[:2] = [[-1.0] * n, [1.0] * n]  # a class of zeros alone would have no center of its own
    return X, y, rng


def fitted(X, y, weight=None, **parameters):
    model = LCC(**parameters).fit(X, y, weight)
    assert model.duality_gap_ <= TOL
    return model


def assert_same_objective(first, second):
    size = max(1.0, abs(first.objective_))
    assert abs(first.objective_ - second.objective_) <= 2 * TOL * size


def assert_equally_good(model, other, X, y, weight=None, class_weight=None):
    """The objective of one at the coefficients of the other: works where optima are many."""
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    weight = np.ones(len(y)) if weight is None else weight
    totals = np.array([weight[y == c].sum() for c in model.classes_])
    factor = np.ones(2)
    if class_weight == "balanced":
        factor = totals.sum() / (2 * totals)
    elif class_weight is not None:
        factor = np.array([class_weight.get(c, 1.0) for c in model.classes_])
    costs = 2.0 * weight * factor[(sign > 0).astype(int)]
    centers = model.centers_
    distance = sign * ((X - centers.mean(axis=0)) @ other.coef_[0])
    value = costs @ np.maximum(-0.01, -distance) - (centers[1] - centers[0]) @ other.coef_[0]
    assert value == pytest.approx(model.objective_, rel=1e-6, abs=1e-7)


@settings(max_examples=60)
@given(table=tables(), solver=SOLVERS, class_weight=CLASS_WEIGHTS, sparse=st.booleans())
def test_weight_is_repetition(table, solver, class_weight, sparse):
    X, y, rng = table
    count = rng.integers(0, 4, len(y))
    count[:4] = 1  # no class may vanish
    held = sp.csr_array(X) if sparse else X
    parameters = {"solver": solver, "class_weight": class_weight}
    weighted = fitted(held, y, count.astype(float), **parameters)
    repeated = fitted(held[np.repeat(np.arange(len(y)), count)], np.repeat(y, count), **parameters)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-12)
    assert_same_objective(weighted, repeated)
    assert_equally_good(weighted, repeated, X, y, count.astype(float), class_weight)


@settings(max_examples=30)
@given(
    table=tables(), rule=st.sampled_from(["distance", "nearest", "svm"]), class_weight=CLASS_WEIGHTS
)
def test_the_threshold_takes_weights_as_frequencies_too(table, rule, class_weight):
    X, y, rng = table
    count = rng.integers(1, 4, len(y))
    parameters = {"discriminator": rule, "class_weight": class_weight, "solver": "highs"}
    weighted = fitted(X, y, count.astype(float), **parameters)
    repeated = fitted(np.repeat(X, count, axis=0), np.repeat(y, count), **parameters)
    if np.abs(weighted.coef_ - repeated.coef_).max() > 1e-9:
        return  # several optima: each has its own line
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-6
    )


@settings(max_examples=40)
@given(table=tables(), factor=st.sampled_from([1e-6, 0.5, 7.0, 1e6]))
def test_weights_and_cost_are_one_scale(table, factor):
    """Multiplying all weights is dividing C, and the centers do not notice."""
    X, y, _ = table
    heavy = fitted(X, y, np.full(len(y), factor), C=2.0 / factor)
    assert_same_objective(fitted(X, y), heavy)


@settings(max_examples=40)
@given(table=tables(), solver=SOLVERS)
def test_swapping_the_labels_turns_the_direction(table, solver):
    X, y, _ = table
    straight, swapped = fitted(X, y, solver=solver), fitted(X, 1 - y, solver=solver)
    assert_same_objective(straight, swapped)
    np.testing.assert_allclose(straight.centers_, swapped.centers_[::-1])
    turned = LCC().set_params(**straight.get_params())
    turned.coef_ = -swapped.coef_
    assert_equally_good(straight, turned, X, y)


@settings(max_examples=40)
@given(table=tables(), solver=SOLVERS)
def test_order_of_rows_does_not_matter(table, solver):
    X, y, rng = table
    order = rng.permutation(len(y))
    plain, shuffled = fitted(X, y, solver=solver), fitted(X[order], y[order], solver=solver)
    assert_same_objective(plain, shuffled)
    assert_equally_good(plain, shuffled, X, y)


@settings(max_examples=40)
@given(table=tables(), solver=SOLVERS)
def test_order_of_columns_does_not_matter(table, solver):
    X, y, rng = table
    order = rng.permutation(X.shape[1])
    plain, shuffled = fitted(X, y, solver=solver), fitted(X[:, order], y, solver=solver)
    assert_same_objective(plain, shuffled)
    back = LCC()
    back.coef_ = np.empty_like(shuffled.coef_)
    back.coef_[:, order] = shuffled.coef_
    assert_equally_good(plain, back, X, y)


@settings(max_examples=40)
@given(table=tables(), shift=st.floats(-1e3, 1e3), solver=SOLVERS)
def test_place_of_the_data_does_not_matter(table, shift, solver):
    X, y, rng = table
    moved = X + shift * rng.standard_normal(X.shape[1])
    plain, shifted = fitted(X, y, solver=solver), fitted(moved, y, solver=solver)
    # Shifting rounds the data itself: 1e3 leaves 13 digits behind the point.
    size = max(1.0, abs(plain.objective_))
    assert abs(plain.objective_ - shifted.objective_) <= 1e-8 * size
    assert_equally_good(plain, shifted, X, y)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-3, 0.1, 5.0]))
def test_predictions_do_not_depend_on_the_margin_while_the_box_is_away(seed, scale):
    """findings: while no coefficient reaches the box, the solution only scales with the margin."""
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    X = rng.standard_normal((200, 3)) + 0.5 * y[:, None]
    model, other = fitted(X, y, margin=0.01), fitted(X, y, margin=0.01 * scale)
    if max(np.abs(model.coef_).max(), np.abs(other.coef_).max()) > 0.99:
        return
    assert other.objective_ == pytest.approx(scale * model.objective_, rel=1e-5, abs=1e-7)
    np.testing.assert_allclose(other.coef_, scale * model.coef_, rtol=1e-4, atol=1e-7 * scale)


def test_coefficients_agree_where_the_optimum_is_unique():
    """Continuous noise, many rows: one vertex, so even coordinates must agree."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    plain = fitted(X, y)
    order = rng.permutation(300)
    variants = {
        "highs": fitted(X, y, solver="highs"),
        "rows": fitted(X[order], y[order]),
        "sparse": fitted(sp.csr_array(X), y),
        "shift": fitted(X + 10.0, y),
        "repeated": fitted(np.repeat(X, 2, axis=0), np.repeat(y, 2), C=1.0),
        "swapped": fitted(X, 1 - y),
    }
    for name, model in variants.items():
        direction = -model.coef_ if name == "swapped" else model.coef_
        np.testing.assert_allclose(direction, plain.coef_, atol=1e-9, err_msg=name)


COLUMNS_MATTER = {
    "LCCCV", "RegularizedLCCCV", "StructuredLCC", "StructuredLCCCV", "AdditiveLCCCV", "AutoLCC",
    "KernelLCC",
}  # fmt: skip
"""Their folds, centers or landmarks are drawn by a hash of the values of a sample."""


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_what_the_guide_says_does_not_change_a_model(name):
    """Weights as repetitions, orders of samples, columns and labels (unequal_classes.md)."""
    rng = np.random.default_rng(0)
    y = np.arange(42) % 2
    X = rng.normal(size=(42, 3)) + y[:, None] * [1.0, -0.5, 0.0]
    weight, rows, columns = rng.integers(1, 3, 42), rng.permutation(42), [2, 0, 1]
    twice = np.repeat(np.arange(42), weight)
    # Fewer landmarks than samples: otherwise which are drawn does not matter.
    chosen = {"AutoLCC": {"feature_maps": ["splines"]}, "KernelLCC": {"n_components": 20}}
    settings = chosen.get(name, {})

    def scores(at, labels, *weights, order=(0, 1, 2)):
        model = estimator_class(name)(**settings).fit(X[at][:, order], labels, *weights)
        return model.decision_function(X[:, order])

    everything = np.arange(42)
    expected = scores(everything, y)
    size = 1e-6 * np.abs(expected).max()
    repeated = scores(twice, y[twice])
    np.testing.assert_allclose(scores(everything, y, weight), repeated, atol=size)
    np.testing.assert_allclose(scores(rows, y[rows]), expected, atol=size)
    if name not in COLUMNS_MATTER:
        np.testing.assert_allclose(scores(everything, y, order=columns), expected, atol=size)
    np.testing.assert_allclose(-scores(everything, 1 - y), expected, atol=size)
