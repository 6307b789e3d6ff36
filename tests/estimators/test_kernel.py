"""KernelLCC: the problems it solves, the samples it uses, the sizes that it accepts."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from lincent import LCC, KernelLCC, RegularizedLCC
from lincent.estimators import kernel as kernel_module
from lincent.estimators.kernel import drop_negligible
from lincent.problems.centralization import certify, lcc_program
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows

KERNELS = {
    "rbf": {"gamma": 0.7},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "sigmoid": {"gamma": 0.1, "coef0": 0.2},
    "laplacian": {"gamma": 0.4},
}


def box_form(**parameters):
    """Return the paper's form."""
    return KernelLCC(**{"norm": "linf", "class_weight": None, **parameters})


def noisy(m=60, n=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 2
    X = rng.normal(size=(m, n))
    X[:, 0] += 1.2 * y
    return X, y


def reference(K, y, C=2.0, margin=0.01):
    """Equation LCC over the rows of K, with its slacks, by HiGHS."""
    m = len(y)
    sign = np.where(y == 1, 1.0, -1.0)
    centers = np.array([K[y == 0].mean(axis=0), K[y == 1].mean(axis=0)])
    difference, middle = centers[1] - centers[0], centers.mean(axis=0)
    above = np.hstack([-sign[:, None] * (K - middle), -np.eye(m)])
    apart = np.append(-difference, np.zeros(m))
    return linprog(
        np.append(-difference, np.full(m, C)),
        A_ub=np.vstack([above, apart]),
        b_ub=np.append(np.zeros(m), -margin),
        bounds=[(-1, 1)] * m + [(-margin, None)] * m,
    ).fun


@pytest.mark.parametrize("name", KERNELS)
def test_objective_is_that_of_the_paper_s_program(name):
    X, y = noisy()
    model = box_form(kernel=name, **KERNELS[name]).fit(X, y)
    expected = reference(pairwise_kernels(X, metric=name, **KERNELS[name]), y)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("name", KERNELS)
def test_stored_coefficients_have_the_stored_objective(name):
    X, y = noisy(seed=1)
    model = box_form(kernel=name, **KERNELS[name]).fit(X, y)
    K = pairwise_kernels(X, metric=name, **KERNELS[name])
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    line = K @ alpha
    centers = np.array([line[y == 0].mean(), line[y == 1].mean()])
    slack = np.maximum(-0.01, np.where(y == 1, -1, 1) * (line - centers.mean()))
    assert centers[0] - centers[1] + 2 * slack.sum() == pytest.approx(model.objective_, abs=1e-9)
    np.testing.assert_allclose(model.centers_, centers, atol=1e-9)
    np.testing.assert_allclose(model.transform(X)[:, 0], line, atol=1e-9)
    assert np.abs(alpha).max() <= 1.0


def test_precomputed_and_callable_give_the_same_model():
    X, y = noisy()
    named = box_form(gamma=0.5).fit(X, y)
    K = rbf_kernel(X, gamma=0.5)
    given = box_form(kernel="precomputed").fit(K, y)
    called = box_form(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, y)
    new = noisy(seed=5)[0]
    expected = named.decision_function(new)
    np.testing.assert_allclose(called.decision_function(new), expected, atol=1e-8)
    np.testing.assert_allclose(
        given.decision_function(rbf_kernel(new, X, gamma=0.5)), expected, atol=1e-8
    )


def test_sparse_rows_give_the_same_model():
    X, y = noisy()
    X[X < 0] = 0
    dense, sparse = box_form().fit(X, y), box_form().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-8
    )


def test_linear_kernel_agrees_with_lcc_where_no_box_is_reached():
    X, y = noisy(200, 4)
    linear, kernel = LCC().fit(X, y), box_form(kernel="linear").fit(X, y)
    assert np.abs(linear.coef_).max() < 0.99
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-6)


def test_linear_kernel_differs_from_lcc_where_a_box_is_reached():
    X, y = noisy(80, 2)
    X[:, 0] += 10 * y
    linear, kernel = LCC().fit(X, y), box_form(kernel="linear").fit(X, y)
    assert np.abs(linear.coef_).max() == 1.0
    assert kernel.objective_ < linear.objective_ - 1  # its box allows longer directions


