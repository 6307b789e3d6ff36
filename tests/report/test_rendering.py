"""The files themselves: nothing from the user becomes markup, nothing is fetched."""

import html.parser
import json
import re
from collections import Counter

import pytest

from lincent.report.blocks import Heading, Page, Paragraph, Section, Table, heading, text
from lincent.report.rendering import render_html, safe_id, without_empty


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.attributes = Counter(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


def test_one_script_and_it_is_ours(page, read):
    assert read.tags["script"] == 2  # and the numbers that it draws, which are no code
    assert ("type", "application/json") in read.attributes
    assert read.tags["img"] == 0
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not any(name.startswith("on") for name, _ in read.attributes)


def test_policy_allows_that_script_by_its_hash(page):
    import base64
    import hashlib

    script = re.search(r"<script>(.*)</script>", page, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert f"sha256-{digest}" in html.unescape(policy)
    assert "default-src 'none'" in html.unescape(policy)


def test_nothing_is_fetched(read, page):
    for name, value in read.attributes:
        if name in ("src", "href", "xlink:href"):
            assert value.startswith("#"), value
    assert not re.search(r"url\((?!#)", page)
    assert read.tags["link"] == 0


def test_ids_are_unique_and_size_is_small(read, page):
    assert [name for name, count in Counter(read.ids).items() if count > 1] == []
    assert len(page.encode()) < 3_000_000


def test_marked_cells_carry_their_reason(page):
    assert "no solution for 84 rows" in page


def test_figures_take_their_colors_from_the_page(page):
    assert "var(--best)" in page
    assert not re.search(r"#0a0b[0-9a-f]{2}", page)


def test_charts_are_data_without_markup(page):
    data = re.search(r'id="page-data">(.*?)</script>', page, re.S).group(1)
    assert "<" not in data
    [times] = json.loads(data)["times"]
    assert all(label.endswith((" ms", " s")) for label in times["shown"])


def test_tables_without_rows_and_sections_without_blocks_are_left_out():
    table = Table((heading("a"), heading("b#")), ())
    kept = Section("kept", "Kept", (Paragraph("words"), table))
    page = Page("t", (), None, (), (kept, Section("gone", "Gone", (table,))), "")
    assert [section.name for section in without_empty(page).sections] == ["kept"]
    assert "<table" not in render_html(page)
    assert "Gone" not in render_html(page)


def test_headings_from_titles():
    assert heading("Set") == Heading("Set")
    assert heading("Rank#|1 is best") == Heading("Rank", True, "1 is best")


def test_safe_id():
    assert safe_id("A <b> c") == "a-b-c"
    assert safe_id("<>") == "part"


def test_first_screen_answers(page):
    start = page.index('class="answer')
    lead = re.search(r'<p class="lead">(.*?)</p>', page[start:], re.S).group(1)
    assert "is best here" in lead
    assert page.index("<figure", start) < page.index("<nav", start)


def test_report_can_be_made_again_from_the_folder(comparison, report, page):
    from lincent.model_selection import load_result
    from lincent.report.comparison import comparison_page

    _, folder = comparison
    assert render_html(comparison_page(load_result(folder))) == page


def test_the_winner_is_printed_as_an_estimator_where_no_command_fits_it(page):
    section = page.split('id="winner"')[1].split("</section>")[0]
    assert "The winner is this estimator" in section
    assert re.search(r"<code>\w+\(.*\)</code>", section, re.S)


def test_commands_read_the_table_as_the_comparison_did():
    from lincent.report.comparison import command_line, table_options

    options = {"drop": ["a"], "roles": {"b": "text"}, "group": "g"}
    given = table_options({"options": options, "reading": {"separator": ";", "sheet": "x"}})
    words = "--drop a --role b=text --group g --sep ';' --sheet x"
    assert command_line("fit", **given) == f"lincent fit {words}"


def test_small_tables_in_a_row_share_a_line():
    def table(columns, mark=""):
        row = tuple(text("x", mark) for _ in range(columns))
        return Table(tuple(Heading(str(k)) for k in range(columns)), (row,))

    blocks = (table(2), table(6), Paragraph("between"), table(3), table(7), table(3, "wrap"))
    html = render_html(Page("t", ("a",), None, (), (Section("s", "S", blocks),), "f"))
    assert html.count('<div class="tables">') == 2
    first = html.split('<div class="tables">')[1].split("<p>between")[0]
    assert first.count("<table") == 2
