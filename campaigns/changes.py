"""Random changes of bytes and of JSON, and an archive that is put together fast."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

WORDS: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, -(2**63), 10**30, 1e308, -1e308, 0.1, "", "x", "ovo", "é",
    "\ud800", "'; DROP TABLE t; --", "__class__", "__import__('os')", "(missing)", [], {}, [[]],
    [None] * 5, {"a": 1}, "A" * 20_000,
]  # fmt: skip
NUMBERS = np.array([np.nan, np.inf, -1.0, 1e300, 0.0])
Path = tuple[Any, ...]


def bytes_changed(data: bytes, rng: np.random.Generator) -> bytes:
    """A bit, some bytes, a hole, a repetition, or a number that is none."""
    if not data:
        return b"PK"
    out = bytearray(data)
    place = int(rng.integers(len(out)))
    what = rng.integers(5)
    if what == 0:
        out[place] ^= 1 << int(rng.integers(8))
    elif what == 1:
        out[place : place + int(rng.integers(1, 9))] = rng.bytes(int(rng.integers(1, 9)))
    elif what == 2:
        del out[place : place + int(rng.integers(1, 64))]
    elif what == 3:
        other = int(rng.integers(len(out)))
        out[place:place] = out[other : other + int(rng.integers(1, 64))]
    else:
        out[place : place + 8] = NUMBERS[rng.integers(len(NUMBERS))].tobytes()
    return bytes(out)


def paths(tree: Any) -> list[Path]:
    """Where the entries of JSON are: the keys that lead to each."""
    found: list[Path] = []
    stack: list[tuple[Path, Any]] = [((), tree)]
    while stack:
        at, node = stack.pop()
        for key, entry in node.items() if isinstance(node, dict) else enumerate(node):
            found.append((*at, key))
            if isinstance(entry, (dict, list)):
                stack.append(((*at, key), entry))
    return found


def json_changed(tree: Any, places: list[Path], rng: np.random.Generator) -> Any:
    """The tree with one entry changed; what is not on the way to it is shared, not copied.

    Places may be those of a tree this one was made from: where one is missing, nothing changes.
    """
    path = places[rng.integers(len(places))]
    what = rng.integers(4)
    word: Any = WORDS[rng.integers(len(WORDS))]
    try:
        if what == 1:  # an entry of another place
            word = tree
            for key in places[rng.integers(len(places))]:
                word = word[key]
        return _with(tree, path, int(what), word)
    except (KeyError, IndexError, TypeError, AttributeError):
        return tree


def _with(node: Any, path: Path, what: int, word: Any) -> Any:
    key, *rest = path
    made = node.copy()
    if rest:
        made[key] = _with(node[key], tuple(rest), what, word)
    elif what < 2:
        made[key] = word
    elif what == 2:
        del made[key]
    elif isinstance(made, dict):
        made[str(key) + "_"] = made[key]
    else:
        made.append(made[key])
    return made


def as_text(tree: Any) -> bytes:
    """JSON as a model file has it."""
    return json.dumps(tree).encode()


def stored(members: Mapping[str, bytes]) -> bytes:
    """A zip archive without compression: twenty times as fast as zipfile."""
    parts, heads, at = [], [], 0
    for name, data in members.items():
        title = name.encode("utf-8", "surrogatepass")
        common = struct.pack(
            "<HHHHHLLLHH",
            20,
            0x800,
            0,
            0,
            33,
            zlib.crc32(data),
            len(data),
            len(data),
            len(title),
            0,
        )
        parts += [b"PK\x03\x04", common, title, data]
        heads += [b"PK\x01\x02\x14\x00", common, struct.pack("<HHHLL", 0, 0, 0, 0, at), title]
        at += 30 + len(title) + len(data)
    central = b"".join(heads)
    count = len(members)
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, count, count, len(central), at, 0)
    return b"".join([*parts, central, end])
