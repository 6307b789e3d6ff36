"""Probabilities on the projected line."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss
from sklearn.model_selection import TunedThresholdClassifierCV

from lincent import LCC, LCCCV
from lincent.estimators.calibration import (
    _platt,
    combine_probabilities,
    couple,
    deal,
    fit_calibrator,
)


def data(m=600, seed=0, share=0.3, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    score = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.2]) + rng.normal(size=m)
    cuts = np.quantile(score, [1 - share] if classes == 2 else [0.4, 0.8])
    return X, np.searchsorted(cuts, score)


def test_off_by_default():
    X, y = data(80)
    model = LCC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "probability='sigmoid'" in str(error.value.__cause__)


@pytest.mark.parametrize("estimator", [LCC, LCCCV])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_on_unseen_rows(estimator, method):
    # 4,000 rows: with 600 the isotonic bins of any one sample, scikit-learn's included, are off by
    # 0.1 to 0.15 through chance alone.
    X, y = data(4000)
    unseen, truth = data(20_000, seed=1)
    model = estimator(probability=method).fit(X, y)
    chance = model.predict_proba(unseen)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert ((chance >= 0) & (chance <= 1)).all()
    bins = np.digitize(chance[:, 1], np.linspace(0, 1, 6)[1:-1])
    for k in range(5):
        if (bins == k).sum() > 500:
            assert chance[bins == k, 1].mean() == pytest.approx(truth[bins == k].mean(), abs=0.06)
    # Near the best that any function of all columns does.
    reference = LogisticRegression().fit(X, y).predict_proba(unseen)[:, 1]
    assert brier_score_loss(truth, chance[:, 1]) < 1.06 * brier_score_loss(truth, reference)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_as_good_as_scikit_learn_s_calibration(method):
    """The same Brier score as five refits inside CalibratedClassifierCV, over several samples."""
    unseen, truth = data(10_000, seed=99)
    ours, theirs = [], []
    for seed in range(5):
        X, y = data(600, seed=seed)
        own = LCC(probability=method).fit(X, y)
        wrapped = CalibratedClassifierCV(LCC(), method=method, ensemble=False).fit(X, y)
        ours.append(brier_score_loss(truth, own.predict_proba(unseen)[:, 1]))
        theirs.append(brier_score_loss(truth, wrapped.predict_proba(unseen)[:, 1]))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)


def test_predictions_do_not_change():
    X, y = data()
    plain, with_chance = LCC().fit(X, y), LCC(probability="sigmoid").fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), with_chance.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), with_chance.predict(X))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_the_contract_of_predict_proba(method, strategy):
    """What scikit-learn's check_classifiers_train asks, but for the place of the cut."""
    for classes in (2, 3):
        X, y = data(200, classes=classes)
        model = LCC(probability=method, multi_class=strategy).fit(X, y)
        chance = model.predict_proba(X)
        assert chance.shape == (200, classes)
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        # On the whole the largest probability is the predicted class.
        assert np.mean(chance.argmax(axis=1) == model.predict(X)) > 0.75
        with pytest.raises(ValueError, match="features"):
            model.predict_proba(X.T)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_increasing_in_the_score(method):
    X, y = data()
    model = LCC(probability=method).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= -1e-15).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_weight_is_repetition_and_order_is_nothing(method):
    X, y = data(120)
    weight = np.random.default_rng(0).integers(0, 4, 120)
    weighted = LCC(probability=method).fit(X, y, sample_weight=weight)
    repeated = LCC(probability=method).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    order = np.random.default_rng(1).permutation(120)
    shuffled = LCC(probability=method).fit(X[order], y[order], sample_weight=weight[order])
    np.testing.assert_allclose(weighted.predict_proba(X), shuffled.predict_proba(X), atol=1e-7)


def test_margin_does_not_matter_while_the_box_is_inactive():
    X, y = data()
    one, other = (LCC(margin=s, probability="sigmoid").fit(X, y) for s in (0.001, 0.01))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
@pytest.mark.parametrize("discriminator", ["distance", "nearest", "svm"])
def test_many_classes(strategy, discriminator):
    X, y = data(classes=3)
    model = LCC(probability="sigmoid", multi_class=strategy, discriminator=discriminator).fit(X, y)
    chance = model.predict_proba(X)
    assert chance.shape == (len(X), 3)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert np.mean(chance.argmax(axis=1) == y) > 0.5


