"""Formats other than text, and frames: the same table from each."""

import io

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, ipc
from pyarrow import parquet as writer

from lincent.tables import formats
from lincent.tables.formats import TableError

TABLE = pa.table({"x": [1.5, None, 3.0], "word": ["a", "b", None]})


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    buffer.seek(0)
    return buffer


def stream(buffer):
    with ipc.new_stream(buffer, TABLE.schema) as out:
        out.write_table(TABLE)


def test_every_form_of_arrow_gives_the_table():
    assert formats.read_arrow(written(lambda b: feather.write_feather(TABLE, b))).equals(TABLE)
    assert formats.read_arrow(written(stream)).equals(TABLE)
    assert formats.read_parquet(written(lambda b: writer.write_table(TABLE, b))).equals(TABLE)


def test_parquet_comes_in_batches():
    buffer = written(lambda b: writer.write_table(TABLE, b))
    source = type("Opened", (), {"seekable": lambda self: buffer})()
    batches = list(formats.parquet_batches(source, 2))
    assert [len(batch) for batch in batches] == [2, 1]
    assert pa.Table.from_batches(batches).equals(TABLE)


@pytest.mark.parametrize(
    "text", ['{"x": 1, "w": "a"}\n{"x": 2}\n', '\ufeff[{"x": 1, "w": "a"}, {"x": 2}]']
)
def test_objects_by_line_or_in_a_list(text):
    found = formats.read_json(io.BytesIO(text.encode()), "t.json")
    assert found.to_pydict() == {"x": [1, 2], "w": ["a", None]}


def workbook(rows, more=()):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    return written(book.save)


def test_a_sheet_with_holes_and_mixed_columns():
    book = workbook([["a", None, "b"], [], [1, 2.5, "x"], [3, None, 4.0], [None, 7, None]])
    table, title, sheets = formats.read_excel(book, "book.xlsx", None)
    assert (title, sheets) == ("first", 1)
    assert table.column_names == ["a", "Unnamed: 1", "b"]
    assert table["Unnamed: 1"].to_pylist() == [2.5, None, 7.0]
    assert table["b"].to_pylist() == ["x", "4", None]  # one kind, or text


def test_a_sheet_is_found_by_name_or_number():
    rows = [["a"], [1]]
    assert formats.read_excel(workbook(rows, ["next"]), "b.xlsx", "1")[1] == "first"
    with pytest.raises(TableError, match=r"no sheet 'third' .* it has .*next"):
        formats.read_excel(workbook(rows, ["next"]), "b.xlsx", "third")
    with pytest.raises(TableError, match="'next' is empty"):
        formats.read_excel(workbook(rows, ["next"]), "b.xlsx", "next")
    with pytest.raises(TableError, match="cannot be read as a workbook"):
        formats.read_excel(io.BytesIO(b"PK no"), "b.xlsx", None)


def test_a_sheet_with_a_cell_far_away_is_read_or_refused_at_once():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.cell(1, 1, "x")
    book.active.cell(1_048_576, 16_384, 1)
    table = formats.read_excel(written(book.save), "far.xlsx", None)[0]
    assert table.shape == (1, 16_384)
    for row in range(1, 1001):
        book.active.cell(row, 1, row)
    with pytest.raises(TableError, match="1001 filled cells in 1001 rows and goes on to column 16"):
        formats.read_excel(written(book.save), "far.xlsx", None)


def test_frames_of_every_package():
    frame = TABLE.to_pandas()
    batch = TABLE.to_batches()[0]
    for given in (TABLE, batch, frame):
        assert formats.from_frame(given).to_pydict() == TABLE.to_pydict()
    polars = pytest.importorskip("polars")
    assert formats.from_frame(polars.from_arrow(TABLE)).to_pydict() == TABLE.to_pydict()


def test_lazy_frames_and_frames_of_narwhals():
    polars, narwhals = pytest.importorskip("polars"), pytest.importorskip("narwhals")
    lazy = polars.from_arrow(TABLE).lazy()
    for given in (lazy, narwhals.from_native(lazy), narwhals.from_native(TABLE)):
        assert formats.from_frame(given).to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize("values", [[1j, 2.0], [10**400, 1]])
def test_complex_numbers_and_huge_integers_are_refused(values):
    with pytest.raises(TableError, match=r"The column 'x' holds .* neither numbers of 64 bits nor"):
        formats.from_frame(pd.DataFrame({"x": values}))


def test_numbers_and_marks_mixed_in_pandas_become_text():
    frame = pd.DataFrame({"x": [1, 2.0, "?", None]}, dtype=object)
    assert formats.from_frame(frame)["x"].to_pylist() == ["1", "2", "?", None]


def test_what_is_no_table_is_refused():
    with pytest.raises(TableError, match="A list is not a table"):
        formats.from_frame([[1, 2]])
    with pytest.raises(TableError, match="column name 'x' stands in columns 1 and 2"):
        formats.from_frame(pd.DataFrame([[1, 2]], columns=["x", "x"]))
