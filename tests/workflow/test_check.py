"""What a model keeps of its training table: no training score as a test score, and drift."""

import numpy as np
import pandas as pd
import pytest

from lincent import LCC
from lincent._errors import AppError
from lincent.export import export_model, load_model, save_model
from lincent.model_selection import compare
from lincent.workflow import check_table, explain_model, fit_table, predict_table
from lincent.workflow.check import MOST_HASHES, pack_hashes, training_rows


def noise(seed, m=120):
    """Random labels, every row twice, in random order."""
    rng = np.random.default_rng(seed)
    once = pd.DataFrame(rng.normal(size=(m, 4)).round(4), columns=list("abcd"))
    once["y"] = rng.choice(["no", "yes"], m)
    return pd.concat([once, once]).sample(frac=1, random_state=seed).reset_index(drop=True)


@pytest.mark.parametrize("method", ["auto", "quick", "kernel", "LDA", "DLS"])
def test_random_labels_with_copies_show_no_score_above_chance(method):
    table = noise(3)
    model = fit_table(table, "y", method=method)
    explanation = explain_model(model, table)
    assert explanation["evaluated_on"] == "held-out rows"
    assert explanation["evaluation"] == model.summary["held_out"]
    assert (
        "240 of 240 rows of The table are rows that the model was fitted to"
        in (explanation["warnings"][0])
    )
    names = [score["name"] for score in explanation["evaluation"]["scores"]]
    assert names[:3] == ["balanced_accuracy", "accuracy", "roc_auc"]
    assert all(s["low"] <= s["baseline"] for s in explanation["evaluation"]["scores"][:3])


@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy"])
def test_a_threshold_chosen_on_random_labels_shows_no_score_above_chance(metric):
    model = fit_table(noise(3), "y", method="linear", metric=metric)
    first = model.summary["held_out"]["scores"][0]
    assert first["name"] == metric
    assert first["low"] <= first["baseline"]


def test_a_comparison_keeps_copies_together(in_process):
    result = compare(noise(1), "y", methods=["KernelLCC", "LDA"], n_splits=4)
    # With a copy of most test rows in training, the kernel would be right on most of them.
    assert result.frame["test_balanced_accuracy"].mean() < 0.62


def test_training_rows_in_a_table_are_counted_and_left_out(make_table, tmp_path):
    table, new = make_table(200), make_table(90, seed=5)
    model = fit_table(table, "churn", method="quick")
    save_model(model, tmp_path / "m.lincent")
    model = load_model(tmp_path / "m.lincent")
    mixed = pd.concat([table[:30], new], ignore_index=True)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    explanation = explain_model(model, tmp_path / "mixed.csv")
    assert "30 of 120 rows of" in explanation["warnings"][0]
    alone = explain_model(model, new)
    assert explanation["evaluation"]["scores"] == alone["evaluation"]["scores"]
    assert alone["evaluated_on"] == "given data"
    suspects = [entry["row"] for entry in explanation["suspected_label_errors"]]
    assert suspects == [entry["row"] + 31 for entry in alone["suspected_label_errors"]]


def test_a_table_without_the_columns_or_without_rows_fails(make_table):
    table = make_table(200)
    model = fit_table(table, "churn", method="quick")
    others = check_table(model, table.rename(columns=str.upper))
    failed = {one["column"] for one in others["findings"] if one["failed"]}
    assert not others["passed"]
    assert failed == {column.name for column in model.schema.columns}
    assert others["rows"] == 200
    nothing = check_table(model, table[:0])
    assert not nothing["passed"]
    assert nothing["findings"][0]["message"] == "the table has no rows"


def test_an_estimator_is_no_model(make_table, tmp_path):
    table, path = make_table(60), tmp_path / "m"
    calls = (
        lambda model: save_model(model, path),
        lambda model: export_model(model, path),
        lambda model: predict_table(model, table),
        lambda model: explain_model(model, table),
        lambda model: check_table(model, table),
    )
    for call in calls:
        with pytest.raises(TypeError, match=r"model is a LCC, not a lincent.workflow.Model: give"):
            call(LCC())
    assert not path.exists()


def test_of_many_rows_a_sample_is_kept():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**64, 3 * MOST_HASHES, dtype=np.uint64)
    packed = pack_hashes(hashes)
    known, decided = training_rows(packed, hashes)
    assert (known == decided).all()
    assert decided.mean() == pytest.approx(1 / 3, abs=0.01)
    fresh = rng.integers(0, 2**64, 1000, dtype=np.uint64)
    known, decided = training_rows(packed, fresh)
    assert not known.any()
    assert decided.mean() == pytest.approx(1 / 3, abs=0.1)


# Drift.


