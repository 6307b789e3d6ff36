"""The report in a real browser: opens from a file, sorts, answers the keyboard, prints."""

import pytest

pytestmark = pytest.mark.slow
TABLE = "document.querySelector('#all-scores table')"


def column(browser, index):
    return browser.run(
        f"Array.from({TABLE}.tBodies[0].rows).map(r => r.cells[{index}].textContent.trim())"
    )


@pytest.fixture
def opened(browser, report):
    browser.size(1280, 900)
    browser.open(report / "report.html")
    return browser


def test_opens_without_errors_or_requests(opened):
    assert opened.run("document.readyState") == "complete"
    assert opened.problems() == []
    assert opened.run("window.alerted === undefined && document.scripts.length") == 2
    assert "<script>alert(1)</script>" in opened.run("document.body.textContent")


def test_tables_sort_by_number_and_back(opened):
    opened.run(f"{TABLE}.querySelectorAll('thead button')[1].click()")
    down = [float(v) for v in column(opened, 1) if v != "–"]
    assert down == sorted(down, reverse=True)
    assert column(opened, 1)[-1] == "–"  # a method without a score stays last
    opened.run(f"{TABLE}.querySelectorAll('thead button')[1].click()")
    up = [float(v) for v in column(opened, 1) if v != "–"]
    assert up == sorted(up)
    assert column(opened, 1)[-1] == "–"
    assert opened.run(f"{TABLE}.querySelectorAll('thead th')[1].getAttribute('aria-sort')") == (
        "ascending"
    )


def test_keyboard_reaches_and_works(opened):
    opened.press("Tab")
    assert opened.run("document.activeElement.className") == "skip"
    opened.run(f"{TABLE}.querySelectorAll('thead button')[0].focus()")
    opened.press("Enter")
    names = column(opened, 0)
    assert names == sorted(names, key=str.lower)
    opened.run("document.querySelector('details.note summary').focus()")
    opened.press("Enter")
    assert opened.run("document.querySelector('details.note').open") is True
    opened.run("document.getElementById('theme').focus()")
    opened.press(" ", "Space")
    opened.press(" ", "Space")
    assert opened.run("document.documentElement.dataset.theme") == "dark"
    assert opened.run("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"


def test_follows_the_system_theme(opened):
    for scheme, color in (("dark", "rgb(21, 23, 26)"), ("light", "rgb(252, 252, 250)")):
        opened.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        assert opened.run("getComputedStyle(document.body).backgroundColor") == color
    opened.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize(("width", "mobile"), [(1280, False), (390, True), (320, True)])
def test_the_page_never_scrolls_sideways(opened, width, mobile, tmp_path):
    opened.size(width, 844, mobile)
    assert opened.run("document.documentElement.scrollWidth") <= width
    opened.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_every_figure_has_a_name_and_ink(opened):
    figures = opened.run("document.querySelectorAll('figure').length")
    assert figures >= 3
    assert (
        opened.run("document.querySelectorAll('figure [role=img][aria-label]').length") == figures
    )
    painted = (
        "Array.from(document.querySelectorAll('figure')).every(f => { const dots = "
        "Array.from(f.querySelectorAll('.dot')); return dots.length > 0 && dots.every(d => "
        "d.getBoundingClientRect().width > 5 && getComputedStyle(d).backgroundColor !== "
        "'rgba(0, 0, 0, 0)'); })"
    )
    assert opened.run(painted)


def test_prints(opened):
    assert opened.pdf()[:5] == b"%PDF-"
