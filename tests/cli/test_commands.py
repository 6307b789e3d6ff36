"""From a file to a model to an answer, by command and by function."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lincent.export import load_model
from lincent.workflow import explain_model, fit_table, predict_file


def python_answers(model, frame):
    """What the pipeline itself says, on the whole table at once."""
    rows = model.pipeline[:-1].transform(prepared(model, frame))
    return model.classifier.predict(rows), model.classifier.decision_function(
        rows
    ) / model.score_scale


def prepared(model, frame):
    from lincent.tables.read import read_table
    from lincent.tables.schema import to_frame

    return to_frame(model.schema, read_table(frame))


def test_fit_predict_explain_export_from_files(files, lincent, fresh):
    path = files / "made.lincent"
    fitted = lincent("fit", files / "train.csv", "--target", "churn", "--method", "lcc", "-o", path)
    assert fitted.code == 0
    assert "Optimum: certified, relative gap" in fitted.out
    assert "300 rows, each scored by models fitted without it; bounds" in fitted.out
    assert f"next: lincent predict {path} new.csv -o scored.csv" in fitted.out
    assert "read 300 rows" in fitted.err
    assert "read 300 rows" not in fitted.out
    scored = lincent("predict", path, files / "new.csv", "-o", files / "out.csv")
    assert scored.code == 0
    assert "120 rows" in scored.out
    out = pd.read_csv(files / "out.csv")
    assert list(out) == ["customer", "class", "score", "probability_no", "probability_yes"]
    assert list(out.customer) == list(fresh.customer)
    labels, scores = python_answers(load_model(path), fresh)
    assert list(out["class"]) == list(labels)
    np.testing.assert_allclose(out.score, scores, rtol=0, atol=1e-13)
    assert lincent("explain", path).code == 0
    assert lincent("export", path, files / "model.py").code == 0


def test_parquet_and_csv_give_the_same(files, lincent):
    for name in ("new.csv", "new.parquet"):
        assert lincent("predict", files / "model.lincent", files / name, "-o",
                       files / f"{name}.out.parquet").code == 0  # fmt: skip
    one, other = (pd.read_parquet(files / f"new.{k}.out.parquet") for k in ("csv", "parquet"))
    pd.testing.assert_frame_equal(one, other)


def test_batches_do_not_matter(files, model, monkeypatch):
    from lincent.tables import read

    predict_file(model, files / "new.parquet", files / "whole.parquet")
    monkeypatch.setattr(read, "BATCH_ROWS", 7)
    run = predict_file(model, files / "new.parquet", files / "parts.parquet")
    assert run.rows == 120
    pd.testing.assert_frame_equal(
        pd.read_parquet(files / "whole.parquet"), pd.read_parquet(files / "parts.parquet"),
        rtol=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "train.csv", "--target", "churn", "--method", "quick", "-o", "j.lincent"),
        (
            "fit",
            "train.csv",
            "--target",
            "churn",
            "--drop",
            "customer",
            "-o",
            "k.lincent",
            "--method",
            "lcccv",
        ),
        ("predict", "model.lincent", "new.csv", "-o", "j.csv"),
        ("explain", "model.lincent"),
        ("explain", "model.lincent", "new.csv"),
        ("export", "model.lincent", "j.sql"),
    ],
)
def test_json_is_all_that_is_printed(files, lincent, monkeypatch, arguments):
    monkeypatch.chdir(files)
    found = lincent(*arguments, "--json")
    assert found.code == 0, found.err
    assert isinstance(json.loads(found.out), dict)


def test_standard_streams(files):
    command = [sys.executable, "-m", "lincent", "predict", str(files / "model.lincent"), "-"]
    done = subprocess.run(
        [*command, "-o", "-"], input=(files / "new.csv").read_bytes(), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    out = pd.read_csv(io.BytesIO(done.stdout))
    assert len(out) == 120
    assert b"120 rows" in done.stderr
    assert b"rows/s" not in done.stdout


def test_report_is_one_page_with_escaped_names(files, lincent, table):
    strange = table.rename(columns={"age": "<script>alert(1)</script>"})
    strange.to_csv(files / "strange.csv", index=False)
    found = lincent("fit", files / "strange.csv", "--target", "churn", "--method", "quick", "-o",
                    files / "s.lincent", "--report")  # fmt: skip
    assert found.code == 0, found.err
    page = (files / "s.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert "alert(1)" in page
    assert lincent("explain", files / "model.lincent", files / "new.csv", "-o",
                   files / "e.html").code == 0  # fmt: skip


def test_reports_have_twins_and_leave_rows_out(files, lincent):
    quick = ("--target", "churn", "--method", "quick")
    fit = ("fit", files / "train.csv", *quick, "-o", files / "t.lincent")
    assert lincent(*fit, "--report", "--report-json").code == 0
    page, twin = ((files / f"t.{suffix}").read_text("utf-8") for suffix in ("html", "json"))
    told = json.loads(twin)
    score = told["evaluation"]["scores"][0]["value"]
    assert f"{score:.3f}" in page
    assert told["examples"]
    row = f"row {told['examples'][0]['row']}"
    assert f"{len(told['examples'])} rows of the table" in page
    assert lincent("explain", files / "t.lincent", "-o", files / "e.json", "--no-rows").code == 0
    told = json.loads((files / "e.json").read_text("utf-8"))
    assert told["examples"] == told["suspected_label_errors"] == []
    assert lincent(*fit, "--report-json").code == 2  # the files exist
    assert lincent(*fit, "--report", "--no-rows", "--force").code == 0
    assert "rows of the table" not in (files / "t.html").read_text("utf-8")
    assert row not in (files / "t.html").read_text("utf-8")


def test_explained_terms_give_the_score(model, fresh):
    """constant + terms is the decision function, also with missing values."""
    found = explain_model(model, fresh)
    problem = found["problems"][0]
    fills = {column.name: column.fill for column in model.pipeline[0].columns_}
    total = np.full(len(fresh), problem["constant"])
    for term in problem["terms"]:
        values = fresh[term["column"]]
        if "category" not in term:
            values = values.astype(float).fillna(fills[term["column"]])
        elif term["category"] == "(missing)":
            values = values.isna()
        else:
            values = values == term["category"]
        total += term["coef"] * values.to_numpy()
    np.testing.assert_allclose(total, python_answers(model, fresh)[1], atol=1e-12)
    effects = [abs(term["effect"]) for term in problem["terms"]]
    assert effects == sorted(effects, reverse=True)
    assert sum(map(sum, found["evaluation"]["confusion"])) == len(fresh)
    suspects = found["suspected_label_errors"]
    assert suspects[0]["distance"] >= suspects[-1]["distance"] > 0
    assert "customer" in suspects[0]["values"]


def test_categories_have_effects_whatever_the_classifier(table):
    """A rule that keeps no centers still knows how often a category occurs."""
    terms = explain_model(fit_table(table, "churn", method="linear"))["problems"][0]["terms"]
    cities = {term["category"]: term for term in terms if term["column"] == "city"}
    assert sum(term["share"] for term in cities.values()) == pytest.approx(1.0)
    assert cities["Oslo"]["effect"] > 0


def test_many_classes(tmp_path, lincent, make_table):
    frame = make_table(200, classes=3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for strategy in ("ovr", "ovo"):
        path = tmp_path / f"{strategy}.lincent"
        fitted = lincent("fit", tmp_path / "t.csv", "--target", "churn", "--method", "lcc", "-o",
                         path, "--set", f"multi_class={strategy}")  # fmt: skip
        assert fitted.code == 0, fitted.err
        out = tmp_path / f"{strategy}.csv"
        assert lincent("predict", path, tmp_path / "t.csv", "-o", out).code == 0
        chances = pd.read_csv(out).filter(like="probability_")
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert lincent("explain", path).code == 0


@pytest.mark.parametrize("labels", [[True, False], [0, 1], [10, 20], ["a", "b"], [0.0, 1.0]])
def test_labels_of_every_kind(table, labels):
    frame = table.assign(churn=np.where(table.churn == "yes", labels[1], labels[0]))
    made = fit_table(frame, "churn", method="quick")
    assert made.classes == sorted(labels)
    assert made.summary["held_out"]["scores"][0]["value"] > 0.7


def test_help_names_every_command(lincent):
    found = lincent("--help")
    for command in ("fit", "predict", "explain", "export"):
        assert command in found.out
        assert lincent(command, "--help").code == 0


def test_app_is_not_imported_by_the_package():
    code = "import lincent, sys; print('lincent.workflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_method_without_a_certificate_is_fitted_and_explained(lincent, files):
    """FQCC has an objective and no bound on it: nothing is said about a gap."""
    path = files / "q.lincent"
    told = lincent("fit", files / "train.csv", "--target", "churn", "--method", "FQCC", "-o", path)
    assert told.code == 0
    assert "gives no certificate" in told.out
    assert "gives no certificate" in lincent("explain", path).out


def test_fit_says_where_the_class_changes_and_predict_gives_contributions(
    files, lincent, make_table
):
    table = make_table(300)
    table = table[(table.churn == "no") | (np.arange(300) % 5 == 0)]
    table.to_csv(files / "unequal.csv", index=False)
    path, out = files / "made.lincent", files / "scored.csv"
    made = lincent(
        "fit", files / "unequal.csv", "--target", "churn", "--method", "quick", "-o", path
    )
    assert "The class changes where the probability of yes is about" in made.err
    done = lincent("predict", path, files / "new.csv", "-o", out, "--contributions")
    assert done.code == 0
    found = pd.read_csv(out)
    assert ((found["class"] == "yes") != (found["probability_yes"] > 0.5)).any()
    assert {"contribution_age", "contribution_city"} <= set(found)


def test_explain_of_pairs_does_not_mix_problems_and_scores(make_table, tmp_path):
    """One-vs-one has coefficients by pair and scores by class: they are shown apart."""
    from lincent.report.model_report import explanation_text

    model = fit_table(
        make_table(150, classes=3), "churn", method="quick", params={"multi_class": "ovo"}
    )
    said = explanation_text(explain_model(model))
    assert said.count("what speaks for") == 3
    assert "Predicts churn: " in said


def test_a_table_alone_is_enough(files, lincent):
    found = lincent("fit", files / "train.csv", "--method", "quick")
    assert found.code == 0, found.err
    assert "the target is 'churn', the last column" in found.err
    assert (files / "train.lincent").exists()
    assert "predict" in (files / "train.html").read_text("utf-8")
    again = lincent("fit", files / "train.csv", "--method", "quick")
    assert again.code == 2
    assert "exists already" in again.err
    scored = lincent("predict", files / "train.lincent", files / "new.csv", "-q")
    assert len(pd.read_csv(io.StringIO(scored.out))) == 120
    assert scored.err == ""


def test_costs_move_the_threshold_and_groups_are_reported(files, lincent):
    command = (
        "fit",
        files / "train.csv",
        "--method",
        "linear",
        "--force",
        "-o",
        files / "c.lincent",
    )
    said = lincent(*command, "--costs", "yes=9,no=1").out
    assert re.search(r"With costs of yes=9,no=1 a row costs 0\.\d{3} at this threshold", said)
    dear = lincent(*command, "--costs", "yes=9,no=1", "--by", "city", "--json", "--report-json")
    assert dear.code == 0, dear.err
    summary = json.loads(dear.out)
    costs = summary["evaluation"]["costs"]
    assert costs["per_row"] <= min(costs["own_threshold"], *costs["always"].values()) + 0.02
    assert summary["threshold"]["at"] < 0.35
    groups = {group["group"]: group for group in summary["evaluation"]["by"]["groups"]}
    assert set(groups) == {"Rome", "Oslo", "Lima's", "(missing)"}
    errors = sum(group["rows"] * group["errors"]["value"] for group in groups.values())
    confusion = np.array(summary["evaluation"]["confusion"])
    assert errors == pytest.approx(confusion.sum() - np.trace(confusion))
    assert json.loads((files / "c.json").read_text("utf-8"))["evaluation"]["costs"] == costs
    text = lincent("explain", files / "c.lincent", files / "new.csv", "--by", "income").out
    assert "Errors by income\nIn percent, with 95 % intervals." in text
    for wrong, words in (("yes=5", "such as no=1,yes=5"), ("yes", "write CLASS=COST")):
        found = lincent(*command, "--costs", wrong)
        assert found.code == 2
        assert words in found.err


def test_check_is_an_exit_code(files, lincent, fresh):
    assert lincent("check", files / "model.lincent", files / "new.csv").code == 0
    fresh.assign(age=np.nan).to_csv(files / "empty.csv", index=False)
    found = lincent("check", files / "model.lincent", files / "empty.csv")
    assert found.code == 1
    assert "FAILED  age" in found.out
    spoken = lincent("check", files / "model.lincent", files / "empty.csv", "--json")
    assert spoken.code == 1
    assert json.loads(spoken.out)["findings"][0]["column"] == "age"
    scored = lincent("predict", files / "model.lincent", files / "empty.csv", "-o", files / "e.csv")
    assert scored.code == 0
    assert scored.err.count("differ from the training rows") == 1


def test_predict_with_another_threshold(files, lincent):
    command = ("predict", files / "model.lincent", files / "new.csv", "--threshold", "0.9")
    out = pd.read_csv(io.StringIO(lincent(*command).out))
    assert ((out["class"] == "yes") == (out["probability_yes"] >= 0.9)).all()


def test_an_option_means_the_same_in_all_commands():
    """An option that several commands have has one help text, `-o` aside."""
    import typer

    from lincent.cli import make_app

    texts = {}
    for name, command in typer.main.get_command(make_app()).commands.items():
        options = {opt: p.help for p in command.params for opt in getattr(p, "opts", ())}
        assert {"--json", "--quiet", "-q"} <= set(options), name
        for option, text in options.items():
            texts.setdefault(option, set()).add(text)
    several = {"--output", "-o", "--id", "--methods", "--metric", "--runs"}
    assert all(len(found) == 1 for option, found in texts.items()
               if option.startswith("-") and option not in several)  # fmt: skip
