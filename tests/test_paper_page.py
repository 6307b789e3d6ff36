"""doc/paper.md: at least fifty items in order, and every file, name, anchor and figure it names."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc" / "paper.md"
TEXT = PAGE.read_text("utf-8") if PAGE.exists() else ""
LINKS = re.findall(r"\]\(([^)\s]+)\)", TEXT)
NAMES = sorted(set(re.findall(r"`(lincent\.[A-Za-z_.]+)`", TEXT)))
ITEMS = [int(number) for number in re.findall(r"^\*\*(\d+)\. ", TEXT, re.M)]

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not in this tree")


def slug(heading: str) -> str:
    """The anchor that a heading of Markdown gets."""
    kept = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s+", "-", kept)


def anchors(path: Path) -> set[str]:
    text = path.read_text("utf-8")
    headings = {slug(line) for line in re.findall(r"^#+ (.+)$", text, re.M)}
    return headings | set(re.findall(r"^\(([a-z0-9-]+)\)=$", text, re.M))


def test_at_least_fifty_items_in_order():
    assert len(ITEMS) >= 50
    assert list(range(1, len(ITEMS) + 1)) == ITEMS
    assert re.findall(r"^\(item-(\d+)\)=$", TEXT, re.M) == [str(number) for number in ITEMS]


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_every_link_leads_somewhere(link):
    if link.startswith("https://"):
        assert link.startswith("https://arxiv.org/")
        return
    file, _, anchor = link.partition("#")
    path = PAGE if not file else (PAGE.parent / file).resolve()
    assert path.is_file(), link
    if anchor:
        assert anchor in anchors(path), link


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name):
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        break
    for part in parts[depth:]:
        found = getattr(found, part)
    assert found is not None


def test_every_figure_is_measured():
    """Each figure has a value, and a line of the script that writes it."""
    figures = dict(re.findall(r"<!--f:([a-z0-9-]+)-->(.*?)<!--/f-->", TEXT, re.S))
    assert len(figures) >= 30
    assert [name for name, value in figures.items() if value.strip() in ("", "–")] == []
    script = (ROOT / "benchmarks" / "paper_page.py").read_text("utf-8")
    for name in figures:
        stem = re.sub(r"^(claim|kernel)-", "", name)
        assert f'"{name}"' in script or f'"{stem}"' in script or stem.capitalize() in (
            "Jain", "Spiral", "Circles", "Flame"
        ), name  # fmt: skip


def test_slips_and_interpretations_point_to_items():
    for number in re.findall(r"\(#item-(\d+)\)", TEXT):
        assert int(number) in ITEMS
    assert TEXT.count("*Slip:*") >= 5
    assert TEXT.count("*Reading:*") >= 12
