"""Growing subsets of the rows, and the learning curve of them."""

from itertools import pairwise

import numpy as np
import pytest

from lincent.inspection.learning_curve import MIN_ROWS, describe, growing_subsets
from lincent.report.model_report import explanation_text, learning_curve_text, model_report
from lincent.tables.infer import ColumnOptions, infer_schema
from lincent.tables.read import read_table
from lincent.workflow import explain_model, fit_table


def prepare(table, **options):
    return infer_schema(read_table(table), "churn", ColumnOptions(**options))


def test_subsets_are_nested_and_keep_the_class_proportions(make_table):
    prepared = prepare(make_table(400))
    train = np.arange(0, 400, 2)
    parts = list(growing_subsets(prepared, train, 0))
    np.testing.assert_array_equal(parts[-1], train)
    shares = []
    for small, large in pairwise(parts):
        assert set(small) < set(large)
        assert abs(len(large) / len(small) - 2) < 0.2
    for rows in parts:
        counts = np.unique(prepared.labels[rows], return_counts=True)[1]
        assert counts.min() >= MIN_ROWS
        shares.append(counts[0] / counts.sum())
    assert np.ptp(shares) < 0.1


def test_groups_are_kept_together(make_table):
    table = make_table(300)
    table["house"] = np.arange(300) // 5
    prepared = prepare(table, group="house")
    train = np.arange(250)
    for rows in growing_subsets(prepared, train, 0):
        taken = np.isin(train, rows).reshape(-1, 5).sum(axis=1)
        assert set(taken) <= {0, 5}


def test_the_last_doubling_is_compared_split_by_split():
    scores = np.array([[np.nan, 0.6, 0.70], [0.5, 0.7, 0.69], [0.5, 0.6, 0.71]])
    curve = describe([10, 20, 40], scores)
    assert [point["rows"] for point in curve["points"]] == [20, 40]
    assert curve["last"]["change"] == pytest.approx(0.2 / 3)
    assert learning_curve_text(curve) == (
        "From 20 to 40 rows the held-out balanced accuracy changes by +6.7 points, up in 2 of 3 "
        "splits."
    )
    assert describe([10, 20], scores[:, :2]) is None


def test_a_fit_keeps_it_and_the_report_shows_it(make_table):
    seen = []
    model = fit_table(
        make_table(200),
        "churn",
        method="quick",
        learning_curve=True,
        progress=lambda what, done, total, detail="": seen.append((what, detail)),
    )
    curve = model.summary["learning_curve"]
    assert curve["splits"] == 5
    assert curve["points"][-1]["rows"] == 160
    assert ("learning curve, fit", "160 rows") in seen
    found = explain_model(model)
    assert "Would more rows help?" in model_report(found)
    assert learning_curve_text(curve) in explanation_text(found)
    assert "Would more rows" not in model_report(found | {"learning_curve": None})


def test_too_few_rows_have_no_curve(make_table):
    model = fit_table(make_table(18), "churn", method="quick", learning_curve=True)
    assert model.summary["learning_curve"] is None


def test_a_search_shows_its_candidates(make_table):
    model = fit_table(make_table(120), "churn", params={"feature_maps": ["columns", "splines"]})
    tried = model.summary["tuning"]["maps"]
    assert {setting["map"] for setting in tried} == {"columns", "splines"}
    assert sum(setting["weight"] for setting in tried) == pytest.approx(1)
    scores = [setting["score"] for setting in tried if setting["folds"] > 1]
    assert scores == sorted(scores, reverse=True)
    assert "every feature map" in model_report(explain_model(model))
