"""What is printed is what was measured: the program gives the pipeline's own answers."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from sklearn.linear_model import LogisticRegression  # noqa: E402

from lincent import RegularizedLCC  # noqa: E402
from lincent.tables.code import Verbatim, estimator_code, program  # noqa: E402
from lincent.tables.encoder import table_pipeline  # noqa: E402
from lincent.tables.infer import ColumnOptions, infer_schema  # noqa: E402
from lincent.tables.read import read_table  # noqa: E402


def warty(n=150):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(n) < 0.4, "NA", "ü")
    return pandas.DataFrame(
        {
            "id": np.arange(n),
            "with, comma": rng.normal(size=n).round(3) + (y == "NA"),
            "age": np.where(rng.random(n) < 0.1, "?", rng.integers(20, 80, n).astype(str)),
            "code": [f"{k:05d}" for k in rng.integers(0, 5, n)],
            "city": rng.choice(["Köln", "None", "O'Hara \"x\""], n),
            "member": rng.random(n) < 0.5,
            "since": pandas.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
            "note": [f"a {w} one, number {k} of the list of all" for k, w in
                     enumerate(rng.choice(["loud", "LOUD", "calm"], n))],
            "y": y,
        }
    )  # fmt: skip


def save(frame, kind, path):
    match kind:
        case "csv":
            frame.to_csv(path, index=False)
        case "latin":
            frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
        case "gz":
            frame.to_csv(path, index=False, sep="\t", compression="gzip")
        case "parquet":
            frame.to_parquet(path)
        case "xlsx":
            pytest.importorskip("openpyxl")
            frame.to_excel(path, index=False)
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)


@pytest.mark.parametrize("kind", ["csv", "latin", "gz", "parquet", "xlsx", "jsonl"])
def test_the_program_repeats_the_fit(kind, tmp_path):
    path = tmp_path / {"latin": "t.csv", "gz": "t.tsv.gz"}.get(kind, f"t.{kind}")
    save(warty(), kind, path)
    table = read_table(path)
    known = infer_schema(table, "y", ColumnOptions(dates=True, text=True, keep=("id",)))
    pipeline = table_pipeline(RegularizedLCC())
    code = program(known.schema, str(path), table.options, pipeline)
    space = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code.replace("print(", "str("), "program", "exec"), space)
    pandas.testing.assert_frame_equal(space["X"], known.frame, check_dtype=False)
    expected = pipeline.fit(known.frame, known.labels).decision_function(known.frame)
    found = space["model"].decision_function(space["X"])
    # The last digit of a number in JSON is read in two ways.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 if kind == "jsonl" else 0)
    assert "._" not in code


def test_the_program_runs_by_itself(tmp_path):
    save(warty(), "csv", tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv")
    known = infer_schema(table, "y")
    pipeline = table_pipeline(LogisticRegression(C=0.5, max_iter=1000))
    code = program(known.schema, "t.csv", table.options, pipeline, comment="the winner")
    assert "LogisticRegression(C=0.5, max_iter=1000)" in code
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_code_of_parts_that_are_known_by_their_text_alone():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(with_std=False), "passthrough")
    pipeline.steps.append(("own", Verbatim("from own import Rule", "Rule(depth=3)")))
    imports, call = estimator_code(pipeline)
    assert imports[-1] == "from own import Rule"
    assert "Rule(depth=3)" in call
    assert "StandardScaler(with_std=False)" in call
    values, _ = estimator_code(LogisticRegression(C=np.float64(0.1)))
    assert estimator_code(LogisticRegression(C=np.float64(0.1)))[1] == "LogisticRegression(C=0.1)"
    assert values == ["from sklearn.linear_model import LogisticRegression"]
