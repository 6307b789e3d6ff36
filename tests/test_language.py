"""The project speaks the language of its field: no coined word where a standard term exists.

Names are split first (``row_keys`` and ``RowKeys`` read as ``row keys``), so that the patterns see
identifiers, docstrings, comments, messages and pages alike.  ``python tests/test_language.py PATH``
lists the places of a file or folder with the term to use instead.
"""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = (
    "src",
    "tests",
    "doc",
    "examples",
    "benchmarks",
    "campaigns",
    "README.md",
    "CONTRIBUTING.md",
)
SUFFIXES = {".py", ".md", ".rst", ".toml", ".j2", ".js"}
NOT_READ = {"whats_new", "_build", "gallery", "api", "jupyter_execute", "instances"}

TERMS = {  # pattern, in small letters and from the start of a word: what the field says
    r"the cuts?\b|half[- ]way cut\b|cut point\b|class cut\b|score cut\b": (
        "(decision) threshold; midpoint threshold"
    ),
    r"kinks?\b": "hinge point, breakpoint, margin boundary; margin-violating, inactive, active",
    r"stiff\b": "active (tight) constraints, support vectors",
    r"exchang(?:e|es|ed|ing)\b": "pivot, simplex step",
    r"(?:its|their|of|the|a|no|each|these|all) pull\b|pull (?:of|at|on)\b|pulls\b": (
        "dual weight; gradient contribution; coefficient of a center"
    ),
    r"verdicts?\b": "evaluation result, inferred type",
    r"unseen (?:rows?|samples?)\b|rules? (?:that )?ha(?:ve|s) not seen\b": (
        "out-of-fold (held-out) samples"
    ),
    r"honest(?:ly)?\b": "unbiased estimate, nested-CV score",
    r"dealt\b|dealing\b|deals? (?:the |out )?(?:folds|rows)\b": (
        "assigned to folds; seeds the splits; hash-based, order-invariant split"
    ),
    r"keys? of (?:the )?rows?\b|row keys?\b": "row hash",
    r"weight of two is\b": "sample weights are frequency weights",
    r"sharpness\b": "inverse temperature of the softmax weights",
    r"gaps and words\b|words and gaps\b|tells? the gaps\b": (
        "missing values and categorical (text) columns; missing-indicator column"
    ),
    r"is gone\b|gone:|\.gone\b|gone =": "missing",
    r"wish(?:es|ed)?\b": "options, overrides",
    r"understood\b|understand\(|to understand a table\b": "schema inference",
    r"in a sentence\b|one sentence\b|in one sentence\b": "error message",
    r"remarks?\b": "warning, log message",
    r"lincent\.passes\b|passes/": "data sources, row operators",
    r"elsewhere\b|where (?:the |its )?(?:rows|they|x|data) lives?\b"
    r"|rows (?:that )?are far\b|\.far\b|far rows\b": (
        "remote (distributed, out-of-core, device) data"
    ),
    r"rooms?\b|the house\b|house rules?\b": "subpackage; available memory",
    r"whole or (?:not|nothing)\b|as a whole\b": "atomic",
    r"as it was\b|as they were\b": "state is restored (rolled back)",
    r"anew\b|afresh\b": "restarted; re-iterable",
    r"forese(?:e|en|es|eing)\b": "extrapolated (warm start)",
    r"followers?\b|paths? of margins\b": "regularization-path solver; warm start",
    r"rehears(?:al|e|ed)\b": "smoke test",
    r"little data\b|middling\b|few entries\b": "small problems (state n, p)",
    r"worthwhile\b": "applicable",
    r"in doubt\b": "not screened; undecided samples",
    r"rivals?\b": "baselines, competing methods",
    r"readings\b": "interpretations",
    r"today'?s methods\b|today sections\b": "modern baselines",
    r"stand-ins?\b|stand ins\b": "synthetic substitutes",
    r"in earnest\b|no wish to choose\b": "in production; automatic",
    r"at odds\b": "largest loss, suspected label error",
    r"clearly better\b|not behind\b": "better by more than one standard error",
    r"faces\b|(?<!pairwise )couplings?\b": "multiclass loss structure",
}
COINED = re.compile(rf"\b(?:{'|'.join(TERMS)})")


def words_of(text):
    """Return a text in small letters with its identifiers split into words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return text.replace("_", " ").lower()


def coined_terms(text):
    """Yield the line number, the term and the standard term of each hit in a text."""
    words = words_of(text)
    for match in COINED.finditer(words):
        line, term = words.count("\n", 0, match.start()) + 1, match.group()
        yield line, term, next(TERMS[pattern] for pattern in TERMS if re.match(pattern, term))


def files_of(place):
    """Return the files of a folder that people read, or the file itself."""
    if place.is_file():
        return [place]
    return [
        path
        for path in sorted(place.rglob("*"))
        if path.suffix in SUFFIXES
        and not NOT_READ.intersection(path.relative_to(ROOT).parts)
        and path.name != Path(__file__).name
    ]


@pytest.mark.parametrize("place", PLACES)
def test_no_coined_term_where_the_field_has_one(place):
    if not (ROOT / place).exists():
        pytest.skip("not a checkout")
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {term!r}, say {instead}"
        for path in files_of(ROOT / place)
        for number, term, instead in coined_terms(path.read_text("utf-8"))
    ]
    assert hits == []


@pytest.mark.parametrize(
    "line",
    ["def row_keys(X):", "class FacePulls:", "# rows that the rules have not seen", "Verdict"],
)
def test_a_coined_term_is_recognized(line):
    assert list(coined_terms(line))


if __name__ == "__main__":
    for given in sys.argv[1:]:
        for path in files_of(Path(given).resolve()):
            for number, term, instead in coined_terms(path.read_text("utf-8")):
                print(f"{path}:{number}: {term!r}, say {instead}")
