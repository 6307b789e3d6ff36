"""Every format and every way of writing a file gives the same table."""

import bz2
import gzip
import io
import json
import lzma
import math
import subprocess
import sys
import zipfile
from itertools import pairwise

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from lincent.tables import read as reader  # noqa: E402
from lincent.tables.formats import TableError  # noqa: E402
from lincent.tables.infer import infer_schema  # noqa: E402
from lincent.tables.read import ReadOptions, read_batches, read_table  # noqa: E402


def frame():
    k = np.arange(60)
    return pandas.DataFrame(
        {
            "x": k * 1.5 + 0.25,
            "größe": np.where(k % 7 == 0, np.nan, (k * 37) % 50 / 4),
            "c": np.where(k % 2, "u", "ü"),
            "y": np.where(k % 3, "p", "q"),
        }
    )


def written(kind, folder):
    table, csv = frame(), frame().to_csv(index=False).encode()
    path = folder / f"a.{kind}"
    match kind:
        case "parquet":
            table.to_parquet(path)
        case "feather":
            table.to_feather(path)
        case "xlsx":
            table.to_excel(path, index=False)
        case "jsonl":
            table.to_json(path, orient="records", lines=True)
        case "json":
            table.to_json(path, orient="records")
        case "semicolon.csv":
            table.to_csv(path, sep=";", decimal=",", index=False)
        case "latin.csv":
            table.to_csv(path, index=False, encoding="latin-1")
        case "utf16.csv":
            table.to_csv(path, index=False, encoding="utf-16")
        case "bom.csv":
            table.to_csv(path, index=False, encoding="utf-8-sig")
        case "quoted.csv":
            table.to_csv(path, index=False, quoting=1)
        case "tsv":
            table.to_csv(path, sep="\t", index=False)
        case "csv.gz":
            path.write_bytes(gzip.compress(csv))
        case "csv.bz2":
            path.write_bytes(bz2.compress(csv))
        case "csv.xz":
            path.write_bytes(lzma.compress(csv))
        case "csv.zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("inside.csv", csv)
                archive.writestr("__MACOSX/inside.csv", b"junk")
        case _:
            path.write_bytes(csv)
    return path


KINDS = [
    "csv", "noname", "semicolon.csv", "latin.csv", "utf16.csv", "bom.csv", "quoted.csv", "tsv",
    "csv.gz", "csv.bz2", "csv.xz", "csv.zip", "parquet", "feather", "xlsx", "jsonl", "json",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_table(kind, tmp_path):
    if kind == "xlsx":
        pytest.importorskip("openpyxl")
    path = written(kind, tmp_path)
    known = infer_schema(read_table(path), "y")
    expected = frame()
    assert known.roles == {"x": "number", "größe": "number", "c": "category", "y": "target"}
    assert known.frame["x"].tolist() == expected["x"].tolist()
    np.testing.assert_array_equal(known.frame["größe"], expected["größe"])
    assert known.frame["c"].tolist() == expected["c"].tolist()
    assert known.labels.tolist() == expected["y"].tolist()
    from lincent.tables.schema import to_frame

    parts = [to_frame(known.schema, b) for b in read_batches(path)]
    pandas.testing.assert_frame_equal(pandas.concat(parts, ignore_index=True), known.frame)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl", "csv.zip"])
def test_standard_input(kind, tmp_path, monkeypatch):
    data = written(kind, tmp_path).read_bytes()

    class Pipe(io.RawIOBase):
        """Bytes that come in small pieces and only once."""

        def __init__(self):
            self.rest = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, buffer):
            part = self.rest.read(min(len(buffer), 700))
            buffer[: len(part)] = part
            return len(part)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(), 512)))
    table = read_table("-")
    assert table.data.num_rows == 60
    assert table.name == "Standard input"


