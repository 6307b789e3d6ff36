"""Versions of the packages that determine a result."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

DECIDING = ("lincent", "numpy", "scipy", "scikit-learn", "clarabel")
OPTIONAL = (
    "polars", "pyarrow", "openpyxl", "typer", "rich", "jinja2", "skops", "dask", "torch",
    "skl2onnx", "onnxruntime",
)  # fmt: skip


def lincent() -> str:
    """Return ``lincent.__version__``; the installed metadata may be older."""
    return str(sys.modules["lincent"].__version__)


def versions(names: tuple[str, ...] = DECIDING) -> dict[str, str]:
    """Return versions by package name, Python's first; "absent" where not installed."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = lincent() if name == "lincent" else version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def show_versions() -> None:
    """Print what a bug report should contain: system, versions, threads.

    Examples
    --------
    >>> import lincent
    >>> lincent.show_versions()  # doctest: +SKIP
    """
    import sklearn

    for name in ("lincent", "clarabel", *OPTIONAL):
        sys.stdout.write(f"{name}: {versions((name,))[name]}\n")
    sklearn.show_versions()