@pytest.fixture(scope="module")
def trained(make_table):
    return fit_table(make_table(400), "churn", method="quick")


def failures(result):
    return {(f["column"], f["check"]) for f in result["findings"] if f["failed"]}


def test_fresh_samples_of_the_same_distribution_raise_no_alarm(trained, make_table):
    alarms = [not check_table(trained, make_table(150, seed=50 + k))["passed"] for k in range(20)]
    assert sum(alarms) <= 1


def test_an_empty_column_another_unit_and_new_categories_are_reported(trained, make_table):
    new = make_table(150, seed=9)
    new["age"], new["income"] = np.nan, new["income"] * 1000
    new.loc[:30, "city"] = "Bonn"
    result = check_table(trained, new)
    assert {
        ("age", "missing"), ("income", "range"), ("income", "drift"), ("(score)", "drift"),
        ("city", "unseen categories"),
    } <= failures(result)  # fmt: skip
    assert not failures(result) & {("visits", "drift"), ("member", "drift")}


def test_batches_do_not_matter_for_a_check(trained, make_table, tmp_path, monkeypatch):
    from lincent.tables import read

    new = make_table(150, seed=9).assign(visits=30)
    new.to_parquet(tmp_path / "new.parquet")
    whole = check_table(trained, tmp_path / "new.parquet")
    monkeypatch.setattr(read, "BATCH_ROWS", 40)
    assert check_table(trained, tmp_path / "new.parquet") == whole
    assert ("visits", "drift") in failures(whole)


def test_columns_that_are_missing_or_new_and_classes_that_moved(trained, make_table):
    new = make_table(150, seed=9).drop(columns="age").assign(size=1.0, churn="yes")
    result = check_table(trained, new)
    assert {("age", "schema"), ("churn", "drift")} <= failures(result)
    notes = [f["message"] for f in result["findings"] if not f["failed"]]
    assert notes == ["not in training, ignored: 'size'"]


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_several_classes_are_compared_by_their_predictions(make_table, strategy):
    table = make_table(200, seed=3, classes=3)
    model = fit_table(table, "churn", method="lcc", params={"multi_class": strategy})
    fresh = make_table(400, seed=4, classes=3)
    assert check_table(model, fresh)["passed"]
    older = fresh.assign(age=fresh["age"] + 30)
    assert {("age", "drift"), ("(predicted class)", "drift")} <= failures(check_table(model, older))


def test_few_rows_are_not_tested(trained, make_table):
    new = make_table(150, seed=9)[:15].assign(age=np.nan)
    result = check_table(trained, new)
    assert result["passed"]
    assert result["tests"] == 0


# One bad cell.


def test_a_word_among_numbers_is_missing_and_named(trained, make_table):
    new = make_table(60, seed=3)
    bad = new.assign(age=new["age"].astype(object))
    bad.loc[[7, 9], "age"] = "old"
    with pytest.warns(UserWarning, match=r"row 8, column 2 \('age'\): 'old'.* 1 more cell"):
        scored = predict_table(trained, bad)
    expected = predict_table(trained, new.assign(age=new["age"].mask(bad["age"] == "old")))
    pd.testing.assert_frame_equal(scored, expected)
    with pytest.raises(ValueError, match="'old' is no finite number"):
        predict_table(trained, bad, strict=True)


def test_rows_without_a_class_are_left_out_and_keep_their_numbers(make_table, tmp_path):
    table = make_table(120)
    holes = table.copy()
    holes.loc[[4, 50], "churn"] = None
    holes.to_csv(tmp_path / "holes.csv", index=False)
    messages = []
    model = fit_table(tmp_path / "holes.csv", "churn", method="quick", log=messages.append)
    note = "column 7 ('churn'): 2 rows have no class and are left out, first row 6."
    assert any(message.endswith(note) for message in messages)
    alone = fit_table(table.drop(index=[4, 50]), "churn", method="quick")
    assert model.summary["rows"] == 118
    assert model.summary["held_out"]["scores"] == alone.summary["held_out"]["scores"]
    row = model.summary["suspected_label_errors"][0]["row"]
    values = model.summary["suspected_label_errors"][0]["values"]
    assert holes.loc[row - 2, "income"] == float(values["income"])
    with pytest.raises(ValueError, match="row 6, column 7"):
        fit_table(tmp_path / "holes.csv", "churn", method="quick", strict=True)


def test_a_damaged_summary_is_named():
    table = pd.DataFrame({"x": np.arange(60.0) % 17, "y": ["a", "b"] * 30})
    model = fit_table(table, "y", method="quick")
    model.summary["reference"]["numbers"]["x"]["at"][0] = "three"
    with pytest.raises(AppError, match="summary in the model file"):
        predict_table(model, table)
