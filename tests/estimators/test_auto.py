"""AutoLCC: what it chooses, its scores, tables, limits, interrupts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_circles, make_classification
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss

from lincent import AutoLCC
from lincent.estimators import auto
from lincent.estimators.auto_candidates import FEATURE_MAPS
from lincent.model_selection import selection


def ring(m=160, seed=0):
    return make_circles(m, factor=0.5, noise=0.1, random_state=seed)


def two(m=200, **named):
    return make_classification(m, 8, n_informative=4, random_state=0, flip_y=0.05, **named)


def frame(m=150, seed=0):
    rng = np.random.default_rng(seed)
    number, word = rng.normal(size=m), rng.choice(["red", "green", "blue"], m)
    y = np.where((word == "red") | (number > 1), "yes", "no")
    table = pd.DataFrame({"number": number, "word": word, "noise": rng.normal(size=m)})
    table.loc[::7, "number"] = np.nan
    return table, y


def test_a_curved_border_is_found_and_ensemble_are_certified():
    X, y = ring()
    model = AutoLCC().fit(X, y)
    assert model.score(X, y) > 0.98
    assert model.nested_score_ > 0.99
    assert model.duality_gap_ <= 1e-9
    assert max(one["duality_gap"] for one in model.ensemble_) == model.duality_gap_
    assert sum(one["weight"] for one in model.ensemble_) == pytest.approx(1.0)
    assert "columns" not in {one["feature_map"] for one in model.ensemble_}  # no line separates


def test_cv_results_have_all_candidates(monkeypatch):
    monkeypatch.setattr(auto, "ENSEMBLE_SIZE", 3)
    X, y = two()
    model = AutoLCC().fit(X, y)
    table = model.cv_results_
    assert {len(column) for column in table.values()} == {len(table["params"])}
    assert np.count_nonzero(table["weight"]) == len(model.ensemble_) == 3
    dropped = table["n_folds"] == 1
    assert dropped.any()
    assert not table["weight"][dropped].any()
    whole = np.where(dropped, -np.inf, table["mean_test_score"])
    assert table["weight"][whole.argmax()] > 0
    assert model.best_index_ == whole.argmax()
    assert model.best_score_ == whole.max()
    assert model.best_params_ == table["params"][model.best_index_]


def test_one_seed_one_result_whatever_the_order_and_the_jobs():
    X, y = two()
    shuffled = np.random.default_rng(0).permutation(len(y))
    one, two_, other = (
        AutoLCC(cv=2).fit(X, y),
        AutoLCC(cv=2, n_jobs=2).fit(X, y),
        AutoLCC(cv=2).fit(X[shuffled], y[shuffled]),
    )
    np.testing.assert_array_equal(one.decision_function(X), two_.decision_function(X))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-7)


def test_weights_are_frequencies():
    X, y = two(120)
    w = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AutoLCC(cv=2).fit(X, y, w)
    repeated = AutoLCC(cv=2).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6, atol=1e-9
    )


def test_frames_with_missing_values_and_categories():
    table, y = frame()
    model = AutoLCC(cv=2).fit(table, y)
    assert model.score(table, y) > 0.9
    unknown = table.assign(word="violet", number=np.nan)
    assert set(model.predict(unknown)) <= {"yes", "no"}
    pl = pytest.importorskip("polars")
    spoken = pl.from_pandas(table)
    other = AutoLCC(cv=2).fit(spoken, y)
    np.testing.assert_array_equal(model.predict(table), other.predict(spoken))


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    model = AutoLCC().fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.duality_gap_ <= 1e-9


def test_probabilities_are_calibrated_out_of_fold():
    X, y = two(600, weights=[0.8])
    model = AutoLCC().fit(X[:400], y[:400])
    p = model.predict_proba(X[400:])[:, 1]
    assert p.mean() == pytest.approx(y[400:].mean(), abs=0.06)
    assert log_loss(y[400:], p) < log_loss(y[400:], np.full(200, y[:400].mean()))
    seen = model.out_of_fold_probabilities_
    assert seen.shape == (400, 2)
    assert np.isfinite(seen).all()
    np.testing.assert_allclose(np.log(model.predict_proba(X)), model.predict_log_proba(X))


@pytest.fixture
def few_thresholds(monkeypatch):
    """Candidates for the threshold: scikit-learn's metrics of labels take 3 ms for each."""
    monkeypatch.setattr(selection, "N_THRESHOLDS", 15)


