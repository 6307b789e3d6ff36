"""LCC as users meet it: attributes, scores, the line, labels, copies, repr."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils import estimator_html_repr

from lincent import LCC
from support.problems import BENT
from support.samples import apart, three_classes, two_classes, weights

RULES = ("distance", "nearest", "svm")


def objective(model, X, y, weight=None):
    """The paper's objective at ``coef_``, from its definition."""
    weight = np.ones(len(y)) if weight is None else weight
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    low, high = (np.average(X[sign == s], axis=0, weights=weight[sign == s]) for s in (-1, 1))
    beta = model.coef_[0]
    epsilon = np.maximum(-model.margin, -sign * ((X - (low + high) / 2) @ beta))
    return low @ beta - high @ beta + model.C * (weight @ epsilon)


@pytest.mark.parametrize("solver", ["auto", "interior-point", "highs"])
def test_certificate_is_the_paper_s_objective(solver):
    X, y = two_classes()
    model = LCC(solver=solver).fit(X, y, weights(len(y)))
    assert model.objective_ == pytest.approx(objective(model, X, y, weights(len(y))), rel=1e-10)
    # The gap is the difference, and what rounding can have done to it.
    gap = model.duality_gap_ * max(1.0, abs(model.objective_))
    assert -1e-15 <= gap - (model.objective_ - model.dual_objective_) <= 1e-10
    assert model.duality_gap_ <= 1e-9
    assert np.abs(model.coef_).max() <= 1
    assert (model.centers_[1] - model.centers_[0]) @ model.coef_[0] >= 0.01 * (1 - 1e-9)
    assert model.n_iter_ >= 1
    assert model.solver_ == {"auto": "simplex"}.get(solver, solver)


def test_attributes_have_scikit_learn_s_shapes():
    X, y = two_classes(n=4)
    model = LCC().fit(X, y)
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.centers_.shape == (2, 4)
    assert isinstance(model.objective_, float)
    assert isinstance(model.duality_gap_, float)
    assert isinstance(model.n_iter_, int)
    np.testing.assert_allclose(model.centers_, [X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    # The default cut is half-way between the projected centers.
    assert model.intercept_[0] == pytest.approx(-(model.centers_.mean(axis=0) @ model.coef_[0]))


@pytest.mark.parametrize("rule", RULES)
def test_scores_are_signed_and_rank(rule):
    X, y = two_classes(m=300, noise=0.5)
    model = LCC(discriminator=rule).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, 1, 0))
    assert roc_auc_score(y, scores) > 0.9


@pytest.mark.parametrize("rule", ["distance", "svm"])
def test_coef_and_intercept_are_the_decision(rule):
    X, y = two_classes()
    model = LCC(discriminator=rule).fit(X, y)
    expected = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-10, atol=1e-14)


