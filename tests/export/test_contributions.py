"""A score taken apart, and decision thresholds in exports."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

from lincent._errors import AppError
from lincent.export import load_model, save_model
from lincent.export.code import export_bytes
from lincent.export.model import contributions_of
from lincent.workflow import fit_table, predict_table
from support.graphs import answers_of

METHODS = {"quick": {}, "lcc": {}, "linear": {}, "additive": {"interactions": 2}}


@pytest.fixture(scope="module", params=METHODS)
def explained(request, make_table):
    table = make_table(200, seed=3)
    settings = METHODS[request.param]
    model = fit_table(table, "churn", ids=["customer"], method=request.param, params=settings)
    rows = make_table(150, seed=4)
    rows.loc[7, "city"] = "Nuuk"
    return model, rows, predict_table(model, rows, contributions=True)


def parts_of(frame):
    return frame.filter(like="contribution_")


def test_contributions_and_base_are_the_score(explained):
    model, _, found = explained
    base = contributions_of(model).base
    np.testing.assert_allclose(parts_of(found).sum(axis=1) + base, found["score"], atol=1e-9)


def test_contributions_are_against_the_average_row(make_table):
    table = make_table(300)
    model = fit_table(table, "churn", ids=["customer"], method="linear")
    found = parts_of(predict_table(model, table, contributions=True))
    np.testing.assert_allclose(found.mean(), 0.0, atol=1e-9)
    assert set(found) == {
        f"contribution_{c}" for c in ("age", "income", "visits", "city", "member")
    }


def sql_answers(model, rows):
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    rows.to_sql("input_table", base, index=False)
    found = pd.read_sql_query(export_bytes(model, "sql").decode(), base)
    base.close()
    return found


def python_answers(model, rows):
    space = {}
    exec(compile(export_bytes(model, "python"), "snippet", "exec"), space)
    records = rows.astype(object).to_dict("records")
    return [space["predict"]({k: None if v != v else v for k, v in r.items()}) for r in records]


@pytest.mark.parametrize("options", [{"metric": "f1"}, {"threshold": 0.3}, {"threshold": 0.8}])
@pytest.mark.parametrize("positive", [None, "no"])
def test_exports_use_the_decision_threshold(make_table, options, positive):
    table, rows = make_table(200, seed=3), make_table(300, seed=4)
    model = fit_table(
        table, "churn", ids=["customer"], method="quick", positive=positive, **options
    )
    expected = list(predict_table(model, rows)["class"])
    own = np.where(predict_table(model, rows)["score"] > 0, "yes", "no")
    assert list(own) != expected
    assert list(sql_answers(model, rows)["class"]) == expected
    assert [answer["class"] for answer in python_answers(model, rows)] == expected
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    session = onnxruntime.InferenceSession(export_bytes(model, "onnx"))
    assert np.mean(answers_of(session, model, rows)["label"] == np.array(expected)) > 0.995


def test_a_metric_needs_probabilities(make_table):
    with pytest.raises(AppError, match="--metric f1 needs probabilities"):
        fit_table(
            make_table(200), "churn", ids=["customer"], method="quick", metric="f1",
            params={"probability": None},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("method", "classes"), [("auto", 2), ("auto", 3), ("kernel", 2), ("structured", 3), ("TSV", 2)]
)
def test_contributions_of_any_model_are_its_score(make_table, method, classes, tmp_path):
    model = fit_table(make_table(150, classes=classes), "churn", ids=["customer"], method=method)
    save_model(model, tmp_path / "model.lincent")
    rows = make_table(40, seed=4, classes=classes)
    model = load_model(tmp_path / "model.lincent")
    found = predict_table(model, rows, contributions=True)
    base = contributions_of(model).explain(np.zeros((1, model.classifier.n_features_in_))).base
    codes = np.searchsorted(model.classifier.classes_, found["class"]) if classes > 2 else 0
    parts = parts_of(found).drop(columns="contribution_error", errors="ignore")
    np.testing.assert_allclose(parts.sum(axis=1) + base[codes], found["score"], atol=1e-6)
    assert ("contribution_error" in found) == (method == "TSV")


@pytest.mark.parametrize("method", ["lcc", "quick", "linear", "kernel", "structured"])
def test_scores_are_in_units_of_the_distance_between_the_classes(make_table, method):
    """A score of 1e-5 says nothing; half a unit is the distance from the threshold to a class."""
    table = make_table(300)
    table["income"] *= 1e6
    model = fit_table(table, "churn", ids=["customer"], method=method)
    score = predict_table(model, table)["score"]
    apart = score[table.churn == "yes"].mean() - score[table.churn == "no"].mean()
    assert 0.8 < apart < 2.5  # of held-out rows it is 1; of rows that were seen somewhat more
    histogram = model.summary["held_out"]["curves"]["histogram"]
    assert histogram["scale"] == pytest.approx(1.0)
