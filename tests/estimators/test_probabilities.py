"""predict_proba of every estimator, by one mechanism."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss
from sklearn.model_selection import TunedThresholdClassifierCV

import lincent
from lincent import LCC, LCCCV, KernelLCC, RegularizedLCC, RegularizedLCCCV
from lincent.estimators.calibration import OutOfFoldScores

ASKED = ["LCC", "LCCCV", "RegularizedLCC", "StructuredLCC", "KernelLCC", "FQCC", "AdditiveLCC"]
FREE = ["RegularizedLCCCV", "StructuredLCCCV", "AdditiveLCCCV"]
CHEAP = {
    "AdditiveLCCCV": {"interactions": 0},
    "AdditiveLCC": {},
    "LCCCV": {"margins": 4},
    "StructuredLCCCV": {"n_centers": 10, "gammas": (0.3, 1.0), "cv": 3},
}


def made(name, **settings):
    return getattr(lincent, name)(**CHEAP.get(name, {}), **settings)


def data(m=600, seed=0, share=0.3, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    score = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.2]) + rng.normal(size=m)
    cuts = np.quantile(score, [1 - share] if classes == 2 else [0.4, 0.8])
    return X, np.searchsorted(cuts, score)


def even(m=300, classes=3, seed=0):
    """Classes of the same size that overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % classes
    return rng.normal(size=(m, 4)) + 1.2 * np.eye(4)[y], y


@pytest.mark.parametrize("name", ASKED)
def test_off_by_default_where_it_costs_fits(name):
    X, y = data(80)
    model = made(name).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_log_proba(X)
    assert "probability='sigmoid'" in str(error.value.__cause__)


@pytest.mark.parametrize("name", FREE)
def test_on_where_folds_are_there_and_no_further_fit(name, monkeypatch):
    from lincent.estimators import base

    def never(*rows, **named):
        raise AssertionError("fitted again")

    X, y = data(150)
    monkeypatch.setattr(base, "fit_without_folds", never)
    model = made(name).fit(X, y)
    assert model.n_iter_ == made(name, probability=None).fit(X, y).n_iter_
    chance = model.predict_proba(X)
    np.testing.assert_allclose(np.log(chance), model.predict_log_proba(X))
    assert not hasattr(made(name, probability=None).fit(X, y), "predict_proba")


def test_a_search_of_margins_has_the_fits_that_it_needs(monkeypatch):
    """Out-of-fold scores are those of the chosen margin, each normalized by its fit."""
    from lincent.estimators import base

    X, y = data(240, classes=3)
    monkeypatch.setattr(base, "fit_without_folds", None)
    folds = np.arange(240) % 4
    model = LCCCV(4, cv=folds, probability="sigmoid").fit(X, y)
    margin = model.relative_margin_[0]
    order = []
    for k in range(4):
        rest, out = folds != k, folds == k
        scores = LCCCV([margin], cv=2).fit(X[rest], y[rest]).decision_function(X[out])
        order.append(np.corrcoef(scores.ravel(), model.out_of_fold_scores_[out].ravel())[0, 1])
    assert min(order) > 1 - 1e-6
    assert log_loss(y, model.out_of_fold_probabilities_) < 0.9


def test_a_search_whose_folds_do_not_hold_out_every_row_fits_again():
    from sklearn.model_selection import ShuffleSplit

    X, y = data(150)
    cv = ShuffleSplit(3, random_state=0)
    model = LCCCV(3, cv=cv, probability="sigmoid").fit(X, y)
    assert np.isfinite(model.out_of_fold_probabilities_).all()


@pytest.mark.parametrize("name", ASKED + FREE)
@pytest.mark.parametrize("classes", [2, 3])
def test_class_score_and_probability_agree_where_classes_are_equally_frequent(name, classes):
    X, y = even(240, classes=classes, seed=1)
    many = {} if name.startswith("Additive") else {"multi_class": "ovo" if classes == 3 else "ovr"}
    model = made(name, probability="sigmoid", **many).fit(X, y)
    chance, score = model.predict_proba(X), model.decision_function(X)
    assert chance.shape == (len(X), classes)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[chance.argmax(axis=1)], model.predict(X))
    if classes == 2:
        assert (np.diff(chance[np.argsort(score), 1]) >= 0).all()


