"""Files larger than memory allows: read in batches, and the model of all rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lincent._errors import AppError
from lincent.estimators import auto
from lincent.export.model_file import load_model
from lincent.tables.infer import ColumnOptions, infer_schema
from lincent.tables.read import DEFAULT_READ
from lincent.workflow import large_file
from lincent.workflow.fit import fit_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")


SPARING = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Libraries reserve less address space; MALLOC_ARENA_MAX is for the user to set."""


def columns(m=4_000, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal(m), 100 + 5 * rng.standard_normal(m)
    color = np.array(["red", "green", "blue"])[rng.integers(0, 3, m)]
    score = x + (z - 100) / 5 + (color == "red") + 0.5 * rng.standard_normal(m)
    return {"x": x, "z": z, "color": color, "label": np.where(score > 0.3, "yes", "no")}


def write(folder, kind="parquet", **how):
    data, path = pa.table(columns(**how)), folder / f"table.{kind}"
    if kind == "parquet":
        pq.write_table(data, path, row_group_size=500)
    else:
        import pyarrow.csv

        pyarrow.csv.write_csv(data, path)
    return path


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(large_file, "available_memory", lambda: 1000.0)
    monkeypatch.setattr(large_file, "SAMPLE_ROWS", 1_000)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("method", ["quick", "lcc"])
def test_the_same_model_as_in_memory(tmp_path, monkeypatch, little_memory, kind, method):
    path, told = write(tmp_path, kind), []
    model = fit_table(path, "label", method=method, log=told.append)
    assert "read in batches" in told[0]
    assert "GiB" in told[0]
    monkeypatch.undo()
    plain = fit_table(path, "label", method=method)
    # Columns of one category add up to one, so that coefficients of LCC are not unique: scores are.
    seen = infer_schema(large_file.LargeFile(path, DEFAULT_READ, 0).sample(), "label")
    one, other = (m.pipeline.decision_function(seen.frame) for m in (model, plain))
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * np.abs(other).max())
    assert model.summary["rows"] == plain.summary["rows"] == 4_000
    assert model.summary["classes"] == plain.summary["classes"]
    held, whole = (m.summary["held_out"]["scores"][0]["value"] for m in (model, plain))
    assert held == pytest.approx(whole, abs=0.03)
    assert "800 rows, scored by a fit to all others" in model.summary["held_out"]["how"]


def test_a_sample_of_all_rows_leaves_most_to_the_fit_that_is_judged(tmp_path, little_memory):
    passes = []
    model = fit_table(
        write(tmp_path, m=500), "label", method="quick",
        progress=lambda what, *_: passes.append(what),
    )  # fmt: skip
    assert "100 rows, scored by a fit to all others" in model.summary["held_out"]["how"]
    assert "fitting RegularizedLCC on all rows, 3 columns" in passes
    assert "pass 2 over the rows" in passes


@pytest.mark.parametrize("method", ["linear", "additive"])
def test_methods_that_choose(tmp_path, monkeypatch, little_memory, method):
    path = write(tmp_path, m=1_500)
    model = fit_table(path, "label", method=method)
    monkeypatch.undo()
    plain = fit_table(path, "label", method=method)
    seen = infer_schema(large_file.LargeFile(path, DEFAULT_READ, 0).sample(), "label").frame
    same = model.pipeline.predict(seen) == plain.pipeline.predict(seen)
    assert same.mean() > 0.99
    assert model.pipeline.predict_proba(seen).shape == (1_500, 2)


@pytest.mark.parametrize("rows", [400, 1_200], ids=["few rows", "many rows"])
def test_the_portfolio_is_that_of_memory(tmp_path, monkeypatch, rows):
    """Chosen by rows unseen, and fitted to all, where there are many."""
    for name, count in (("SEARCH_ROWS", 200), ("FIT_ROWS", 400), ("COMPARED_ROWS", 600)):
        monkeypatch.setattr(auto, name, count)
    path, settings = write(tmp_path, m=rows), {"feature_maps": ["columns", "splines"], "cv": 2}
    plain = fit_table(path, "label", method="auto", params=settings)
    monkeypatch.setattr(large_file, "available_memory", lambda: 1000.0)
    model = fit_table(path, "label", method="auto", params=settings)
    members = [
        [(m["feature_map"], m["C"], m["objective"]) for m in one.pipeline[-1].ensemble_]
        for one in (model, plain)
    ]
    assert (len(members[0]) <= auto.N_FEW) == (rows == 1_200)
    for one, other in zip(*members, strict=True):
        assert one[:2] == other[:2]
        assert one[2] == pytest.approx(other[2], rel=1e-9)
    frame = pd.DataFrame(columns(m=500, seed=1)).drop(columns="label")
    np.testing.assert_array_equal(*(one.pipeline.predict(frame) for one in (model, plain)))


