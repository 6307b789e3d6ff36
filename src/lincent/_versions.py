"""Versions of the packages that determine a result."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

DECIDING = ("lincent", "numpy", "scipy", "scikit-learn", "clarabel")
OTHERS = (
    "joblib", "threadpoolctl", "pandas", "polars", "pyarrow", "openpyxl", "matplotlib", "typer",
    "rich", "jinja2", "skops", "dask", "torch", "skl2onnx", "onnxruntime",
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
    from threadpoolctl import threadpool_info

    lines = [f"system: {platform.platform()}"]
    lines += [f"{name}: {number}" for name, number in versions((*DECIDING, *OTHERS)).items()]
    lines += [
        f"{pool['internal_api']}: {pool['num_threads']} threads, version {pool['version']}"
        for pool in threadpool_info()
    ]
    sys.stdout.write("\n".join(lines) + "\n")