@pytest.mark.parametrize("name", ASKED + FREE)
def test_out_of_fold_values_do_not_depend_on_own_labels(name):
    """Random labels are predicted in the training samples and not out of fold."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.integers(0, 2, 120)
    model = made(name, probability="sigmoid").fit(X, y)
    seen = np.mean((model.decision_function(X) > 0) == y)
    unseen = np.mean((model.out_of_fold_scores_ > 0) == y)
    assert seen > 0.65
    assert unseen < 0.62
    chance = model.out_of_fold_probabilities_
    assert chance.shape == (120, 2)
    assert log_loss(y, chance) < 0.85  # near log 2, nowhere sure of itself


@pytest.mark.parametrize("name", [name for name in ASKED + FREE if name != "LCCCV"])
def test_weight_is_repetition_and_order_is_nothing(name):
    X, y = data(100)
    weight = np.random.default_rng(0).integers(0, 4, 100)
    weighted = made(name, probability="sigmoid").fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(100), weight)[np.random.default_rng(1).permutation(weight.sum())]
    repeated = made(name, probability="sigmoid").fit(X[again], y[again])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=2e-6)
    np.testing.assert_allclose(
        weighted.out_of_fold_probabilities_[again], repeated.out_of_fold_probabilities_, atol=2e-6
    )


@pytest.mark.parametrize("estimator", [LCC, LCCCV, RegularizedLCC, RegularizedLCCCV])
def test_calibrated_on_new_samples(estimator):
    X, y = data(4000)
    unseen, truth = data(20_000, seed=1)
    model = estimator(probability="sigmoid").fit(X, y)
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


def test_as_good_as_scikit_learn_s_calibration():
    """The same Brier score as five refits inside CalibratedClassifierCV, over several samples."""
    unseen, truth = data(10_000, seed=99)
    ours, theirs = [], []
    for seed in range(5):
        X, y = data(600, seed=seed)
        own = LCC(probability="sigmoid").fit(X, y)
        wrapped = CalibratedClassifierCV(LCC(), ensemble=False).fit(X, y)
        ours.append(brier_score_loss(truth, own.predict_proba(unseen)[:, 1]))
        theirs.append(brier_score_loss(truth, wrapped.predict_proba(unseen)[:, 1]))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)


def test_predictions_do_not_change():
    X, y = data()
    plain, with_chance = LCC().fit(X, y), LCC(probability="sigmoid").fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), with_chance.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), with_chance.predict(X))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
@pytest.mark.parametrize("discriminator", ["distance", "nearest", "svm"])
def test_many_classes(strategy, discriminator):
    X, y = even(600)
    model = LCC(probability="sigmoid", multi_class=strategy, discriminator=discriminator).fit(X, y)
    chance = model.predict_proba(X)
    assert chance.shape == (len(X), 3)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert np.mean(chance.argmax(axis=1) == y) > 0.5
    with pytest.raises(ValueError, match="features"):
        model.predict_proba(X.T)


def test_precomputed_kernel_is_split_both_ways():
    X, y = data(90)
    kernel = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    given = KernelLCC(kernel="precomputed", probability="sigmoid").fit(kernel, y)
    own = KernelLCC(gamma=0.2, probability="sigmoid").fit(X, y)
    chance = own.out_of_fold_scores_ / np.abs(own.out_of_fold_scores_).max()
    other = given.out_of_fold_scores_ / np.abs(given.out_of_fold_scores_).max()
    # The folds are hashes of the row values, which differ: alike, not the same.
    assert np.corrcoef(chance, other)[0, 1] > 0.8
    assert given.predict_proba(kernel).shape == (90, 2)


def test_a_margin_that_a_fold_has_not():
    X, y = data(60)
    largest = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).sum()
    model = LCC(margin=0.999 * largest, probability="sigmoid").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_margin_does_not_matter_while_the_box_is_inactive():
    X, y = data()
    one, other = (LCC(margin=s, probability="sigmoid").fit(X, y) for s in (0.001, 0.01))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-8)


def test_sparse_rows():
    import scipy.sparse as sp

    X, y = data(200)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = LCC(probability="sigmoid").fit(X, y)
    sparse = LCC(probability="sigmoid").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("count", [1, 3])
def test_class_of_a_single_kind_of_row(count):
    """That row cannot be held out; a weight is still a repetition."""
    X, y = data(40)
    X, y = np.vstack([X[y == 0], np.full((1, 5), 3.0)]), np.r_[np.zeros(np.sum(y == 0)), 1]
    weight = np.where(y == 1, count, 1)
    weighted = LCC(probability="sigmoid").fit(X, y, sample_weight=weight)
    repeated = LCC(probability="sigmoid").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    assert weighted.predict_proba(X)[-1, 1] > weighted.predict_proba(X)[:-1, 1].mean()


def test_two_rows_and_a_wrong_name():
    chance = LCC(probability="sigmoid").fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0], [1.0]])
    assert chance[0, 1] < 0.5 < chance[1, 1]
    for name in ("perhaps", "isotonic"):
        with pytest.raises(ValueError, match=rf"'probability' parameter .* Got '{name}'"):
            LCC(probability=name).fit([[0.0], [1.0]], [0, 1])


def test_sure_of_little_from_few_rows():
    """Four more samples: ten separated rows are no reason for a probability of one in a million."""
    scores = np.r_[-np.ones(5), np.ones(5)][:, None]
    codes = np.repeat([0, 1], 5)
    unseen = OutOfFoldScores(scores, codes, np.ones(10), np.zeros(10, dtype=int), 2)
    chance = unseen.calibration(1.0).probability(scores)[:, 1]
    np.testing.assert_allclose(chance[5:], 6 / 7, atol=0.01)  # (W + 1) / (W + 2)
    np.testing.assert_allclose(chance[:5], 1 / 7, atol=0.01)


def test_no_row_is_certain_and_no_order_is_reversed():
    rng = np.random.default_rng(0)
    codes = (np.arange(200) % 4 == 0).astype(int)
    labels = codes, np.ones(200), np.arange(200) % 5, 2
    scores = rng.normal(size=(200, 1)) + 3.0 * codes[:, None]
    scores[:2] = [[-60.0], [60.0]]
    far = OutOfFoldScores(scores, *labels).calibration(1.0).probability(np.array([[-1e3], [1e3]]))
    assert 4 / 204 * 0.25 <= far[0, 1] < 0.01
    assert 4 / 204 * 0.75 <= far[1, 0] < 0.03
    grid = np.linspace(-3, 3, 9)[:, None]
    chance = OutOfFoldScores(-scores, *labels).calibration(1.0).probability(grid)[:, 1]
    np.testing.assert_allclose(chance, 0.25, atol=1e-5)
    assert np.all(np.diff(chance) > 0)


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


@pytest.mark.parametrize("name", ["LCC", "RegularizedLCC", "RegularizedLCCCV", "AdditiveLCC"])
def test_outlying_samples_do_not_flatten_the_probabilities(name):
    """Nine rows sixty times too large, in columns that are not scaled."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 4)), np.arange(900) % 2
    X[:, :2] += 0.9 * y[:, None]
    X[rng.choice(700, 9, replace=False)] *= 60
    model = made(name, probability="sigmoid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chance = model.fit(X[:700], y[:700]).predict_proba(X[700:])
    assert log_loss(y[700:], chance) < 0.6  # log 2 is the base rate
    rising = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[rising, 1]) >= 0).all()
    wrapped = CalibratedClassifierCV(made(name, probability=None), ensemble=False)
    theirs = wrapped.fit(X[:700], y[:700]).predict_proba(X[700:])
    assert log_loss(y[700:], chance) < log_loss(y[700:], theirs) + 0.02


