"""Renders a page as one HTML file or as plain text.

The HTML file needs no network: style, script and drawings are inside. Jinja escapes every text, and
a content security policy lets the browser run the one script of the report by its hash and no
other, so that nothing from a user's file can become code.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import textwrap
from dataclasses import replace
from importlib import resources
from pathlib import Path

from lincent._errors import import_optional, printable
from lincent._files import write_file
from lincent.report.blocks import Block, Bullets, Figure, Page, Paragraph, Table

MAX_WIDTH, MAX_LINES = 110, 20  # of plain text


def without_empty(page: Page) -> Page:
    """Return a page without tables that have no rows, and without sections that have nothing."""
    sections = []
    for section in page.sections:
        blocks = tuple(b for b in section.blocks if not isinstance(b, Table) or b.rows)
        sections += [replace(section, blocks=blocks)] if blocks else []
    return replace(page, sections=tuple(sections))


def render_html(page: Page) -> str:
    """Return a page as a self-contained HTML document."""
    page = without_empty(page)
    script, style = _template("script.js"), _template("style.css")
    if page.data:
        script += _template("interactive.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    jinja2 = import_optional("jinja2", "app", "A report")
    strict, blocks = jinja2.StrictUndefined, {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(autoescape=True, undefined=strict, **blocks)
    environment.filters["safe_id"] = safe_id
    template = environment.from_string(_template("page.html.j2"))
    # No "<" in the data, so that nothing in it ends its element.
    data = json.dumps(page.data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    html: str = template.render(
        page=page, script=script, style=style, script_hash=digest, data=data
    )
    return html


def render_text(page: Page) -> str:
    """Return a page as plain text for a terminal: texts and tables."""
    lines = [*page.answer, *(f"Note: {warning}" for warning in page.warnings), ""]
    lines += [f"{name}: {value}" for name, value in page.facts]
    for section in without_empty(page).sections:
        blocks = [line for block in section.blocks for line in block_text(block)]
        lines += ["", section.title, *blocks] if blocks else []
    return printable("\n".join(lines))


def block_text(block: Block) -> list[str]:
    """Return the lines of a text, a table or the numbers of bars; none of other blocks."""
    if isinstance(block, Paragraph):
        return textwrap.wrap(block.text, MAX_WIDTH)
    if isinstance(block, Bullets):
        return [f"- {item}" for item in block.items]
    if isinstance(block, Table):
        return [*textwrap.wrap(block.caption, MAX_WIDTH), *table_text(block)]
    charts = block.charts if isinstance(block, Figure) else ()
    if isinstance(block, Figure) and block.numbers and [c["type"] for c in charts] == ["bars"]:
        return [*textwrap.wrap(block.caption, MAX_WIDTH), *table_text(block.numbers)]
    return []


def table_text(table: Table) -> list[str]:
    """Return aligned lines, the headings first; long cells, rows and columns are cut."""
    texts = [[heading.title for heading in table.columns]]
    texts += [[item.text for item in row] for row in table.rows[:MAX_LINES]]
    lines = [""] * len(texts)
    for heading, column in zip(table.columns, zip(*texts, strict=True), strict=True):
        cells = [" ".join(cell.split())[:32] for cell in column]
        width = max(map(len, cells))
        if len(lines[0]) + width > MAX_WIDTH:
            lines = [line + "  …" for line in lines]
            break
        lines = [
            f"{line}  {cell:>{width}}" if heading.number else f"{line}  {cell:<{width}}"
            for line, cell in zip(lines, cells, strict=True)
        ]
    hidden = len(table.rows) - MAX_LINES
    return [*map(str.rstrip, lines), *[f"  … and {hidden} more (--json has all)."] * (hidden > 0)]


def write_page(page: Page, folder: Path) -> Path:
    """Write report.html atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_file(folder / "report.html", render_html(page))


def safe_id(name: str) -> str:
    """Return a name that can be an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"


def _template(name: str) -> str:
    return resources.files("lincent.report").joinpath("templates", name).read_text("utf-8")
