"""TableEncoder: missing values, categories, the missing token, given scales."""

import numpy as np
import pandas as pd
from sklearn.base import clone

from lincent.features import TableEncoder

TABLE = pd.DataFrame(
    {"a": [4.0, np.nan, 2.0, 9.0], "word": ["x", None, "(missing)", "missing"], "b": [1, 2, 3, 4]}
)


def test_the_mark_for_missing_is_no_word_of_the_table():
    made = TableEncoder(scale=False).fit(TABLE)
    names = made.get_feature_names_out().tolist()
    expected = [
        "a",
        "a missing",
        "word=(missing)",
        "word=(missing)'",
        "word=missing",
        "word=x",
        "b",
    ]
    assert names == expected
    out = made.transform(TABLE)
    np.testing.assert_array_equal(out[:, 2:6].argmax(axis=1), [3, 1, 0, 2])
    # What reads like the mark, but is there, is a word that training did not have.
    new = TABLE.assign(word="(missing)'")
    assert made.transform(new)[:, 2:6].sum() == 0.0
    assert made.missing_ == "(missing)'"
    assert TableEncoder().fit(new.iloc[:2]).missing_ == "(missing)"
    assert TableEncoder().fit(pd.concat([TABLE, new])).missing_ == "(missing)''"


def test_weights_are_repetitions():
    weight = [1, 3, 2, 0]
    rows = np.repeat(np.arange(4), weight)
    one = TableEncoder().fit(TABLE, sample_weight=weight)
    other = TableEncoder().fit(TABLE.iloc[rows])
    np.testing.assert_allclose(one.transform(TABLE), other.transform(TABLE), rtol=1e-12)
    assert one.names == other.names


def test_units_of_other_rows():
    made = TableEncoder().fit(TABLE)
    made.set_scale(np.full(7, 10.0), np.full(7, 2.0))
    out, raw = made.transform(TABLE), clone(made).set_params(scale=False).fit(TABLE)
    expected = raw.transform(TABLE)
    numbers = [0, 6]
    np.testing.assert_array_equal(out[:, numbers], (expected[:, numbers] - 10.0) / 2.0)
    others = [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(out[:, others], expected[:, others])
