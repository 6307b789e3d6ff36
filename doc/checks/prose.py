"""Measure the hand-written prose of the documentation: words, long sentences, reading ease.

    python doc/checks/prose.py            # one line per page, then the total
    python doc/checks/prose.py --long     # sentences of more than 35 words as well

Hand-written are README.md, the Markdown pages in doc/ with the files that they include, and the
text cells of the tutorials. Not counted: the changelog, doc/measured (the tables that scripts of
benchmarks/ and campaigns/ write), figures between the marks of a script, code, and HTML.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_READ = {"_build", "gallery", "api", "jupyter_execute", "measured", "CHANGELOG.md"}
LONGEST = 35

SCRIPT = re.compile(r"<!--f:[\w-]+-->.*?<!--/f-->", re.S)
FENCE = re.compile(r"^(`{3,}|~{3,})(.*?)\n(.*?)^\1\s*$", re.M | re.S)
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def pages():
    """Yield every hand-written page with its text."""
    files = [ROOT / "README.md", *sorted((ROOT / "doc").rglob("*"))]
    for path in files:
        if path.suffix not in {".md", ".ipynb"} or NOT_READ & set(path.parts):
            continue
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        yield path, with_included(path, text)


def with_included(path, text):
    """Replace the directives that include a Markdown file by its text."""

    def included(match):
        target = (path.parent / match[1]).resolve()
        return "" if NOT_READ & set(target.parts) else target.read_text("utf-8")

    return re.sub(r"^```\{include\} (\S+)\n(?::.*\n)*```$", included, text, flags=re.M)


def prose(text):
    """Strip front matter, code, directives, HTML and marked parts from a page."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = SCRIPT.sub("", text)

    def kept(match):  # a glossary or a note is prose, all other fences are code or figures
        noted = re.match(r"\{(glossary|note|warning|tip)\}", match[2].strip())
        return re.sub("^ +", "", match[3], flags=re.M) if noted else ""

    text = FENCE.sub(kept, text)
    text = re.sub(r"^:{3,}.*$|^:[\w-]+:.*$|^\([\w-]+\)=$|^(    |\t).*$", "", text, flags=re.M)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    text = re.sub(r"!\[.*?\]\(.*?\)|<!--.*?-->|<[^>\n]+>", "", text, flags=re.S)
    return re.sub(r"\]\([^)]*\)|\{[a-z:]+\}", "]", text)


def count_words(text):
    """Count the words of a page, those of tables and the names in code font included."""
    return len(WORD.findall(prose(text)))


def sentences(text):
    """Split running text into sentences; a list item is one, tables and headings are left out."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose(text))
    found = []
    for block in blocks:
        lines = [line.strip() for line in block.strip().splitlines()]
        if not lines or lines[0].startswith(("#", "|")):
            continue
        text = re.sub(r"`[^`]*`|\$[^$]*\$", "It", " ".join(lines))
        parts = re.split(r"(?<=[.!?])[\"”)*]*\s+(?=[\"“(*\[]*[A-Z0-9])", text)
        found += [part for part in parts if WORD.search(part)]
    return found


def syllables(word):
    """Estimate the syllables of an English word by its groups of vowels."""
    word = re.sub(r"[^a-z]", "", word.lower())
    count = len(re.findall(r"[aeiouy]+", word))
    if re.search(r"[^aeiouyl]e$|[^aeiouydt]ed$|[^aeiouysxz]es$", word):
        count -= 1
    return max(1, count)


def reading_ease(text):
    """Return the Flesch reading ease: 206.8 - 1.015 words/sentence - 84.6 syllables/word."""
    parts = [WORD.findall(sentence) for sentence in sentences(text)]
    words = [word for part in parts for word in part]
    if not words:
        return 100.0
    spoken = sum(syllables(word) for word in words)
    return 206.835 - 1.015 * len(words) / len(parts) - 84.6 * spoken / len(words)


def long_sentences(text, limit=LONGEST):
    """Return the sentences with more words than the limit."""
    return [s for s in sentences(text) if len(WORD.findall(s)) > limit]


def main():
    total = 0
    for path, text in pages():
        words, long = count_words(text), long_sentences(text)
        total += words
        name = path.relative_to(ROOT)
        print(f"{words:6d} words  ease {reading_ease(text):5.1f}  long {len(long):2d}  {name}")
        if "--long" in sys.argv:
            for sentence in long:
                print("        ", sentence)
    print(f"{total:6d} words in all")


if __name__ == "__main__":
    main()