def test_the_threshold_follows_the_scorer(few_thresholds):
    X, y = two(500, weights=[0.9], class_sep=0.5)
    even, many = AutoLCC().fit(X, y), AutoLCC(scoring="accuracy").fit(X, y)
    held_even, held_many = even.out_of_fold_scores_ > 0, many.out_of_fold_scores_ > 0
    assert accuracy_score(y, held_many) > accuracy_score(y, held_even)
    assert balanced_accuracy_score(y, held_even) > balanced_accuracy_score(y, held_many)
    relative = even.predict_proba(X) / np.bincount(y)
    np.testing.assert_array_equal(even.predict(X), relative.argmax(axis=1))
    assert many.nested_score_ == pytest.approx(accuracy_score(y, held_many), abs=0.05)


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "f1_macro", "roc_auc_ovr", "average_precision"]
)
def test_scorers_of_all_kinds(few_thresholds, scoring):
    X, y = (load_iris(return_X_y=True)) if scoring == "roc_auc_ovr" else two()
    assert np.isfinite(
        AutoLCC(scoring=scoring, feature_maps=["columns", "splines"]).fit(X, y).nested_score_
    )


def test_the_nested_score_is_not_flattered_by_noise():
    rng = np.random.default_rng(0)
    nested = [
        AutoLCC(random_state=k).fit(rng.normal(size=(80, 6)), np.arange(80) % 2).nested_score_
        for k in range(4)
    ]
    assert abs(np.mean(nested) - 0.5) < 0.12


def test_candidates_are_compared_on_a_sample(monkeypatch):
    X, y = two(900)
    monkeypatch.setattr(auto, "SEARCH_ROWS", 300)
    model = AutoLCC(cv=3).fit(X, y)
    searched = np.isfinite(model.out_of_fold_scores_)
    assert 250 < searched.sum() < 350
    assert model.score(X, y) > 0.85
    held_out = AutoLCC().fit(X, y)
    searched = np.isfinite(held_out.out_of_fold_scores_)
    assert 120 < searched.sum() < 180  # a third of 450
    assert set(held_out.cv_results_["n_folds"]) == {1}
    assert 0.8 < held_out.nested_score_ <= 1
    assert held_out.score(X, y) > 0.85


def test_a_time_limit_ends_the_search():
    X, y = two()
    with pytest.warns(Warning, match="not certified"):
        model = AutoLCC(time_limit=1e-6).fit(X, y)
    assert set(model.cv_results_["n_folds"]) == {1}
    names = set(model.cv_results_["param_feature_map"])
    assert not names & {"forest leaves", "boosted leaves"}  # trees cannot stop
    assert model.score(X, y) > 0.7


def test_an_interrupt_leaves_the_fitted_model(monkeypatch):
    X, y = two()
    model = AutoLCC().fit(X, y)
    before = dict(vars(model))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(auto, "search_folds", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::-1], y)
    assert vars(model) == before


def test_bad_input_leaves_the_fitted_model():
    X, y = two()
    model = AutoLCC().fit(X, y)
    with pytest.raises(ValueError, match="one label per row"):
        model.fit(X, y[:-1])
    assert model.score(X, y) > 0.8


def test_verbose_prints_each_fold(capsys):
    X, y = two(80)
    AutoLCC(verbose=1, feature_maps=["columns"]).fit(X, y)
    printed = capsys.readouterr().out
    assert "fold 4 of 4" in printed
    assert "duality gap" in printed


def test_pixels_are_scaled_to_their_common_unit():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, (120, 6)).astype(float)
    X[:, 3] = (rng.random(120) < 0.05) * 16.0  # rarely lit: standardized, it would be all there is
    model = AutoLCC(feature_maps=["even landmarks 1"]).fit(X, X[:, 0] + X[:, 1] > 15)
    assert "even" in model._factors
    assert {one["feature_map"] for one in model.ensemble_} == {"even landmarks 1"}
    with pytest.raises(ValueError, match="one unit"):
        AutoLCC(feature_maps=["even landmarks 1"]).fit(X * [1, 10, 100, 1e3, 1e4, 1e5], X[:, 0] > 7)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"margin_range": (1.0, 1.0)}, "low < high"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_unusable_parameters(wrong, message):
    X, y = two(40)
    with pytest.raises(ValueError, match=message):
        AutoLCC(**wrong).fit(X, y)