@pytest.mark.parametrize("n_components", [None, 30])
def test_weight_two_is_a_repeated_row(n_components):
    X, y = noisy(50)
    weight = np.random.default_rng(0).integers(0, 3, 50)
    repeated = np.repeat(np.arange(50), weight)
    options = {"gamma": 0.5, "n_components": n_components, "random_state": 0}
    first = box_form(**options).fit(X, y, sample_weight=weight)
    second = box_form(**options).fit(X[repeated], y[repeated])
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-9)
    np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), atol=1e-7)


def test_equal_rows_of_both_classes():
    X, y = noisy(40)
    X, y = np.vstack([X, X[:10]]), np.append(y, 1 - y[:10])
    model = box_form(gamma=0.5).fit(X, y)
    assert model.objective_ == pytest.approx(reference(rbf_kernel(X, gamma=0.5), y), rel=1e-6)


def test_prediction_touches_only_rows_with_a_coefficient():
    X, y = noisy(80)
    X[60:] = 0.0  # the linear kernel of these rows is zero: their coefficient cannot matter
    weight = np.ones(80)
    weight[:10] = 0.0  # and these rows do not count
    asked = []

    def kernel(A, B):
        asked.append(B)
        return A @ B.T

    model = box_form(kernel=kernel).fit(X, y, sample_weight=weight)
    assert set(model.support_) <= set(range(10, 60))
    assert np.all(model.dual_coef_ != 0)
    assert model.duality_gap_ <= 1e-9
    asked.clear()
    model.predict(X)
    assert all(np.array_equal(B, X[model.support_]) for B in asked)


def test_negligible_coefficients_become_zero_and_the_certificate_is_of_what_is_left():
    X, y = noisy(40)
    # Two columns that do not matter at all, one of them given a tiny coefficient.
    rows = DenseRows(
        np.hstack([np.where(y == 1, 1, -1)[:, None] * (X - X.mean(0)), np.zeros((40, 2))])
    )
    difference = np.append(X[y == 1].mean(0) - X[y == 0].mean(0), [0.0, 0.0])
    program = lcc_program(rows, difference, np.full(40, 2.0), 0.01)
    found = dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))
    beta = found.certificate.beta.copy()
    beta[-2:] = [1e-9, 0.5]
    point = certify(program, beta, found.certificate.alpha, found.certificate.t)
    cleaned = drop_negligible(program, replace(found, certificate=point), 1e-9)
    assert cleaned.certificate.beta[-2] == 0.0
    assert cleaned.certificate.beta[-1] == 0.5
    again = certify(program, cleaned.certificate.beta, point.alpha, point.t)
    assert cleaned.certificate.objective == again.objective
    assert cleaned.certificate.gap <= 1e-8


def test_shapes_are_separated():
    for X, y in (
        make_circles(200, noise=0.05, factor=0.4, random_state=0),
        make_moons(200, noise=0.05, random_state=0),
    ):
        assert box_form(gamma=2.0).fit(X, y).score(X, y) == 1.0


def test_three_classes_both_ways():
    X, y = make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    for strategy, columns in (("ovr", 3), ("ovo", 3)):
        model = box_form(multi_class=strategy).fit(X, y)
        assert model.transform(X).shape == (150, columns)
        assert model.objective_.shape == (columns,)
        assert model.duality_gap_ <= 1e-9
        assert model.score(X, y) > 0.9
        given = box_form(multi_class=strategy, kernel="precomputed")
        given.fit(rbf_kernel(X, gamma=model.gamma_), y)
        assert np.mean(given.predict(rbf_kernel(X, gamma=model.gamma_)) == model.predict(X)) > 0.99


def test_impact_is_the_slack_cost():
    X, y = noisy(100, 2)
    model = box_form(gamma=0.05, margin=0.05).fit(X, y)
    impact = model.misclassification_impact(X, y)
    slack = model.objective_ + (model.centers_[1] - model.centers_[0]) + 2 * 0.05 * len(y)
    assert impact.sum() == pytest.approx(slack, abs=1e-8)
    assert impact.min() >= 0


