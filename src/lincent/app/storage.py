"""Model files: one zip archive with two members, and no code in it.

    lincent.json    format, versions, schema, training summary, and the digest of both members
    model.skops     the pipeline, written by skops

The digest finds accidents: a file cut short, a changed byte.  Against malice stands the list of
types: a file that names any other type than scikit-learn's own and those below is refused before
anything of it is built.  Nothing here reads or writes a pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import sys
import warnings
import zipfile
import zlib
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from lincent import stored
from lincent._errors import AppError, first_line, need
from lincent._files import is_stream, reason, whole_file
from lincent.app.model import Model
from lincent.app.schema import Schema

FORMAT = 1
"""Raised when a file of this version could not be read by an older lincent."""
HEADER, BODY = "lincent.json", "model.skops"
LARGEST = 1 << 31
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
"""What reading a broken archive can raise."""
TRUSTED_TYPES = (
    *(f"lincent.{name}" for name in (
        "FQCC", "KernelLCC", "LCC", "LCCCV", "RegularizedLCC", "RegularizedLCCCV", "StructuredLCC",
        "StructuredLCCCV",
    )),
    *(f"lincent.stored.{part.__name__}" for part in stored.PARTS),
    *(f"lincent.rivals.{name}" for name in (
        "DiscriminativeElasticNet", "DiscriminativeLeastSquares", "LinearSVM",
        "MinimaxProbabilityMachine", "RegularizedLDA", "StructuralMPM", "TwinSVC",
        "WeightedTwinSVC",
    )),
    "numpy.dtype",
)  # fmt: skip
"""What a model file may name beside the types that skops trusts by itself.

For use with skops directly: ``skops.io.load(file, trusted=TRUSTED_TYPES)``.
"""


def save_model(model: Model, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : Model
    path : path or "-"
    force : bool, default=False
        Replace a file that exists.
    """
    data = dump_model(model)
    with whole_file(path, force=force) as file:
        file.write(data)


def dump_model(model: Model) -> bytes:
    """A model as the bytes of a model file."""
    skops = _skops("Storing a model")
    body = skops.dumps(model.pipeline)
    header = {
        "format": FORMAT,
        "lincent": model.version,
        "scikit-learn": version_of("scikit-learn"),
        "numpy": version_of("numpy"),
        "schema": model.schema.to_json(),
        "summary": model.summary,
    }
    header["digest"] = _digest(header, body)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(HEADER, json.dumps(header, indent=1, ensure_ascii=False))
        archive.writestr(BODY, body)
    return buffer.getvalue()


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; what is not one, or names an unknown type, is refused in a sentence.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model
    """
    if is_stream(path):
        raise AppError("A model is read from a file: standard input is for data.")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise AppError(f"{path} cannot be read: {reason(error)}.") from error
    return parse_model(data, os.fspath(path))


def parse_model(data: bytes, name: str = "The file") -> Model:
    """A model from the bytes of a model file."""
    header, body = _members(data, name)
    if header.get("digest") != _digest(header, body):
        raise AppError(
            f"{name} was changed after it was written (its digest differs): take a fresh copy."
        )
    pipeline = _build(body, name)
    try:
        schema = Schema.from_json(header["schema"])
        return Model(pipeline, schema, dict(header["summary"]), header["lincent"])
    except (KeyError, TypeError, AttributeError) as error:
        raise AppError(f"{name} lacks {error} in its description: take a fresh copy.") from error


def _members(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            if HEADER not in sizes or BODY not in sizes:
                raise AppError(f"{name} is not a lincent model: it holds no {HEADER}.")
            if sum(sizes.values()) > LARGEST:
                raise AppError(f"{name} unpacks to more than 2 GiB, too large for a model.")
            text, body = archive.read(HEADER), archive.read(BODY)
    except AppError:
        raise
    except DAMAGED as error:
        raise AppError(
            f"{name} is not a lincent model, or is damaged: {first_line(error).rstrip('.')}."
        ) from error
    try:
        header = json.loads(text.decode())
    except ValueError as error:
        raise AppError(f"{name} is damaged: its description is not JSON.") from error
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise AppError(f"{name} is not a lincent model: its description names no format.")
    # It goes into exported code, so it must be a version and nothing else.
    if not re.fullmatch(r"[0-9A-Za-z.+!_-]{1,40}", str(header.get("lincent"))):
        raise AppError(f"{name} is damaged: it names no version of lincent.")
    if header["format"] > FORMAT:
        raise AppError(
            f"{name} has format {header['format']} and was written by lincent "
            f"{header.get('lincent')}; this lincent {version_of('lincent')} reads up to {FORMAT}: "
            "upgrade it."
        )
    return header, body


def _build(body: bytes, name: str) -> Any:
    skops = _skops("Reading a model")
    try:
        body = _under_todays_names(body)
        strange = sorted(set(skops.get_untrusted_types(data=body)) - set(TRUSTED_TYPES))
        if strange:
            raise AppError(
                f"{name} names the type {strange[0]}, which no lincent model has: it was refused, "
                "and nothing of it was run."
            )
        with warnings.catch_warnings():
            # An older scikit-learn's parts: whether they still work is tested with the fixtures.
            warnings.simplefilter("ignore")
            pipeline = skops.loads(body, trusted=list(TRUSTED_TYPES))
    except AppError:
        raise
    except Exception as error:
        raise AppError(
            f"{name} cannot be rebuilt: {type(error).__name__}, {first_line(error).rstrip('.')}."
        ) from error
    if not hasattr(pipeline, "steps") or not hasattr(pipeline[-1], "classes_"):
        raise AppError(f"{name} holds a {type(pipeline).__name__}, not a fitted lincent pipeline.")
    return pipeline


def _under_todays_names(body: bytes) -> bytes:
    """The same parts, each called by where its class is found today."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = members["schema.json"].decode()
    if "lincent.estimators." not in text and "lincent.rivals." not in text:
        return body
    members["schema.json"] = json.dumps(_renamed(json.loads(text))).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    found = {key: _renamed(value) for key, value in node.items()}
    module = found.get("__module__")
    if isinstance(module, str):
        found["__module__"] = stored.NAMES_OF_0_1_0.get(module, module)
    return found


def _skops(purpose: str) -> Any:
    """The io module of skops.

    When it is imported, it walks through all of scikit-learn and thereby imports every array
    library that is installed: seconds and hundreds of megabytes that no model file needs.  Those
    not in use yet are hidden from it meanwhile.
    """
    hidden = [name for name in ("torch", "dask", "cupy", "jax") if name not in sys.modules]
    if "skops.io" in sys.modules:
        hidden = []
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        return need("skops.io", "app", purpose)
    finally:
        for name in hidden:
            del sys.modules[name]


def _digest(header: dict[str, Any], body: bytes) -> str:
    rest = {key: value for key, value in header.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()
    return hashlib.sha256(text + b"\0" + body).hexdigest()
