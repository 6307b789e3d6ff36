"""The report of a fit in a real browser: it is used as a reader would, its numbers are Python's."""

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
        "#how-good", "#importances", "#suspected-label-errors", "#columns",
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


# What a reader does: drag the threshold, change a value, sort rows.


CASES = {
    "two classes": (2, None),
    "five classes": (5, None),
    "leaves": (2, ["forest leaves", "boosted leaves"]),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory, make_table):
    """A table, a model and its page."""
    from lincent.report.model_report import model_report
    from lincent.workflow import explain_model, fit_table

    classes, maps = CASES[request.param]
    table = make_table(160, classes=classes)
    table["visits"] = table["visits"].astype(float)
    table.loc[::11, "visits"] = None
    model = fit_table(table, "churn", ids=["customer"], params={"feature_maps": maps})
    page = tmp_path_factory.mktemp("case") / "page.html"
    page.write_text(model_report(explain_model(model), model), "utf-8")
    return table, model, page


def drag(browser, selector, fraction):
    """Drag the thumb of a slider with the mouse to a fraction of its length."""
    browser.run(
        f"document.querySelector('{selector}')"
        ".scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    box = browser.run(
        f"(() => {{ const s = document.querySelector('{selector}'), b = s.getBoundingClientRect();"
        " return [b.left, b.top + b.height / 2, b.width,"
        " (s.value - s.min) / (s.max - s.min)]; })()"
    )
    left, y, width, at = box
    thumb = 16
    places = [left + thumb / 2 + share * (width - thumb) for share in (at, fraction)]
    mouse = {"y": y, "button": "left", "buttons": 1, "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=places[0], **mouse)
    for k in range(1, 5):
        x = places[0] + (places[1] - places[0]) * k / 4
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, **mouse)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=places[1], **mouse)


