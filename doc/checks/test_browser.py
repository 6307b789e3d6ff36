"""The main pages in a real browser: wide and narrow, light and dark; the play page in use."""

import json
import os
from pathlib import Path

import pytest

from support.browser import Browser, find_browser

PAGES = (
    "index.html",
    "start/index.html",
    "guide/which.html",
    "guide/tuning.html",
    "api/index.html",
    "api/generated/lincent.LCC.html",
    "gallery/index.html",
    "play.html",
)
AXE = Path(
    os.environ.get("LINCENT_AXE", Path(__file__).parents[1] / "_build" / "axe" / "axe.min.js")
)
SHOTS = os.environ.get("LINCENT_SHOTS")
CUT_OFF = """
[...document.querySelectorAll(".bd-article table, .bd-article pre, .bd-article img")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth)
  .map((e) => e.tagName + " " + e.textContent.trim().slice(0, 60))
"""


@pytest.fixture(scope="module")
def browser():
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium here")
    one = Browser(program)
    yield one
    one.close()


def show(browser, path, width, theme):
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}]
    )
    browser.size(width, 900)
    browser.open(path)
    browser.run(f"document.documentElement.dataset.theme = {theme!r}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_fits_and_has_no_serious_fault(site, browser, name, width, theme):
    show(browser, site / name, width, theme)
    inner, needed = browser.run("[innerWidth, document.documentElement.scrollWidth]")
    assert needed <= inner, "the page scrolls sideways"
    assert browser.run(CUT_OFF) == [], "these are cut off, or scroll by themselves"
    if SHOTS:
        browser.screenshot(Path(SHOTS) / f"{name.replace('/', '_')}-{width}-{theme}.png")
    if not AXE.exists():
        pytest.skip("axe-core is not here: make check-docs brings it where npm is found")
    browser.run(AXE.read_text("utf-8") + "; 0")
    options = {"resultTypes": ["violations"]}
    script = f"axe.run(document, {json.dumps(options)}).then(r => JSON.stringify(r.violations))"
    answer = browser.call(
        "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
    )
    serious = [
        (fault["id"], node["html"][:160], node["failureSummary"].splitlines()[-1])
        for fault in json.loads(answer["result"]["value"])
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
    assert serious == []


def state(browser):
    points = browser.run("LincentPlay.points().length")
    line = browser.run("document.querySelector('#play-stage .rule.lcc').getAttribute('d')")
    return points, line


def test_play_by_mouse_and_touch(site, browser):
    show(browser, site / "play.html", 1400, "light")
    browser.run("document.getElementById('play-stage').scrollIntoView({block: 'center'})")
    points, before = state(browser)
    box = browser.run(
        "(() => { const mark = document.querySelector('#play-stage circle.mark');"
        " const m = mark.getBoundingClientRect();"
        " return [m.x + m.width / 2, m.y + m.height / 2]; })()"
    )
    mouse = {"button": "left", "clickCount": 1, "pointerType": "mouse"}
    for kind, step in (("mousePressed", 0), ("mouseMoved", 120), ("mouseReleased", 120)):
        browser.call(
            "Input.dispatchMouseEvent", type=kind, x=box[0] + step, y=box[1] + step, **mouse
        )
    same, after = state(browser)
    assert same == points
    assert after != before  # a moved point moves the line
    browser.run("document.querySelector('input[value=orange]').click()")
    corner = browser.run(
        "(() => { const s = document.getElementById('play-stage').getBoundingClientRect();"
        " return [s.x + 12, s.y + 12]; })()"
    )
    touch = [{"x": corner[0], "y": corner[1]}]
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=touch)
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    assert state(browser)[0] == points + 1


def test_play_by_keyboard_and_sliders(site, browser):
    show(browser, site / "play.html", 1400, "light")
    points, before = state(browser)
    browser.run("document.getElementById('play-stage').focus()")

    def key(name):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    key("a")
    assert state(browser)[0] == points + 1
    for _ in range(5):
        key("ArrowRight")
    moved = state(browser)[1]
    assert moved != before
    key(" ")
    assert state(browser)[1] != moved
    assert "orange" in browser.run("document.getElementById('play-said').textContent")
    key("Delete")
    assert state(browser)[0] == points
    browser.run(
        "(() => { const s = document.getElementById('play-margin'); s.value = 1;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    text = browser.run("document.getElementById('play-margin-value').textContent")
    assert "largest" in text
    assert browser.problems() == []


def test_play_with_a_pasted_table(site, browser):
    show(browser, site / "play.html", 400, "dark")
    rows = "\\n".join(
        f"{k},{'abc'[k % 3]},{'yes' if k % 7 > 3 else 'no'}" for k in range(60, 0, -1)
    )
    browser.run(
        f"(() => {{ const t = document.getElementById('table-text'); t.value = 'n,k,y\\n{rows}';"
        " t.dispatchEvent(new Event('input')); })()"
    )
    assert browser.run("document.getElementById('table-said').textContent").startswith("60 rows")
    assert browser.run("document.getElementById('table-target').selectedOptions[0].text") == "y"
    browser.run("document.getElementById('table-fit').click()")
    score = browser.run("document.getElementById('table-score').textContent")
    assert score.startswith("Balanced accuracy on held-out rows 0.")
    browser.run("document.getElementById('table-example').click()")
    assert browser.run("document.querySelectorAll('#table-columns tr').length") == 3
    inner, needed = browser.run("[innerWidth, document.documentElement.scrollWidth]")
    assert needed <= inner
    assert browser.problems() == []
