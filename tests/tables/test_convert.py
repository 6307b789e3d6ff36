"""Cells become numbers and text by the schema, at training and at prediction alike."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")

from lincent.tables.formats import TableError  # noqa: E402
from lincent.tables.infer import infer_type  # noqa: E402
from lincent.tables.read import UserTable  # noqa: E402
from lincent.tables.schema import Column, OddCells, Schema, text_to_numbers, to_dates, to_frame  # noqa: E402


def converted(column, values, news=None):
    schema = Schema((column,), "y")
    table = UserTable(pa.table({column.name: values}), first_row=2)
    return to_frame(schema, table, news)


def test_numbers_of_every_type_and_marks():
    number = Column("a", "number", "double", marks=("?",))
    for values, wanted in [
        (["1.5", " 2 ", "?", "NA", ""], [1.5, 2, np.nan, np.nan, np.nan]),
        ([1, 2, None], [1, 2, np.nan]),
        ([True, False, None], [1, 0, np.nan]),
        (pa.nulls(2), [np.nan, np.nan]),
        (pa.array(["1", "2"]).dictionary_encode(), [1, 2]),
    ]:
        np.testing.assert_array_equal(converted(number, values)["a"], wanted)
    with pytest.raises(
        TableError, match=r"row 3, column 1 \('a'\): 'x' is no finite number; the model"
    ):
        converted(number, ["1", "x"])
    with pytest.raises(TableError, match=r"row 2, column 1 \('a'\): 'inf' is no finite number"):
        converted(number, ["inf"])
    with pytest.raises(TableError, match="'a' holds timestamp"):
        converted(number, pa.array([0], pa.timestamp("s")))


def test_flags():
    flag = Column("f", "flag", "bool")
    assert converted(flag, ["true", "FALSE", "1", "0"])["f"].tolist() == [1, 0, 1, 0]
    assert converted(flag, [True, False])["f"].tolist() == [1, 0]
    with pytest.raises(TableError, match=r"row 2, column 1 \('.'\): 'maybe' is no"):
        converted(flag, ["maybe"])


def test_missing_text_and_text_that_reads_like_it():
    news = OddCells()
    column = Column("c", "category", "string", (None, "u"))
    found = converted(column, ["u", None, "NA", "", "(missing)", "w"], news)
    assert found["c"].isna().tolist() == [False, True, True, True, False, False]
    assert found["c"].dropna().tolist() == ["u", "(missing)", "w"]
    assert news.unknown == {"c": 2}
    converted(Column("c", "category", "string", ("u",)), ["u", None, "w"], news)
    assert news.unknown == {"c": 4}
    known = Column("c", "category", "string", ("NA", "u"))
    assert converted(known, ["NA", "u"])["c"].tolist() == ["NA", "u"]
    with pytest.raises(TableError, match="trained on text"):
        converted(column, [1, 2])
    assert converted(Column("c", "category", "int64", ("1",)), [1, 2])["c"].tolist() == ["1", "2"]


def test_dates():
    column = Column("when", "date", "string", form="%d.%m.%Y")
    found = converted(column, ["02.01.1970", "NA"])
    np.testing.assert_array_equal(found["when"], [1.0, np.nan])
    typed = converted(column, pa.array([86_400 * 1_000_000], pa.timestamp("us", "Europe/Rome")))
    assert typed["when"].tolist() == [1.0]
    with pytest.raises(TableError, match=r"row 2, .*'1970-01-02' is no date as at training"):
        converted(column, ["1970-01-02"])


def test_columns_must_be_there_once():
    schema = Schema((Column("a", "number", "double"),), "y")
    with pytest.raises(TableError, match="lacks the column 'a'"):
        to_frame(schema, UserTable(pa.table({"b": [1]})))
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(TableError, match="'a' stands in columns 1 and 2"):
        to_frame(schema, UserTable(twice))


def test_what_is_no_number_is_pointed_at():
    numbers, bad = text_to_numbers(pa.array(["1", "x", None, "3,5"]), ",")
    np.testing.assert_array_equal(numbers, [1, np.nan, np.nan, 3.5])
    assert bad.tolist() == [False, True, False, False]


def test_times_with_and_without_a_zone_in_one_column():
    cells = ["2024-01-31T12:00:00", "2024-01-31T12:00:00Z", "2024-01-31T12:00:00+02:00"]
    assert list(to_dates(pa.array(cells), "ISO8601").dt.hour) == [12, 12, 10]
    judged = infer_type("when", pa.array(cells * 10))
    assert judged.role == "date"
