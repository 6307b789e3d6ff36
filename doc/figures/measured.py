"""Figures from the measured tables of this site: the numbers stand in one place, on their page."""

from __future__ import annotations

import re
from pathlib import Path

DOC = Path(__file__).resolve().parents[1]


def tables(text):
    """Every Markdown table of a text: a list of rows, each a dictionary by column.

    The second column of a name is called "name 2".
    """
    found, head, rows = [], None, []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().removeprefix("|")[:-1].split("|")]
            if head is None:
                head = [c if c not in cells[:k] else f"{c} 2" for k, c in enumerate(cells)]
            elif not set("".join(cells)) <= set("-: "):
                rows.append(dict(zip(head, cells, strict=False)))
        elif head is not None:
            found.append(rows)
            head, rows = None, []
    return found


def table_with(page, *columns):
    """The first table of a page that has these columns."""
    for rows in tables((DOC / page).read_text("utf-8")):
        if rows and set(columns) <= set(rows[0]):
            return rows
    raise LookupError(f"{page} has no table with the columns {columns}")


def table_under(page, heading):
    """The first table below a heading, which is given by its first words."""
    return tables((DOC / page).read_text("utf-8").partition(f"\n{heading}")[2])[0]


def seconds(text):
    """'12.5 ms' or '0.43 s' as seconds."""
    number, unit = re.match(r"([\d.,]+) (ms|s)\b", text).groups()
    return float(number.replace(",", "")) * (1e-3 if unit == "ms" else 1.0)


def stamp(page, heading=""):
    """The date of the measurement: the first one of the page, or below a heading."""
    text = (DOC / page).read_text("utf-8")
    text = text[text.index(heading) :]
    return re.search(r"\d{4}-\d\d-\d\d", text).group()
