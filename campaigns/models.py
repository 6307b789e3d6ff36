"""Model files changed in every way: refused in a sentence, or a model that answers.

A file is taken apart and changed at one of four levels (bytes, description, tree, arrays), and put
together again with a right digest, so that nothing stops at the digest.  Changes that reach new
lines of the reader are kept and changed further (where the interpreter can tell: Python 3.12).
"""

from __future__ import annotations

import io
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.outcome import Outcome

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures"
WORDS: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, -(2**63), 10**30, 1e308, -1e308, 0.1, "", "x", "ovo", "é",
    "\ud800", "'; DROP TABLE t; --", "__class__", "__import__('os')", "(missing)", [], {}, [[]],
    [None] * 5, {"a": 1}, "A" * 20_000,
]  # fmt: skip
MOST_KEPT = 300
_kept: list[bytes] = []
_seen: set[tuple[str, int]] = set()
_fresh = {"lines": 0}


@cache
def seeds() -> tuple[bytes, ...]:
    """Files to start from."""
    return tuple(path.read_bytes() for path in sorted(FIXTURES.glob("model-*.lincent")))


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    _watch()
    base = seeds()
    start = _kept[rng.integers(len(_kept))] if _kept and rng.random() < 0.5 else None
    data = start if start is not None else base[rng.integers(len(base))]
    for _ in range(int(rng.integers(1, 4))):
        data = _change(data, rng)
    before = _fresh["lines"]
    outcome = check({"data": data})
    if _fresh["lines"] > before and len(_kept) < MOST_KEPT:
        _kept.append(data)
    return outcome


def check(instance: dict[str, Any]) -> Outcome:
    """Read a file, and use what it gives."""
    from lincent._errors import AppError
    from lincent.app.export import export_bytes
    from lincent.app.storage import parse_model

    data = instance["data"]
    try:
        model = parse_model(data, "f.lincent")
    except AppError as error:
        text = str(error)
        bad = not text.isprintable() or not text.startswith("f.lincent ") or len(text) > 600
        return Outcome(
            "refused", f"a bad sentence: {text!r}" if bad else "", instance if bad else {}
        )
    except BaseException as error:
        return Outcome("crash", f"{type(error).__name__}: {error}", instance)
    try:
        for kind in ("sql", "python"):
            made = export_bytes(model, kind).decode()
            if kind == "python":
                space: dict[str, Any] = {}
                exec(compile(made, "model", "exec"), space)
        if space.get("hit"):
            return Outcome("code", "code of the file was run", instance)
    except AppError:
        return Outcome("read, not exported")
    except BaseException as error:
        return Outcome("crash", f"{type(error).__name__}: {error}", instance)
    return Outcome("read")


def _unzip(data: bytes) -> dict[str, bytes] | None:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return None


def _change(data: bytes, rng: np.random.Generator) -> bytes:
    from support.model_files import pack, repack

    outer = _unzip(data)
    level = rng.integers(5)
    if outer is None or level == 0 or "model.skops" not in outer:
        return _bytes(data, rng)
    try:
        if level == 1:
            header = json.loads(outer["lincent.json"])
            _value(header, rng)
            return repack(data, **{"lincent.json": json.dumps(header).encode()})
        inner = _unzip(outer["model.skops"])
        if inner is None:
            return repack(data, **{"model.skops": _bytes(outer["model.skops"], rng)})
        if level in (2, 3):
            tree = json.loads(inner["schema.json"])
            _value(tree, rng)
            inner["schema.json"] = json.dumps(tree).encode()
        else:
            names = sorted(inner)
            name = names[rng.integers(len(names))]
            inner[name] = _bytes(inner[name], rng)
        return repack(data, **{"model.skops": pack(inner)})
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return _bytes(data, rng)


def _bytes(data: bytes, rng: np.random.Generator) -> bytes:
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
        out[place : place + 8] = np.array([np.nan, np.inf, -1.0, 1e300])[rng.integers(4)].tobytes()
    return bytes(out)


def _value(tree: Any, rng: np.random.Generator) -> None:
    """Change one entry somewhere in JSON."""
    places: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, entry in items:
            places.append((node, key))
            if isinstance(entry, (dict, list)):
                stack.append(entry)
    node, key = places[rng.integers(len(places))]
    other, name = places[rng.integers(len(places))]
    what = rng.integers(4)
    if what == 0:
        node[key] = WORDS[rng.integers(len(WORDS))]
    elif what == 1:
        node[key] = json.loads(json.dumps(other[name]))
    elif what == 2:
        del node[key]
    elif isinstance(node, dict):
        node[str(key) + "_"] = node[key]
    else:
        node.append(node[key])


def _watch() -> None:
    """Count lines of the reader that were never reached before; each is told of once."""
    if not hasattr(sys, "monitoring") or _fresh.get("on"):
        return
    _fresh["on"] = 1
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.COVERAGE_ID, "campaigns")

    def line(code: Any, number: int) -> Any:
        if "lincent" in code.co_filename and (code.co_filename, number) not in _seen:
            _seen.add((code.co_filename, number))
            _fresh["lines"] += 1
        return monitoring.DISABLE

    monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, line)
    monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
