"""What fuzzing starts from: a model file of every kind of method, and tables that fit them.

Made once by the first process that asks, in a folder whose name goes to the others through the
environment.
"""

from __future__ import annotations

import atexit
import io
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = "LINCENT_CORPUS"
KINDS: dict[str, dict[str, Any]] = {
    "lcc": {"method": "lcc"},
    "lcc-probability": {"method": "lcc", "params": {"probability": "sigmoid"}},
    "nearest": {"method": "LCC-1NN"},
    "pairs": {"method": "lcc", "classes": 3, "params": {"multi_class": "ovo"}},
    "tuned": {"method": "LCCCV"},
    "quadratic": {"method": "FQCC"},
    "kernel": {"method": "kernel"},
    "quick": {"method": "quick", "classes": 3},
    "linear": {"method": "linear"},
    "structured": {"method": "structured"},
    "additive": {"method": "additive"},
    "auto": {"method": "auto"},
    "lda": {"method": "LDA"},
    "svm": {"method": "SVM"},
    "twin": {"method": "TSV"},
    "dates": {"method": "quick", "keep": ["day"]},
}


COLUMNS = ("id", "a", "b", "color", "flag", "day", "note", "target")
NOTES = ("red fox", "blue sky", "old tree", "red tree at noon", "a fox and the sky")


def cells(rng: np.random.Generator, rows: int = 36, classes: int = 2) -> list[list[str]]:
    """A table as text, names first, with a column of every kind."""
    found = [list(COLUMNS)]
    draws = zip(rng.normal(size=(rows, 2)), rng.integers(60, size=(rows, 4)).tolist(), strict=True)
    for k, ((a, b), (missing, color, day, note)) in enumerate(draws):
        y = k % classes
        found.append(
            [
                str(1000 + k),
                f"{a + y:.3f}",
                f"{b - y:.2f}" if missing > 5 else "",
                ("red", "green", "blau")[color % 3],
                ("yes", "no")[color % 2],
                f"2024-{day % 12 + 1:02}-{day % 28 + 1:02}",
                NOTES[note % 5],
                ("no", "yes", "maybe")[y],
            ]
        )
    return found


def table(rng: np.random.Generator, rows: int = 36, classes: int = 2) -> Any:
    """The same as `lincent` reads it."""
    import pandas as pd

    text = "\n".join(",".join(row) for row in cells(rng, rows, classes))
    return pd.read_csv(io.StringIO(text), parse_dates=["day"])


def make() -> Path:
    """The folder with the model files, made where there is none yet."""
    if FOLDER not in os.environ:
        place = tempfile.mkdtemp(prefix="lincent-corpus-")
        for name, settings in KINDS.items():
            (Path(place) / f"{name}.lincent").write_bytes(fitted(**settings))
        os.environ[FOLDER], os.environ["MPLCONFIGDIR"] = place, str(Path(place) / "matplotlib")
        # matplotlib lists the fonts of a machine once, and writes the list down.
        fonts = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(fonts, check=True, capture_output=True, timeout=120)
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    return Path(os.environ[FOLDER])


def fitted(classes: int = 2, **settings: Any) -> bytes:
    from lincent.export.model_file import dump_model
    from lincent.workflow.fit import fit_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = table(np.random.default_rng(0), classes=classes)
        return dump_model(fit_table(frame, "target", **{"ids": ["id"], **settings}))


@cache
def model_files() -> tuple[bytes, ...]:
    """Return every model to start from."""
    paths = sorted(make().glob("*.lincent"))
    return tuple(path.read_bytes() for path in paths)