def test_transform_is_the_line():
    X, y = two_classes()
    model = LCC().fit(X, y)
    np.testing.assert_allclose(model.transform(X), X @ model.coef_.T, atol=1e-15)
    np.testing.assert_allclose(LCC().fit_transform(X, y), model.transform(X))
    assert list(model.get_feature_names_out()) == ["lcc0"]
    X, y = three_classes()
    assert LCC().fit(X, y).transform(X).shape == (len(y), 3)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array([False, True]),
        np.array(["a", "b"], dtype=object),
        np.array([-1, 1]),
        np.array([2.0, 7.0]),
    ],
    ids=["strings", "booleans", "objects", "minus one", "floats"],
)
def test_labels_of_any_kind(labels):
    X, y = two_classes()
    model = LCC().fit(X, labels[y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(X), labels[LCC().fit(X, y).predict(X)])
    np.testing.assert_allclose(
        model.misclassification_impact(X, labels[y]),
        LCC().fit(X, y).misclassification_impact(X, y),
    )


@pytest.mark.parametrize("rule", RULES)
def test_single_precision(rule):
    X, y = two_classes()
    X32 = X.astype(np.float32)
    model = LCC(discriminator=rule).fit(X32, y)
    assert model.transform(X32).dtype == np.float32
    exact = LCC(discriminator=rule).fit(X32.astype(float), y)
    np.testing.assert_allclose(model.objective_, exact.objective_, rtol=2e-9)
    np.testing.assert_array_equal(model.predict(X32), exact.predict(X32.astype(float)))


class TestImpact:
    @pytest.mark.parametrize("rule", RULES)
    def test_a_planted_outlier_comes_first(self, rule):
        X, y = apart()
        y = y.copy()
        y[17] = 1 - y[17]
        model = LCC(discriminator=rule).fit(X, y)
        assert model.misclassification_impact(X, y).argmax() == 17

    @pytest.mark.parametrize("strategy", ["ovr", "ovo"])
    def test_also_with_three_classes(self, strategy):
        X, y = three_classes(spread=0.3)
        y = y.copy()
        y[40] = (y[40] + 1) % 3
        model = LCC(multi_class=strategy).fit(X, y)
        assert model.misclassification_impact(X, y).argmax() == 40

    def test_is_the_paper_s_cost_of_a_row(self):
        X, y = two_classes()
        model = LCC().fit(X, y)
        impact = model.misclassification_impact(X, y)
        beta, middle = model.coef_[0], model.centers_.mean(axis=0)
        epsilon = np.maximum(-0.01, -np.where(y == 1, 1, -1) * ((X - middle) @ beta))
        np.testing.assert_allclose(impact, 2.0 * (epsilon + 0.01), atol=1e-14)
        # The costs and the distance of the centers make up the objective.
        spread = (model.centers_[1] - model.centers_[0]) @ beta
        assert model.objective_ == pytest.approx(impact.sum() - 2 * 0.01 * len(y) - spread)

    @pytest.mark.parametrize("shift", [0.0, 0.1, 3.3, 100.7])
    @pytest.mark.parametrize("margin", [0.01, 0.1, 0.37])
    def test_rounding_on_a_hard_margin_costs_nothing(self, shift, margin):
        """Two of these rows end exactly on the margin, wherever the data lies."""
        X = np.vstack([BENT, np.negative(BENT)]) + shift
        y = np.repeat([1, 0], 3)
        model = LCC(C=np.inf, margin=margin).fit(X, y)
        np.testing.assert_array_equal(model.misclassification_impact(X, y), 0.0)

    def test_a_broken_hard_margin_costs_everything(self):
        X, y = apart()
        model = LCC(C=np.inf).fit(X, y)
        np.testing.assert_array_equal(model.misclassification_impact(X, y), 0.0)
        wrong = y.copy()
        wrong[5] = 1 - wrong[5]
        impact = model.misclassification_impact(X, wrong)
        assert impact.argmax() == 5
        assert impact[5] == np.inf

    def test_a_label_it_does_not_know(self):
        X, y = two_classes()
        model = LCC().fit(X, y)
        with pytest.raises(ValueError, match=r"y\[3\] is 9, .* it knows \[0, 1\]"):
            model.misclassification_impact(X, np.where(np.arange(len(y)) == 3, 9, y))
        with pytest.raises(ValueError, match=r"shape \(5,\); give one label for each of the 200"):
            model.misclassification_impact(X, y[:5])


class TestHardMargin:
    @pytest.mark.parametrize("solver", ["auto", "interior-point", "highs"])
    def test_every_row_keeps_the_margin(self, solver):
        X, y = apart(distance=2.5)
        model = LCC(C=np.inf, margin=0.1, solver=solver).fit(X, y)
        sign = np.where(y == 1, 1, -1)
        distance = sign * ((X - model.centers_.mean(axis=0)) @ model.coef_[0])
        assert distance.min() >= 0.1 * (1 - 1e-8)
        assert model.duality_gap_ <= 1e-9

    def test_is_the_limit_of_large_costs(self):
        X, y = apart(distance=2.2, seed=3)
        hard = LCC(C=np.inf, margin=0.1).fit(X, y)
        soft = LCC(C=1e4, margin=0.1).fit(X, y)
        constant = 1e4 * 0.1 * len(y)
        assert hard.objective_ == pytest.approx(soft.objective_ + constant, rel=1e-7)

    def test_weight_zero_frees_a_row(self):
        X, y = apart()
        y, weight = y.copy(), np.ones(len(y))
        y[0], weight[0] = 1 - y[0], 0.0
        with pytest.raises(ValueError, match="cannot be separated"):
            LCC(C=np.inf).fit(X, y)
        model = LCC(C=np.inf).fit(X, y, weight)
        assert model.score(X[1:], y[1:]) == 1.0


def test_clone_and_pickle():
    X, y = two_classes()
    model = LCC(C=3.0, discriminator="svm").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "coef_")


def test_repr_and_html():
    X, y = two_classes()
    assert repr(LCC(C=3.0)) == "LCC(C=3.0)"
    page = estimator_html_repr(LCC(C=3.0).fit(X, y))
    assert "LCC" in page
    assert "Fitted" in page
    assert "Not fitted" in estimator_html_repr(LCC())


def test_fit_leaves_its_input_alone():
    X, y = two_classes()
    weight = weights(len(y))
    before = X.copy(), y.copy(), weight.copy()
    LCC(discriminator="nearest").fit(X, y, weight)
    for held, copy in zip((X, y, weight), before, strict=True):
        np.testing.assert_array_equal(held, copy)


def test_a_second_fit_forgets_the_first():
    X, y = two_classes(n=4)
    model = LCC().fit(*three_classes())
    model.fit(X, y)
    fresh = LCC().fit(X, y)
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
