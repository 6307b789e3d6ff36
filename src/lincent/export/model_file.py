"""Model files: one zip archive without code.

    lincent.json    format, versions, schema, training summary, and the digest of all members
    tree.json       the pipeline; an array is named with its type and shape
    0, 1, ...       the numbers of the arrays

The digest detects accidents: a truncated file, a changed byte.  Against malicious files there are
bounds on every size, checked before anything is unpacked or parsed, a list of the classes that may
be named (``MODULES`` of ``validate_model``), and a check of all their attributes before anything is
computed with them.  An object is made without its ``__init__`` and is given its attributes; no code
of a file is run, and nothing is pickled.

The pipelines of this package need eight kinds of nodes and a few classes, so the tree is written
and read here.  skops would trust every estimator of scikit-learn, some of which open files or run
native code on whatever they are given, and importing it imports every array library that is
installed: seconds, and more address space than a small limit allows.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line
from lincent._files import atomic_write, is_stream, reason
from lincent.export.model import Model
from lincent.export.validate_model import (
    TRUSTED_TYPES,
    InvalidModelFile,
    check_model,
    in_words,
    model_class,
    refuse_if,
    require,
)
from lincent.tables.formats import outside_strings
from lincent.tables.schema import CATEGORY, DETAILS, MEANING, Column, Schema

__all__ = ["TRUSTED_TYPES", "dump_model", "load_model", "parse_model", "save_model"]

FORMAT = 3  # raised when an older lincent could not read the file
HEADER, TREE = "lincent.json", "tree.json"
MOST_BYTES = 1 << 28  # of a file, and of its unpacked members
MOST_TEXT = 1 << 25
MOST_MEMBERS = 10_000
MOST_ENTRIES = 1_000_000
MOST_DEPTH = 60  # nested lists and objects of JSON; a model has about 25
LONGEST_NAME = 10_000


# Write.


def save_model(model: Model, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model file atomically.

    Parameters
    ----------
    model : Model
        A fitted model.
    path : path or "-"
        The file to write.
    force : bool, default=False
        Replace a file that exists.
    """
    data = dump_model(model)
    with atomic_write(path, force=force) as file:
        file.write(data)


def dump_model(model: Model) -> bytes:
    """Return a model as the bytes of a model file."""
    try:
        check_model(model)
    except InvalidModelFile as error:
        raise AppError(f"The model is not one that lincent stores: it {error}.") from error
    return pack_model(model)


def pack_model(model: Model) -> bytes:
    """Return the model file of a model that is not checked."""
    arrays: dict[str, bytes] = {}
    members = {TREE: json.dumps(_to_node(model.pipeline, arrays)).encode()} | arrays
    header = {
        "format": FORMAT,
        "lincent": model.version,
        "scikit-learn": version_of("scikit-learn"),
        "numpy": version_of("numpy"),
        "schema": model.schema.to_json(),
        "summary": model.summary,
    }
    header["digest"] = _digest(header, members)
    text, buffer = json.dumps(header, indent=1, ensure_ascii=False), io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ({HEADER: text.encode()} | members).items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _to_node(value: Any, arrays: dict[str, bytes]) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"kind": "float", "content": str(value)}
    if type(value) is list:
        return [_to_node(item, arrays) for item in value]
    if type(value) is tuple:
        return {"kind": "tuple", "content": [_to_node(item, arrays) for item in value]}
    if type(value) is dict:
        pairs = [[key, _to_node(entry, arrays)] for key, entry in value.items()]
        return {"kind": "dict", "content": pairs}
    if isinstance(value, np.generic):
        return _to_node(value.item(), arrays)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        items = [_to_node(item, arrays) for item in value.tolist()]
        return {"kind": "texts" if value.dtype.kind == "U" else "objects", "content": items}
    if isinstance(value, np.ndarray):
        file, value = str(len(arrays)), value.astype(value.dtype.newbyteorder("<"), copy=False)
        arrays[file] = value.tobytes()
        return {"kind": "array", "file": file, "type": value.dtype.str, "shape": [*value.shape]}
    path = f"{type(value).__module__}.{type(value).__qualname__}"
    state = vars(value).items() if hasattr(value, "__dict__") else ()
    content = {name: _to_node(entry, arrays) for name, entry in state}
    return {"kind": "object", "class": path, "content": content}


