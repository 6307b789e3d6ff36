"""The parts of a stored model: which there may be, and how they are put together.

skops writes a model as a tree of nodes; a node names what it is and what it holds.  This file reads
that tree without skops, because a model needs nine kinds of nodes and a few classes, and skops
trusts many more (every estimator of scikit-learn, some of which open files or run native code on
whatever they are given).  What is not in the tables below is refused by its name.  No code of a
file is ever run: an object is made without its ``__init__`` and is given its attributes, which
``contents`` checks before anything is computed with them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from lincent.export import stored
from lincent.export.archive import Unacceptable, read_array, read_json, read_value, unpack

PROTOCOL = 2
"""The form of the tree that skops has written since 0.11."""
PUBLIC = ("lincent", "lincent.paper.baselines", "lincent.features")
FROM_SCIKIT_LEARN = (
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
)
TYPES: dict[str, type] = {
    **{f"builtins.{kind.__name__}": kind for kind in (bool, float, int, str)},
    **{
        f"numpy.{kind.__name__}": kind
        for kind in (
            np.bool_, np.float32, np.float64, np.int8, np.int32, np.int64, np.str_, np.uint8,
        )
    },
}  # fmt: skip
"""Types of keys and of single numbers."""


def _own_types() -> tuple[str, ...]:
    """The public estimators and transformers of this package, and the parts they are made of."""
    found = [f"{part.__module__}.{part.__name__}" for part in stored.PARTS]
    for module in map(importlib.import_module, PUBLIC):
        for name in getattr(module, "__all__", ()):
            part = getattr(module, name)
            if inspect.isclass(part) and hasattr(part, "get_params"):
                found.append(f"{part.__module__}.{name}")
    return tuple(sorted(set(found)))


TRUSTED_TYPES = (*_own_types(), "numpy.dtype")
"""What a model file may name beside scikit-learn's own.

For use with skops directly: ``skops.io.load(file, trusted=TRUSTED_TYPES)``.
"""


@cache
def known_classes() -> dict[str, type]:
    """Every class that a model file may name."""
    found = {}
    for path in (*_own_types(), *FROM_SCIKIT_LEARN):
        module, _, name = path.rpartition(".")
        found[path] = getattr(importlib.import_module(module), name)
    return found


def rebuild(body: bytes) -> Any:
    """The object that skops has written, if all of its parts are known."""
    members = unpack(body)
    if "schema.json" not in members:
        raise Unacceptable("is damaged: it holds no model")
    tree = read_json(members["schema.json"])
    if not isinstance(tree, dict) or tree.get("protocol") != PROTOCOL:
        raise Unacceptable("cannot be rebuilt: it was written in a form that is not known")
    return _Builder(members).build(tree)


class _Builder:
    """Puts nodes together; every method takes a node and gives what it stands for."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self.members = members
        self.loaders: dict[str, Callable[[dict[str, Any]], Any]] = {
            "ObjectNode": self._object,
            "DictNode": self._dict,
            "ListNode": self._list,
            "TupleNode": self._tuple,
            "JsonNode": self._plain,
            "NdArrayNode": self._array,
            "TypeNode": self._type,
            "DTypeNode": self._dtype,
            "SliceNode": self._slice,
        }

    def build(self, node: Any) -> Any:
        if not isinstance(node, dict):
            raise Unacceptable("is damaged: a part of its model is missing")
        loader = self.loaders.get(_text(node, "__loader__"))
        if loader is None:
            raise _stranger(node)
        return loader(node)

    def _object(self, node: dict[str, Any]) -> Any:
        kind = known_classes().get(_path(node))
        if kind is None:
            raise _stranger(node)
        state = self.build(node.get("content"))
        if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
            raise Unacceptable(f"is damaged: its {kind.__name__} has no attributes")
        state.pop("_sklearn_version", None)
        made: Any = object.__new__(kind)
        made.__dict__.update(state)
        return made

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        if _path(node) != "builtins.dict":
            raise _stranger(node)
        kinds, content = self.build(node.get("key_types")), node.get("content")
        if not isinstance(content, dict) or not isinstance(kinds, list):
            raise Unacceptable("is damaged: a part of its model is missing")
        if len(kinds) != len(content) or any(kind not in (str, int) for kind in kinds):
            raise Unacceptable("is damaged: the keys of a part do not fit")
        found = {}
        for kind, (key, value) in zip(kinds, content.items(), strict=True):
            if kind is int and not re.fullmatch(r"-?[0-9]{1,18}", key):
                raise Unacceptable("is damaged: the keys of a part do not fit")
            found[kind(key)] = self.build(value)
        return found

    def _list(self, node: dict[str, Any]) -> list[Any]:
        if _path(node) != "builtins.list":
            raise _stranger(node)
        return self._items(node)

    def _tuple(self, node: dict[str, Any]) -> tuple[Any, ...]:
        if _path(node) != "builtins.tuple":
            raise _stranger(node)
        return tuple(self._items(node))

    def _items(self, node: dict[str, Any]) -> list[Any]:
        content = node.get("content")
        if not isinstance(content, list):
            raise Unacceptable("is damaged: a part of its model is missing")
        return [self.build(item) for item in content]

    def _plain(self, node: dict[str, Any]) -> Any:
        return read_value(_text(node, "content"))

    def _array(self, node: dict[str, Any]) -> Any:
        path = _path(node)
        if node.get("type") == "json" and path == "numpy.ndarray":
            # Text of any length, as the categories of a column.
            items = self._items(node)
            if not all(item is None or isinstance(item, (str, bool, int, float)) for item in items):
                raise Unacceptable("has an array of things that are neither numbers nor text")
            array = np.empty(len(items), dtype=object)
            array[:] = items
            return array
        if node.get("type") != "numpy" or _text(node, "file") not in self.members:
            raise Unacceptable("is damaged: an array of its model is missing")
        content = read_array(self.members[_text(node, "file")])
        if path == "numpy.ndarray":
            return content
        if path not in TYPES or content.ndim:
            raise _stranger(node)
        return TYPES[path](content[()])

    def _type(self, node: dict[str, Any]) -> type:
        if _path(node) not in TYPES:
            raise _stranger(node)
        return TYPES[_path(node)]

    def _dtype(self, node: dict[str, Any]) -> Any:
        if _path(node) != "numpy.dtype":
            raise _stranger(node)
        content = self.build(node.get("content"))
        if not isinstance(content, np.ndarray):
            raise Unacceptable("is damaged: a type of numbers is missing")
        return content.dtype

    def _slice(self, node: dict[str, Any]) -> slice:
        content = node.get("content")
        ends = list(content.values()) if isinstance(content, dict) else []
        if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
            raise Unacceptable("is damaged: a range of columns is broken")
        return slice(*ends)


def _text(node: dict[str, Any], key: str) -> str:
    value = node.get(key)
    if not isinstance(value, str):
        raise Unacceptable("is damaged: a part of its model has no name")
    return value


def _path(node: dict[str, Any]) -> str:
    """Return the dotted name of the class of a node."""
    return f"{_text(node, '__module__')}.{_text(node, '__class__')}"


def _stranger(node: dict[str, Any]) -> Unacceptable:
    path = ascii(_path(node))[1:-1]
    return Unacceptable(
        f"names the type {path[:100]}, which no lincent model has: it was refused, and nothing of "
        "it was run"
    )