def test_cells_of_a_text_file_stay_as_they_are(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text('id,"two\nlines",y\n007,1,NA\nnull,2,b\nN/A,3,c\n')
    table = read_table(path).data
    assert table.column_names == ["id", "two\nlines", "y"]
    assert table.column("id").to_pylist() == ["007", "null", "N/A"]
    assert table.column("y").to_pylist() == ["NA", "b", "c"]
    (part,) = read_batches(path)
    assert part.data.column("id").to_pylist() == ["007", "null", "N/A"]
    assert part.first_row == 2


def test_a_column_without_a_name_is_called_as_pandas_calls_it(tmp_path):
    frame().to_csv(tmp_path / "a.csv")
    known = infer_schema(read_table(tmp_path / "a.csv"), "y")
    assert known.roles["Unnamed: 0"] == "identifier"


def test_bad_rows_are_named(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n1,2,3\n4,5\n6\n")
    for read in (read_table, lambda path: list(read_batches(path))):
        with pytest.raises(TableError, match=r"as csv: .*Row #3: Expected 2 columns, got 3: 1,2,3"):
            read(path)


def test_bytes_that_are_not_in_the_encoding(tmp_path, capfd):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\nx\xff,2\n")
    words = r"column #0: Row #3: .* invalid UTF8 data; say.*--encoding"
    with pytest.raises(TableError, match=words):
        read_table(path)
    path.write_bytes(b"a,b\n1,2\nx\xff,2\n")
    assert read_table(path).data.column("a").to_pylist() == ["1", "xÿ"]
    with pytest.raises(TableError, match=words):
        read_table(path, ReadOptions(encoding="utf-8"))
    assert capfd.readouterr().err == ""


def test_sheets(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    with pandas.ExcelWriter(path) as book:
        frame().to_excel(book, sheet_name="first", index=False)
        frame()[:7].to_excel(book, sheet_name="second", index=False)
    assert "the first of 2" in read_table(path).warnings[0]
    for name in ("second", "2"):
        assert read_table(path, ReadOptions(sheet=name)).data.num_rows == 7
    with pytest.raises(TableError, match=r"no sheet 'third'.*'first', 'second'"):
        read_table(path, ReadOptions(sheet="third"))


def test_damage_is_a_sentence(tmp_path):
    whole = written("csv.gz", tmp_path).read_bytes()
    for name, data, words in [
        ("cut.csv.gz", whole[:-20], "cut.csv.gz cannot be read"),
        ("no.parquet", b"PAR1 no", "no.parquet cannot be read as parquet"),
        ("no.feather", b"ARROW1 no", "no.feather cannot be read as arrow"),
        ("old.xls", b"\xd0\xcf\x11\xe0", "old .xls form"),
        ("no.jsonl", b'{"a": 1}\n{"a"', "cannot be read as json"),
        ("no.json", b'[{"a": 1}, {"a"', "cannot be read as json"),
        ("null.json", b"[null]", "not every row"),  # Arrow crashes on this one
        ("null.jsonl", b"null\nnull", "not every row"),
        ("text.jsonl", b'{"a": 1}\n"a"', "not every row"),
        ("deep.json", b"[" * 100_000, "cannot be read as json"),
        ("bytes.jsonl", b'{"a": "\xff"}\n', "cannot be read as json: .* UTF8"),
        ("two.zip", None, "holds 2 files"),
        ("void.csv", b" \n", "is empty"),
    ]:
        path = tmp_path / name
        if data is None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("a.csv", "a")
                archive.writestr("b.csv", "b")
        else:
            path.write_bytes(data)
        with pytest.raises(TableError, match=words):
            read_table(path)
    with pytest.raises(TableError, match="A list is not a table"):
        read_table([1, 2])
    with pytest.raises(TableError, match="'text' \\(--format\\)"):
        read_table(path, ReadOptions(format="text"))


@pytest.mark.parametrize("kind", ["feather", "parquet"])
def test_columns_that_point_outside_their_text_are_refused(kind, tmp_path):
    """Arrow computes with such columns, and the process crashes."""
    path = written(kind, tmp_path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole) - 8, max(1, len(whole) // 300)):
        path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
        for read in (read_table, lambda p: list(read_batches(p))):
            try:
                infer_schema(read(path), "y") if read is read_table else read(path)
            except TableError as error:
                refused += "cannot be read" in str(error)
    assert refused > 0


def test_archives_of_a_kind_that_python_cannot_unpack(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,y\n1,p\n")
    whole = path.read_bytes()
    central = whole.index(b"PK\x01\x02")
    for place, value in ((6, 1), (8, 99)):  # locked with a password; packed in an unknown way
        data = bytearray(whole)
        data[place] = data[central + place + 2] = value
        path.write_bytes(data)
        with pytest.raises(TableError, match="cannot be read"):
            read_table(path)


def test_a_workbook_without_a_sheet(tmp_path):
    path = written("xlsx", tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    book = parts["xl/workbook.xml"].decode()
    start, end = book.index("<sheet "), book.index("</sheets>")
    parts["xl/workbook.xml"] = (book[:start] + book[end:]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(TableError, match="without a sheet"):
        read_table(path)


def test_mixed_columns_of_a_frame_are_text():
    table = read_table(pandas.DataFrame({"a": [1, "?", 2.0], "y": ["u", "v", "u"]}))
    assert table.data.column("a").to_pylist() == ["1", "?", "2"]


def test_batches_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "BATCH_ROWS", 7)
    path = written("csv", tmp_path)
    parts = list(read_batches(path))
    assert [part.data.num_rows for part in parts] == [7] * 8 + [4]
    assert [part.first_row for part in parts][:3] == [2, 9, 16]


def test_json_rows_with_different_keys(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"a": 1}, {"a": 2, "b": "x"}]))
    assert read_table(path).data.column("b").to_pylist() == [None, "x"]


@pytest.mark.parametrize("rows", [5_000, 3_000_000])  # in the head of the file, or after it
def test_numbers_beside_no_break_spaces(rows, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "1.5\n" * rows + "\u00a02.5\n", encoding="utf-8")
    parts = list(read_batches(path))
    assert sum(part.data.num_rows for part in parts) == rows + 1
    assert all(a.row(a.data.num_rows) == b.first_row for a, b in pairwise(parts))
    assert parts[-1].data.column(0)[-1].as_py() == "\u00a02.5"


def test_the_byte_0_is_refused_wherever_it_is(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,a\n" * 100_000 + "2,a\0\n")
    for reading in (read_table, lambda path: list(read_batches(path))):
        with pytest.raises(
            TableError, match=r"row 100002, column \d \('y'\): the cell holds the byte 0x00"
        ):
            reading(path)
    with pytest.raises(TableError, match=r"row 2, column 1 \('y'\)"):
        read_table(pa.table({"y": pa.array(["a", "b\0"]).dictionary_encode()}))


def test_a_compressed_file_that_unfolds_is_measured_and_refused(tmp_path, monkeypatch):
    import gzip

    from lincent.tables import formats
    from lincent.tables.formats import unpacked_size

    text = b"a,b\n" + b"1.5,2.5\n" * 200_000
    for name, data in (("t.csv", text), ("t.csv.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        assert unpacked_size(tmp_path / name) == pytest.approx(len(text), rel=0.2)
    assert formats.most_unpacked(tmp_path / "t.csv") == formats.most_unpacked("-") == math.inf
    monkeypatch.setattr(formats, "UNFOLDED", len(text) - 1)
    with pytest.raises(TableError, match="MB of text, 100 times its size: lincent fit"):
        read_table(tmp_path / "t.csv.gz")
    assert read_table(tmp_path / "t.csv").data.num_rows == 200_000
    monkeypatch.setattr(formats, "available_memory", lambda: 4e5)
    with pytest.raises(TableError, match="MB of text, too much for the free memory"):
        read_table(tmp_path / "t.csv.gz")


def test_a_process_that_leaves_a_file_early_is_not_aborted(tmp_path):
    """Arrow reads ahead in threads; one that called Python at the end of the process aborted it."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,target\n" + b"x" * 20_000_000)
    code = (
        "import sys; from lincent.tables.read import read_batches, TableError\n"
        "try: list(read_batches(sys.argv[1]))\n"
        "except TableError as error: print(error)"
    )
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert "a row is too long to be read at once" in run.stdout
