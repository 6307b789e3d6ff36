"""Offsets, scales and weights at the ends of what doubles hold, for every classifier.

The changed problem has the objective of the well-scaled one to 1e-8, or a warning says what is
left, or an error refuses it.  Where the changed problem is another one by definition (a bias or a
width that is penalized, a map drawn by the values of the rows), what is claimed must still be true
of the data at hand: a certificate, or a warning.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

import lincent
from lincent.paper import baselines

ROWS, FAR, SMALL, LARGE = 60, 1e8, 2.0**-498, 2.0**498  # 1e-150 and 1e150
LIGHT, HEAVY = 2.0**-40, 2.0**40  # 1e-12 and 1e12
FOLDS = np.arange(ROWS) // 2 % 5

EVERY = {
    name: getattr(package, name)
    for package in (lincent, baselines)
    for name in package.__all__
    if hasattr(getattr(package, name), "decision_function")
}
SETTINGS = {
    "LCCCV": {"cv": FOLDS},
    "AdditiveLCCCV": {"cv": FOLDS},
    "AutoLCC": {"cv": 2},
    "StructuredLCCCV": {"cv": 2, "n_centers": 10},
}
"""The folds are fixed: hashes of the row values would split changed rows differently."""
NO_SHIFT = {
    "AutoLCC": "landmarks are drawn by the values of rows",
    "StructuredLCC": "k-means starts by the values of rows",
    "StructuredLCCCV": "k-means starts by the values of rows",
    "RegularizedLCCCV": "rows are assigned to folds by the hash of their values",
    "DiscriminativeLeastSquares": "the bias is penalized",
    "LinearSVM": "the bias is penalized",
    "TwinSVC": "the bias is penalized",
    "WeightedTwinSVC": "the bias is penalized",
}
SCALED = {
    "LCC": lambda s: ({"margin": 0.01 * s}, s),
    "FQCC": lambda s: ({"margin": 0.01 * s}, s),
    "LCCCV": lambda s: ({}, s),
    "AdditiveLCC": lambda s: ({}, 1.0),
    "AdditiveLCCCV": lambda s: ({}, 1.0),
    "KernelLCC": lambda s: ({}, 1.0),
    "RegularizedLCC": lambda s: ({"C": 1 / s**2}, 1 / s**2),
}
"""Settings that scale with the rows, and the unit of the objective; others penalize lengths."""
WEIGHTED = {
    "LCC": lambda f: {"C": 2.0 / f},
    "FQCC": lambda f: {"C": 2.0 / f},
    "LCCCV": lambda f: {"Cs": [2.0 / f]},
    "AdditiveLCC": lambda f: {"C": lincent.AdditiveLCC().C / f},
    "AdditiveLCCCV": lambda f: {},
    "RegularizedLCC": lambda f: {"C": 1.0 / f},
    "LinearSVM": lambda f: {"C": 1.0 / f},
}


def data():
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 2
    X = rng.standard_normal((ROWS, 3)) + 0.7 * y[:, None]
    return np.round(X * 2.0**20) / 2.0**20, y  # so that adding 1e8 rounds nothing


def fitted(name, X, y, weight=None, **settings):
    """(model or None, what was told)."""
    model = EVERY[name](**SETTINGS.get(name, {}) | settings)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    given = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y, **given)
        except ValueError as error:
            return None, [sentence(str(error))]
    told = [str(warning.message) for warning in caught]
    assert not any(issubclass(warning.category, RuntimeWarning) for warning in caught), told
    return model, told


def sentence(text):
    assert len(text) > 40
    assert text.endswith(".")
    return text


def same(name, X, y, unit=1.0, weight=None, start=None, **settings):
    """Assert the objective of the well-scaled problem, a warning, or an error message."""
    model, told = fitted(name, X, y, weight, **settings)
    if told:
        return
    expected, _ = fitted(name, *data(), **(start or {}))
    if not hasattr(expected, "objective_"):
        signs = [np.sign(m.decision_function(Z)) for m, Z in ((model, X), (expected, data()[0]))]
        assert np.mean(signs[0] != signs[1]) <= 0.02
        return
    found, wanted = np.atleast_1d(model.objective_) / unit, np.atleast_1d(expected.objective_)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def claimed(model, told, X):
    """Assert that nothing is claimed that is not so."""
    if model is None:
        return
    assert np.isfinite(model.decision_function(X)).all()
    gap = np.max(getattr(model, "duality_gap_", 0.0))
    assert told or gap <= 2 * getattr(model, "tol", 1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_offsets(name):
    X, y = data()
    if name in NO_SHIFT:
        claimed(*fitted(name, X + FAR, y), X + FAR)
    else:
        same(name, X + FAR, y)


@pytest.mark.parametrize("scale", [SMALL, 2.0**-100, 2.0**100, LARGE])
@pytest.mark.parametrize("name", EVERY)
def test_scales(name, scale):
    X, y = data()
    if name in SCALED:
        settings, unit = SCALED[name](scale)
        same(name, X * scale, y, unit, **settings)
    else:
        claimed(*fitted(name, X * scale, y), X * scale)


ROUTES = {
    "single precision": (2000, 12, 2, {}),
    "more columns than rows": (40, 90, 2, {}),
    "sparse": (150, 200, 2, {}),
    "pairs": (200, 4, 3, {}),
}


@pytest.mark.parametrize("scale", [SMALL, 2.0**-100, 2.0**100, LARGE])
@pytest.mark.parametrize("route", ROUTES)
def test_scales_on_every_route_of_the_regularized_form(route, scale):
    """Rows times s at C / s^2 are the same problem: the objective to 1e-8, and no warning."""
    m, n, classes, settings = ROUTES[route]
    rng, y = np.random.default_rng(0), np.arange(m) % classes
    X = rng.standard_normal((m, n)) + 0.5 * y[:, None] * (np.arange(n) < 3)
    if route == "sparse":
        X = sp.csr_matrix(np.where(rng.random((m, n)) < 0.1, X, 0.0))
    one, far = (
        lincent.RegularizedLCC(C=0.1 / s**2, random_state=0, **settings).fit(X * s, y)
        for s in (1.0, scale)
    )
    np.testing.assert_allclose(np.asarray(far.objective_) * scale**2, one.objective_, rtol=1e-8)
    signs = [np.sign(m.decision_function(Z)) for m, Z in ((one, X), (far, X * scale))]
    assert np.mean(signs[0] != signs[1]) <= 0.01


@pytest.mark.parametrize("factor", [LIGHT, HEAVY])
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_one_size(name, factor):
    X, y = data()
    start = WEIGHTED[name](1.0)
    same(name, X, y, weight=np.full(ROWS, factor), start=start, **WEIGHTED[name](factor))


@pytest.mark.parametrize(
    "name", [k for k in EVERY if has_fit_parameter(EVERY[k](), "sample_weight")]
)
def test_weights_of_all_sizes(name):
    X, y = data()
    weight = 10.0 ** np.random.default_rng(1).uniform(-12, 12, ROWS)
    claimed(*fitted(name, X, y, weight), X)


@pytest.mark.parametrize("name", sorted(set(lincent.__all__) & EVERY.keys() - {"LCC", "FQCC"}))
def test_a_cell_whose_square_overflows_is_named(name):
    X = np.random.default_rng(0).normal(size=(60, 3)) + np.arange(60)[:, None] % 2
    X[3, 1] = 1e200
    refused = pytest.raises(ValueError, match=r"Row 3 .* has 1e\+200 in (the )?column")
    with warnings.catch_warnings(action="ignore"), refused:
        getattr(lincent, name)().fit(X, np.arange(60) % 2)


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_weights_whose_sums_overflow_or_vanish_are_refused(size):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    for name in sorted(set(lincent.__all__) & EVERY.keys()):
        with pytest.raises(ValueError, match="The largest sample weight is"):
            EVERY[name]().fit(X, y, sample_weight=np.full(60, size))


@pytest.mark.parametrize("name", sorted(set(lincent.__all__) & EVERY.keys()))
def test_labels_that_numpy_would_merge_are_refused(name):
    X, labels = np.random.default_rng(0).normal(size=(60, 3)), ["x", "x\0", "y"] * 20
    polars = pytest.importorskip("polars")
    for y in (labels, tuple(labels), polars.Series(labels)):
        with pytest.raises(ValueError, match="ends in the byte 0"):
            EVERY[name]().fit(X, y)


@pytest.mark.parametrize("name", ["LCC", "RegularizedLCC", "KernelLCC"])
def test_complex_numbers_are_refused_without_the_data(name):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"Complex data not supported: give real numbers\.$"):
        EVERY[name]().fit(X + 1j, y)
    with pytest.raises(ValueError, match=r"Complex data not supported: give real numbers\.$"):
        EVERY[name]().fit(X, y).predict(X + 1j)


def test_masked_labels_and_complex_or_masked_blocks_are_refused():
    da = pytest.importorskip("dask.array")
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    masked = np.ma.masked_array(y, mask=y < 0)
    masked[3] = np.ma.masked
    for name in sorted(set(lincent.__all__) & EVERY.keys()):
        with pytest.raises(ValueError, match="y has masked entries"):
            EVERY[name]().fit(X, masked)
    rows, labels = da.from_array(X, chunks=(30, 3)), da.from_array(y, chunks=30)
    for change, word in (
        (lambda block: block + 1j, "complex numbers"),
        (lambda block: np.ma.masked_greater(block, 1.0), "NaN or an infinite value"),
    ):
        with pytest.raises(ValueError, match=word):
            lincent.LCC().fit(rows.map_blocks(change, dtype=float), labels)
    hidden = labels.map_blocks(lambda block: np.ma.masked_array(block, mask=block < 9), dtype=int)
    for unusable in (hidden, masked):
        with pytest.raises(ValueError, match="masked entries"):
            lincent.LCC().fit(rows, unusable)
    with pytest.raises(ValueError, match="sample_weight has masked entries"):
        lincent.LCC().fit(rows, labels, np.ma.masked_equal(np.arange(60.0), 3))
