"""Model files: one zip archive without code.

    lincent.json    format, versions, schema, training summary, and the digest of both members
    model.zip       the pipeline: ``tree.json``, and its arrays in NumPy's format

The digest detects accidents: a truncated file, a changed byte.  Against malicious files there are
bounds on every size, checked before anything is unpacked or parsed, a list of the classes that may
be named (``model_classes``), and a check of all their attributes (``validate_model``) before
anything is computed with them.  An object is made without its ``__init__`` and is given its
attributes; no code of a file is run, and nothing is pickled.

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
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    model_classes,
)
from lincent.tables.formats import outside_strings
from lincent.tables.schema import CATEGORY, DETAILS, KINDS, TEXT, Schema

__all__ = ["TRUSTED_TYPES", "dump_model", "load_model", "parse_model", "save_model"]

FORMAT = 2  # raised when an older lincent could not read the file
HEADER, BODY, TREE = "lincent.json", "model.zip", "tree.json"
MOST_BYTES = 1 << 28  # of a file, and of its unpacked members
MOST_TEXT = 1 << 25
MOST_MEMBERS = 10_000
MOST_ENTRIES = 1_000_000
MOST_DEPTH = 60  # nested lists and objects of JSON; a model has about 25
MOST_NPY_HEADER = 4_096
LONGEST_NAME = 10_000
BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    OSError, ValueError,
)  # fmt: skip
"""Errors of reading a broken archive."""


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
        return pack_model(model, dump_tree(model.pipeline))
    except InvalidModelFile as error:
        raise AppError(f"The model is not one that lincent stores: it {error}.") from error


def pack_model(model: Model, body: bytes) -> bytes:
    """Return the model file with this body."""
    header = {
        "format": FORMAT,
        "lincent": model.version,
        "scikit-learn": version_of("scikit-learn"),
        "numpy": version_of("numpy"),
        "schema": model.schema.to_json(),
        "summary": model.summary,
    }
    header["digest"] = _digest(header, body)
    text = json.dumps(header, indent=1, ensure_ascii=False)
    return _zip({HEADER: text.encode(), BODY: body})


def dump_tree(value: Any) -> bytes:
    """Return an object as an archive of a tree and its arrays."""
    arrays: dict[str, bytes] = {}
    tree = _to_node(value, arrays)
    return _zip({TREE: json.dumps(tree).encode(), **arrays})


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
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return {"kind": "texts", "content": [_to_node(item, arrays) for item in value.tolist()]}
    if isinstance(value, (np.ndarray, np.generic)):
        file, buffer = f"{len(arrays)}.npy", io.BytesIO()
        np.save(buffer, np.asarray(value), allow_pickle=False)
        arrays[file] = buffer.getvalue()
        return {"kind": "array" if isinstance(value, np.ndarray) else "scalar", "file": file}
    path = f"{type(value).__module__}.{type(value).__qualname__}"
    state = vars(value).items() if hasattr(value, "__dict__") else ()
    content = {name: _to_node(entry, arrays) for name, entry in state}
    return {"kind": "object", "class": path, "content": content}


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _digest(header: dict[str, Any], body: bytes) -> str:
    rest = {key: value for key, value in header.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    return hashlib.sha256(text + b"\0" + body).hexdigest()


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
    except (MemoryError, Exception) as error:
        text = f"{type(error).__name__}, {first_line(error)}".rstrip("., ")
        raise AppError(f"{name} cannot be rebuilt: {ascii(text)[1:-1]}.") from error


@contextmanager
def summary_errors(name: str) -> Iterator[None]:
    """Turn errors of showing an invalid summary of a file into an AppError."""
    try:
        yield
    except (AppError, OSError):
        raise
    except Exception as error:
        text = f"{type(error).__name__}, {first_line(error)}"
        raise AppError(
            f"The summary in {name} cannot be shown: {ascii(text)[1:-1].rstrip('., ')}."
        ) from error


def _parse(data: bytes) -> Model:
    if len(data) > MOST_BYTES:
        raise InvalidModelFile(f"is larger than {MOST_BYTES >> 20} MiB, too large for a model")
    try:
        members = unpack(data)
    except InvalidModelFile as error:
        raise InvalidModelFile(f"is not a lincent model, or {error}") from error
    if HEADER not in members or BODY not in members:
        raise InvalidModelFile(f"is not a lincent model: it holds no {HEADER}")
    header = read_json(members[HEADER])
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise InvalidModelFile("is not a lincent model: its description names no format")
    # The version is written into exported code, so it must be a version and nothing else.
    version = header.get("lincent")
    if type(version) is not str or not re.fullmatch(r"[0-9A-Za-z.+!_-]{1,40}", version):
        raise InvalidModelFile("is damaged: it names no version of lincent")
    if header["format"] != FORMAT:
        remedy = "upgrade it" if header["format"] > FORMAT else "fit the model again"
        raise InvalidModelFile(
            f"has format {header['format']} and was written by lincent {version}; this lincent "
            f"{version_of('lincent')} reads {FORMAT}: {remedy}"
        )
    if header.get("digest") != _digest(header, members[BODY]):
        raise InvalidModelFile(
            "was changed after it was written (its digest differs): take a fresh copy"
        )
    _check_header(header)
    pipeline = _read_tree(members[BODY])
    model = Model(pipeline, Schema.from_json(header["schema"]), header["summary"], version)
    check_model(model)
    return model


def unpack(data: bytes) -> dict[str, bytes]:
    """Return all members of a zip archive, by name, within the bounds of this module."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if len(members) > MOST_MEMBERS:
                raise InvalidModelFile(
                    f"has {len(members)} members, more than the {MOST_MEMBERS} allowed"
                )
            if size > MOST_BYTES:
                raise InvalidModelFile(
                    f"unpacks to {size / 2**20:.0f} MiB, more than the {MOST_BYTES >> 20} allowed"
                )
            if len({member.filename for member in members}) < len(members):
                raise InvalidModelFile("has two members of one name")
            # Other methods (lzma) may allocate gigabytes before the first byte.
            methods = {member.compress_type for member in members}
            if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise InvalidModelFile("is compressed in a way that no model file is")
            return {member.filename: archive.read(member) for member in members}
    except InvalidModelFile:
        raise
    except BROKEN as error:
        text = first_line(error).rstrip(".") or type(error).__name__
        raise InvalidModelFile(f"is damaged: {text}") from error


