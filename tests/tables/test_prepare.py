"""Preparation learns from the training part alone and gives finite numbers for any rows."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from lincent.tables.encoder import TableEncoder  # noqa: E402


def rows(a, c):
    n = len(a)
    parts = {f"when: {part}": np.arange(n, dtype=float) for part in ("days", "month", "weekday")}
    frame = pandas.DataFrame({"a": a, "c": np.array(c, dtype=object), **parts})
    return frame


def test_numbers_are_scaled_and_categories_are_not():
    train = rows([1.0, 3.0, np.nan, 3.0], ["u", "v", "v", "v"])
    made = TableEncoder().fit(train)
    out = made.transform(train)
    names = made.get_feature_names_out().tolist()
    assert names[:4] == ["a", "a missing", "c=u", "c=v"]
    np.testing.assert_allclose(out[:, [0, 4, 5, 6]].mean(axis=0), 0, atol=1e-12)
    assert out[2, 0] == out[1, 0]  # the median stands for missing
    np.testing.assert_array_equal(out[:, 1], [0, 0, 1, 0])
    np.testing.assert_array_equal(out[:, 2:4], [[1, 0], [0, 1], [0, 1], [0, 1]])


def test_new_categories_are_nothing_and_an_empty_column_is_finite():
    train = rows([np.nan] * 4, ["u", "v", "v", "v"])
    out = TableEncoder().fit(train).transform(rows([np.nan, 5.0], ["w", "u"]))
    assert np.isfinite(out).all()
    np.testing.assert_array_equal(out[0, 1:3], [0, 0])
    assert out[0, 0] == 0.0


def test_a_gap_in_a_column_that_had_none_is_its_median():
    train = rows([1000.0, 1001.0, 1002.0, 1900.0], ["u"] * 4)
    made = TableEncoder().fit(train)
    gone, there = made.transform(rows([np.nan, 1001.0], ["u"] * 2))
    np.testing.assert_array_equal(gone[:2], there[:2])
