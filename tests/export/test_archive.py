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


def as_node(array):
    return {"file": "0", "type": array.dtype.str, "shape": [*array.shape]}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.array(3),
        np.zeros((0, 4)),
        np.array([True, False]),
        np.arange(3, dtype="<i4"),
    ],
)
def test_arrays_come_back(array):
    again = read_array(as_node(array), {"0": array.tobytes()})
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


def test_arrays_are_written_in_one_order():
    for array in (
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0)[::2],
        np.arange(3, dtype=">i4"),
        np.array(["a", "bäc"]),
        np.array(["a", None, 1.5], dtype=object),
        np.array([], dtype=str),
    ):
        members = {}
        again = archive._from_node(archive._to_node(array, members), members)
        assert again.dtype.kind == array.dtype.kind
        np.testing.assert_array_equal(again, array)


def test_arrays_that_claim_too_much():
    numbers = np.arange(100.0)
    good, members = as_node(numbers), {"0": numbers.tobytes()}
    for change in (
        {"shape": [999]},
        {"shape": [-10]},
        {"shape": [9**99]},
        {"shape": [100.0]},
        {"shape": [True] * 9},
        {"shape": "100"},
        {"type": "|O8"},
        {"type": "<m8"},
        {"type": "<U2"},
        {"type": "|V8"},
        {"type": "<f4"},
        {"type": ">f8"},
        {"type": None},
        {"file": "1"},
        {"file": 0},
    ):
        with pytest.raises(InvalidModelFile):
            read_array(good | change, members)
    for length in (0, 5, 799):
        with pytest.raises(InvalidModelFile):
            read_array(good, {"0": members["0"][:length]})


def test_text_as_long_as_the_longest_is_not_made():
    content = ["Q" * 20_000, *["a"] * 20_000]
    with pytest.raises(InvalidModelFile, match="long"):
        archive._from_node({"kind": "texts", "content": content}, {})
