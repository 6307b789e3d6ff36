"""A score taken apart, in Python and in every export, and decision thresholds in exports."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from lincent._errors import AppError
from lincent.export.code import export_bytes
from lincent.export.contributions import contributions_of
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


def test_onnx_gives_the_same_contributions(explained):
    pytest.importorskip("skl2onnx", reason="the onnx extra is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    model, rows, expected = explained
    session = onnxruntime.InferenceSession(export_bytes(model, "onnx", contributions=True))
    said = session.get_modelmeta().custom_metadata_map
    names = json.loads(said["contribution_names"])
    found = answers_of(session, model, rows)["contribution"]
    wanted = expected[[f"contribution_{name}" for name in names]].to_numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))
    assert float(said["base"]) == pytest.approx(contributions_of(model).base)


def sql_answers(model, rows, **options):
    base = sqlite3.connect(":memory:")
    base.create_function("EXP", 1, np.exp)
    rows.to_sql("input_table", base, index=False)
    found = pd.read_sql_query(export_bytes(model, "sql", **options).decode(), base)
    base.close()
    return found


def python_answers(model, rows, **options):
    space = {}
    exec(compile(export_bytes(model, "python", **options), "snippet", "exec"), space)
    records = rows.astype(object).to_dict("records")
    return [space["predict"]({k: None if v != v else v for k, v in r.items()}) for r in records]


@pytest.mark.parametrize("explained", ["quick", "lcc", "linear"], indirect=True)
def test_sql_and_python_give_the_same_contributions(explained):
    model, rows, expected = explained
    found = sql_answers(model, rows, contributions=True)
    pd.testing.assert_frame_equal(
        parts_of(found)[parts_of(expected).columns], parts_of(expected), check_dtype=False
    )
    answers = [
        answer["contributions"] for answer in python_answers(model, rows, contributions=True)
    ]
    frame = pd.DataFrame(answers).add_prefix("contribution_")
    pd.testing.assert_frame_equal(frame[parts_of(expected).columns], parts_of(expected))


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


def test_a_cut_on_the_score_is_honored_without_probabilities(make_table):
    table, rows = make_table(200, seed=3), make_table(300, seed=4)
    for positive in (None, "no"):
        model = fit_table(
            table, "churn", ids=["customer"], method="quick", metric="f1",
            params={"probability": None}, positive=positive,
        )  # fmt: skip
        expected = list(predict_table(model, rows)["class"])
        assert list(sql_answers(model, rows)["class"]) == expected
        assert [answer["class"] for answer in python_answers(model, rows)] == expected


def test_what_is_no_sum_says_so(make_table):
    auto = fit_table(make_table(120), "churn", params={"feature_maps": ["centers"]})
    with pytest.raises(AppError, match="AutoLCC is no sum over the columns"):
        predict_table(auto, make_table(20), contributions=True)
    many = fit_table(make_table(120, classes=3), "churn", method="quick")
    with pytest.raises(AppError, match="are for two classes; this model has 3"):
        export_bytes(many, "onnx", contributions=True)
    steps = fit_table(
        make_table(120), "churn", method="quick", params={"probability": "isotonic"}, threshold=0.4
    )
    with pytest.raises(AppError, match="isotonic probabilities have no form here"):
        export_bytes(steps, "sql")


@pytest.mark.parametrize("method", ["lcc", "quick", "linear", "kernel", "structured"])
def test_scores_are_in_units_of_the_distance_between_the_classes(make_table, method):
    """A score of 1e-5 says nothing; half a unit is the distance from the threshold to a class."""
    table = make_table(300)
    table["income"] *= 1e6
    model = fit_table(table, "churn", ids=["customer"], method=method)
    score = predict_table(model, table)["score"]
    apart = score[table.churn == "yes"].mean() - score[table.churn == "no"].mean()
    assert 0.8 < apart < 2.5  # of held-out rows it is 1; of rows that were seen somewhat more
    for side in model.summary["held_out"]["score_quantiles"][0].values():
        assert abs(side["center"]) < 1.2
