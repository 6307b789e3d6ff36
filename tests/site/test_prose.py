"""The prose of the documentation stays short and easy to read (doc/checks/prose.py measures it)."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("prose", ROOT / "doc" / "checks" / "prose.py")
prose = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(prose)

PAGES = {path.relative_to(ROOT).as_posix(): text for path, text in prose.pages()}
EASY = [name for name in PAGES if name.startswith(("doc/start/", "doc/guide/"))]
EASY += ["README.md", "doc/index.md"]


def test_the_documentation_is_short():
    assert sum(prose.count_words(text) for text in PAGES.values()) <= 18_000


def test_the_readme_is_short():
    assert prose.count_words(PAGES["README.md"]) <= 600
    paragraphs = re.split(r"\n\s*\n", re.sub(r"```.*?```", "", PAGES["README.md"], flags=re.S))
    plain = [p for p in paragraphs if not p.startswith(("#", "|", "-", "    ", "!"))]
    assert [p for p in plain if len(p) > 4 * 160] == []


@pytest.mark.parametrize("name", EASY)
def test_no_sentence_is_long(name):
    assert prose.long_sentences(PAGES[name]) == []


@pytest.mark.parametrize("name", EASY)
def test_reading_is_easy(name):
    assert prose.reading_ease(PAGES[name]) >= 50


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One two three.", 3),
        ("Before\n\n```python\nx = 1\n```\n\nafter `code` and [a link](page.md).", 6),
        ("Ours <!--f:name-->84 fits of it<!--/f--> here.", 2),
        ("| a table | counts |\n|---|---|\n| 12.5 | too |", 4),
    ],
)
def test_words_are_those_that_somebody_wrote(text, words):
    assert prose.count_words(text) == words


def test_sentences_and_ease():
    text = "# Title\n\nThe cat sat. The dog ran: it was late; he slept.\n\n- An item"
    assert len(prose.sentences(text)) == 3
    long_words = "Institutional characterization necessitates multidimensional representation."
    assert prose.reading_ease(text) > 90 > 0 > prose.reading_ease(long_words)