def test_hard_margin():
    X, y = make_circles(100, noise=0.03, factor=0.4, random_state=0)
    assert box_form(C=np.inf, gamma=1.0).fit(X, y).score(X, y) == 1.0
    with pytest.raises(ValueError, match="finite C"):
        box_form(C=np.inf, kernel="linear").fit(X, y)


class TestDefault:
    def test_it_is_the_regularized_form_in_the_coordinates_of_the_map(self):
        X, y = noisy(300, 4)
        model = KernelLCC(gamma=0.3).fit(X, y)
        assert model.n_components_ == len(model.support_) == 137
        values, vectors = np.linalg.eigh(rbf_kernel(model.support_vectors_, gamma=0.3))
        kept = values > 1e-12 * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        mapped = rbf_kernel(X, model.support_vectors_, gamma=0.3) @ basis
        linear = RegularizedLCC(C=2.0, margin_range=(-0.5, 1.5)).fit(mapped, y)
        assert model.objective_ == pytest.approx(linear.objective_, rel=1e-7)
        assert model.duality_gap_ <= 1e-9
        np.testing.assert_allclose(
            model.decision_function(X), linear.decision_function(mapped), atol=1e-4
        )
        np.testing.assert_allclose(
            model.misclassification_impact(X, y),
            linear.misclassification_impact(mapped, y),
            atol=1e-3,
        )

    def test_flipped_labels_are_not_memorized(self):
        X, y = make_circles(600, noise=0.15, factor=0.4, random_state=0)
        flipped = np.where(np.random.default_rng(0).random(600) < 0.1, 1 - y, y)
        ours, svc = KernelLCC().fit(X[:300], flipped[:300]), SVC().fit(X[:300], flipped[:300])
        assert ours.score(X[:300], flipped[:300]) < 0.97
        areas = [roc_auc_score(y[300:], m.decision_function(X[300:])) for m in (ours, svc)]
        assert areas[0] >= areas[1] - 0.005
        assert ours.score(X[300:], y[300:]) > 0.97

    def test_landmarks_grow_with_the_samples_and_end_at_500(self):
        X, y = noisy(9_000, 2)
        model = KernelLCC(tol=1e-3).fit(X, y)
        assert model.n_components_ == len(model.support_) == 500

    def test_all_kernels_and_fits_are_reproducible(self):
        X, y = noisy(200)
        for name, parameters in KERNELS.items():
            first, second = (KernelLCC(kernel=name, **parameters).fit(X, y) for _ in range(2))
            np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
            assert first.score(X, y) > 0.65


