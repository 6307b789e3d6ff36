"""How much memory a fit to a table takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lincent._files import is_stream
from lincent.tables.formats import CSV, PARQUET, format_from_name

COPIES = 6
"""A fit in memory holds a table about so often: as read, as a frame, as numbers, and its folds."""
NUMBER, TEXT = 8, 20
"""Bytes of a cell: words are objects of their own for a while."""
TEXT_COPIES = 8
"""The same for a text file, by its size on disk: cells are read as text first."""


def needed(data: Any, format: str | None = None) -> float:
    """About how many bytes a fit to this table takes in memory; 0 where it is there already."""
    if not isinstance(data, str | os.PathLike) or is_stream(data):
        return 0.0
    kind = format or format_from_name(data)
    try:
        if kind == PARQUET:
            from pyarrow.parquet import read_metadata

            found = read_metadata(data)
            kinds = (found.schema.column(k).physical_type for k in range(found.num_columns))
            row = sum(TEXT if kind == "BYTE_ARRAY" else NUMBER for kind in kinds)
            return float(COPIES * found.num_rows * row)
        if kind == CSV and Path(data).suffix.lower() not in (".gz", ".bz2", ".xz", ".zip"):
            return float(TEXT_COPIES * os.path.getsize(data))
    except Exception:  # whatever is wrong with the file, reading it says so
        return 0.0
    return 0.0
