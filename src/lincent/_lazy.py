"""Names of a package that are imported when they are first asked for (PEP 562).

scikit-learn takes a second to import, and nobody should wait for it who wants a version, a page of
help, a sentence about a wrong option, or the first word of a long piece of work.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def lazily(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> Callable[[str], Any]:
    """``__getattr__`` of a package: ``homes`` has the module of each name; modules are names, too.

    A name is looked for once; from then on it is an attribute like any other.
    """

    def find(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("lincent.") else f"{package}.{home}"
        found = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, found)
        return found

    return find


def public(thing: T) -> T:
    """Users, pickles and model files know it by where it is imported from, not by its file."""
    thing.__module__ = "lincent"
    return thing
