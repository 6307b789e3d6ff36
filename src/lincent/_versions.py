"""Versions of what decides a result."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from lincent._lazy import public

DECIDING = ("lincent", "numpy", "scipy", "scikit-learn", "clarabel")
OTHERS = (
    "joblib", "threadpoolctl", "pandas", "polars", "pyarrow", "openpyxl", "matplotlib", "typer",
    "rich", "jinja2", "skops", "dask", "torch", "skl2onnx", "onnxruntime",
)  # fmt: skip


def lincent() -> str:
    """The version of this package: what its front door says, not what was once installed."""
    return str(sys.modules["lincent"].__version__)


def versions(names: tuple[str, ...] = DECIDING) -> dict[str, str]:
    """Versions by package name, Python's first; "absent" for what is not installed."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = lincent() if name == "lincent" else version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


@public
def show_versions() -> None:
    """Print what a bug report should say: system, versions, threads.

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
