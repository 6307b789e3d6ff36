"""Certificates are about what is stored, on data of any offset and scale."""

import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from lincent import FQCC, LCC, LCCCV, KernelLCC, RegularizedLCC
from support.rational import ExactProgram


def one_column():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    return rng.normal(size=(100, 1)) * 0.1 + 0.3 * y[:, None], y


def overlapping(m=60, n=3, by=0.5):
    X = np.random.default_rng(0).standard_normal((m, n))
    y = np.arange(m) % 2
    X[y == 1] += by
    return X, y


def quiet(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **more)


@pytest.mark.parametrize("kind", [LCC, LCCCV, FQCC])
@pytest.mark.parametrize("offset", [1e4, 1e8, 1e10])
def test_a_column_with_a_large_offset_is_not_constant(kind, offset):
    """Coefficient 0 under a perfect certificate, and half of the rows wrong."""
    X, y = one_column()
    settings = {} if kind is LCCCV else {"margin": 1e-3}
    model = quiet(kind(**settings), X + offset, y)
    assert model.coef_[0, 0] > 0
    assert model.score(X + offset, y) >= 0.95


@pytest.mark.parametrize("settings", [{"discriminator": "svm"}, {"probability": "sigmoid"},
                                      {"class_weight": {0: 1, 1: 2}}])  # fmt: skip
def test_rules_and_probabilities_far_from_zero(settings):
    X, y = one_column()
    model = quiet(LCC(margin=1e-3, **settings), X + 1e10, y)
    assert model.score(X + 1e10, y) >= 0.9
    if "probability" in settings:
        assert np.isfinite(model.predict_proba(X + 1e10)).all()


def test_beyond_the_harmless_a_sentence_says_the_precision_left():
    X, y = one_column()
    LCC(margin=1e-3).fit(X + 1e8, y)  # warnings are errors here
    with pytest.warns(ConvergenceWarning, match="of the distance between the classes"):
        LCC(margin=1e-3).fit(X + 1e11, y)


@pytest.mark.parametrize(
    "kind",
    [
        LCC,
        FQCC,
        RegularizedLCC,
        partial(KernelLCC, norm="linf"),
        partial(KernelLCC, n_components=300),
    ],
)
def test_an_offset_changes_nothing(kind):
    """The same data exactly: B - 1e8 is free of rounding."""
    X, y = overlapping(300, 4, 0.2)
    far = X + 1e8
    one, other = quiet(kind(), far, y), quiet(kind(), far - 1e8, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_array_equal(one.predict(far), other.predict(far - 1e8))


@pytest.mark.parametrize("power", [0, 8, 16, 24, 28, 100])
def test_one_objective_at_every_scale_and_no_gap_is_silent(power):
    """Inside the box the optimum only shrinks as the data grows."""
    X, y = overlapping()
    plain = LCC(margin=1e-6).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LCC(margin=1e-6).fit(X * 10.0**power, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    np.testing.assert_array_equal(model.predict(X * 10.0**power), plain.predict(X))
    proved = model.duality_gap_ <= model.tol
    assert proved == (not caught)


@pytest.mark.parametrize("kind", [LCC, LCCCV, FQCC, KernelLCC])
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_data_and_margin_of_any_scale(kind, scale):
    X, y = overlapping()
    free = kind in (LCCCV, KernelLCC)  # relative margins; a kernel whose width is the data's
    plain = kind(**({} if free else {"margin": 0.01})).fit(X, y)
    model = kind(**({} if free else {"margin": 0.01 * scale})).fit(X * scale, y)
    unit = 1.0 if kind is KernelLCC else scale
    assert model.objective_ / unit == pytest.approx(plain.objective_, rel=1e-8)
    np.testing.assert_array_equal(model.predict(X * scale), plain.predict(X))


def test_a_kernel_on_columns_far_from_zero():
    X, y = overlapping(100)
    linear = KernelLCC(kernel="linear", margin=1e-3, norm="linf")
    expected = linear.fit(X, y).objective_
    for constant in (1e4, 1e6):
        found = quiet(linear, np.c_[X, np.full(100, constant)], y)
        assert found.objective_ == pytest.approx(expected, rel=1e-9)
        assert found.score(np.c_[X, np.full(100, constant)], y) >= 0.7
    for form in ({"norm": "linf", "margin": 1e-3}, {"n_components": 100}):
        around = KernelLCC(**form).fit(X, y)
        far = KernelLCC(**form).fit(X + 1e7, y)
        assert far.objective_ == pytest.approx(around.objective_, rel=1e-8)


def test_kernel_values_that_are_all_rounding_are_warned_of():
    X, y = overlapping(40)
    for norm in ("linf", "l2"):
        with pytest.warns(ConvergenceWarning):
            KernelLCC(kernel="poly", margin=1e-3, norm=norm).fit(X + 1e5, y)
    with pytest.warns(ConvergenceWarning, match="far from zero"):
        KernelLCC(kernel="linear").fit(np.c_[X, np.full(40, 1e7)], y)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["plain", "offset", "scales", "weights"])
@pytest.mark.parametrize("seed", range(3))
def test_stored_coefficients_in_rational_arithmetic(container, kind, seed):
    """The objective at ``coef_`` with exact class centers is ``objective_``, up to the gap."""
    rng = np.random.default_rng(seed)
    X, y = overlapping(40, 4, 0.3)
    weight = np.ones(40)
    if kind == "offset":
        X = X + 10.0 ** rng.uniform(1, 6, 4)
    elif kind == "scales":
        X = X * 10.0 ** rng.uniform(-3, 5, 4)
    elif kind == "weights":
        weight = 10.0 ** rng.uniform(-3, 3, 40)
    model = quiet(LCC(), container(X), y, sample_weight=weight)
    exact = ExactProgram.of_data(X, np.where(y == 1, 1, -1), weight, 2.0 * weight, model.margin)
    value, size = exact.primal(model.coef_[0]), max(1.0, abs(model.objective_))
    gap = Fraction(model.duality_gap_ * size * (1 + 1e-15))
    assert abs(value - Fraction(model.objective_)) <= gap
    assert Fraction(model.dual_objective_) <= value + gap


@pytest.mark.parametrize("factor", [1e6, 1e12, 1e15, 1e20])
def test_classes_of_very_different_cost(factor):
    """One side is summed by itself: a difference of sums loses the lighter class."""
    X, y = overlapping(100, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RegularizedLCC(class_weight={0: factor, 1: 1.0}).fit(X, y)
    # At such a ratio the threshold alone serves the heavy class, at twice the light one's cost.
    assert model.objective_ == pytest.approx(200.0, rel=1e-5)
    assert caught or model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("columns", [1, 3, 5, 9])
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"norm": "l1"}])
def test_rows_that_are_all_equal(columns, settings):
    model = RegularizedLCC(**settings).fit(np.ones((4, columns)), [0, 1, 0, 1])
    assert not model.coef_.any()
    assert model.duality_gap_ <= 1e-9
