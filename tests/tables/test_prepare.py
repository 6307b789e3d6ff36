"""Preparation learns from the training part alone and gives finite numbers for any rows."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from lincent.tables import Column, Schema, preparation  # noqa: E402

SCHEMA = Schema(
    (
        Column("a", "number", "double"),
        Column("c", "category", "string", ("u", "v")),
        Column("when", "date", "string"),
    ),
    "y",
    "string",
)


def rows(a, c):
    n = len(a)
    parts = {f"when: {part}": np.arange(n, dtype=float) for part in ("days", "month", "weekday")}
    frame = pandas.DataFrame({"a": a, "c": np.array(c, dtype=object), **parts})
    return frame


def test_numbers_are_scaled_and_categories_are_not():
    train = rows([1.0, 3.0, np.nan, 3.0], ["u", "v", "v", "v"])
    made = preparation(SCHEMA).fit(train)
    out = made.transform(train)
    assert out.shape == (4, 6)
    np.testing.assert_allclose(out[:, :4].mean(axis=0), 0, atol=1e-12)
    assert out[2, 0] == out[1, 0]  # the median stands for missing
    np.testing.assert_array_equal(out[:, 4:], [[1, 0], [0, 1], [0, 1], [0, 1]])


def test_new_categories_are_nothing_and_an_empty_column_is_zero():
    train = rows([np.nan] * 4, ["u", "v", "v", "v"])
    out = preparation(SCHEMA).fit(train).transform(rows([np.nan, 5.0], ["w", "u"]))
    assert np.isfinite(out).all()
    np.testing.assert_array_equal(out[0, 4:], [0, 0])
