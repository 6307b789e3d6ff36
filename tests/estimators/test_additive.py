"""AdditiveLCC and AdditiveLCCCV: curves that add up, certificates, monotone columns, pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import roc_auc_score

from lincent import AdditiveLCC, AdditiveLCCCV, RegularizedLCC


def curved(m=400, seed=0):
    """A bend in the first column, a line in the second, nothing in the third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = (X[:, 0] ** 2 + 0.5 * X[:, 1] + 0.3 * rng.normal(size=m) > 0.8).astype(int)
    return X, y


def frame(m=200, seed=0):
    rng = np.random.default_rng(seed)
    word = rng.choice(["red", "green", "blue"], m)
    table = pd.DataFrame({"number": rng.normal(size=m), "word": word, "code": np.arange(m) % 4})
    y = np.where((word == "red") | (table["number"] > 1), "yes", "no")
    table.loc[::9, "number"] = np.nan
    return table, y


@pytest.mark.parametrize("estimator", [AdditiveLCC(), AdditiveLCC(interactions=2), AdditiveLCCCV()])
def test_contributions_add_up_and_the_optimum_is_certified(estimator):
    X, y = curved()
    model = estimator.fit(X, y)
    parts = model.contributions(X)
    assert parts.shape == (len(X), len(model.term_names_))
    np.testing.assert_array_equal(
        parts.sum(axis=1) + model._intercept[0], model.decision_function(X)
    )
    np.testing.assert_allclose(parts.mean(axis=0), 0.0, atol=1e-9)
    assert model.duality_gap_ <= 1e-9
    assert model.score(X, y) > 0.85


def test_it_is_regularized_lcc_on_the_features():
    X, y = curved()
    model = AdditiveLCC(0.3, 0.5).fit(X, y)
    features = model._terms.apply(X)
    rule = RegularizedLCC(0.3).fit(features, y)
    assert model.objective_ == pytest.approx(rule.objective_, rel=1e-8)
    np.testing.assert_allclose(
        model.decision_function(X), rule.decision_function(features), atol=1e-5
    )


def test_the_curve_is_seen():
    X, y = curved()
    curve = AdditiveLCCCV().fit(X, y).shape(0)
    middle = curve["value"][45:55].mean()
    assert curve["value"][0] > middle + 0.5
    assert curve["value"][-1] > middle + 0.5
    assert np.all(curve["low"] <= curve["high"])


def test_more_rows_make_a_narrower_band():
    def width(m):
        curve = AdditiveLCC().fit(*curved(m)).shape(0)
        return (curve["high"] - curve["low"]).mean() / np.ptp(curve["value"])

    assert width(4000) < 0.7 * width(200)


def test_smoothing_straightens():
    X, y = curved()

    def bend(smoothing):
        curve = AdditiveLCC(smoothing=smoothing).fit(X, y).shape(0)["value"]
        return np.abs(np.diff(curve, 2)).sum()

    assert bend(100.0) < bend(1.0) < bend(0.0)


@pytest.mark.parametrize("way", [1, -1])
def test_monotone_columns(way):
    X, y = curved()
    model = AdditiveLCC(monotonic_cst=[way, 0, 0]).fit(X, y)
    steps = way * np.diff(model.shape(0)["value"])
    assert steps.min() >= -1e-12
    assert model.duality_gap_ <= 1e-9
    far = np.zeros((2, 3))
    far[:, 0] = [-50.0, 50.0]
    assert way * np.diff(model.decision_function(far))[0] >= 0.0


def test_a_constraint_that_does_not_bind_costs_nothing_much():
    X, y = curved()
    free = AdditiveLCC(monotonic_cst=[0, 0, 0]).fit(X, y)
    rising = AdditiveLCC(monotonic_cst=[0, 1, 0]).fit(X, y)
    assert roc_auc_score(y, rising.decision_function(X)) == pytest.approx(
        roc_auc_score(y, free.decision_function(X)), abs=0.02
    )


