"""KernelLCC(norm="l1"): few rows in use, certified, whether the matrix is formed or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from lincent import KernelLCC, RegularizedLCC
from lincent.estimators import kernel_problem


@pytest.fixture
def moons():
    return make_moons(300, noise=0.25, random_state=0)


def test_it_classifies_with_few_rows(moons):
    X, y = moons
    model = KernelLCC(norm="l1", C=5.0, gamma=1.0).fit(X, y)
    assert model.score(X, y) > 0.93
    assert len(model.support_) < 40
    assert model.duality_gap_ <= 1e-9
    np.testing.assert_allclose(
        model.decision_function(X),
        rbf_kernel(X, model.support_vectors_, gamma=1.0) @ model.dual_coef_[0] + model._intercept,
    )


def test_it_is_the_regularized_form_on_the_columns_of_the_kernel(moons):
    X, y = moons
    model = KernelLCC(norm="l1", C=1.0, gamma=1.0).fit(X, y)
    other = RegularizedLCC(norm="l1", C=1.0, class_weight=None).fit(rbf_kernel(X, gamma=1.0), y)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-8)
    np.testing.assert_array_equal(model.predict(X), other.predict(rbf_kernel(X, gamma=1.0)))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_the_matrix_may_be_formed_or_not(monkeypatch, moons, kernel):
    X, y = moons
    formed = KernelLCC(norm="l1", kernel=kernel).fit(X, y)
    monkeypatch.setattr(kernel_problem, "FORMED_ROWS", 50)
    priced = KernelLCC(norm="l1", kernel=kernel, random_state=0).fit(X, y)
    assert priced.objective_ == pytest.approx(formed.objective_, rel=1e-8)
    assert priced.duality_gap_ <= 1e-9
    np.testing.assert_allclose(priced.decision_function(X), formed.decision_function(X), atol=1e-4)


def test_weights_are_repetitions(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = KernelLCC(norm="l1", gamma=1.0).fit(X, y, sample_weight=weight)
    repeated = KernelLCC(norm="l1", gamma=1.0).fit(np.repeat(X, weight, axis=0), y.repeat(weight))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


def test_sparse_rows_precomputed_kernels_and_three_classes(moons):
    X, y = moons
    dense = KernelLCC(norm="l1", gamma=1.0).fit(X, y)
    sparse = KernelLCC(norm="l1", gamma=1.0).fit(sp.csr_array(X), y)
    given = KernelLCC(norm="l1", kernel="precomputed").fit(rbf_kernel(X, gamma=1.0), y)
    for other in (sparse, given):
        assert other.objective_ == pytest.approx(dense.objective_, rel=1e-8)
    three = np.where(X[:, 0] > 1.2, 2, y)
    model = KernelLCC(norm="l1", gamma=1.0, C=5.0).fit(X, three)
    assert model.score(X, three) > 0.9
    assert model.dual_coef_.shape == (3, len(model.support_))


@pytest.mark.parametrize("discriminator", ["nearest", "svm"])
def test_other_rules_cut_the_same_line(discriminator):
    X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    model = KernelLCC(norm="l1", discriminator=discriminator).fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_components": 10}, "n_components=10"),
        ({"C": np.inf}, "finite C"),
        ({"norm": "l2"}, "norm"),
    ],
)
def test_what_does_not_go_together_is_refused(moons, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelLCC(**{"norm": "l1", **settings}).fit(*moons)
