"""The report of the paper's study: a pure function of what is stored, with every section."""

import re
import sys

import pytest

for package in ("pandas", "pyarrow", "jinja2", "matplotlib"):
    pytest.importorskip(package)

from lincent.model_selection import load_result  # noqa: E402
from lincent.paper.datasets import DatasetNotFoundError  # noqa: E402
from lincent.paper.study import Extent, paper, reproduce  # noqa: E402
from lincent.paper.study.compare_with_paper import conclusions  # noqa: E402
from lincent.paper.study.report import reproduction_page, summary_lines  # noqa: E402
from lincent.report.rendering import render_html, write_page  # noqa: E402
from support.in_process import without_workers  # noqa: E402

pytestmark = pytest.mark.slow
METHODS = (*paper.METHODS, "FQCC", "LCC-1NN", "LCC-1SV", "LogReg-bal")
EXTENT = Extent(runs=2, folds=1, nested_runs=0, kernel_runs=1, slow_runs=2)
SECTIONS = [
    "conclusions", "procedure-1", "compact", "procedure-2", "discriminators",
    "time", "kernel", "example", "missing", "settings",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        # One small shape is enough; the name lincent.paper.study.reproduce is that of the function.
        patch.setattr(sys.modules["lincent.paper.study.reproduce"], "SHAPES", ("Flame",))
        try:
            with without_workers():
                result = reproduce(sets=("CG", "GC"), methods=METHODS, extent=EXTENT, folder=folder)
        except DatasetNotFoundError as error:
            pytest.skip(str(error))
    result.save(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return reproduction_page(load_result(folder))


def test_every_section_is_there(page):
    names = [section.name for section in page.sections]
    assert [name for name in names if name in SECTIONS] == names
    assert set(SECTIONS) - set(names) <= {"kernel"}  # where no shape is on this machine


def test_a_report_reads_the_table_and_nothing_else(folder, page, monkeypatch):
    """No data set is loaded and no model fitted: both are made impossible."""
    import lincent.paper.datasets
    from lincent.estimators import kernel, linear
    from lincent.paper.study import figures

    def forbidden(*arguments, **settings):
        raise AssertionError("a report must not load data or fit a model")

    monkeypatch.setattr(lincent.paper.datasets, "load_dataset", forbidden)
    study = sys.modules["lincent.paper.study.reproduce"]
    monkeypatch.setattr(study, "load_problem", forbidden)
    monkeypatch.setattr(figures, "example_plot_data", forbidden)
    monkeypatch.setattr(linear.LCC, "fit", forbidden)
    monkeypatch.setattr(kernel.KernelLCC, "fit", forbidden)
    assert render_html(reproduction_page(load_result(folder))) == render_html(page)


def test_conclusions_of_the_page_are_those_of_the_rows(folder, page):
    claims = conclusions(load_result(folder).frame)
    assert len(claims) >= 20
    (section,) = [section for section in page.sections if section.name == "conclusions"]
    shown = [[item.text for item in row] for row in section.blocks[1].rows]
    assert shown == [
        [item.claim, item.theirs, item.ours, "yes" if item.holds else "no"] for item in claims
    ]


def test_no_axis_speaks_latex(page):
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", render_html(page))
    assert len(drawn) > 60  # of three figures
    assert [label for label in drawn if "$" in label or "\\" in label or "math" in label] == []


def test_numbers_far_from_the_paper_are_listed_with_their_standard_errors(page):
    (section,) = [section for section in page.sections if section.name == "procedure-1"]
    sentences = [
        item for block in section.blocks if block.kind == "bullets" for item in block.items
    ]
    assert sentences  # two runs are never all within the aim
    for sentence in sentences:
        assert re.search(r"(standard errors|no variation over the runs)\)\.$", sentence)


def test_ranks_count_from_one(page):
    (section,) = [section for section in page.sections if section.name == "procedure-2"]
    ranks = [row[1].value for row in section.blocks[0].rows if row[1].value is not None]
    assert min(ranks) >= 1


def test_the_page_has_the_numbers_of_the_figures(page):
    text = render_html(page)
    assert re.search(r"class centers fall together \(AUC 0\.\d\d\)", text)
    assert ">CG</t" in text


def test_the_terminal_is_told_the_worst_few(folder):
    lines = summary_lines(load_result(folder))
    told = [line for line in lines if "standard errors)" in line]
    assert 1 <= len(told) <= 5


@pytest.fixture(scope="module")
def browser():
    from support.browser import one_browser

    yield from one_browser()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
def test_in_a_browser_every_section_fits_and_every_figure_has_ink(
    folder, page, browser, width, scheme, tmp_path
):
    write_page(page, tmp_path)
    browser.size(width, 1000, width < 500)
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.call("Emulation.setEmulatedMedia", features=media)
    browser.open(tmp_path / "report.html")
    assert browser.problems() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    # No table is wider than the page on a large screen, but for those with a column per method,
    # and the numbers behind figures are open as well.
    browser.run("document.querySelectorAll('.numbers').forEach(d => { d.open = true; })")
    wide = "Array.from(document.querySelectorAll('.scroll')).filter(s => s.offsetParent && "
    wide += "s.scrollWidth > s.clientWidth + 1).length"
    if width == 1400:
        assert browser.run(wide) <= 1
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    paper = "getComputedStyle(document.body).backgroundColor"
    assert browser.run(ink) != browser.run(paper)
    empty = "Array.from(document.querySelectorAll('tbody')).filter(b => !b.rows.length).length"
    assert browser.run(empty) == 0
