"""Import the names of a package when they are first used (PEP 562).

scikit-learn takes a second to import, which a version, a help page or an error about an option
should not wait for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a package: ``homes`` has the module of each name.

    ``modules`` are submodules that are attributes without an import of their own.
    """

    def find(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        module = home if home.startswith("lincent.") else f"{package}.{home}"
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
