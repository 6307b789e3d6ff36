"""The elements of a page, independent of HTML or Markdown: text, tables, figures, code, notes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Heading:
    """A column of a table; ``number`` aligns right and sorts by value."""

    title: str
    number: bool = False
    hint: str = ""


def columns(*titles: str) -> tuple[Heading, ...]:
    """Return headings from titles of ours: ``#`` at the end is a number, ``|`` sets off a hint.

    Examples
    --------
    >>> columns("Set", "Rank#|1 is best")[1]
    Heading(title='Rank', number=True, hint='1 is best')
    """
    headings = []
    for given in titles:
        title, _, hint = given.partition("|")
        headings.append(Heading(title.removesuffix("#"), title.endswith("#"), hint))
    return tuple(headings)


@dataclass(frozen=True)
class Item:
    """A cell: what is shown, what it sorts by, and how it is marked."""

    text: str
    value: float | None = None
    mark: str = ""
    hint: str = ""


class Block:
    """A part of a section; templates know it by its kind."""

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


Column = tuple[str | Heading, Callable[[Any], Any]]
"""A title (see ``columns``; foreign text as a ``Heading``), and the cell of an item."""


SMALL = 6


@dataclass(frozen=True)
class Table(Block):
    """Rows of cells under columns."""

    columns: tuple[Heading, ...]
    rows: tuple[tuple[Item, ...], ...]
    caption: str = ""

    @property
    def small(self) -> bool:
        """Whether another table may stand beside it on a wide page: few columns, no long text."""
        return len(self.columns) <= SMALL and not any(
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
    titles = (title if isinstance(title, Heading) else columns(title)[0] for title, _ in pairs)
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
    title: str = ""


@dataclass(frozen=True)
class Figure(Block):
    """A drawing with its numbers behind a click. ``svg`` is made here, never taken from input.

    A wide one keeps its size and scrolls. Instead of ``svg`` it may have ``charts``, plain data
    that the script of the page draws, side by side as they fit (see ``charts`` in
    ``interactive.js``).
    """

    name: str
    svg: str
    alt: str
    caption: str
    numbers: Table | None = None
    wide: bool = False
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


@cache
def _prose() -> dict[str, Any]:
    file = resources.files("lincent.report").joinpath("prose.toml")
    return tomllib.loads(file.read_text("utf-8"))


def texts_of(table: str, name: str = "") -> dict[str, Any]:
    """Return the texts of a table of ``prose.toml``, or of a name in it, less -0, -1, ..."""
    texts = _prose()[table]
    return dict(texts[re.sub(r"-\d+$", "", name)] if name else texts)


def prose(table: str, name: str, /, **fields: Any) -> str:
    """Return a text of ``prose.toml`` with its fields filled in."""
    return str(_prose()[table][name].format(**fields))


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


def text(value: Any, mark: str = "", hint: str = "") -> Item:
    """Return a cell with text."""
    return Item(str(value), None, mark, hint)


def yes_or_no(value: bool, yes: str = "", no: str = "") -> Item:
    """Return a cell with yes or no, each with its mark."""
    return Item("yes", None, yes) if value else Item("no", None, no)


def seconds(value: float) -> Item:
    """Return a cell with a time in a unit that reads well; it sorts by seconds."""
    if value != value:
        return Item("–")
    if value < 0.0095:
        return Item(f"{1000 * value:.1f} ms", value)
    if value < 0.995:
        return Item(f"{1000 * value:.0f} ms", value)
    return Item(f"{value:.1f} s", value)
