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


def test_claims_are_those_of_the_leaderboard():
    """First of 22 by mean rank in both metrics; p at least 0.06 against tuned forests, boosting."""
    sys.path.insert(0, str(ROOT / "doc" / "figures"))
    from measured import table_under

    rows = table_under("measured/leaderboard.md", "### Sets that took part in no choice (19)")
    by_name = {row["method"].strip("*"): row for row in rows}
    for page in ("README.md", "doc/index.md"):
        text = (ROOT / page).read_text("utf-8")
        assert f"first of {len(rows)} methods" in " ".join(text.split())
        assert re.search("19 (real )?two-class (sets|tables) that took part in no choice", text)
    for rank in ("rank", "rank 2"):
        assert min(by_name, key=lambda name: float(by_name[name][rank])) == "AutoLCC"
    strong = [
        n for n in by_name if re.match("ExtraTrees|RandomForest|HistGrad", n) and "tuned" in n
    ]
    least = min(float(by_name[name][p]) for name in strong for p in ("p", "p 2"))
    assert (len(strong), least) == (3, 0.06)


def test_large_tables_are_those_of_their_rows(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = runpy.run_path(str(ROOT / "benchmarks" / "leaderboard_large.py"))
    measured = ROOT / "doc" / "measured"
    script["report"]([measured / "leaderboard_large.csv"], tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text("utf-8")
    assert page == (measured / "leaderboard_large.md").read_text("utf-8")

    def table(group, number):
        part = page.split(f"## Untouched, rows {group}")[number].split("\n## ")[0]
        cells = [line.strip("|").split("|") for line in part.splitlines() if line[:2] == "| "]
        heads, *rows = [[cell.strip() for cell in row] for row in cells]
        return {row[0]: dict(zip(heads, row, strict=True)) for row in rows}

    def best(rows):
        ranks = [f"rank {metric}" for metric in ("balanced_accuracy", "auc", "log_loss")]
        return [min(rows, key=lambda name: float(rows[name][rank])) for rank in ranks]

    def ratio(rows, name):
        return float(rows[name]["seconds"]) / float(rows["AutoLCC"]["seconds"])

    large, small = [table("above: 14 sets", k) for k in (1, 2)], table("to 3000: 15 sets", 1)
    first = [["AutoLCC"] * 3 for _ in range(3)]
    first[0][0] = "XGBoost tuned"
    for rows, names, fraction in zip((*large, small), first, (1.15, 1.1, 0.6), strict=True):
        assert best(rows) == names
        assert ratio(rows, "LightGBM tuned") == pytest.approx(fraction, abs=0.05)
        strong = [rows[name] for name in ("XGBoost tuned", "CatBoost tuned") if name in rows]
        assert all(float(row[key]) > 0.05 for row in strong for key in row if key[:2] == "p ")
    assert ratio(small, "XGBoost tuned") == pytest.approx(0.6, abs=0.05)
    ours, catboost = small["AutoLCC"], small["CatBoost tuned"]
    assert all(float(catboost[key]) > float(ours[key]) for key in ("balanced_accuracy", "auc"))
    timed = pandas.read_csv(measured / "leaderboard_large.csv")
    timed = timed[timed["rows"].between(600, 3000) & (timed["split"] > 1)]  # on the same machine
    seconds = timed.groupby(["method", "set"])["seconds"].mean().groupby("method").median()
    assert seconds["CatBoost tuned"] / seconds["AutoLCC"] == pytest.approx(4.4, abs=0.5)


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
