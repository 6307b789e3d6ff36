"""What is in strings and what is not, against the parser's own opinion."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lincent.tables.formats import only_objects, outside_strings

TEXT = st.text(st.sampled_from('a"\\[]{},:\n é'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def without_text(value):
    """The same value with empty strings."""
    if isinstance(value, dict):
        return [without_text(entry) for pair in value.items() for entry in pair]
    if isinstance(value, list):
        return [without_text(entry) for entry in value]
    return "" if isinstance(value, str) else value


@given(VALUES, st.booleans())
def test_strings_leave_their_first_quote(value, ascii_only):
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    bare = outside_strings(data).tobytes()
    blank = json.dumps(without_text(value)).encode().replace(b'""', b'"')
    for mark in b'"0123456789tfn-':
        assert bare.count(mark) == blank.count(mark)
    assert bare.count(b"[") + bare.count(b"{") == blank.count(b"[")


@given(st.lists(st.dictionaries(TEXT, VALUES, max_size=3), max_size=4), VALUES)
def test_only_objects(rows, value):
    lines = [json.dumps(row) for row in rows]
    assert only_objects("\r\n ".join(lines).encode())
    mixed = "\n".join([*lines, json.dumps(value)]).encode()
    assert only_objects(mixed) is isinstance(value, dict)


@pytest.mark.parametrize("data", [b"null", b'{"a": 1} null', b'"a"', b"}{", b'{"a": 1}]', b"1 {}"])
def test_anything_else_at_the_top(data):
    assert not only_objects(data)
