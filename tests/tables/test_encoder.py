"""Tables as users have them become numbers, the same from every kind of frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lincent.features import SplineFeatures

A = [1.0, 2.0, np.nan, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
WORDS = ["x", "y", None, "x", "y", "z", "x", "x", "y", "y"]


def frame(**more):
    return pd.DataFrame({"a": A, "word": WORDS, **more})


def test_missing_values_get_an_indicator_and_the_median():
    model = SplineFeatures(3).fit(frame())
    names = list(model.get_feature_names_out())
    out = model.transform(frame())
    assert out[:, names.index("a missing")].argmax() == 2
    assert model._encoder.columns_[0].fill == 6.0  # of the nine that are there
    assert np.isfinite(out).all()


def test_categories_get_indicators_and_unknown_ones_none():
    model = SplineFeatures(3).fit(frame())
    names = list(model.get_feature_names_out())
    place = [names.index(f"word={w}") for w in ("(missing)", "x", "y", "z")]
    new = model._encoder.encode
    from lincent.tables.encoder import NamedColumns

    unseen = frame().assign(word="never seen")
    encoded = new(NamedColumns(unseen, ["a", "word"], [False, True]))
    assert encoded[:, 2:].sum() == 0.0
    assert len(set(place)) == 4


def test_polars_and_pandas_agree():
    spoken = pl.DataFrame({"a": [None if v != v else v for v in A], "word": WORDS})
    one, other = SplineFeatures().fit(frame()), SplineFeatures().fit(spoken)
    np.testing.assert_array_equal(one.transform(frame()), other.transform(spoken))
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())


def test_nullable_integers_and_booleans_are_numbers():
    table = frame(i=pd.array([1, 2, 3, None, 5, 6, 7, 8, 9, 9], dtype="Int64"), b=[True, False] * 5)
    names = list(SplineFeatures().fit(table).get_feature_names_out())
    assert {"i", "i missing", "b"} <= set(names)
    assert "b=1" not in names


@pytest.mark.parametrize("asked", [[1], ["code"], [False, True]])
def test_categorical_features_by_number_name_and_mask(asked):
    table = pd.DataFrame({"a": np.arange(20.0), "code": np.arange(20) % 3})
    names = SplineFeatures(categorical_features=asked).fit(table).get_feature_names_out()
    assert {"code=0", "code=1", "code=2"} <= set(names)


def test_codes_are_the_same_category_as_integers_and_as_floats():
    whole = pd.DataFrame({"a": np.arange(20.0), "code": np.arange(20) % 3})
    model = SplineFeatures(categorical_features=["code"]).fit(whole)
    np.testing.assert_array_equal(
        model.transform(whole), model.transform(whole.astype({"code": float}))
    )


def test_the_most_frequent_categories_are_kept():
    words = [f"w{k:02d}" for k in range(40) for _ in range(40 - k)]
    names = SplineFeatures().fit(pd.DataFrame({"word": words})).get_feature_names_out()
    assert sum(name.startswith("word=") for name in names) == 30
    assert "word=w39" not in names


def test_infinity_is_named():
    table = frame(c=[np.inf] + [1.0] * 9)
    with pytest.raises(ValueError, match=r"infinity: column 'c', row 0"):
        SplineFeatures().fit(table)


def test_a_wrong_column_of_categories_is_named():
    with pytest.raises(ValueError, match="does not have"):
        SplineFeatures(categorical_features=["nowhere"]).fit(frame())


def test_dates_are_days_and_durations_are_refused():
    dates = pd.to_datetime(["2026-01-01", "2026-01-03", None] * 3 + ["2026-01-09"])
    days = (dates - pd.Timestamp(0)).days.astype(float)
    read, expected = (SplineFeatures().fit_transform(frame(when=when)) for when in (dates, days))
    np.testing.assert_allclose(read, expected)
    with pytest.raises(ValueError, match="'when'"):
        SplineFeatures().fit(frame(when=pd.to_timedelta([1] * 10, "D")))
