"""Modules of the folder ``benchmarks``, which is no package."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@cache
def load_benchmark(name):
    """Import a module of the benchmarks by its name."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
