"""Tables written in every way and then damaged: read, or refused in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from campaigns.models import _bytes
from campaigns.outcome import Outcome

CELLS = (
    "1", "-2.5", "1,5", "1e308", "1e999", "nan", "NA", "", "null", "inf", "yes", "no", "true", "x",
    "2024-01-31", "31.01.2024", "é", "\x1b[31m", '"', '""', "a,b", "a;b", "'", "0x10", "1 000",
    "００", "=cmd()", "(missing)", "#N/A", "\t", "long " * 50,
)  # fmt: skip
ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "utf-16")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check({"data": draw(rng), "format": "csv"})


def draw(rng: np.random.Generator) -> bytes:
    """A text table, often damaged."""
    rows, columns = int(rng.integers(0, 30)), int(rng.integers(1, 6))
    separator = ",;\t|"[rng.integers(4)]
    end = ("\n", "\r\n", "\r")[rng.integers(3)]
    names = [f"c{k}" if rng.random() < 0.8 else _cell(rng) for k in range(columns)]
    lines = [separator.join(names)]
    kinds = rng.integers(4, size=columns)
    lines += [separator.join(_typical(k, rng) for k in kinds) for _ in range(rows)]
    data = end.join(lines).encode(ENCODINGS[rng.integers(4)], "replace")
    for _ in range(int(rng.integers(0, 4))):
        data = _bytes(data, rng)
    return data


def _cell(rng: np.random.Generator) -> str:
    return CELLS[rng.integers(len(CELLS))]


def _typical(kind: int, rng: np.random.Generator) -> str:
    if rng.random() < 0.15:
        return _cell(rng)
    if kind == 0:
        return f"{rng.normal():.3f}"
    if kind == 1:
        return str(rng.integers(5))
    return ("a", "b", "c")[rng.integers(3)] if kind == 2 else ("yes", "no")[rng.integers(2)]


def check(instance: dict[str, Any]) -> Outcome:
    """Read the bytes as a file would be, judge the columns, and make the frame of the model."""
    import tempfile
    from pathlib import Path

    from lincent._errors import AppError
    from lincent.tables import read_table, to_frame, understand

    with tempfile.NamedTemporaryFile(suffix=f".{instance['format']}") as file:
        file.write(instance["data"])
        file.flush()
        try:
            table = read_table(Path(file.name))
            names = table.data.column_names
            if not names:
                return Outcome("no column")
            known = understand(table, names[-1])
            schema = getattr(known, "schema", None)
            if schema is not None and schema.columns:
                to_frame(schema, table)
        except AppError as error:
            text = str(error)
            return Outcome("refused", "" if text.strip() else "an empty sentence", instance)
        except BaseException as error:
            return Outcome("crash", f"{type(error).__name__}: {str(error)[:300]}", instance)
    return Outcome("read")