def read_json(data: bytes) -> Any:
    """Parse JSON after checking its length, depth and number of entries."""
    if len(data) > MOST_TEXT:
        raise InvalidModelFile(f"has a description of {len(data) >> 20} MiB")
    bare = outside_strings(data)
    opened = (bare == ord("[")) | (bare == ord("{"))
    closed = (bare == ord("]")) | (bare == ord("}"))
    steps = opened.astype(np.int8)[opened | closed] * 2 - 1
    if np.cumsum(steps, dtype=np.int32).max(initial=0) > MOST_DEPTH:
        raise InvalidModelFile(f"has a description nested more than {MOST_DEPTH} deep")
    if len(steps) + np.count_nonzero(bare == ord(",")) > MOST_ENTRIES:
        raise InvalidModelFile(f"has a description of more than {MOST_ENTRIES} entries")
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidModelFile("is damaged: its description is not JSON") from error


def read_array(data: bytes) -> np.ndarray:
    """Read an array of numbers, booleans or text in NumPy's format, of exactly its size."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns of headers that lincent does not write
            shape, fortran, dtype = header[version[0]](stream, max_header_size=MOST_NPY_HEADER)
    except (ValueError, KeyError, TypeError, SyntaxError, EOFError, Warning) as error:
        raise InvalidModelFile("is damaged: it has an array without a readable head") from error
    rest = data[stream.tell() :]
    plain = dtype.kind in "biufU" and dtype.itemsize > 0 and dtype.subdtype is None
    sizes = len(shape) <= 8 and all(0 <= size <= MOST_BYTES for size in shape)
    if not plain or not sizes or math.prod(shape) * dtype.itemsize != len(rest):
        raise InvalidModelFile(f"has an array of {dtype} whose size does not fit its shape {shape}")
    array = np.frombuffer(rest, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "U":
        # Reading invalid code points crashes the interpreter.
        points = np.frombuffer(array.tobytes(), dtype=np.uint32)
        if dtype.byteorder == ">" or (points.size and points.max() > 0x10FFFF):
            raise InvalidModelFile("has text that is no text")
    return array.copy()


def _read_tree(body: bytes) -> Any:
    members = unpack(body)
    if TREE not in members:
        raise InvalidModelFile("is damaged: it holds no model")
    return _from_node(read_json(members[TREE]), members)


def _from_node(node: Any, members: dict[str, bytes]) -> Any:
    """Return the value of a node; only known kinds and classes are made."""
    if node is None or isinstance(node, (bool, int, float, str)):
        return node
    if isinstance(node, list):
        return [_from_node(item, members) for item in node]
    kind, content = node.get("kind"), node.get("content")
    if kind in ("array", "scalar"):
        file = node.get("file")
        if not isinstance(file, str) or file not in members:
            raise InvalidModelFile("is damaged: an array of its model is missing")
        array = read_array(members[file])
        return array if kind == "array" else array[()]
    if kind == "object":
        return _make_object(node.get("class"), content, members)
    if kind == "float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if kind in ("tuple", "texts") and isinstance(content, list):
        items = [_from_node(item, members) for item in content]
        if kind == "tuple":
            return tuple(items)
        if not all(item is None or isinstance(item, (str, bool, int, float)) for item in items):
            raise InvalidModelFile("has an array of things that are neither numbers nor text")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array
    if kind == "dict" and isinstance(content, list):
        pairs = [pair for pair in content if isinstance(pair, list) and len(pair) == 2]
        if len(pairs) == len(content) and all(type(key) in (str, int) for key, _ in pairs):
            return {key: _from_node(value, members) for key, value in pairs}
    raise InvalidModelFile("is damaged: a part of its model is missing")


def _make_object(path: Any, content: Any, members: dict[str, bytes]) -> Any:
    kind = model_classes().get(path) if isinstance(path, str) else None
    if kind is None:
        raise InvalidModelFile(
            f"names the type {ascii(path)[1:101]}, which no lincent model has: it was refused, and "
            "nothing of it was run"
        )
    if not isinstance(content, dict):
        raise InvalidModelFile(f"is damaged: its {kind.__name__} has no attributes")
    made: Any = object.__new__(kind)
    made.__dict__.update({name: _from_node(value, members) for name, value in content.items()})
    return made


# The header.

COLUMN_FIELDS = {"name": str, "kind": str, "type": str, "categories": list, "marks": list,
                 "form": str, "detail": str}  # fmt: skip
SCHEMA_FIELDS = {"columns": list, "target": str, "target_type": str, "ids": list, "missing": str}


def _check_header(header: dict[str, Any]) -> None:
    """Check that the schema is complete and the summary is plain data."""
    schema = _with_fields(header.get("schema"), SCHEMA_FIELDS, "schema")
    columns = [_with_fields(column, COLUMN_FIELDS, "column") for column in schema["columns"]]
    names = [column["name"] for column in columns]
    if not names or len(set(names)) < len(names):
        raise InvalidModelFile("is damaged: its description has no columns, or one of them twice")
    for column in columns:
        values = column["categories"]
        if column["kind"] not in KINDS or column["detail"] not in DETAILS:
            raise InvalidModelFile("is damaged: its description has a column of no kind")
        _check_texts([*values, *column["marks"], column["form"]])
        has_values = column["kind"] in (CATEGORY, TEXT)
        if bool(values) != has_values or len(set(values)) < len(values):
            raise InvalidModelFile(
                "is damaged: its description has a column with broken categories"
            )
    _check_texts([*names, *schema["ids"]])
    _check_texts([schema[name] for name in ("target", "target_type", "missing")])
    summary = header.get("summary")
    if not isinstance(summary, dict):
        raise InvalidModelFile("is damaged: its description has no summary")
    _check_plain(summary)
    unit = summary.get("score_scale", 1.0)
    if type(unit) is not float or not 0 < unit < math.inf:
        raise InvalidModelFile("is damaged: the unit of its scores is not positive")


def _with_fields(value: Any, fields: Mapping[str, type], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidModelFile(f"is damaged: its description has no {what}")
    for name, kind in fields.items():
        if type(value.get(name)) is not kind:
            raise InvalidModelFile(f"is damaged: its description lacks {name!r} of a {what}")
    if value.keys() - fields:
        raise InvalidModelFile(f"is damaged: its description has a {what} with unknown fields")
    return value


def _check_texts(values: list[Any]) -> None:
    """Check that all values are text that can be encoded: surrogates cannot."""
    for value in values:
        if type(value) is not str or len(value) > LONGEST_NAME:
            raise InvalidModelFile("is damaged: its description has a name that is not one")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidModelFile("is damaged: a name in it is no text") from error


def _check_plain(value: Any) -> None:
    if isinstance(value, dict):
        _check_texts(list(value))
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            _check_plain(entry)
    elif isinstance(value, str):
        _check_texts([value])
    elif isinstance(value, float) and math.isnan(value):
        raise InvalidModelFile("is damaged: its description has a number that is none")