def _digest(header: dict[str, Any], members: dict[str, bytes]) -> str:
    rest = {key: value for key, value in header.items() if key != "digest"}
    rest["members"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest()


# Read.


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : path
        A model file.

    Returns
    -------
    Model
        The model, ready to predict.
    """
    if is_stream(path):
        raise AppError("A model is read from a file: standard input is for data.")
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise AppError(f"{path} cannot be read: {reason(error)}.") from error
    return parse_model(data, os.fspath(path))


def parse_model(data: bytes, name: str = "The file") -> Model:
    """Return the model in the bytes of a model file."""
    try:
        return _parse(data)
    except InvalidModelFile as error:
        raise AppError(f"{name} {error}.") from error
    except Exception as error:
        raise AppError(f"{name} cannot be rebuilt: {in_words(error)}.") from error


@contextmanager
def summary_errors(name: str) -> Iterator[None]:
    """Turn errors of showing an invalid summary of a file into an AppError."""
    try:
        yield
    except (AppError, OSError):
        raise
    except Exception as error:
        raise AppError(f"The summary in {name} cannot be shown: {in_words(error)}.") from error


def _parse(data: bytes) -> Model:
    large = f"is larger than {MOST_BYTES >> 20} MiB, too large for a model"
    refuse_if(len(data) > MOST_BYTES, large)
    try:
        members = unpack(data)
    except InvalidModelFile as error:
        raise InvalidModelFile(f"is not a lincent model, or {error}") from error
    header: Any = read_json(members.pop(HEADER)) if {HEADER, TREE} <= members.keys() else None
    named = isinstance(header, dict) and type(header.get("format")) is int
    refuse_if(not named, f"is not a lincent model: its {HEADER} names no format")
    # The version is written into exported code, so it must be a version and nothing else.
    version = header.get("lincent")
    versioned = type(version) is str and re.fullmatch(r"[0-9A-Za-z.+!_-]{1,40}", version)
    require(versioned, "it names no version of lincent")
    if header["format"] != FORMAT:
        remedy = "upgrade it" if header["format"] > FORMAT else "fit the model again"
        raise InvalidModelFile(
            f"has format {header['format']} and was written by lincent {version}; this lincent "
            f"{version_of('lincent')} reads {FORMAT}: {remedy}"
        )
    changed = header.get("digest") != _digest(header, members)
    refuse_if(changed, "was changed after it was written (its digest differs): take a fresh copy")
    _check_header(header)
    pipeline = _from_node(read_json(members[TREE]), members)
    model = Model(pipeline, Schema.from_json(header["schema"]), header["summary"], str(version))
    check_model(model)
    return model


def unpack(data: bytes) -> dict[str, bytes]:
    """Return all members of a zip archive, by name, within the bounds of this module."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            # Methods other than these (lzma) may allocate gigabytes before the first byte.
            methods = {member.compress_type for member in members}
            plain = methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
            many, most = len(members) > MOST_MEMBERS, MOST_BYTES >> 20
            refuse_if(many, f"has more than {MOST_MEMBERS} members")
            large = f"unpacks to {size / 2**20:.0f} MiB, more than the {most} allowed"
            refuse_if(size > MOST_BYTES, large)
            names = {member.filename for member in members}
            refuse_if(len(names) < len(members), "has two members of one name")
            refuse_if(not plain, "is compressed in a way that no model file is")
            return {member.filename: archive.read(member) for member in members}
    except (InvalidModelFile, MemoryError):
        raise
    except Exception as error:  # zipfile and zlib raise eight kinds of errors for broken archives
        text = first_line(error).rstrip(".") or type(error).__name__
        raise InvalidModelFile(f"is damaged: {text}") from error


def read_json(data: bytes) -> Any:
    """Parse JSON after checking its length, depth and number of entries."""
    refuse_if(len(data) > MOST_TEXT, f"has a description of {len(data) >> 20} MiB")
    bare = outside_strings(data)
    opened = (bare == ord("[")) | (bare == ord("{"))
    closed = (bare == ord("]")) | (bare == ord("}"))
    steps = opened.astype(np.int8)[opened | closed] * 2 - 1
    depth = np.cumsum(steps, dtype=np.int32).max(initial=0)
    refuse_if(depth > MOST_DEPTH, f"has a description nested more than {MOST_DEPTH} deep")
    entries = len(steps) + np.count_nonzero(bare == ord(","))
    refuse_if(entries > MOST_ENTRIES, f"has a description of more than {MOST_ENTRIES} entries")
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidModelFile("is damaged: its description is not JSON") from error


def read_array(node: Any, members: dict[str, bytes]) -> np.ndarray:
    """Read an array of numbers or booleans, of exactly its size."""
    file, type_, shape = (node.get(key) for key in ("file", "type", "shape"))
    require(isinstance(file, str) and file in members, "an array of its model is missing")
    typed = isinstance(type_, str) and re.fullmatch("[<|]([iuf][1248]|b1)", type_)
    shaped = isinstance(shape, list) and len(shape) <= 8
    shaped = shaped and all(type(size) is int and 0 <= size <= MOST_BYTES for size in shape)
    refuse_if(not (typed and shaped), "has an array that is none of numbers")
    dtype, data = np.dtype(type_), members[file]
    other = math.prod(shape) * dtype.itemsize != len(data)
    refuse_if(other, f"has an array of {dtype} whose size does not fit its shape {shape}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def _from_node(node: Any, members: dict[str, bytes]) -> Any:
    """Return the value of a node; only known kinds and classes are made."""
    if node is None or isinstance(node, (bool, int, float, str)):
        return node
    if isinstance(node, list):
        return [_from_node(item, members) for item in node]
    kind, content = node.get("kind"), node.get("content")
    if kind == "array":
        return read_array(node, members)
    if kind == "object":
        return _make_object(node.get("class"), content, members)
    if kind == "float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if kind in ("tuple", "texts", "objects") and isinstance(content, list):
        items = [_from_node(item, members) for item in content]
        if kind == "tuple":
            return tuple(items)
        types = (str,) if kind == "texts" else (str, bool, int, float, type(None))
        odd = not all(isinstance(item, types) for item in items)
        refuse_if(odd, "has an array of things that are neither numbers nor text")
        # Text takes as much memory as if all were as long as the longest.
        size = len(items) * max((len(str(item)) for item in items), default=0)
        require(size <= MOST_TEXT, "its text is too long")
        return np.array(items, dtype=str if kind == "texts" else object)
    if kind == "dict" and isinstance(content, list):
        pairs = [pair for pair in content if isinstance(pair, list) and len(pair) == 2]
        if len(pairs) == len(content) and all(type(key) in (str, int) for key, _ in pairs):
            return {key: _from_node(value, members) for key, value in pairs}
    raise InvalidModelFile("is damaged: a part of its model is missing")


def _make_object(path: Any, content: Any, members: dict[str, bytes]) -> Any:
    kind = model_class(path) if isinstance(path, str) else None
    if kind is None:
        raise InvalidModelFile(
            f"names the type {ascii(path)[1:101]}, which no lincent model has: it was refused, and "
            "nothing of it was run"
        )
    require(isinstance(content, dict), f"its {kind.__name__} has no attributes")
    made: Any = object.__new__(kind)
    made.__dict__.update({name: _from_node(value, members) for name, value in content.items()})
    return made


# The header.


def _check_header(header: dict[str, Any]) -> None:
    """Check that the schema is complete and the summary is plain data."""
    schema = _fields_of(header.get("schema"), Schema)
    columns = [_fields_of(column, Column) for column in schema["columns"]]
    names = [column["name"] for column in columns]
    require(names and len({*names}) == len(names), "its description has no columns, or one twice")
    for column in columns:
        values = column["categories"]
        known = column["kind"] in MEANING and column["detail"] in DETAILS
        require(known, "its description has a column of no kind")
        _check_texts([*values, *column["marks"]])
        fits = bool(values) == (column["kind"] == CATEGORY) and len({*values}) == len(values)
        require(fits, "its description has a column with broken categories")
    _check_texts(schema["ids"])
    summary = header.get("summary")
    require(isinstance(summary, dict), "its description has no summary")
    _check_plain(header)
    unit = header["summary"].get("score_scale", 1.0)
    require(type(unit) is float and 0 < unit < math.inf, "the scale of its scores is not positive")


def _fields_of(value: Any, kind: type) -> dict[str, Any]:
    """Return a description of a dataclass whose fields are text and tuples, lists in JSON."""
    what = kind.__name__.lower()
    require(isinstance(value, dict), f"its description has no {what}")
    types = {f.name: str if f.type == "str" else list for f in fields(kind)}
    for name, type_ in types.items():
        require(type(value.get(name)) is type_, f"its description lacks {name!r} of a {what}")
    require(value.keys() <= {*types}, f"its description has a {what} with unknown fields")
    return dict(value)


def _check_texts(values: list[Any]) -> None:
    """Check that all values are text that can be encoded: surrogates cannot."""
    for value in values:
        fits = type(value) is str and len(value) <= LONGEST_NAME
        require(fits, "its description has a name that is not one")
        require(not re.search("[\ud800-\udfff]", value), "a name in it is no text")


def _check_plain(value: Any) -> None:
    if isinstance(value, dict):
        _check_texts(list(value))
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            _check_plain(entry)
    elif isinstance(value, str):
        _check_texts([value])
    else:
        nan = isinstance(value, float) and math.isnan(value)
        require(not nan, "its description has a number that is none")
