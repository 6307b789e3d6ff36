"""Renders a page as one HTML file or as Markdown, and writes both.

The HTML file needs no network: style, script and drawings are inside. Jinja escapes every text, and
a content security policy lets the browser run the one script of the report by its hash and no
other, so that nothing from a user's file can become code.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from lincent._files import write_file
from lincent.report.blocks import Block, Item, Page, Table


def without_empty(page: Page) -> Page:
    """Return a page without tables that have no rows, and without sections that have nothing."""
    sections = [
        replace(section, blocks=tuple(block for block in section.blocks if not _empty(block)))
        for section in page.sections
    ]
    return replace(page, sections=tuple(section for section in sections if section.blocks))


def _empty(block: Block) -> bool:
    return isinstance(block, Table) and not block.rows


def render_html(page: Page) -> str:
    """Return a page as a self-contained HTML document."""
    page = without_empty(page)
    script, style = _template("script.js"), _template("style.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = _environment(autoescape=True)
    environment.filters["safe_id"] = safe_id
    template = environment.from_string(_template("page.html.j2"))
    html: str = template.render(page=page, script=script, style=style, script_hash=digest)
    return html


def render_markdown(page: Page) -> str:
    """Return a page as Markdown, without drawings but with all numbers."""
    page = without_empty(page)
    environment = _environment(autoescape=False)
    environment.filters["md"] = escape_markdown
    environment.filters["cell"] = escape_cell
    environment.filters["fence"] = fence
    text: str = environment.from_string(_template("page.md.j2")).render(page=page)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def write_page(page: Page, folder: Path) -> tuple[Path, Path]:
    """Write report.html and report.md, each atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    html = write_file(folder / "report.html", render_html(page))
    markdown = write_file(folder / "report.md", render_markdown(page))
    return html, markdown


def safe_id(name: str) -> str:
    """Return a name that can be an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"


def escape_markdown(value: Any) -> str:
    """Return text in which no character is markup: a name stays a name, a tag stays text."""
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)
    text = re.sub(r"\s*\n\s*", " ", text)
    # Two words that a reader of Markdown would turn into a link or a list.
    return re.sub(r"^(\d+)\.", r"\1\\.", re.sub(r"(https?):", r"\1&#58;", text))


def escape_cell(item: Item) -> str:
    """Return the text of a table cell."""
    shown = escape_markdown(item.text)
    return f"**{shown}**" if item.mark == "best" else shown


def fence(code: str) -> str:
    """Return code between fences that are longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}python\n{code}\n{marks}"


def _template(name: str) -> str:
    return resources.files("lincent.report").joinpath("templates", name).read_text("utf-8")


def _environment(autoescape: bool) -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('A report needs jinja2: pip install "lincent[app]".') from error
    return jinja2.Environment(
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