RARE = {
    "AutoLCC": ("lincent.estimators.auto", {"SEARCH_ROWS": 1000, "FIT_ROWS": 3000}),
    "AdditiveLCCCV": ("lincent.estimators.additive", {"SAMPLE_ROWS": 1000}),
    "RegularizedLCCCV": ("lincent.sources.hashing", {"RANKED": 200, "SCORED": 1000}),
}
"""Classes with many samples, of which some are drawn or scored."""


@pytest.mark.parametrize("name", RARE)
def test_samples_with_more_of_a_rare_class_do_not_raise_its_probability(name, monkeypatch):
    home, sizes = RARE[name]
    for constant, size in sizes.items():
        monkeypatch.setattr(f"{home}.{constant}", size)
    X, y = data(12_000, share=0.02)
    model = made(name).fit(X[:8000], y[:8000])
    drawn = np.isfinite(model.out_of_fold_probabilities_).all(axis=1)
    assert y[:8000][drawn].mean() > 0.04  # or this tests nothing
    p = model.predict_proba(X[8000:])[:, 1]
    assert p.mean() == pytest.approx(0.02, rel=0.3)
    base = log_loss(y[8000:], np.full(len(p), 0.02))
    assert log_loss(y[8000:], p) < 0.9 * base


@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_auto_lcc_has_the_same_nested_score_with_any_class_weight(class_weight):
    """Without balanced costs nearly all scores of a rare class are beyond the threshold."""
    X, y = data(1500, share=0.03)
    model = lincent.AutoLCC(class_weight=class_weight).fit(X, y)
    assert model.nested_score_ > model.best_score_ - 0.03
    proba = model.predict_proba(X)[:, 1]
    threshold = 0.5 if class_weight is None else y.mean()
    np.testing.assert_array_equal(model.predict(X), proba > threshold)


def test_probabilities_that_say_no_more_than_the_frequencies_are_warned_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 20)), rng.integers(0, 2, 300)
    with pytest.warns(UserWarning, match="RegularizedLCC are no better than the class frequencies"):
        RegularizedLCC(probability="sigmoid").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RegularizedLCC(probability="sigmoid").fit(X + 0.5 * y[:, None], y)