def test_sparse_rows():
    import scipy.sparse as sp

    X, y = data(200)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = LCC(probability="sigmoid").fit(X, y)
    sparse = LCC(probability="sigmoid").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("count", [1, 3])
def test_class_of_a_single_kind_of_row(method, count):
    """That row cannot be held out; a weight is still a repetition."""
    X, y = data(40)
    X, y = np.vstack([X[y == 0], np.full((1, 5), 3.0)]), np.r_[np.zeros(np.sum(y == 0)), 1]
    weight = np.where(y == 1, count, 1)
    weighted = LCC(probability=method).fit(X, y, sample_weight=weight)
    repeated = LCC(probability=method).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    assert weighted.predict_proba(X)[-1, 1] > weighted.predict_proba(X)[:-1, 1].mean()


def test_two_rows_and_a_wrong_name():
    chance = LCC(probability="sigmoid").fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0], [1.0]])
    assert chance[0, 1] < 0.5 < chance[1, 1]
    with pytest.raises(ValueError, match="probability='perhaps' is not known"):
        LCC(probability="perhaps").fit([[0.0], [1.0]], [0, 1])


def test_folds_are_dealt_fairly():
    X, y = data(103)
    sign, weight = np.where(y == 1, 1.0, -1.0), np.ones(103)
    weight[:3] = 0.0
    held = list(deal(X, sign, weight))
    assert len(held) == 5
    np.testing.assert_array_equal(np.sum(held, axis=0), weight > 0)
    for side in (-1.0, 1.0):
        sizes = [int((mask & (sign == side)).sum()) for mask in held]
        assert max(sizes) - min(sizes) <= 1


def test_sigmoid_is_the_optimum():
    """Stationary point of the smoothed likelihood."""
    rng = np.random.default_rng(0)
    u, weight = rng.normal(size=300), rng.uniform(0.5, 2.0, 300)
    positive = u + rng.normal(size=300) > 0.5
    slope, offset = _platt(u, positive, weight)
    plus, minus = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))
    rest = weight * (1 / (1 + np.exp(-(slope * u + offset))) - target)
    assert abs(rest.sum()) < 1e-6
    assert abs(rest @ u) < 1e-6


def test_sigmoid_on_separated_scores_is_finite():
    u = np.r_[np.full(50, -1e3), np.full(50, 1e3)]
    slope, offset = _platt(u, u > 0, np.ones(100))
    assert np.isfinite([slope, offset]).all()
    assert slope > 0


def test_isotonic_is_scikit_learn_s():
    rng = np.random.default_rng(0)
    u = rng.normal(size=200)
    positive = u + rng.normal(size=200) > 0
    steps = fit_calibrator("isotonic", u, positive, np.ones(200), 2.0)
    reference = IsotonicRegression(out_of_bounds="clip").fit(u, positive)
    grid = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(steps.probability(2.0 * grid), reference.predict(grid))


def test_coupling_recovers_consistent_pairs():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=50)
    pairs = [p[:, j] / (p[:, i] + p[:, j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(couple(np.stack(pairs, axis=1), 4), p, atol=1e-5)


def test_no_class_wanted_is_even():
    found = combine_probabilities(np.zeros((2, 3)), 3, "ovr")
    np.testing.assert_allclose(found, 1 / 3)


# scikit-learn's own tools


@pytest.mark.parametrize("estimator", [LCC(), LCCCV(margins=4, cv=3)])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_classifier_cv(estimator, method):
    X, y = data(300)
    wrapped = CalibratedClassifierCV(estimator, method=method, cv=3).fit(X, y)
    chance = wrapped.predict_proba(X)[:, 1]
    assert brier_score_loss(y, chance) < 0.18


@pytest.mark.parametrize("probability", [None, "sigmoid"])
def test_tuned_threshold(probability):
    X, y = data(400, share=0.1)
    model = LCC(probability=probability)
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=3).fit(X, y)
    assert balanced_accuracy_score(y, tuned.predict(X)) > 0.7
