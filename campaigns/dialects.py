"""Random tables in every dialect of numbers: read as their writer meant them, or a warning.

The writer knows the values.  It draws separator, decimal mark, thousands mark, encoding, quoting,
line ends, missing tokens, padding (blanks and no-break spaces) and labels that look alike, and
writes with the csv module.  The file is read as `fit` and as `predict` read it.  A number that
differs by more than rounding, a label that is not the one written, or a category that is another
one is a failure unless the file is refused or a warning names the column, the cell or the file.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.outcome import Outcome

ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32")
LABELS = (
    ("no", "yes"), ("01", "1", "2"), ("1", "2"), ("a", "A"), ("ä", "a"), ("true", "false"),
    ("NA", "x"), ("x\u00a0y", "x y"), ("été", "hiver"), ("1.0", "2.0"), ("-1", "1"), ("007", "7"),
    ("1e3", "x"), ("+1", "-1"), ("'", '"'),
)  # fmt: skip
CATEGORIES = (
    ("red", "Red", "blue"), ("00", "0", "1"), ("ä", "a", "b"), ("1e3", "1000x", "k"),
    ("a;b", "a,b", "c"), ("x", 'quo"te', "line\nend"), ("0123", "1234", "0999"),
    ("1.5a", "2.5a", "b"),
)  # fmt: skip
MISSING = ("", "NA", "N/A", "nan", "null", "?", "-")
SPACES = ("", "", "", " ", "\u00a0", "\u202f")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check({"seed": int(rng.integers(2**31))})


def number(value: float, style: dict[str, Any]) -> str:
    """Write a number in a dialect."""
    text = f"{value:.{style['digits']}f}"
    if style["strip"] and "." in text:
        text = text.rstrip("0").rstrip(".")
    if style["exponent"] and abs(value) < 1e-3:
        text = f"{value:.3e}"
    sign, text = ("-", text[1:]) if text.startswith("-") else (style["plus"], text)
    whole, point, rest = text.partition(".")
    if style["thousands"] and len(whole) > 3:
        groups = [whole[max(k - 3, 0) : k] for k in range(len(whole), 0, -3)][::-1]
        whole = style["thousands"].join(groups)
    return style["space"] + sign + whole + point.replace(".", style["decimal"]) + rest


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """Return the bytes of a table, and what its writer meant."""
    rows = int(rng.integers(30, 90))
    labels = LABELS[rng.integers(len(LABELS))]
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))]
    separator = str(rng.choice([",", ";", "\t", "|"]))
    decimal = "," if separator != "," and rng.random() < 0.6 else "."
    other = "." if decimal == "," else ","
    style = {
        "decimal": decimal,
        "thousands": str(rng.choice(["", "", other]))
        if separator == ";" or rng.random() < 0.3
        else "",
        "strip": rng.random() < 0.3,
        "exponent": rng.random() < 0.2,
        "plus": "+" if rng.random() < 0.1 else "",
    }
    names, columns, meant = [], [], {}
    for k in range(int(rng.integers(1, 5))):
        name = f"n{k}"
        style["digits"] = int(rng.choice([0, 1, 2, 3, 3, 4]))
        style["space"] = SPACES[rng.integers(len(SPACES))] if rng.random() < 0.3 else ""
        size = 10.0 ** rng.integers(-1, 6)
        values = np.round(rng.normal(size=rows) * size + size * rng.choice([0, 3]), style["digits"])
        token = MISSING[rng.integers(len(MISSING))]
        absent = rng.random(rows) < rng.choice([0.0, 0.1])
        cells = [token if g else number(v, style) for v, g in zip(values, absent, strict=True)]
        names.append(name)
        columns.append(cells)
        meant[name] = np.where(absent, np.nan, values)
    if rng.random() < 0.5:
        words = CATEGORIES[rng.integers(len(CATEGORIES))]
        cells = [words[i] for i in rng.integers(len(words), size=rows)]
        if "utf" in encoding or all(_fits(cell, encoding) for cell in cells):
            names.append("größe" if "utf" in encoding else "c")
            columns.append(cells)
            meant[names[-1]] = cells
    if decimal == ",":  # as a writer of decimal commas does
        labels = tuple(label.replace(".", ",") for label in labels)
    target = [labels[i % len(labels)] for i in range(rows)]
    if encoding == "cp1252" and not all(
        _fits(c, encoding) for col in [*columns, target] for c in col
    ):
        encoding = "utf-8"
    names.append("the target")
    columns.append(target)
    if rng.random() < 0.02:  # what is odd comes after the bytes from which a dialect is inferred
        repeats = 1 + (1 << 18) // sum(len(cell) for column in columns for cell in column)
        columns = [[*column] * repeats for column in columns]
        meant = {k: v * repeats if isinstance(v, list) else np.tile(v, repeats)
                 for k, v in meant.items()}  # fmt: skip
        columns[0][-1], target = "\u00a0" + columns[0][-1], columns[-1]
    stream = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    end = str(rng.choice(["\n", "\r\n"]))
    writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([names, *zip(*columns, strict=True)])
    data = stream.getvalue().encode(encoding)
    nul = rng.random() < 0.02
    if nul:
        data = data[:-20] + b"\0" + data[-20:]
    return {"data": data, "meant": meant, "target": target, "style": style, "nul": nul}


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def check(instance: dict[str, Any]) -> Outcome:
    """Read a table as `fit` reads it, and then its first rows as `predict` does."""
    from lincent._errors import AppError
    from lincent.tables.infer import ColumnOptions, infer_schema
    from lincent.tables.read import ReadOptions, read_batches, read_table
    from lincent.tables.schema import OddCells, to_frame

    table = draw(np.random.default_rng(instance["seed"]))
    path = _place() / "t.csv"
    path.write_bytes(table["data"])
    names = list(table["meant"])
    try:
        read = read_table(path)
        prepared = infer_schema(read, "the target", ColumnOptions(keep=tuple(names)))
    except AppError:
        return Outcome("refused")
    if table["nul"]:
        return Outcome("read", "a file with the byte 0 was read", instance)
    warned = {c.name: c.reason for c in prepared.columns}
    if any("is read as" in warning for warning in read.warnings):
        warned = dict.fromkeys(names, "is read as")
    faults = _labels(prepared.labels, table["target"])
    frame = prepared.frame
    faults += _columns(frame, table["meant"], warned)
    odd = OddCells()
    options = ReadOptions(expected_decimal=read.options.decimal)
    parts = [to_frame(prepared.schema, part, odd) for part in read_batches(path, options, 17)]
    for name in frame:
        again = np.concatenate([part[name].to_numpy() for part in parts])
        same = again == frame[name].to_numpy()
        same |= (again != again) & (frame[name].to_numpy() != frame[name].to_numpy())
        if len(same) == len(frame) and not same.all() and not odd.messages:
            row = int(np.flatnonzero(~same)[0])
            faults.append(f"{name}: fit reads {frame[name].iloc[row]!r}, predict {again[row]!r}")
    fault = "; ".join(faults)
    kind = "read with a warning" if any(warned.values()) or read.warnings else "read"
    return Outcome(kind, f"{fault} ({table['style']})" if fault else "", instance if fault else {})


def _columns(frame: Any, meant: dict[str, Any], warned: dict[str, str]) -> list[str]:
    faults = []
    for name, values in meant.items():
        if name not in frame or "is read as" in warned[name] or "are numbers" in warned[name]:
            continue
        found = frame[name].to_numpy()
        if isinstance(values, list):
            if found.dtype == object:  # the same partition of the rows
                pairs = {*zip(found.tolist(), values, strict=True)}
                wrong = len(pairs) != len({*values}) or len(pairs) != len({*found.tolist()})
                faults += [f"{name}: {sorted(pairs)}"] if wrong else []
        elif found.dtype == object:  # a column of one number and missing cells is a category
            faults += [f"{name} is a category"] if len({*values[~np.isnan(values)]}) > 1 else []
        else:
            close = np.isclose(found, values, rtol=1e-9, atol=1e-12) | (
                np.isnan(found) & np.isnan(values)
            )
            if not close.all():
                row = int(np.flatnonzero(~close)[0])
                faults.append(f"{name}: {found[row]!r} was {values[row]!r}")
    return faults


def _labels(found: np.ndarray, target: list[str]) -> list[str]:
    """Return where two labels that were written apart are one, or one is two."""
    pairs = {*zip(np.asarray(found).tolist(), target, strict=False)}
    if len(found) < len(target):  # rows without a class, with a warning
        return []
    apart = len(pairs) == len({*target}) == len({*np.asarray(found).tolist()})
    return [] if apart else [f"labels: {sorted(pairs, key=str)}"]


@cache
def _place() -> Path:
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="lincent-dialects-", dir=folder)
    _places.append(made)
    return Path(made.name)


_places: list[Any] = []
