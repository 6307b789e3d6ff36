"""From a table to a model that says how good it is."""

import json

import numpy as np
import pandas as pd
import pytest

from lincent._errors import AppError
from lincent.export import load_model, save_model
from lincent.workflow import fit_table, predict_table
from lincent.workflow.fit import METHODS, make_classifier, method_name


@pytest.fixture(scope="module")
def auto(make_table):
    return fit_table(make_table(300), "churn", metric="f1", positive="no")


def test_the_default_is_the_best_and_its_score_is_held_out(auto, fresh):
    summary = auto.summary
    assert summary["estimator"] == "AutoLCC"
    assert summary["method"] == "auto"
    first = summary["held_out"]["scores"][0]
    assert first["name"] == "f1"
    assert first["low"] < first["value"] < first["high"]
    assert first["baseline"] < first["low"]
    answers = predict_table(auto, fresh)
    above = answers["probability_no"] >= auto.threshold.at
    assert (answers["class"] == "no").tolist() == above.tolist()
    assert "held-out F1" in repr(auto)


def test_a_model_of_any_kind_is_stored_and_answers_the_same(auto, fresh, tmp_path):
    save_model(auto, tmp_path / "m.lincent")
    again = load_model(tmp_path / "m.lincent")
    pd.testing.assert_frame_equal(predict_table(again, fresh), predict_table(auto, fresh))
    text = json.dumps(auto.summary, allow_nan=False)
    assert "held_out" in text
    assert not hasattr(auto.classifier, "out_of_fold_scores_")


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("linear", "RegularizedLCCCV"), ("additive", "AdditiveLCCCV"), ("LCC", "LCC"),
        ("structured", "StructuredLCCCV"),
        ("kernel", "KernelLCC"), ("LDA", "RegularizedLDA"), ("lcc-1sv", "LCC"),
        ("DLS", "DiscriminativeLeastSquares"), ("WSV", "WeightedTwinSVC"),
    ],
)  # fmt: skip
def test_methods_by_name(make_table, method, kind, tmp_path):
    model = fit_table(make_table(90), "churn", method=method)
    assert type(model.classifier).__name__ == kind
    assert model.summary["held_out"]["rows"] == 90
    save_model(model, tmp_path / "m.lincent")
    assert load_model(tmp_path / "m.lincent").summary["method"] == method_name(method)


def test_every_method_of_a_comparison_that_is_ours_can_be_fitted():
    """`compare` ends with a command; its method must be known."""
    from lincent.model_selection import find_method as method_of_study
    from lincent.model_selection import list_methods

    for code in list_methods():
        try:
            method = method_of_study(code)
        except ImportError:
            continue
        if method.family in ("centralization", "paper"):
            made = make_classifier(code, {})
            assert type(made) is type(method.estimator), code


def test_params_reach_the_estimator(make_table):
    model = fit_table(
        make_table(90), "churn", method="RegularizedLCC", params={"C": 0.5, "norm": "l1"}
    )
    assert (model.classifier.C, model.classifier.norm) == (0.5, "l1")
    assert model.summary["params"]["norm"] == "l1"
    with pytest.raises(AppError, match="no parameter 'depth'"):
        make_classifier("linear", {"depth": 3})
    with pytest.raises(AppError, match="did you mean"):
        method_name("structure")
    assert "auto" in METHODS


def test_params_about_columns_are_refused_and_name_the_option(make_table):
    with pytest.raises(AppError, match="--role COLUMN=category"):
        fit_table(make_table(60), "churn", params={"categorical_features": [0]})


def test_groups_stay_together(make_table):
    table = make_table(200)
    table["who"] = np.arange(200) // 4
    model = fit_table(table, "churn", method="quick", group="who")
    assert "groups kept together" in model.summary["held_out"]["how"]
    assert [c["role"] for c in model.summary["columns"] if c["column"] == "who"] == ["group"]


def test_a_useless_model_has_a_warning(make_table):
    rng = np.random.default_rng(0)
    # Each value once in each class: whatever the folds, nothing can be learned.
    noise = pd.DataFrame({"a": np.repeat(rng.normal(size=40), 2), "y": ["u", "v"] * 40})
    model = fit_table(noise, "y", method="quick")
    assert any("cannot be told from a constant" in line for line in model.summary["warnings"])


def test_the_fingerprint_is_of_what_was_learned(make_table, tmp_path):
    table = make_table(90)
    table.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    table.to_parquet(tmp_path / "t.parquet")
    found = {
        fit_table(data, "churn", method="quick").summary["data"]["fingerprint"]
        for data in (table, tmp_path / "t.csv", tmp_path / "t.parquet")
    }
    assert len(found) == 1


def test_columns_that_matter_come_first(auto):
    importances = auto.summary["importances"]
    assert importances[0]["column"] == "age"
    assert importances[-1]["column"] == "visits"
    curve = importances[0]["curve"]["lines"]["yes"]
    assert curve[0] < curve[-1]  # the older, the likelier yes
