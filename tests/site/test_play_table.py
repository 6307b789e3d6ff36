"""The play page fits a pasted table in the browser: the model must be that of RegularizedLCC."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from lincent import RegularizedLCC
from support.browser import Browser, find_browser

SCRIPT = Path(__file__).resolve().parents[2] / "doc" / "_static" / "play" / "table.js"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that evaluates an expression beside the script, in a real browser."""
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium here: the play page's fit is not compared")
    page = tmp_path_factory.mktemp("table") / "page.html"
    page.write_text(f"<!doctype html><script>{SCRIPT.read_text('utf-8')}</script>", "utf-8")
    browser = Browser(program)
    browser.open(page)
    yield browser.run
    problems = browser.problems()
    browser.close()
    assert problems == []


def tables():
    rng = np.random.default_rng(0)
    X, y = load_breast_cancer(return_X_y=True)
    yield (X - X.mean(axis=0)) / X.std(axis=0), y
    for sizes, apart in (((150, 150), 1.0), ((200, 12), 0.5), ((30, 30), 6.0)):
        X = np.vstack([rng.normal(k * apart, 1, (m, 4)) for k, m in enumerate(sizes)])
        yield X, np.repeat([0, 1], sizes)


def test_the_fit_is_that_of_regularized_lcc(run):
    for X, y in tables():
        for C in (0.1, 1.0):
            data = json.dumps([X.tolist(), np.where(y == 1, 1, -1).tolist(), C])
            found = run(f"LincentTable.fit(...{data})")
            model = RegularizedLCC(C=C).fit(X, y)
            assert found["objective"] == pytest.approx(model.objective_, rel=1e-7)
            assert np.allclose(found["coef"], model.coef_[0], atol=1e-4)
            assert found["intercept"] == pytest.approx(model.intercept_[0], abs=1e-4)


def test_the_area_under_the_curve(run):
    rng = np.random.default_rng(1)
    y = rng.choice([-1, 1], 80)
    scores = np.round(y + rng.normal(0, 1.5, 80), 1)  # with ties
    found = run(f"LincentTable.areaUnderCurve({scores.tolist()}, {y.tolist()})")
    assert found == pytest.approx(roc_auc_score(y, scores))


def csv(separator, decimal):
    """A table with an identifier, a quoted name, gaps, a category and a constant."""
    rng = np.random.default_rng(2)
    lines = [separator.join(["id", '"age, years"', "plan", "same", "buys"])]
    for i in range(120):
        age, plan = rng.normal(50, 10), rng.choice(["a", "b"])
        buys = "yes" if age + 8 * (plan == "a") > 53 else "no"
        cell = "" if i % 9 == 0 else f"{age:.1f}".replace(".", decimal)
        lines.append(separator.join([str(i), cell, plan, "1", buys]))
    return "\n".join(lines)


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_a_pasted_table(run, separator, decimal):
    text = json.dumps(csv(separator, decimal))
    found = run(f"LincentTable.study(LincentTable.parse({text}), 4, 'yes')")
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {
        "id": "out", "age, years": "number", "plan": "category", "same": "out", "buys": "target"
    }  # fmt: skip
    assert found["balancedAccuracy"] > 0.85
    assert found["auc"] > 0.9
    assert found["importances"][0]["name"] == "age, years"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2", "20 rows or more"),
        ("a,b\n" + "1,2\n" * 30 + "1,2,3", "Row 32 has 3 cells, the header has 2."),
        ("a,b\n" + "1,2\n" * 30 + "2,3\n", "at least 5 rows each; here they have 30 and 1."),
    ],
)
def test_messages(run, text, message):
    code = f"LincentTable.study(LincentTable.parse({json.dumps(text)}), 1, '2')"
    assert message in run(f"(() => {{ try {{ {code}; }} catch (e) {{ return e.message; }} }})()")
