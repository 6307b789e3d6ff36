"""Model files changed in every way: refused with a message, or a model that answers.

A file is taken apart and changed at one of four levels (bytes, description, tree, arrays), and put
together again with a right digest, so that nothing stops at the digest.  Changes that reach new
lines of the package are kept and changed further (where the interpreter can tell: Python 3.12).
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from campaigns import corpus, coverage
from campaigns.changes import Path, as_text, bytes_changed, json_changed, paths, stored
from campaigns.outcome import Outcome

MOST_KEPT = 300


@dataclass(frozen=True)
class _Parts:
    """A model file taken apart: description, tree of the model, arrays."""

    header: Any
    tree: Any
    arrays: dict[str, bytes]
    places: dict[str, list[Path]] = field(default_factory=dict)

    def at(self, what: str) -> list[Path]:
        if what not in self.places:
            self.places[what] = paths(getattr(self, what))
        return self.places[what]


_kept: list[_Parts] = []


@cache
def seeds() -> tuple[_Parts, ...]:
    """Files to start from."""
    found = []
    for data in corpus.model_files():
        members = _members(data)
        header, tree = (json.loads(members.pop(name)) for name in ("lincent.json", "tree.json"))
        found.append(_Parts(header, tree, members))
    return tuple(found)


@cache
def texts() -> dict[int, bytes]:
    """The trees to start from as text: most of them are not what is changed."""
    return {id(parts.tree): as_text(parts.tree) for parts in seeds()}


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    coverage.start()
    parts, data = draw(rng)
    before = coverage.reached()
    outcome = check({"data": data})
    if coverage.reached() > before and len(_kept) < MOST_KEPT:
        _kept.append(parts)
    return outcome


def draw(rng: np.random.Generator) -> tuple[_Parts, bytes]:
    """The parts of a changed file, and the file."""
    known = seeds()
    again = _kept and rng.random() < 0.5
    parts = _kept[rng.integers(len(_kept))] if again else known[rng.integers(len(known))]
    torn = False
    for _ in range(int(rng.integers(1, 4))):
        level = rng.integers(10)
        torn |= level == 0
        if level < 4:
            parts = replace(parts, header=json_changed(parts.header, parts.at("header"), rng))
        elif level < 7:
            parts = replace(parts, tree=json_changed(parts.tree, parts.at("tree"), rng))
        else:
            names = list(parts.arrays)
            name = names[rng.integers(len(names))]
            changed = bytes_changed(parts.arrays[name], rng)
            parts = replace(parts, arrays=parts.arrays | {name: changed})
    data = _together(parts)
    return parts, bytes_changed(data, rng) if torn else data


def _together(parts: _Parts) -> bytes:
    from lincent.export.model_file import _digest

    known = texts().get(id(parts.tree))
    members = {"tree.json": known or as_text(parts.tree), **parts.arrays}
    header = dict(parts.header) if isinstance(parts.header, dict) else {}
    header["digest"] = _digest(header, members)
    return stored({"lincent.json": as_text(header), **members})


def check(instance: dict[str, Any]) -> Outcome:
    """Read a file, and do with what it gives what one of the commands would do."""
    from lincent._errors import AppError
    from lincent.export.model_file import parse_model

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
    use = USES[zlib.crc32(data) % len(USES)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(model)
    except AppError:
        return Outcome("read, then refused")
    except BaseException as error:
        return Outcome("crash", f"{use.__name__}: {type(error).__name__}: {error}", instance)
    return Outcome("read")


def _scored(model: Any) -> None:
    from lincent.workflow.predict import predict_table

    predict_table(model, corpus.table(np.random.default_rng(1), 5))


def _as_sql(model: Any) -> None:
    from lincent.export.code import export_bytes

    export_bytes(model, "sql").decode()


def _as_python(model: Any) -> None:
    """The module is run, and may define names and import two modules: nothing else."""
    from lincent.export.code import export_bytes

    made = export_bytes(model, "python").decode()
    space: dict[str, Any] = {}
    exec(compile(made, "model", "exec"), space)
    if "hit" in space:
        raise AssertionError("code of the file was run")


def _explained(model: Any) -> None:
    from lincent.export.model_file import summary_errors
    from lincent.report.model_report import explanation_text
    from lincent.workflow.explain import explain_model

    with summary_errors("f.lincent"):
        text = explanation_text(explain_model(model))
    if not text.replace("\n", "").isprintable():
        raise AssertionError(f"control characters in {text!r}")


USES = (_scored, _as_sql, _as_python, _explained)
