"""Model files: one zip archive without code.

    lincent.json    format, version, schema, training summary, and the digest of all members
    tree.json       the pipeline; an array is named with its type and shape
    0, 1, ...       the numbers of the arrays

The digest detects accidents: a truncated file, a changed byte.  Against malicious files there are
bounds on every size, checked before anything is unpacked or parsed, a list of the classes that may
be named (``MODULES``), and a check of all their attributes before anything is computed with them:

    classes     every object is of a class that models of this package have
    values      every parameter is valid for its class; every attribute is a finite number, text, an
                array of them, or another part; nothing replaces a method of its class
    shapes      arrays that belong together have matching sizes
    encoder     the encoded columns are those of the schema
    smoke test  rows with numbers, missing values and unknown categories get a finite score

An object is made without its ``__init__`` and is given its attributes; no code of a file is run,
and nothing is pickled.

The pipelines of this package need eight kinds of nodes and a few classes, so the tree is written
and read here.  skops would trust every estimator of scikit-learn, some of which open files or run
native code on whatever they are given, and importing it imports every array library that is
installed: seconds, and more address space than a small limit allows.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from lincent._errors import AppError, first_line
from lincent._files import is_stream, reason, write_file
from lincent.estimators.additive import Terms
from lincent.estimators.calibration import Calibration, Softmax
from lincent.estimators.problem import STRATEGIES, binary_tasks
from lincent.estimators.registry import BASELINES, ESTIMATORS
from lincent.estimators.threshold import Nearest, Threshold
from lincent.export.model import Model, linear_scores, require_model
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures, TreeLeaves
from lincent.features.splines import ColumnCurve, IncreasingCurve
from lincent.features.tree_leaves import Trees
from lincent.tables.encoder import MOST_CATEGORIES, EncodedColumn, TableEncoder
from lincent.tables.formats import outside_strings, pa
from lincent.tables.infer import LONGEST_CLASS
from lincent.tables.read import UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, MEANING, NUMBER, Column, Schema, to_frame

FORMAT = 3  # raised when an older lincent could not read the file
HEADER, TREE = "lincent.json", "tree.json"
MOST_BYTES = 1 << 28  # of a file, and of its unpacked members
MOST_TEXT = 1 << 25
MOST_MEMBERS = 10_000
MOST_ENTRIES = 1_000_000
INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf}  # Python's JSON also has NaN
MOST_DEPTH = 60  # nested lists and objects of JSON; a model has about 25
REPORTS = {
    "best_score_", "cv_results_", "dual_objective_", "duality_gap_", "objective_",
    "objective_history_",
}  # fmt: skip
"""Attributes that report on the fit and are not used to predict: they may be infinite or NaN."""
SHAPES = {
    "_intercept": "outputs", "dual_coef_": "tasks support", "feature_importances_": "features",
    "intercept_": "outputs", "plane_intercept_": "tasks 2",
    "local_centers_": "local features", "local_classes_": "local", "local_sizes_": "local",
    "plane_coef_": "tasks 2 features",
    "priors_": "classes", "local_coef_": "tasks ...",
    "support_": "support", "support_vectors_": "support features",
}  # fmt: skip
"""The axes of arrays; an axis has one length in all of them; ``...`` is whatever follows."""
PARTS = (
    Calibration, ColumnCurve, EncodedColumn, IncreasingCurve, KernelLandmarks, LocalCenters,
    Nearest, Pipeline, Softmax, SplineFeatures, TableEncoder, Terms, Threshold, TreeLeaves, Trees,
)  # fmt: skip
MODULES = {**ESTIMATORS, **BASELINES, **{kind.__name__: kind.__module__ for kind in PARTS}}
"""Every class that a model file may name, with its module."""
TRUSTED_TYPES = (
    *sorted(f"{module}.{name}" for name, module in MODULES.items() if "lincent" in module),
    "numpy.dtype",
)
"""Types of this package in a model, for users of skops: skops.io.load(file, TRUSTED_TYPES)."""


class InvalidModelFile(ValueError):
    """The reason why a file is no model: the end of a message that begins with its name."""


def refuse_if(condition: Any, message: str) -> None:
    """Raise InvalidModelFile with a message if a condition holds."""
    if condition:
        raise InvalidModelFile(message)


def require(condition: Any, message: str) -> None:
    """Raise InvalidModelFile about a damaged file unless a condition holds."""
    refuse_if(not condition, f"is damaged: {message}")


def in_words(error: BaseException) -> str:
    """Return the type and the message of an error of any origin, in ASCII on one line."""
    return ascii(f"{type(error).__name__}, {first_line(error)}")[1:-1].rstrip("., ")


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
    require_model(model)
    write_file(path, dump_model(model), force=force)


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
        "schema": asdict(model.schema),
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
    schema = _check_header(header)
    pipeline = _from_node(read_json(members[TREE]), members)
    model = Model(pipeline, schema, header["summary"], str(version))
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
        return json.loads(data.decode(), parse_constant=INFINITE.__getitem__)
    except (KeyError, ValueError, RecursionError) as error:
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


def _check_header(header: dict[str, Any]) -> Schema:
    """Return the schema if it is complete and the summary is plain data."""
    require(isinstance(header.get("summary"), dict), "its description has no summary")
    _check_value(header, "its description", may_be_infinite=True)
    schema = Schema.from_json(header["schema"])
    typed = all(map(_is_typed, (schema, *schema.columns)))
    require(typed, "its description has a name that is not one")
    different = len({*schema.names}) == len(schema.names) > 0
    require(different, "its description has no columns, or one twice")
    for column in schema.columns:
        require(column.kind in MEANING, "its description has a column of no kind")
        values = column.categories
        fits = bool(values) == (column.kind == CATEGORY) and len({*values}) == len(values)
        require(fits, "its description has a column with broken categories")
    unit = header["summary"].get("score_scale", 1.0)
    require(type(unit) is float and 0 < unit < math.inf, "the scale of its scores is not positive")
    return schema


# The contents.


def model_class(path: str) -> type | None:
    """Return the class of this name, if a model may have it; others are not imported."""
    module, _, name = path.rpartition(".")
    if MODULES.get(name) != module:
        return None
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def check_model(model: Model) -> None:
    """Raise InvalidModelFile unless all parts fit and rows can be scored."""
    pipeline = model.pipeline
    last: Any = pipeline
    if type(pipeline).__name__ == "Pipeline" and hasattr(pipeline, "steps"):
        check_part(pipeline)
        last = pipeline.steps[-1][1]
    fitted = hasattr(last, "classes_") and hasattr(last, "decision_function")
    refuse_if(not fitted, f"holds a {type(last).__name__}, not a fitted lincent pipeline")
    check_columns(model)
    smoke_test(model)


def check_columns(model: Model) -> None:
    """Check that the encoder is fitted to the columns of the schema."""
    steps, wanted = model.pipeline.steps, {c.name: c for c in model.schema.columns}
    encoder, width = steps[0][1], model.classifier.n_features_in_
    codes: Any = vars(encoder).get("columns_") if isinstance(encoder, TableEncoder) else None
    encoded = len(steps) == 2 and _is_kind(codes, (EncodedColumn,))
    require(encoded, "its columns are not encoded")
    names, missing = [code.name for code in codes], vars(encoder).get("missing_")
    fits = names == list(getattr(encoder, "feature_names_in_", ())) == list(wanted)
    fits = fits and type(missing) is str
    fits = fits and all(_fits(code, wanted[code.name], missing) for code in codes)
    require(fits, "its encoder has other columns")
    for name in ("center_", "scale_"):
        numbers = getattr(encoder, name, None)
        fits = isinstance(numbers, np.ndarray) and numbers.shape == (len(encoder.sources),)
        require(fits, f"its columns have no {name} for each")
    require(np.all(encoder.scale_ > 0), "the scale of a column is not positive")
    require(len(encoder.sources) == width, f"its classifier does not take {len(encoder.sources)}")


def _fits(code: EncodedColumn, column: Column, missing: str) -> bool:
    """Return whether a column is encoded by its kind; rare ones of many categories are left out."""
    if column.kind != CATEGORY or code.categories is None:
        return code.categories is None and column.kind != CATEGORY
    known = set(code.categories)
    given = {missing if category is None else category for category in column.categories}
    least = max(1, min(len(given), MOST_CATEGORIES))
    return least <= len(known) == len(code.categories) and known <= given and not code.indicator


def smoke_test(model: Model) -> None:
    """Score rows of every kind, so that errors occur here and not with the data of the user."""
    some = {
        NUMBER: pa.array([0.0, None, 1.0]),
        FLAG: pa.array([False, None, True]),
        CATEGORY: pa.array(["", None, "?"]),
        DATE: pa.array([0, None, 10**6], pa.timestamp("s")),
    }
    batch = UserTable(pa.record_batch({c.name: some[c.kind] for c in model.schema.columns}))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answers = model.score_frame(to_frame(model.schema, batch))
            linear_scores(model)
    except Exception as error:
        raise InvalidModelFile(f"cannot score a row ({in_words(error)})") from error
    for name, column in answers.items():
        require(np.shape(column) == (3,), f"it gives {np.shape(column)} answers to three rows")
        finite = name == "class" or np.isfinite(column).all()
        require(finite, "it gives a score that is not a finite number")


# The parts.


TYPES: dict[Any, Callable[[Any], bool]] = {
    "bool": lambda value: type(value) is bool,
    "str": lambda value: type(value) is str,
    "float": lambda value: type(value) in (int, float) and math.isfinite(value),
    "np.ndarray": lambda value: _is_kind(value, "bif") and value.ndim == 1,
    "Softmax": lambda value: type(value) is Softmax,
    "tuple[Column, ...]": lambda value: _is_tuple(value, Column),
    "tuple[str, ...]": lambda value: _is_tuple(value, str),
    "tuple[str, ...] | None": lambda value: value is None or _is_tuple(value, str),
    "tuple[str | None, ...]": lambda value: _is_tuple(value, str, type(None)),
}
"""Whether a value is what the annotation of a field says."""


def _is_tuple(value: Any, *types: type) -> bool:
    return type(value) is tuple and all(type(entry) in types for entry in value)


def _is_typed(part: Any) -> bool:
    """Return whether a part has the fields of its class and no others, each of its type."""
    types = {field.name: TYPES[field.type] for field in fields(part)}
    return vars(part).keys() == types.keys() and all(
        types[name](value) for name, value in vars(part).items()
    )


def _are_trees(part: Trees) -> bool:
    """Return whether every way down a tree ends at a leaf."""
    roots, left, column = part.roots, part.left, part.column
    sizes = {len(value) for name, value in vars(part).items() if name != "roots"}
    ok = all(value.dtype.kind == "i" for value in (roots, part.feature, left, column))
    ok = ok and len(sizes) == 1 and len(roots) > 0 and roots.min() >= 0
    ok = ok and roots.max() < len(left) and part.feature.min() >= 0
    down = ok and (left > np.arange(len(left))) & (left + 1 < len(left))
    return ok and bool(np.all((column >= 0) | down))


SMALL_PARTS: dict[type, Callable[[Any], bool]] = {
    Calibration: lambda part: part.strategy in STRATEGIES and part.scale > 0,
    EncodedColumn: lambda part: True,
    Nearest: lambda part: all(
        len(values) and not np.any(np.diff(values) < 0) for values in (part.negative, part.positive)
    ),
    Softmax: lambda part: True,
    Threshold: lambda part: True,
    Trees: _are_trees,
}
"""Parts whose fields have `TYPES`, and what else holds for them."""


def check_part(part: Any) -> None:
    """Check an estimator, transformer or smaller part, with all that it holds."""
    kind = type(part)
    foreign = model_class(f"{kind.__module__}.{kind.__name__}") is not kind
    refuse_if(foreign, f"has a part of type {kind.__name__}, which no lincent model has")
    if kind in SMALL_PARTS:
        fits = _is_typed(part) and SMALL_PARTS[kind](part)
        require(fits, f"its {kind.__name__} is not what it should be")
    settings = set(kind._get_param_names()) if hasattr(kind, "_get_param_names") else set()
    missing = settings - vars(part).keys()
    require(not missing, f"its {kind.__name__} lacks {min(missing, default='')}")
    for name, value in vars(part).items():
        method = name not in settings and callable(getattr(kind, name, None))
        require(not method, f"its {kind.__name__} replaces the method {name[:100]}")
        free = name in settings or name in REPORTS
        _check_value(value, f"{kind.__name__}.{name}", may_be_infinite=free)
    _check_settings(part)
    _check_shapes(part)


def _check_value(value: Any, name: str, *, may_be_infinite: bool) -> None:
    """Check plain data, or the parts that it holds."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return
    if isinstance(value, str):
        require(len(value) <= 10_000, f"{name} has a text of {len(value)} letters")
        # Surrogates cannot be encoded.
        require(not re.search("[\ud800-\udfff]", value), f"{name} has a letter that is none")
    elif isinstance(value, (int, float, np.number)):
        require(may_be_infinite or math.isfinite(value), f"{name} is {value}, no finite number")
    elif isinstance(value, np.ndarray):
        finite = value.dtype.kind != "f" or may_be_infinite or np.isfinite(value).all()
        require(finite, f"{name} has an entry that is not finite")
    elif isinstance(value, (dict, list, tuple)):
        for entry in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_value(entry, name, may_be_infinite=may_be_infinite)
    else:
        check_part(value)


