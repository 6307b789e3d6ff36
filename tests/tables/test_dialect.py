"""Encoding, separator and decimal mark are found, or taken from the user."""

import pytest

from lincent.tables.formats import TableError
from lincent.tables.read import (
    ReadOptions,
    infer_decimal,
    infer_dialect,
    infer_encoding,
    infer_separator,
    read_table,
)

TEXT = "größe;name\n1,5;a, b\n2,5;c\n"


@pytest.mark.parametrize(
    ("codec", "found"),
    [
        ("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("latin-1", "cp1252"),
        ("utf-16", "utf-16"), ("utf-32", "utf-32"),
    ],
)  # fmt: skip
def test_encodings(codec, found):
    options = ReadOptions("csv", ";", found, ",")
    assert infer_dialect(TEXT.encode(codec), "t") == options


def test_bytes_that_windows_does_not_know_are_latin():
    assert infer_encoding(b"caf\xe9 \x81") == "latin-1"


def test_a_sample_may_end_inside_a_character():
    assert infer_encoding("größe".encode()[:3]) == "utf-8"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", "^", "~"])
def test_separators(mark):
    text = mark.join("abc") + "\n" + (mark.join(["1", '"x, y; z"', "3"]) + "\n") * 5
    assert infer_separator(text) == mark


def test_the_separator_is_the_mark_that_all_rows_share():
    assert infer_separator("a;b\n1,5;2,5\n3,25;1,5\n") == ";"
    assert infer_separator('"a;b",c\n1,2\n3,4\n') == ","
    assert infer_separator("only\n1\n2\n") == ","


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a;b\n1,5;x\n2;y\n", ","),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("when;b\n01.02.2020;1,5\n", ","),
        ("a;b\n3;x\n", "."),
        ("a;b\n1.094;6,8\n1.200;x\n1.300;x\n", ","),
        ("a;b\n1,094;6.8\n1,200;x\n", "."),
        ("a;b\n1,094;x\n", ","),
        ("a;b\n1,094;x\n999;x\n", "."),
        ("a;b\n1,5e-03;x\n", ","),
        ("a;b\n1.094;x\n999;x\n", ","),
        ("a;b\n1.094;999\n", "."),
        ("a;b\n1.094.312;7\n", ","),
        ("a;b\n1.094,31;1.0\n7,5;2.0\n8;2.0\n", ","),
        ("a;b\n1,094.31;1,5\n7;2,5\n", "."),
    ],
)
def test_decimal_marks(text, mark):
    assert infer_dialect(text.encode(), "t").decimal == mark


def test_a_file_that_does_not_show_its_decimal_mark(tmp_path):
    """It has that of the training table, and without one a warning names both values."""
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,094;x\n")
    assert infer_decimal(path.read_text(), ";") == ("", "1,094")
    table = read_table(path)
    assert table.warnings == ("1,094 is read as 1.094; --decimal '.' reads it as 1094.",)
    for mark in ".,":
        table = read_table(path, ReadOptions(expected_decimal=mark))
        assert (table.decimal, table.warnings) == (mark, ())
    path.write_text("a;b\n1,5;x\n")
    assert read_table(path, ReadOptions(expected_decimal=".")).decimal == ","


def test_the_user_overrules_and_is_told_of_mistakes():
    assert infer_dialect(b"a b\n1 2\n", "t", ReadOptions(separator="space")).separator == " "
    assert infer_dialect(b"a\tb\n", "t", ReadOptions(separator="tab")).separator == "\t"
    for said, words in [
        ({"separator": ";;"}, r"--sep\) is not one character"),
        ({"encoding": "klingon"}, r"'klingon' \(--encoding\)"),
        ({"decimal": "'"}, r"\(--decimal\) is neither"),
        ({"decimal": ",", "separator": ","}, "--sep and --decimal are both"),
    ]:
        with pytest.raises(TableError, match=words):
            infer_dialect(b"a,b\n1,2\n", "t", ReadOptions(**said))
    with pytest.raises(TableError, match="0x00"):
        infer_dialect(b"a,b\n\x00,2\n", "t")
