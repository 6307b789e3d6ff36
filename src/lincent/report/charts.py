"""Charts that the script of a page draws (``interactive.js``), as plain data with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lincent.report.blocks import Figure, Heading, Item, Table, text, texts_of

Chart = dict[str, Any]


def line(name: str, xs: Sequence[float], ys: Sequence[float], **more: Any) -> Chart:
    """Return a line of a chart; ``band``, ``dot``, ``dots`` and ``sizes`` may be added."""
    return {"name": name, "points": [list(pair) for pair in zip(xs, ys, strict=True)], **more}


def lines(x: str, y: str, *series: Chart, **more: Any) -> Chart:
    """Return lines over the axis x; ``xlim``, ``ylim``, ``log``, ``diagonal``, ``vline``."""
    return {"type": "lines", "x": x, "y": y, "series": series, **more}


def bars(names: Sequence[str], values: Sequence[float], **more: Any) -> Chart:
    """Return a bar for each name, with ``ranges`` if given; names may be long."""
    return {"type": "bars", "names": names, "values": values, **more}


def dots(names: Sequence[str], values: Sequence[float], marks: Sequence[str], **more: Any) -> Chart:
    """Return a dot for each name, colored by its mark (best, near or far).

    ``ranges`` are intervals, ``shown`` the texts of the values, ``log`` a logarithmic scale.
    """
    return {"type": "dots", "names": names, "values": values, "marks": marks, **more}


def heat(
    y: str, rows: Sequence[str], x: str, columns: Sequence[str], values: Any, **more: Any
) -> Chart:
    """Return a colored cell for each row and column; ``show`` writes the values into them."""
    named = {"type": "heat", "x": x, "y": y, "rows": rows, "columns": columns}
    return named | {"values": values, **more}


def chart_figure(name: str, /, *charts: Chart, **fields: Any) -> Figure:
    """Return charts side by side with the texts of ``prose.toml``; several have a ``title`` each.

    ``fields`` are those of the texts.
    """
    texts = texts_of("figures", name)
    alt, caption = (texts[key].format(**fields) for key in ("alt", "caption"))
    return Figure(name, "", alt, caption, chart_numbers(charts), charts=charts)


def chart_numbers(charts: Sequence[Chart]) -> Table:
    """Return the numbers of charts as one table, without columns that are empty."""
    cells: list[tuple[Any, ...]] = []  # chart, line, place, value, low, high
    for chart in charts:
        title = chart.get("title", "")
        if chart["type"] == "lines":
            for series in chart["series"]:
                band = series.get("band") or [(None, None)] * len(series["points"])
                name = series["name"] if len(chart["series"]) > 1 else ""
                pairs = zip(series["points"], band, strict=True)
                cells += [(title, name, *point, *limits) for point, limits in pairs]
        elif chart["type"] == "heat":
            for row, values in zip(chart["rows"], chart["values"], strict=True):
                pairs = zip(chart["columns"], values, strict=True)
                cells += [(title, row, column, value, None, None) for column, value in pairs]
        else:
            ranges = chart.get("ranges") or [(None, None)] * len(chart["names"])
            triples = zip(chart["names"], chart["values"], ranges, strict=True)
            cells += [(title, "", name, value, *limits) for name, value, limits in triples]
    first = charts[0]
    x, y = (first.get(axis, "") if len(charts) == 1 else "" for axis in ("x", "y"))
    place, value = x or "At", (first.get("unit") if first["type"] == "heat" else y) or "Value"
    by_row = y if first["type"] == "heat" else ""
    titles = ("Panel", by_row or "Of", place, value, "from", "to")
    kept = [k for k in range(6) if any(row[k] not in ("", None) for row in cells)]
    numeric = [all(isinstance(row[k], (float, int, type(None))) for row in cells) for k in range(6)]

    def cell(entry: Any) -> Item:
        if isinstance(entry, str):
            return text(entry)
        if entry is None:
            return Item("")
        return Item(f"{entry:.4g}".replace("-", "−"), float(entry))

    headings = tuple(Heading(str(titles[k]), numeric[k]) for k in kept)
    return Table(headings, tuple(tuple(cell(row[k]) for k in kept) for row in cells))
