"""Graphs of the estimators that take tables: gaps, few values, categories, outlying rows, pairs."""

import numpy as np
import pandas as pd
import pytest

from lincent import AdditiveLCC, AutoLCC
from lincent._errors import AppError

pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")

UNITS, ZEROS = np.array([1.0, 10.0, 0.1, 1.0, 1.0]), np.array([0.0, 1000.0, 0.0, 0.0, 0.0])


def training(classes, m=240, seed=0):
    """Three columns of numbers, one of them with gaps, and two of few values."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, m)
    X = rng.normal(size=(m, 5)) * UNITS + ZEROS
    X[:, 0] += codes
    X[:, 1] += 8.0 * np.sin(2.0 * codes)
    X[:, 3:] = rng.integers(0, 5, (m, 2))
    X[rng.random(m) < 0.2, 2] = np.nan
    return X, codes


def unseen(m=2000, seed=1):
    """Twice as wide; some rows far out, some with gaps in every column, some values unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5)) * 2 * UNITS + ZEROS
    X[:, 3:] = rng.integers(0, 12, (m, 2)) / 2
    X[:100, :3] *= rng.choice([-100.0, 100.0], (100, 3))
    X[100:400][rng.random((300, 5)) < 0.3] = np.nan
    return X.astype(np.float32)


def answers(model, rows):
    from skl2onnx import to_onnx

    from lincent.export.onnx import register_converters

    register_converters()
    session = onnxruntime.InferenceSession(to_onnx(model, rows[:1]).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


def compare(model, rows):
    found, wide = answers(model, rows), rows.astype(np.float64)
    expected = model.decision_function(wide)
    for part in (
        slice(0, 100),
        slice(100, None),
    ):  # outlying rows do not hide what is wrong with others
        size = np.abs(expected[part]).max()
        np.testing.assert_allclose(found["score"][part], expected[part], atol=1e-5 * size)
    assert np.mean(found["label"] == model.predict(wide)) > 0.999
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probability"], model.predict_proba(wide), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"interactions": 4}, {"C": 1e-8}],
    ids=str,
)
def test_additive(settings, classes):
    model = AdditiveLCC(**settings).fit(*training(classes))
    assert len(model._terms.pairs) == settings.get("interactions", 0)
    compare(model, unseen())


def test_monotone_curves():
    model = AdditiveLCC(monotonic_cst=[1, -1, 1, 1, 0], interactions=2)
    compare(model.fit(*training(2)), unseen())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"scoring": "accuracy"},
        {"feature_maps": ["splines + centers"]},
    ],
    ids=str,
)
def test_auto(settings, classes):
    compare(AutoLCC(cv=2, **settings).fit(*training(classes)), unseen())


def test_auto_with_leaves():
    names = ["forest leaves", "boosted leaves"]
    model = AutoLCC(cv=2, feature_maps=names).fit(*training(2))
    assert "boosted leaves" in model.cv_results_["param_feature_map"]
    compare(model, unseen())
    compare(AutoLCC(cv=2, feature_maps=names[1:]).fit(*training(2)), unseen())


def test_auto_with_columns_of_one_unit():
    y = training(2)[1]
    X = np.random.default_rng(2).normal(y[:, None], [1.0, 1.2, 0.8, 1.0, 1.0])
    model = AutoLCC(cv=2, feature_maps=["even landmarks 1"]).fit(X, y)
    assert "even" in model._factors
    compare(model, unseen())


def test_inputs_may_be_double():
    # Near each other and far from zero: single precision cannot tell these values apart.
    X, y = training(2)
    X[:, 0] += 1e9
    model = AdditiveLCC().fit(X, y)
    expected = model.decision_function(X)
    found = answers(model, X)["score"]
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_categories_say_what_to_do():
    X, y = training(2)
    for words in (["red", "blue"], ["007", "7"]):
        frame = pd.DataFrame({"size": X[:, 0], "paint": np.resize(words, len(y))})
        model = AdditiveLCC().fit(frame, y)
        with pytest.raises(AppError, match=r"'paint' is read as categories.*OneHotEncoder"):
            answers(model, X[:, :2].astype(np.float32))