def enter(browser, selector, value):
    browser.run(
        f"(() => {{ const f = document.querySelector({selector!r}); f.value = {value!r};"
        " f.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


@pytest.mark.parametrize("width", [1400, 400])
def test_the_threshold_is_dragged_and_its_numbers_are_those_of_python(browser, case, width):
    _, model, page = case
    browser.size(width, 900)
    browser.open(page)
    if len(model.classes) > 2:
        assert browser.run("document.querySelectorAll('#threshold').length") == 0
        return
    held = model.summary["held_out"]
    counts, rows, positives = (
        held["curves"]["thresholds"],
        held["rows"],
        held["at_threshold"]["rows"],
    )
    enter(browser, "#cost-false", "2.5")
    enter(browser, "#cost-missed", "7")
    for fraction in (0.2, 0.83):
        drag(browser, "#threshold-slider", fraction)
        k = int(browser.run("document.querySelector('#threshold-slider').value")) - 1
        assert abs(counts["at"][k] - fraction) < 0.06
        called, found = counts["called"][k], counts["found"][k]
        cost = (2.5 * (called - found) + 7 * (positives - found)) / rows
        shown = browser.run(
            "Object.fromEntries(Array.from(document.querySelectorAll('[data-value-of]'))"
            ".map(e => [e.dataset.valueOf, e.textContent]))"
        )
        assert shown["recall"] == f"{100 * found / positives:.1f} %"
        assert shown["precision"] == f"{100 * found / called:.1f} %"
        assert shown["alarms"] == str(called)
        assert shown["false"] == str(called - found)
        assert shown["missed"] == str(positives - found)
        assert float(shown["cost"]) == pytest.approx(cost, rel=1e-3)
        assert browser.run("document.querySelector('.option code').textContent") == (
            f"--threshold {counts['at'][k]:g}"
        )
    best = min(
        2.5 * (c - f) + 7 * (positives - f)
        for c, f in zip(counts["called"], counts["found"], strict=True)
    )
    browser.run("document.querySelector('.cheapest').click()")
    shown = browser.run("document.querySelector('[data-value-of=cost]').textContent")
    assert float(shown) == pytest.approx(best / rows, rel=1e-3)


def shown_answer(browser):
    """Return probabilities, contributions, base and score as the page prints them."""
    texts = "Array.from(document.querySelectorAll('.what-if {0}')).map(e => [{1}, e.textContent])"
    probabilities = browser.run(texts.format("[data-probability]", "e.dataset.probability"))
    parts = browser.run(texts.format("[data-contribution]", "e.dataset.contribution"))
    score = browser.run("document.querySelector('.what-if [data-score]').textContent")
    return [text for _, text in probabilities], dict(parts), score


def expected_answer(model, row):
    from lincent.workflow import predict_table

    [scored] = predict_table(model, row, contributions=True).to_dict("records")
    probabilities = [scored[f"probability_{label}"] for label in model.classes]
    parts = {
        name.removeprefix("contribution_"): value
        for name, value in scored.items()
        if name.startswith("contribution_")
    }
    return probabilities, parts, scored["score"], scored["class"]


def same(text, value):
    """Return whether a number is printed to three digits, rounded either way at a tie."""
    return len(text.partition(".")[2]) == 3 and abs(number(text) - value) <= 5e-4 + 1e-7


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_what_if_says_what_predict_says(browser, case, width, scheme):
    table, model, page = case
    browser.size(width, 900, mobile=width < 500)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.call("Emulation.setEmulatedMedia", features=features)
    browser.open(page)
    examples = model.summary["examples"]
    assert len(examples) > 10
    for k in (0, 3, len(examples) - 1):
        enter(browser, "#what-if-row", str(k))
        row = table.iloc[[examples[k]["row"] - 1]].reset_index(drop=True)
        for changes in ({}, {"age": 33.0, "city": "Oslo"}, {"age": None, "member": False}):
            for name, value in changes.items():
                field = f"[data-input={name}]"
                if name in ("city", "member"):
                    names = browser.run(
                        f"Array.from(document.querySelector('{field}').options).map(o => o.text)"
                    )
                    label = value if name == "city" else "no"
                    enter(browser, field, str(names.index(label)))
                else:
                    enter(browser, field, "" if value is None else str(value))
                row[name] = row[name].astype(object)
                row.loc[0, name] = value
            row["age"] = row["age"].astype(float)
            row["member"] = row["member"].astype(bool)
            probabilities, parts, score, label = expected_answer(model, row)
            shown = shown_answer(browser)
            assert all(map(same, shown[0], probabilities)), (shown[0], probabilities)
            assert set(shown[1]) == set(parts)
            assert all(same(shown[1][name], parts[name]) for name in parts), (shown[1], parts)
            assert same(shown[2], score)
            said = browser.run("document.querySelector('.what-if .sentence').textContent")
            assert said.startswith(f"The model says {label}, with a probability of ")
    assert browser.problems() == []
    browser.call("Emulation.setEmulatedMedia", features=[])


def test_partial_effects_have_one_scale(browser, case):
    """The ink of a cell is its value on the scale of all panels."""
    _, model, page = case
    browser.size(1400, 900)
    browser.open(page)
    cells = browser.run(
        "Array.from(document.querySelectorAll('#figure-partial-effects rect.cell'))"
        ".map(r => Number(r.getAttribute('fill-opacity')))"
    )
    assert bool(cells) == (len(model.classes) == 5)
    if cells:
        curves = [e["curve"] for e in model.summary["importances"] if e.get("curve")]
        heights = [y for curve in curves for ys in curve["lines"].values() for y in ys]
        margin = 0.08 * (max(heights) - min(heights))
        most = max(max(heights) + margin, -min(heights) + margin)
        flat = [c for c in curves if not c["numeric"] or c["of"] == "member"]
        largest = max(abs(y) for c in flat for ys in c["lines"].values() for y in ys)
        assert max(cells) == pytest.approx(0.06 + 0.9 * largest / most, abs=1e-6)


def test_suspected_rows_sort_and_charts_answer_the_pointer(browser, case):
    _, model, page = case
    browser.size(1400, 900)
    browser.open(page)
    table = "document.querySelector('#suspected-label-errors table')"
    cells = f"Array.from({table}.tBodies[0].rows).map(r => Number(r.cells[0].textContent))"
    browser.run(f"{table}.querySelectorAll('thead button')[0].click()")
    rows = [entry["row"] for entry in model.summary["suspected_label_errors"]]
    assert browser.run(cells) == sorted(rows, reverse=True)
    browser.run(
        "document.querySelector('#figure-roc svg')"
        ".scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    x, y = browser.run(
        "(() => { const b = document.querySelector('#figure-roc svg').getBoundingClientRect();"
        " return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    readout = browser.run("document.querySelector('#figure-roc .readout').textContent")
    assert readout.startswith("share of the others called")
    assert ("k3 0" in readout) == (len(model.classes) == 5)


def test_rows_are_left_out_when_asked(case, make_table):
    from lincent.report.model_report import model_report
    from lincent.workflow import explain_model, fit_table

    _, model, page = case
    text = page.read_text("utf-8")
    assert f"This page contains {len(model.summary['examples'])} rows of the table" in text
    assert "c0" in text
    without = model_report(explain_model(model, rows=False), model)
    assert "This page contains" not in without
    assert '"rows":[]' in without
    assert "probably mislabeled" not in without
    lean = fit_table(make_table(60), "churn", ids=["customer"], method="quick", rows=False)
    assert lean.summary["examples"] == lean.summary["suspected_label_errors"] == []


def test_markup_in_names_stays_text(browser, hostile, tmp_path):
    """Names of columns, classes and cells reach the page as text, also by its script."""
    from lincent.report.model_report import model_report
    from lincent.workflow import explain_model, fit_table

    path, column, label = hostile
    model = fit_table(path, "class & more", method="quick")
    page = tmp_path / "page.html"
    page.write_text(model_report(explain_model(model), model), "utf-8")
    browser.size(400, 900)
    browser.open(page)
    assert browser.problems() == []
    assert browser.run("document.querySelectorAll('img, main script').length") == 0
    names = browser.run(
        "Array.from(document.querySelectorAll('.what-if label')).map(l => l.textContent)"
    )
    assert column in names
    assert label in browser.run("document.querySelector('.what-if .bars').textContent")
    assert browser.run("document.documentElement.scrollWidth") <= 400


def test_labels_that_begin_alike_stay_different(browser, tmp_path):
    import pandas as pd

    from lincent.report.model_report import model_report
    from lincent.workflow import explain_model, fit_table

    rng = __import__("numpy").random.default_rng(0)
    words = [
        f"department of agriculture and forestry, {part}" for part in ("north", "south", "east")
    ]
    table = pd.DataFrame({"where": rng.choice(words, 200), "x": rng.normal(size=200)})
    table["y"] = (table.x * (table["where"] == words[0]) + 0.3 * rng.normal(size=200) > 0) * 1
    model = fit_table(table, "y", method="additive", params={"interactions": 1})
    assert model.summary["pairs"]
    page = tmp_path / "page.html"
    page.write_text(model_report(explain_model(model), model), "utf-8")
    browser.size(1400, 900)
    browser.open(page)
    labels = browser.run(
        "Array.from(document.querySelectorAll('#figure-pairs svg text')).map(t => t.textContent)"
    )
    cut = [label for label in labels if label.startswith("departm")]
    assert len(cut) == len(set(cut)) == 3
    assert words[0] in browser.run("document.querySelector('#figure-partial-effects').textContent")
