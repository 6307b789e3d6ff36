"""What the README prints runs as printed: its Python code, its commands, its links and figures."""

import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^    (\w+ .*?)(?: +#.*)?$", TEXT, re.M)


@pytest.fixture
def customers(tmp_path, monkeypatch):
    """A folder with customers.csv and new.csv, with text columns and missing values."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 10, 240), "plan": rng.choice(["a", "b"], 240)})
    stays = table["age"] + 6 * (table["plan"] == "a") + rng.normal(0, 5, 240) > 53
    table["churned"] = np.where(stays, "no", "yes")
    table.loc[::7, "age"] = np.nan
    table[:200].to_csv(tmp_path / "customers.csv", index=False)
    table[200:].drop(columns="churned").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_code(customers, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(code.splitlines()) <= 8
    names = {}
    exec(code, names)
    assert 0.6 < float(capsys.readouterr().out) <= 1
    assert names["probabilities"].shape == (40, 2)


def test_commands_of_lincent(customers):
    from lincent.cli import make_app

    app = make_app()
    lines = [command for command in COMMANDS if command.startswith("lincent ")]
    assert len(lines) == 2
    for line in lines:
        assert app(shlex.split(line)[1:], standalone_mode=False) in (None, 0)
    assert len(pd.read_csv(customers / "scored.csv")) == 40
    assert (customers / "model.html").exists()


def test_other_commands_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for command in COMMANDS:
        program, *rest = shlex.split(command)
        if program == "make":
            assert set(rest) <= set(targets)
        elif program == "pip":
            named = re.findall(r"\[(.*)\]", command)
            assert set(named) <= set(extras["optional-dependencies"])
        else:
            assert program == "lincent"


def test_links_lead_to_files():
    pictures = re.findall(r'<img src="([^"]+)" alt="[^"]{10,}"', TEXT)
    assert len(pictures) == TEXT.count("<img") == 3
    for link in re.findall(r"\]\(([^)]+)\)", TEXT) + pictures:
        assert link.startswith("https://arxiv.org/") or (ROOT / link).is_file(), link


def tables_of_the_leaderboard():
    """Return each table of the page by its heading: rows by method."""
    sys.path.insert(0, str(ROOT / "doc" / "figures"))
    from measured import tables

    page = (ROOT / "doc" / "measured" / "leaderboard.md").read_text("utf-8")
    headings = re.findall(r"^## (.*)$", page, re.M)
    named = zip(headings, tables(page), strict=True)
    return {title: {row["method"].strip("*"): row for row in rows} for title, rows in named}


def first(rows):
    """Return the methods with the best mean rank in each metric."""
    metrics = ("balanced accuracy", "AUC", "log loss")
    return [min(rows, key=lambda name: float(rows[name][f"rank ({one})"])) for one in metrics]


def significant(rows, names, metrics):
    """Return whether a difference of AutoLCC from one of the methods is significant."""
    p = [rows[name][f"p ({metric})"] for name in names for metric in metrics]
    return min(float(one.replace("<", "")) for one in p) < 0.05


def test_claims_are_those_of_the_leaderboard():
    by_title = tables_of_the_leaderboard()
    small = by_title["Untouched, two classes, up to 3,000 rows: 19 sets, 3 splits"]
    pool = by_title["Untouched, two classes, up to 3,000 rows: 90 sets of R packages, 1 split"]
    large = by_title["Untouched, two classes, above 3,000 rows: 14 sets, 3 splits"]
    many = by_title["Untouched, many classes, up to 3,000 rows: 19 sets, 3 splits"]
    for page in ("README.md", "doc/index.md"):
        text = " ".join((ROOT / page).read_text("utf-8").split())
        assert f"first of {len(small)} methods" in text
        assert re.search("19 (raw )?two-class tables .*that took part in no choice", text)
    assert first(small) == ["AdditiveLCCCV", "CatBoost tuned", "AutoLCC"]
    assert first(pool) == ["CatBoost tuned", "AutoLCC", "AutoLCC"]
    others = set(pool) - {"AutoLCC", "CatBoost tuned"}
    assert all(significant(pool, [name], [one]) for name in others for one in ("AUC", "log loss"))
    assert first(large) == first(many) == ["AutoLCC"] * 3
    assert (len(pool), len(large), len(many)) == (14, 6, 17)
    boosters = ["CatBoost", "XGBoost", "LightGBM", "HistGradientBoosting"]
    strong = [f"{name} tuned" for name in [*boosters, "RandomForest", "ExtraTrees"]]
    assert not significant(small, strong, ("balanced accuracy", "AUC"))
    assert not significant(large, ["CatBoost tuned"], ("balanced accuracy", "AUC", "log loss"))
    ours = float(small["AutoLCC"]["seconds"])
    assert float(small["CatBoost tuned"]["seconds"]) > 3 * ours
    ratio = float(large["AutoLCC"]["seconds"]) / float(large["LightGBM tuned"]["seconds"])
    assert ratio == pytest.approx(1, abs=0.1)


def test_tables_of_the_leaderboard_are_those_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = runpy.run_path(str(ROOT / "benchmarks" / "leaderboard.py"))
    measured = ROOT / "doc" / "measured"
    script["report"]([measured / "leaderboard.csv"], tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text("utf-8")
    assert page == (measured / "leaderboard.md").read_text("utf-8")


def test_figures_are_drawn_from_the_tables_as_they_are(tmp_path):
    """The points in the SVG files are those that doc/readme_figures.py draws now."""
    script = runpy.run_path(str(ROOT / "doc" / "readme_figures.py"))
    for name in script["FIGURES"]:
        script["draw"](name, tmp_path)
        points = [
            re.findall(
                r'<use xlink:href="#m\w+" x="([\d.]+)" y="([\d.]+)"', path.read_text("utf-8")
            )
            for path in (tmp_path / f"{name}.svg", ROOT / "doc" / "images" / f"{name}.svg")
        ]
        assert len(points[0]) > 10
        assert np.allclose(np.array(points[0], float), np.array(points[1], float), atol=1)
