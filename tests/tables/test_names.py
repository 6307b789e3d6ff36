"""Every column has a name, and no two have the same."""

import pyarrow as pa
import pytest

from lincent.tables.formats import TableError, check_unique, fill_names
from lincent.tables.read import read_table


def test_a_column_without_a_name_is_called_as_pandas_calls_it():
    assert fill_names(["a", None, "", "  ", 3]) == [
        "a", "Unnamed: 1", "Unnamed: 2", "Unnamed: 3", "3"
    ]  # fmt: skip


def test_two_columns_of_one_name_are_refused_with_their_places():
    check_unique("file.csv", ["a", "b"])
    with pytest.raises(TableError, match=r"file.csv: .*'b' stands in columns 2, 4 and 5"):
        check_unique("file.csv", ["a", "b", "c", "b", "b"])


def test_a_table_is_renamed_only_where_it_must_be():
    named = pa.table({"a": [1], "b": [2]})
    assert read_table(named).data.equals(named)
    unnamed = pa.table([[1], [2]], names=["", "b"])
    assert read_table(unnamed).data.column_names == ["Unnamed: 0", "b"]