def test_monotone_by_name_and_errors():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = AdditiveLCC(monotonic_cst={"mean radius": -1}).fit(X, y)
    assert np.diff(model.shape("mean radius")["value"]).max() <= 1e-12
    with pytest.raises(ValueError, match="unexpected feature names"):
        AdditiveLCC(monotonic_cst={"nothing": 1}).fit(X, y)
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        AdditiveLCC(monotonic_cst=[2]).fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        AdditiveLCC(monotonic_cst=[1, 0, 0, 0]).fit(*load_iris(return_X_y=True))


def test_pairs_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    model = AdditiveLCC(interactions=1).fit(X, y)
    assert model.term_names_[-1] == "x1 & x3"
    assert model.score(X, y) > 0.9
    assert AdditiveLCC().fit(X, y).score(X, y) < 0.7
    automatic = AdditiveLCCCV().fit(X, y)
    assert automatic._terms.pairs[0] == (1, 3)
    assert np.unique(automatic.cv_results_["param_interactions"])[1] == 2  # half of the columns
    assert AdditiveLCCCV(interactions=0).fit(X, y)._terms.pairs == []


def test_frames_with_missing_values_and_categorical_columns():
    table, y = frame()
    model = AdditiveLCCCV().fit(table, y)
    assert model.score(table, y) > 0.9
    assert list(model.term_names_[:3]) == ["number", "word", "code"]
    words = model.shape("word")
    assert list(words["x"]) == ["blue", "green", "red"]
    assert words["value"].argmax() == 2
    assert model.shape("code")["x"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert np.isfinite(model.decision_function(table.assign(word="violet", number=np.nan))).all()


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    model = AdditiveLCCCV().fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.contributions(X).shape == (150, len(model.term_names_), 3)
    assert model.shape(0, rule=2)["value"].shape == model.shape(0)["x"].shape


@pytest.mark.parametrize("estimator", [AdditiveLCC(), AdditiveLCCCV(interactions=0)])
def test_weights_are_repetitions_and_order_is_nothing(estimator):
    X, y = curved(150)
    w = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = estimator.fit(X, y, w).decision_function(X)
    X2, y2 = np.repeat(X, w, axis=0), np.repeat(y, w)
    shuffled = np.random.default_rng(1).permutation(len(y2))
    repeated = estimator.fit(X2[shuffled], y2[shuffled]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


def test_an_unknown_column_is_named():
    X, y = curved(60)
    model = AdditiveLCC().fit(X, y)
    with pytest.raises(ValueError, match="'age'"):
        model.shape("age")


def test_model_files_name_known_types_only():
    skops = pytest.importorskip("skops.io")
    from lincent.export.model_file import TRUSTED_TYPES

    X, y = curved(80)
    for model in (AdditiveLCC(interactions=1), AdditiveLCC(monotonic_cst=[0, 1, 0])):
        data = skops.dumps(model.fit(X, y))
        again = skops.loads(data, trusted=TRUSTED_TYPES)
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_an_interrupt_leaves_what_others_put_on_the_model(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    model = AdditiveLCC().fit(X[:, :3], y)
    model._of_others, before = "kept", model.predict(X[:, :3])

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(AdditiveLCC, "_select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :3], y)
    assert model._of_others == "kept"
    np.testing.assert_array_equal(model.predict(X[:, :3]), before)


def test_importances_are_shares_of_the_mean_absolute_contributions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] + np.abs(X[:, 2]) > 0.8).astype(int)
    weight = rng.integers(0, 3, 300).astype(float)
    model = AdditiveLCC(interactions=1).fit(X, y, weight)
    sizes = weight @ np.abs(model.contributions(X))
    expected = sizes[:4].copy()
    pair = [int(name[1:]) for name in model.term_names_[4].split(" & ")]
    expected[pair] += sizes[4] / 2
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-10)
    codes = np.digitize(X[:, 1], (-0.5, 0.5))
    assert AdditiveLCC().fit(X, codes).feature_importances_.argmax() == 1
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")


def test_many_columns_have_fewer_knots_and_then_lines():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    for columns, width in ((10, 7), (250, 4), (600, 1)):
        X = rng.normal(size=(80, columns))
        X[:, 0] += 3 * y
        model = AdditiveLCC(tol=1e-4).fit(X, y)
        assert model._coef.shape == (columns * width, 1)
        assert model.score(X, y) > 0.9
        assert int(np.argmax(model.feature_importances_)) == 0