def test_a_sample_is_the_same_each_time_and_from_everywhere(tmp_path, little_memory):
    file = large_file.LargeFile(write(tmp_path), DEFAULT_READ, 3)
    table = file.sample()
    numbers = table.positions
    np.testing.assert_array_equal(numbers, file.sample().positions)
    assert len(numbers) == table.data.num_rows == 1_000
    assert np.all(np.diff(numbers) > 0)
    assert abs(numbers.mean() - 2_000) < 200
    np.testing.assert_array_equal(np.asarray(table.data["x"]), columns()["x"][numbers])


def test_batches_and_sample_are_smaller_where_memory_is_short(tmp_path, monkeypatch):
    path = write(tmp_path)
    whole = large_file.LargeFile(path, DEFAULT_READ, 0)
    assert (whole.sample_rows, whole.batch_rows) == (20_000, 16_384)
    monkeypatch.setattr(large_file, "sample_entries", lambda most: min(most, 2 * 4 * 1_500))
    short = large_file.LargeFile(path, DEFAULT_READ, 0)
    assert short.sample_rows == 1_500
    assert max(batch.data.num_rows for batch in short.batches()) <= 1_500
    assert short.sample().data.num_rows == 1_500
    monkeypatch.setattr(large_file, "sample_entries", lambda most: 0)
    least = large_file.LargeFile(path, DEFAULT_READ, 0)
    assert least.sample_rows == least.batch_rows == large_file.MIN_ROWS


def test_groups_need_memory(tmp_path, little_memory):
    with pytest.raises(AppError, match="--group needs the table in memory"):
        fit_table(write(tmp_path), "label", group="color")


def test_a_table_that_fits_is_read_at_once(tmp_path):
    assert large_file.find_large(write(tmp_path), DEFAULT_READ, ColumnOptions(), 0) is None
    needed = large_file.needed_memory
    row = 2 * 8 + 2 * 20  # two numbers, two texts
    assert needed(write(tmp_path)) == 6 * row * 4_000
    assert needed("-") == needed({"a": [1]}) == 0.0
    assert needed(tmp_path / "nothing.parquet") == 0.0


def test_a_file_that_unfolds_beyond_measure_is_read_in_batches(tmp_path, monkeypatch):
    import gzip

    from lincent.tables import formats

    plain = write(tmp_path, "csv")
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    given = DEFAULT_READ, ColumnOptions(), 0
    monkeypatch.setattr(formats, "UNFOLDED", 1_000)
    assert large_file.find_large(packed, *given) is None
    monkeypatch.setattr(formats, "RATIO", 1)
    assert large_file.find_large(packed, *given) is not None
    assert large_file.find_large(plain, *given) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
@pytest.mark.slow
def test_the_command_under_a_limit(tmp_path):
    """Under ``ulimit -v`` a table that takes more is read in batches; the model is the same."""
    path = write(tmp_path, m=200_000)
    loaded = (
        "import lincent.workflow.fit, lincent.export.model_file\n"
        "import pandas, pyarrow.parquet, sklearn.compose\n"
        "from lincent import _memory\n"
        "print(int(_memory._fields(_memory.Path('/proc/self/status'))['VmSize'] / 1024))"
    )
    taken = int(_run([sys.executable, "-c", loaded], os.environ | SPARING).stdout)
    command = [
        sys.executable,
        "-m",
        "lincent",
        "fit",
        str(path),
        "--target",
        "label",
        "--method",
        "quick",
    ]
    limited = ["bash", "-c", f'ulimit -v {taken + 160_000}; exec "$@"', "-", *command]
    environment = os.environ | {"MALLOC_ARENA_MAX": "1"}
    done = _run([*limited, "--output", str(tmp_path / "m.lincent")], environment)
    assert "it is read in batches" in done.stderr
    models = (
        load_model(tmp_path / "m.lincent").pipeline,
        fit_table(path, "label", method="quick").pipeline,
    )
    frame = pd.DataFrame(columns(m=1_000, seed=1)).drop(columns="label")
    one, other = (model.decision_function(frame) for model in models)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * np.abs(other).max())


def _run(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done
