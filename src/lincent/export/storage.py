"""Model files: one zip archive with two members, and no code in it.

    lincent.json    format, versions, schema, training summary, and the digest of both members
    model.skops     the pipeline, written by skops

The digest finds accidents: a file cut short, a changed byte.  Against malice stand bounds on every
size (``archive``), a list of the parts that may be named (``parts``) and a check of all that they
hold (``contents``, ``rehearsal``), before anything is computed with them.  Nothing here reads or
writes a pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from lincent._errors import AppError, first_line, need
from lincent._files import is_stream, reason, whole_file
from lincent.export.archive import LARGEST, Unacceptable, read_json, unpack
from lincent.export.description import check_description
from lincent.export.model import Model
from lincent.export.parts import TRUSTED_TYPES, rebuild
from lincent.export.rehearsal import check_model
from lincent.tables.schema import Schema

__all__ = ["TRUSTED_TYPES", "dump_model", "load_model", "parse_model", "save_model"]

FORMAT = 1
"""Raised when a file of this version could not be read by an older lincent."""
HEADER, BODY = "lincent.json", "model.skops"


def save_model(model: Model, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : Model
        A fitted model.
    path : path or "-"
        The file to write; it appears whole or not at all.
    force : bool, default=False
        Replace a file that exists.
    """
    data = dump_model(model)
    with whole_file(path, force=force) as file:
        file.write(data)


def dump_model(model: Model) -> bytes:
    """A model as the bytes of a model file."""
    try:
        # What could not be read again is not written.
        check_model(model)
    except Unacceptable as error:
        raise AppError(f"The model is not one that lincent stores: it {error}.") from error
    body = _skops("Storing a model").dumps(model.pipeline)
    return pack_model(model, body)


def pack_model(model: Model, body: bytes) -> bytes:
    """The file from its body and the rest of the model."""
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
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise AppError(f"{path} cannot be read: {reason(error)}.") from error
    return parse_model(data, os.fspath(path))


def parse_model(data: bytes, name: str = "The file") -> Model:
    """A model from the bytes of a model file."""
    try:
        return _parse(data)
    except Unacceptable as error:
        raise AppError(f"{name} {error}.") from error
    except (MemoryError, Exception) as error:
        text = f"{type(error).__name__}, {first_line(error)}".rstrip("., ")
        raise AppError(f"{name} cannot be rebuilt: {ascii(text)[1:-1]}.") from error


@contextmanager
def described_by(name: str) -> Iterator[None]:
    """Turn what the summary of a file makes impossible to show into a sentence."""
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
    if len(data) > LARGEST:
        raise Unacceptable(f"is larger than {LARGEST >> 20} MiB, too large for a model")
    header, body = _members(data)
    if header.get("digest") != _digest(header, body):
        raise Unacceptable(
            "was changed after it was written (its digest differs): take a fresh copy"
        )
    check_description(header)
    schema = Schema.from_json(header["schema"])
    model = Model(rebuild(body), schema, header["summary"], header["lincent"])
    check_model(model)
    return model


def _members(data: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        members = unpack(data)
    except Unacceptable as error:
        raise Unacceptable(f"is not a lincent model, or {error}") from error
    if HEADER not in members or BODY not in members:
        raise Unacceptable(f"is not a lincent model: it holds no {HEADER}")
    header = read_json(members[HEADER])
    if not isinstance(header, dict) or type(header.get("format")) is not int:
        raise Unacceptable("is not a lincent model: its description names no format")
    # It goes into exported code, so it must be a version and nothing else.
    version = header.get("lincent")
    if type(version) is not str or not re.fullmatch(r"[0-9A-Za-z.+!_-]{1,40}", version):
        raise Unacceptable("is damaged: it names no version of lincent")
    if header["format"] > FORMAT:
        raise Unacceptable(
            f"has format {header['format']} and was written by lincent {version}; this lincent "
            f"{version_of('lincent')} reads up to {FORMAT}: upgrade it"
        )
    return header, members[BODY]


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
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass")
    return hashlib.sha256(text + b"\0" + body).hexdigest()
