"""Archives, JSON and arrays that claim too much are refused before they cost anything."""

import contextlib
import io
import json
import resource
import tracemalloc
import zipfile

import numpy as np
import pytest

from lincent.export import model_file as archive
from lincent.export.model_file import InvalidModelFile, read_array, read_json, unpack
from support.model_files import pack


def test_members_come_back():
    parts = {"a": b"1", "b/c": bytes(1000)}
    assert unpack(pack(parts)) == parts
    assert unpack(pack(parts, zipfile.ZIP_DEFLATED)) == parts


def test_a_bomb_is_not_unpacked():
    blanks = pack({"a": bytes(archive.MOST_BYTES + 1)}, zipfile.ZIP_DEFLATED)
    assert len(blanks) < 1 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InvalidModelFile, match="MiB"):
        unpack(blanks)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_a_member_that_is_larger_than_it_says():
    data = bytearray(pack({"a": bytes(100_000)}, zipfile.ZIP_DEFLATED))
    size = (100_000).to_bytes(4, "little")
    while size in data:
        place = data.index(size)
        data[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(InvalidModelFile, match="damaged"):
        unpack(bytes(data))


def test_odd_archives():
    with pytest.raises(InvalidModelFile, match="compressed"):
        unpack(pack({"a": b"x"}, zipfile.ZIP_LZMA))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a", b"2")
    with pytest.raises(InvalidModelFile, match="two members"):
        unpack(buffer.getvalue())
    many = {str(k): b"" for k in range(archive.MOST_MEMBERS + 1)}
    with pytest.raises(InvalidModelFile, match="members"):
        unpack(pack(many))


def test_json():
    value = {"a": [1, 2.5, "[[[{{{", 'quote " \\', None, True], "ä": {}}
    assert read_json(json.dumps(value).encode()) == value
    deep = "[" * archive.MOST_DEPTH + "]" * archive.MOST_DEPTH
    read_json(deep.encode())
    for text, word in (
        (f"[{deep}]", "deep"),
        ("[" * 200_000, "deep"),
        ("[" + "1," * archive.MOST_ENTRIES + "1]", "entries"),
        ("{" * 20 + '"', "JSON"),
        ("1" * 5_000, "JSON"),
        ("\xff", "JSON"),
    ):
        with pytest.raises(InvalidModelFile, match=word):
            read_json(text.encode("latin-1"))
    with pytest.raises(InvalidModelFile, match="MiB"):
        read_json(b" " * (archive.MOST_TEXT + 1))


@pytest.mark.parametrize(
    "text",
    [b'"' + b'\\"' * 1_000_000, b'"' + b"a" * 2_000_000 + b'"', b'"' + b'\\"' * 1_000_000 + b'"'],
    ids=["open", "long", "escaped"],
)
def test_measuring_json_costs_no_more_than_its_length(text):
    """By a regular expression an open string took hours, and a long one 110 bytes per letter."""
    tracemalloc.start()
    try:
        with contextlib.suppress(InvalidModelFile):
            read_json(text)
        assert tracemalloc.get_traced_memory()[1] < 12 * len(text)
    finally:
        tracemalloc.stop()


def test_brackets_in_text_do_not_count_and_those_beside_it_do():
    deep = "[" * archive.MOST_DEPTH
    for inside in (deep, f'\\"{deep}', "\\\\", f'\\n\\\\\\"{deep}', deep + "\\\\"):
        outside = f'["{inside}", '
        read_json(f'{outside}"]"]'.encode())
        with pytest.raises(InvalidModelFile, match="nested"):
            read_json(f'{outside}{deep}"{deep}"{"]" * (len(deep) + 1)}'.encode())


def test_heads_of_arrays_that_numpy_would_mend_are_refused_in_silence():
    data = saved(np.arange(3.0))
    old = data.replace(b"(3,), ", b"(3L,),")
    assert old != data
    with pytest.raises(InvalidModelFile, match="head"):
        read_array(old)


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "bäc"]),
        np.array(3),
        np.zeros((0, 4)),
        np.array([True, False]),
        np.arange(3, dtype=">i4"),
    ],
)
def test_arrays_come_back(array):
    again = read_array(saved(array))
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


def test_arrays_that_claim_too_much():
    good = saved(np.arange(100.0))
    for old, new in (
        (b"(100,)", b"(999,)"),
        (b"(100,)", b"(-10,)"),
        (b"(100,), ", b"(9**99,)"),
        (b"'<f8'", b"'|O8'"),
        (b"'<f8'", b"'<m8'"),
        (b"'<f8'", b"'<U0'"),
        (b"'<f8'", b"'|V8'"),
        (b"'<f8'", b"'<U2'"),
        (b"NUMPY\x01", b"NUMPY\x09"),
        (b"{", b"("),
    ):
        assert old in good
        with pytest.raises(InvalidModelFile):
            read_array(good.replace(old, new))
    for length in (0, 5, 9, 60, len(good) - 1):
        with pytest.raises(InvalidModelFile):
            read_array(good[:length])