def test_feature_importances_follow_the_informative_columns():
    table, y = frame(300)
    model = AutoLCC(feature_maps=["columns", "splines", "centers"]).fit(table, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert importances.shape == (3,)
    assert importances.argmin() == 2  # noise
    assert not hasattr(model, "coef_")


def test_interactions_name_the_columns_that_matter_only_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = X[:, 3] * X[:, 11] > 0
    (pair,) = AutoLCC(feature_maps=["columns"]).fit(X, y).interactions_
    assert pair["columns"] == [3, 11]
    assert 0.2 < pair["information"] <= np.log(2)
    # A category has several encoded columns and counts once; a column is no pair with itself.
    word = rng.choice(["red", "green", "blue"], 1000)
    table = pd.DataFrame({"word": word, "noise": X[:, 0], "number": X[:, 1]})
    table.loc[::9, "number"] = np.nan
    y = (word == "red") ^ (X[:, 1] > 0)
    (pair,) = AutoLCC(feature_maps=["columns"]).fit(table, y).interactions_
    assert pair["columns"] == ["word", "number"]
    assert AutoLCC(feature_maps=["columns"]).fit(X, rng.permutation(y)).interactions_ == []


def steps(m=700, seed=0):
    """Return samples whose classes are separated along the axes, with a product of two columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6))
    score = 3.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) - 3.0 * (X[:, 2] * X[:, 3] > 0.5)
    return X, (score + rng.logistic(size=m) > 0).astype(int)


def test_leaves_join_the_ensemble_where_they_help():
    X, y = steps()
    model = AutoLCC().fit(X[:500], y[:500])
    weights = {one["feature_map"]: one["weight"] for one in model.ensemble_}
    assert weights.get("forest leaves", 0.0) + weights.get("boosted leaves", 0.0) > 0.2
    assert sum(one["weight"] for one in model.ensemble_) == pytest.approx(1.0)
    assert model.duality_gap_ <= 1e-9
    plain = [name for name in FEATURE_MAPS if name not in ("forest leaves", "boosted leaves")]
    without = AutoLCC(feature_maps=plain[:9]).fit(X[:500], y[:500])
    losses = [log_loss(y[500:], one.predict_proba(X[500:])) for one in (model, without)]
    assert losses[0] < losses[1]
    # A line needs neither: the weights are those of the candidates that were there before.
    y = (X[:, 0] + X[:, 1] + 0.1 * np.random.default_rng(0).normal(size=700) > 0).astype(int)
    names = {one["feature_map"] for one in AutoLCC().fit(X, y).ensemble_}
    assert not names & {"forest leaves", "boosted leaves"}


def test_many_classes_have_leaves_as_well():
    X, _ = steps(600)
    y = (X[:, 0] > 0.2).astype(int) + 2 * (X[:, 1] > -0.3)
    model = AutoLCC(feature_maps=["columns", "forest leaves"]).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9
    assert "forest leaves" in {one["feature_map"] for one in model.ensemble_}
    assert model.duality_gap_ <= 1e-9


def test_leaves_of_weighted_samples_and_of_jobs():
    X, y = steps(300)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    maps = ["columns", "forest leaves", "boosted leaves"]
    weighted = AutoLCC(feature_maps=maps).fit(X, y, weight)
    repeated = AutoLCC(feature_maps=maps, n_jobs=2).fit(
        np.repeat(X, weight, 0), np.repeat(y, weight)
    )
    assert len(weighted.ensemble_) > 1
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_predicted_class_has_the_largest_product_of_probability_and_cost(classes):
    X, _ = two(300)
    y = np.digitize(X[:, 0] + np.random.default_rng(0).normal(size=300), [0.8, 1.5][: classes - 1])
    model = AutoLCC(class_weight=None, feature_maps=["columns", "splines"]).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    balanced = AutoLCC(feature_maps=["columns", "splines"]).fit(X, y)
    assert np.any(balanced.predict(X) != balanced.predict_proba(X).argmax(axis=1))
    costs = {k: 1.0 + k for k in range(classes)}
    stated = AutoLCC(class_weight=costs, feature_maps=["columns", "splines"]).fit(X, y)
    expected = stated.predict_proba(X) * np.arange(1.0, classes + 1)
    np.testing.assert_array_equal(stated.predict(X), expected.argmax(axis=1))