def _check_settings(part: Any) -> None:
    """Check every parameter as ``fit`` does."""
    try:
        if hasattr(part, "_parameter_constraints"):
            part._validate_params()
    except Exception as error:
        text = ascii(first_line(error, 300).rstrip("."))[1:-1]
        raise InvalidModelFile(f"has a setting that is not one: {text}") from error


def _check_shapes(part: Any) -> None:
    values, kind = vars(part), type(part).__name__
    sizes: dict[str, int] = {}
    if "n_features_in_" in values:
        count = values["n_features_in_"]
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool) and count > 0
        require(whole, f"{kind}.n_features_in_ is not a number of columns")
        sizes["features"] = int(count)
    if "classes_" in values:
        sizes["classes"] = _count_classes(values["classes_"], kind)
        sizes["tasks"] = len(binary_tasks(sizes["classes"], getattr(part, "multi_class", "ovr")))
    for name in SHAPES.keys() & values.keys():
        value, axes = values[name], SHAPES[name]
        is_array = _is_kind(value, "biufUO" if name == "local_classes_" else "bif")
        require(is_array, f"{kind}.{name} is not what it should be")
        shape, wanted = value.shape, axes.removesuffix(" ...").split()
        known = [int(a) if a.isdigit() else sizes.setdefault(a, s) for a, s in zip(wanted, shape)]  # noqa: B905
        fits = known == list(shape[: len(wanted)]) and (len(shape) > len(wanted)) == ("..." in axes)
        require(fits, f"{kind}.{name} has the shape {shape}, which cannot be")
    if "_rules" in values:  # a direction and a threshold for each binary problem
        names = {"coef_", "intercept_", "_coef", "_intercept", "_rules"} & values.keys()
        fits = _is_kind(values["_rules"], (Threshold, Nearest))
        fits = fits and all(np.shape(values[name])[:1] == (sizes["tasks"],) for name in names)
        fits = fits and ("dual_coef_" not in values or "_intercept" in values)
        require(fits, f"{kind} has not one direction for each problem")
    if "centers_" in values and "tasks" in sizes:
        centers, pairs = values["centers_"], 2 * sizes["tasks"]
        fits = _is_kind(centers, "bif") and centers.size in (pairs, pairs * sizes["features"])
        require(fits, f"{kind}.centers_ is not what it should be")


def _is_kind(value: Any, kinds: str | tuple[type, ...]) -> bool:
    """Return whether a value is an array of these types, or a list of these parts."""
    if isinstance(kinds, str):
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    return isinstance(value, list) and all(type(entry) in kinds for entry in value)


def _count_classes(classes: Any, kind: str) -> int:
    fits = _is_kind(classes, "biufUO") and classes.ndim == 1
    labels = classes.tolist() if fits else []
    require(2 <= len(labels) <= 1_000, f"{kind}.classes_ is no list of classes")
    texts = [str(label) for label in labels]
    require(len({*texts}) == len(texts), f"{kind}.classes_ is no list of different classes")
    require(max(map(len, texts)) <= LONGEST_CLASS, f"{kind} has a long class")
    plain = classes.dtype.kind != "O" or labels == texts
    require(plain, f"{kind}.classes_ mixes text with other things")
    return len(labels)
