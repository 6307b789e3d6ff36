"""Where bytes come from: plain, compressed, through a pipe; and what they are."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import pytest

from lincent.tables.formats import TableError, format_from_content, format_from_name, open_table

TEXT = b"a,b\n1,2\n3,4\n"


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


PACKED = {
    "plain.csv": TEXT,
    "table.csv.gz": gzip.compress(TEXT),
    "table.csv.bz2": bz2.compress(TEXT),
    "table.csv.xz": lzma.compress(TEXT),
    "table.csv.zip": zipped({"__MACOSX/x": b"", "table.csv": TEXT}),
    "misnamed.csv": gzip.compress(TEXT),  # what counts is what the bytes are
}


@pytest.mark.parametrize("name", PACKED)
def test_a_file_is_unpacked_and_read_from_its_beginning(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(PACKED[name])
    with open_table(path) as opened:
        assert opened.format == "csv"
        assert opened.head == TEXT
        assert opened.stream.read() == TEXT


@pytest.mark.parametrize(
    "data",
    [TEXT, gzip.compress(TEXT), zipped({"t.csv": TEXT})],
    ids=["plain", "gzip", "zip"],
)
def test_a_pipe_is_read_once(data, monkeypatch):
    class Pipe(io.RawIOBase):
        """Brings three bytes at a time and cannot go back."""

        rest = io.BytesIO(data)

        def read(self, size=-1):
            return self.rest.read(size if 0 <= size < 3 else 3 if size >= 0 else -1)

        def seekable(self):
            return False

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Pipe()})())
    with open_table("-") as opened:
        assert opened.name == "Standard input"
        assert opened.stream.read() == TEXT


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("two.zip", zipped({"a.csv": TEXT, "b.csv": TEXT}), "holds 2 files"),
        ("empty.csv", b" \n", "is empty: it needs a line of column names"),
        ("cut.csv.gz", gzip.compress(TEXT * 100)[:40], "cannot be read"),
        ("old.xls", b"\xd0\xcf\x11\xe0 and so on", "old .xls form"),
    ],
    ids=["two files", "empty", "cut short", "old workbook"],
)
def test_what_cannot_be_read_says_why(name, data, sentence, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(TableError, match=sentence), open_table(path):
        pass


def test_a_folder_and_a_missing_file_are_named(tmp_path):
    for path, sentence in ((tmp_path, "is a folder"), (tmp_path / "no.csv", "cannot be read")):
        with pytest.raises(TableError, match=sentence), open_table(path):
            pass
    with pytest.raises(TableError, match=r"'csvv' \(--format\) is not one of csv"):
        open_table("t.csv", "csvv").__enter__()


@pytest.mark.parametrize(
    ("name", "kind"),
    [("A.CSV", "csv"), ("a.tsv.gz", "csv"), ("a.pq", "parquet"), ("a.b", None), ("a.gz", None)],
)
def test_the_name_tells_the_kind(name, kind):
    assert format_from_name(name) == kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PAR1....", "parquet"),
        (b"ARROW1..", "arrow"),
        (b"PK\x03\x04", "excel"),
        (b'\xef\xbb\xbf {"a": 1}', "json"),
        (b'[ {"a": 1}]', "json"),
        (b"[a],b\n", "csv"),
        (b"{x},y\n", "csv"),
    ],
)
def test_where_the_name_says_nothing_the_first_bytes_do(head, kind):
    assert format_from_content(head, "it") == kind


def test_what_must_be_sought_in_is_held_where_it_cannot_be(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    with open_table(path) as opened:
        held = opened.seekable()
        assert held.read() == TEXT
        held.seek(0)
        assert held.read() == TEXT