class TestNystroem:
    def test_it_is_lcc_in_the_coordinates_of_the_map(self):
        X, y = noisy(300, 4)
        model = box_form(n_components=40, gamma=0.3, random_state=0).fit(X, y)
        landmarks = X[model.support_]
        values, vectors = np.linalg.eigh(rbf_kernel(landmarks, gamma=0.3))
        mapped = rbf_kernel(X, landmarks, gamma=0.3) @ (vectors / np.sqrt(values))
        linear = LCC().fit(mapped, y)
        assert model.objective_ == pytest.approx(linear.objective_, rel=1e-6)
        np.testing.assert_array_equal(model.predict(X), linear.predict(mapped))

    def test_mapping_on_the_way_gives_the_same_model(self, monkeypatch):
        X, y = noisy(6000, 4)
        options = {"n_components": 25, "random_state": 0}
        held = box_form(**options).fit(X, y)
        monkeypatch.setattr("lincent.sources.landmarks.HOLD_BYTES", 0)
        mapped = box_form(**options).fit(X, y)
        assert mapped.objective_ == pytest.approx(held.objective_, rel=1e-9)
        np.testing.assert_allclose(mapped.dual_coef_, held.dual_coef_, rtol=1e-4, atol=1e-6)

    def test_memory_stays_bounded(self, monkeypatch):
        monkeypatch.setattr("lincent.sources.landmarks.HOLD_BYTES", 0)
        X, y = noisy(40_000, 5)
        box_form(n_components=50, random_state=0).fit(X[:500], y[:500])
        tracemalloc.start()
        model = box_form(n_components=50, random_state=0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.solver_ == "screening"
        # Not a Gram matrix of the rows (12.8 GB), nor twice the mapped data (32 MB).
        assert peak < 2 * 40_000 * 50 * 8

    def test_landmarks_do_not_depend_on_order(self):
        X, y = noisy(200)
        order = np.random.default_rng(1).permutation(200)
        first = box_form(n_components=10, random_state=3).fit(X, y)
        second = box_form(n_components=10, random_state=3).fit(X[order], y[order])
        rows = {tuple(row) for row in first.support_vectors_}
        assert rows == {tuple(row) for row in second.support_vectors_}

    def test_landmarks_of_a_precomputed_kernel_are_its_columns(self):
        X, y = noisy(200)
        K = rbf_kernel(X, gamma=0.3)
        model = box_form(kernel="precomputed", n_components=30, random_state=0).fit(K, y)
        assert model.dual_coef_.shape == (1, 30)
        among = rbf_kernel(X[model.support_], gamma=0.3)
        values, vectors = np.linalg.eigh(among)
        linear = LCC().fit(K[:, model.support_] @ (vectors / np.sqrt(values)), y)
        assert model.objective_ == pytest.approx(linear.objective_, rel=1e-6)
        np.testing.assert_allclose(
            model.transform(K)[:, 0], K[:, model.support_] @ model.dual_coef_[0]
        )


def test_equal_samples_are_predicted():
    model = KernelLCC().fit(np.ones((9, 2)), [0, 1, 1] * 3)
    assert len(model.support_) == 1
    np.testing.assert_allclose(model.decision_function(np.ones((2, 2))), 0.0, atol=1e-9)


def test_box_form_of_many_samples_is_refused(monkeypatch):
    X, y = noisy(60)
    monkeypatch.setattr(kernel_module, "LARGEST_BOX", 50)
    with pytest.raises(ValueError, match=r"minutes for 60 distinct samples .* use norm='l2'"):
        box_form().fit(X, y)
    for model in (KernelLCC(), box_form(n_components=20)):
        assert model.fit(X, y).n_components_ in (60, 20)


def test_memory_is_at_most_four_kernel_matrices():
    X, y = noisy(700, 5)
    box_form().fit(X[:50], y[:50])
    tracemalloc.start()
    box_form().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 4 * 700**2 * 8


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "gauss"}, r"'kernel' parameter .* Got 'gauss'"),
        ({"gamma": -1.0}, r"'gamma' parameter .* Got \-1\.0"),
        ({"gamma": "wide"}, r"'gamma' parameter .* Got 'wide'"),
        ({"degree": 0}, r"'degree' parameter .* Got 0"),
        ({"coef0": "a"}, r"'coef0' parameter .* Got 'a'"),
        ({"n_components": 0}, r"'n_components' parameter .* Got 0"),
        ({"margin": 1e6}, "largest feasible margin"),
        ({"kernel": "precomputed"}, "square"),
        ({"kernel": lambda A, B: np.zeros((1, 1))}, r"shape \(1, 1\)"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "not finite"),
    ],
)
def test_bad_input_gives_a_sentence(parameters, words):
    X, y = noisy(20)
    with pytest.raises(ValueError, match=words):
        box_form(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"C": np.inf}, "norm='l2' has no hard margin"), ({"norm": "l1"}, "'norm'")],
)
def test_unusable_norms_are_refused(settings, message):
    X, y = make_moons(40, noise=0.2, random_state=0)
    with pytest.raises(ValueError, match=message):
        KernelLCC(**settings).fit(X, y)


@pytest.mark.parametrize("weight", [2.0, 0.0])
def test_weights_decide_the_landmarks_as_repetitions_do(weight):
    X, y = noisy(800, 3)
    other = noisy(800, 3, seed=1)[0]
    once, again = np.ones(800), np.full(800, weight)
    # A weight of two, or rows of weight zero besides.
    given = (X, y, again) if weight else (np.r_[X, other], np.r_[y, y], np.r_[once, again])
    same = (np.r_[X, X], np.r_[y, y]) if weight else (X, y)
    model, plain = KernelLCC().fit(*given), KernelLCC().fit(*same)
    assert model.n_components_ == plain.n_components_ == (300 if weight else 200)
    assert_allclose(model.decision_function(other), plain.decision_function(other), atol=1e-6)
