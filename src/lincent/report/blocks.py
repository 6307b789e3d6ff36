"""The elements of a page, independent of HTML: text, tables, figures, code, notes.

Charts are plain data that the script of a page draws (``interactive.js``); their prose is found by
name in ``prose.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lincent._files import read_toml


@dataclass(frozen=True)
class Heading:
    """A column of a table; ``number`` aligns right and sorts by value."""

    title: str
    number: bool = False
    hint: str = ""


def heading(given: str) -> Heading:
    """Return a heading from a title of ours: ``#`` at the end is a number, ``|`` sets off a hint.

    Examples
    --------
    >>> heading("Rank#|1 is best")
    Heading(title='Rank', number=True, hint='1 is best')
    """
    title, _, hint = given.partition("|")
    return Heading(title.removesuffix("#"), title.endswith("#"), hint)


@dataclass(frozen=True)
class Item:
    """A cell: what is shown, what it sorts by, and how it is marked."""

    text: str
    value: float | None = None
    mark: str = ""


class Block:
    """A part of a section; templates know it by its kind."""

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


Column = tuple[str | Heading, Callable[[Any], Any]]
"""A title (see ``heading``; foreign text as a ``Heading``), and the cell of an item."""


@dataclass(frozen=True)
class Table(Block):
    """Rows of cells under columns."""

    columns: tuple[Heading, ...]
    rows: tuple[tuple[Item, ...], ...]
    caption: str = ""

    @property
    def small(self) -> bool:
        """Whether another table may stand beside it on a wide page: few columns, no long text."""
        return len(self.columns) <= 6 and not any(
            "wrap" in item.mark for row in self.rows for item in row
        )


def tabulated(items: Iterable[Any], *pairs: Column, caption: str = "") -> Table:
    """Return a table with a row for each item; a column is a title and a function of the item.

    Examples
    --------
    >>> table = tabulated(["a", "bc"], ("Word", str), ("Letters#", lambda word: number(len(word))))
    >>> [cell.text for cell in table.rows[1]]
    ['bc', '2.0']
    """
    rows = []
    for item in items:
        cells = (show(item) for _, show in pairs)
        rows.append(tuple(cell if isinstance(cell, Item) else text(cell) for cell in cells))
    titles = (title if isinstance(title, Heading) else heading(title) for title, _ in pairs)
    return Table(tuple(titles), tuple(rows), caption)


@dataclass(frozen=True)
class Paragraph(Block):
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Bullets(Block):
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code(Block):
    """Lines to copy."""

    text: str


@dataclass(frozen=True)
class Figure(Block):
    """A drawing with its numbers behind a click. ``svg`` is made here, never taken from input.

    Instead of ``svg`` it may have ``charts``, plain data that the script of the page draws, side by
    side as they fit (see ``charts`` in ``interactive.js``).
    """

    name: str
    svg: str
    alt: str
    caption: str
    numbers: Table | None = None
    charts: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Widget(Block):
    """A part of the page that its script builds from plain data: ``threshold`` or ``what-if``.

    ``text`` says how to use it, on the page alone.
    """

    name: str
    data: Any
    text: str


@dataclass(frozen=True)
class Note(Block):
    """An explanation, closed until it is clicked."""

    title: str
    text: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A headline and its blocks."""

    name: str
    title: str
    blocks: tuple[Block, ...]


def texts_of(table: str, name: str = "") -> dict[str, Any]:
    """Return the texts of a table of ``prose.toml``, or of a name in it, less -0, -1, ..."""
    texts = read_toml("lincent.report", "prose.toml")[table]
    return dict(texts[re.sub(r"-\d+$", "", name)] if name else texts)


def prose(table: str, name: str, /, **fields: Any) -> str:
    """Return a text of ``prose.toml`` with its fields filled in."""
    return str(texts_of(table)[name].format(**fields))


def section(name: str, /, *blocks: Block, **fields: Any) -> Section:
    """Return a section with its title, and its lead if it has one, of ``prose.toml``."""
    texts = {key: text.format(**fields) for key, text in texts_of("sections", name).items()}
    lead = [Paragraph(texts["lead"])] if "lead" in texts else []
    return Section(name, texts["title"], (*lead, *blocks))


def note(name: str) -> Note:
    """Return a note of ``prose.toml``."""
    texts = texts_of("notes", name)
    return Note(texts["title"], tuple(texts["text"]))


@dataclass(frozen=True)
class Page:
    """A whole report: the answer first, then everything else."""

    title: str
    answer: tuple[str, ...]
    lead: Figure | None
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    footer: str
    warnings: tuple[str, ...] = ()
    """What a reader should know before anything else."""

    @property
    def data(self) -> dict[str, Any]:
        """What the script draws, by the names of figures and widgets."""
        blocks = [self.lead, *(block for section in self.sections for block in section.blocks)]
        figures = (block for block in blocks if isinstance(block, Figure) and block.charts)
        data: dict[str, Any] = {figure.name: figure.charts for figure in figures}
        return data | {block.name: block.data for block in blocks if isinstance(block, Widget)}


def number(value: float, digits: int = 1, *, signed: bool = False, mark: str = "") -> Item:
    """Return a cell with a number; a dash where there is none."""
    if value != value or value in (float("inf"), float("-inf")):
        return Item("–", None, mark)
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return Item(text.replace("-", "−"), float(value), mark)


def probability(value: float) -> Item:
    """Return a cell with a p value."""
    if value != value:
        return Item("–")
    return Item("< 0.001" if value < 0.001 else f"{value:.3f}", float(value))


def text(value: Any, mark: str = "") -> Item:
    """Return a cell with text."""
    return Item(str(value), None, mark)


def yes_or_no(value: bool, yes: str = "", no: str = "") -> Item:
    """Return a cell with yes or no, each with its mark."""
    return Item("yes", None, yes) if value else Item("no", None, no)


def seconds(value: float) -> Item:
    """Return a cell with a time in a unit that reads well; it sorts by seconds."""
    if value != value:
        return Item("–")
    if value < 0.9995:
        return Item(f"{1000 * value:.3g} ms", value)
    return Item(f"{value:.1f} s", value)


# Charts.

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


def chart_figure(
    name: str, /, *charts: Chart, numbers: Table | None = None, **fields: Any
) -> Figure:
    """Return charts side by side with the texts of ``prose.toml``; several have a ``title`` each.

    ``fields`` are those of the texts; ``numbers`` are those of the charts unless given.
    """
    texts = texts_of("figures", name)
    alt, caption = (texts[key].format(**fields) for key in ("alt", "caption"))
    numbers = chart_numbers(charts) if numbers is None else numbers
    return Figure(name, "", alt, caption, numbers, charts=charts)


def chart_numbers(charts: Sequence[Chart]) -> Table:
    """Return the numbers of charts as one table, without columns that are empty."""
    cells: list[tuple[Any, ...]] = []  # chart, line, place, value, low, high
    for chart in charts:
        if chart["type"] == "lines":
            many = len(chart["series"]) > 1
            rows = [
                (s["name"] if many else "", s["points"], s.get("band")) for s in chart["series"]
            ]
        elif chart["type"] == "heat":
            named = zip(chart["rows"], chart["values"], strict=True)
            rows = [(row, zip(chart["columns"], own, strict=True), None) for row, own in named]
        else:
            points = zip(chart["names"], chart["values"], strict=True)
            rows = [("", points, chart.get("ranges"))]
        for name, points, ranges in rows:
            for k, point in enumerate(points):
                limits = ranges[k] if ranges else (None, None)
                cells.append((chart.get("title", ""), name, *point, *limits))
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
