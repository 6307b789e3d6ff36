"""Figures from the measured tables of this site: the numbers stand in one place, on their page."""

from __future__ import annotations

import re
from pathlib import Path

DOC = Path(__file__).resolve().parents[1]


def tables(page):
    """Every Markdown table of a page: a list of rows, each a dictionary by column."""
    found, head, rows = [], None, []
    for line in [*(DOC / page).read_text("utf-8").splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if head is None:
                head = cells
            elif not set("".join(cells)) <= set("-: "):
                rows.append(dict(zip(head, cells, strict=False)))
        elif head is not None:
            found.append(rows)
            head, rows = None, []
    return found


def table_with(page, *columns):
    """The first table of a page that has these columns."""
    for rows in tables(page):
        if rows and set(columns) <= set(rows[0]):
            return rows
    raise LookupError(f"{page} has no table with the columns {columns}")


def seconds(text):
    """'12.5 ms' or '0.43 s' as seconds."""
    number, unit = re.match(r"([\d.,]+) (ms|s)\b", text).groups()
    return float(number.replace(",", "")) * (1e-3 if unit == "ms" else 1.0)


def stamp(page):
    """The date of the measurement, as the page says it."""
    return re.search(r"\d{4}-\d\d-\d\d", (DOC / page).read_text("utf-8")).group()
