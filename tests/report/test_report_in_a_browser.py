"""The report of a fit in a real browser: every section opens, tables sort, the code runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser():
    from support.browser import one_browser

    yield from one_browser()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, make_table):
    from lincent.cli import make_app

    folder = tmp_path_factory.mktemp("fitted")
    make_table(300).to_csv(folder / "train.csv", index=False)
    before = Path.cwd()
    os.chdir(folder)
    try:
        with pytest.raises(SystemExit, match="0"):
            make_app()(
                ["fit", "train.csv", "-o", "churn.lincent", "--target", "churn", "--method",
                 "additive", "--report", "-q"]
            )  # fmt: skip
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def opened(browser, folder):
    browser.size(1400, 900)
    browser.open(folder / "churn.html")
    return browser


def test_every_section_opens_from_the_contents(opened):
    names = opened.run(
        "Array.from(document.querySelectorAll('nav a')).map(a => a.getAttribute('href'))"
    )
    assert {
        "#how-good", "#importances", "#score-quantiles", "#suspected-label-errors", "#columns",
        "#use", "#provenance",
    } <= set(names)  # fmt: skip
    for name in names:
        opened.run(f"document.querySelector(`nav a[href='{name}']`).click()")
        assert opened.run(f"document.querySelector('{name}').getBoundingClientRect().height") > 20
        assert opened.run("location.hash") == name
    assert opened.problems() == []


def test_every_figure_has_its_numbers_and_every_note_opens(opened):
    figures = opened.run("document.querySelectorAll('figure').length")
    assert figures >= 5
    assert opened.run("document.querySelectorAll('figure details table').length") == figures
    opened.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    closed = opened.run(
        "Array.from(document.querySelectorAll('details')).filter(d => d.scrollHeight < 30).length"
    )
    assert closed == 0


def test_tables_sort(opened):
    table = "document.querySelector('#columns table')"
    cells = f"Array.from({table}.tBodies[0].rows).map(r => r.cells[0].textContent.trim())"
    opened.run(f"{table}.querySelectorAll('thead button')[0].click()")
    names = opened.run(cells)
    assert names == sorted(names, key=str.lower)
    opened.run(f"{table}.querySelectorAll('thead button')[0].click()")
    assert opened.run(cells) == names[::-1]


def test_the_code_is_copied_and_runs(opened, folder):
    opened.run("document.querySelector('#use .copy').click()")
    copied = opened.run("getSelection().toString()")
    assert copied.startswith("from lincent.export import")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", copied], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.stdout.startswith("300 {")
    head = (folder / "scored.csv").read_text().splitlines()[0].replace('"', "")
    assert head == "customer,class,score,probability_no,probability_yes"


@pytest.mark.parametrize("width", [1400, 400, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_has_ink_in_both_themes(opened, width, scheme):
    opened.size(width, 900, mobile=width < 500)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.call("Emulation.setEmulatedMedia", features=features)
    assert opened.run("document.documentElement.scrollWidth") <= width
    color = opened.run("getComputedStyle(document.body).backgroundColor")
    assert color == {"dark": "rgb(21, 23, 26)", "light": "rgb(252, 252, 250)"}[scheme]
    opened.call("Emulation.setEmulatedMedia", features=[])
