"""Files larger than memory allows: read in batches, and the model of all rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

from lincent._errors import AppError
from lincent.app import large_file, memory
from lincent.app.fit import fit_table
from lincent.tables import AS_FOUND, Wishes

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")


SPARING = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MIMALLOC_ARENA_RESERVE": "8192",
}
"""What the command line sets for itself under a limit."""


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
def little_room(monkeypatch):
    monkeypatch.setattr(large_file, "room", lambda: 1000.0)
    monkeypatch.setattr(large_file, "SAMPLE_ROWS", 1_000)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("method", ["quick", "lcc"])
def test_the_same_model_as_in_memory(tmp_path, monkeypatch, little_room, kind, method):
    path, told = write(tmp_path, kind), []
    model = fit_table(path, "label", method=method, tell=told.append)
    assert "read in batches" in told[0]
    assert "GiB" in told[0]
    monkeypatch.undo()
    plain = fit_table(path, "label", method=method)
    # Columns of one category add up to one, so that coefficients of LCC are not unique: scores are.
    seen = large_file.LargeFit(large_file.LargeFile(path, AS_FOUND, 0), "label", Wishes()).known
    one, other = (m.pipeline.decision_function(seen.frame) for m in (model, plain))
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * np.abs(other).max())
    assert model.summary["rows"] == plain.summary["rows"] == 4_000
    assert model.summary["classes"] == plain.summary["classes"]
    held, whole = (m.summary["held_out"]["scores"][0]["value"] for m in (model, plain))
    assert held == pytest.approx(whole, abs=0.03)
    assert "1000 rows, scored by a fit to all others" in model.summary["held_out"]["how"]


@pytest.mark.parametrize("method", ["linear", "additive"])
def test_methods_that_choose(tmp_path, monkeypatch, little_room, method):
    path = write(tmp_path, m=1_500)
    model = fit_table(path, "label", method=method)
    monkeypatch.undo()
    plain = fit_table(path, "label", method=method)
    file = large_file.LargeFile(path, AS_FOUND, 0)
    seen = large_file.LargeFit(file, "label", Wishes()).known.frame
    same = model.pipeline.predict(seen) == plain.pipeline.predict(seen)
    assert same.mean() > 0.99
    assert model.pipeline.predict_proba(seen).shape == (1_500, 2)


def test_a_sample_is_the_same_each_time_and_from_everywhere(tmp_path, little_room):
    file = large_file.LargeFile(write(tmp_path), AS_FOUND, 3)
    numbers, table = file.sampled()
    again, _ = file.sampled()
    np.testing.assert_array_equal(numbers, again)
    assert len(numbers) == table.data.num_rows == 1_000
    assert np.all(np.diff(numbers) > 0)
    assert abs(numbers.mean() - 2_000) < 200
    np.testing.assert_array_equal(np.asarray(table.data["x"]), columns()["x"][numbers])


def test_batches_and_sample_are_smaller_where_memory_is_short(tmp_path, monkeypatch):
    path = write(tmp_path)
    whole = large_file.LargeFile(path, AS_FOUND, 0)
    assert (whole.sample_rows, whole.batch_rows) == (20_000, 16_384)
    monkeypatch.setattr(large_file, "entries", lambda most: min(most, 2 * 4 * 1_500))
    short = large_file.LargeFile(path, AS_FOUND, 0)
    assert short.sample_rows == 1_500
    assert max(len(numbers) for numbers, _ in short.batches()) <= 1_500
    assert len(short.sampled()[0]) == 1_500
    monkeypatch.setattr(large_file, "entries", lambda most: 0)
    least = large_file.LargeFile(path, AS_FOUND, 0)
    assert least.sample_rows == least.batch_rows == large_file.LEAST_ROWS


def test_groups_need_memory(tmp_path, little_room):
    with pytest.raises(AppError, match="--group needs the table in memory"):
        fit_table(write(tmp_path), "label", wishes=Wishes(group="color"))


def test_a_table_with_room_is_read_whole(tmp_path):
    assert large_file.find_large(write(tmp_path), AS_FOUND, Wishes(), 0) is None
    assert memory.needed("-") == memory.needed({"a": [1]}) == 0.0
    assert memory.needed(tmp_path / "nothing.parquet") == 0.0


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
@pytest.mark.slow
def test_a_limit_of_the_process(tmp_path):
    """Under ``ulimit -v`` a fit that would take more reads in batches, and ends at the same."""
    rng = np.random.default_rng(0)
    m = 1_200_000
    data = {f"x{k}": np.round(rng.standard_normal(m), 2) for k in range(12)}
    data["label"] = (data["x0"] + data["x1"] + rng.standard_normal(m) > 0).astype(int)
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(data), path, row_group_size=50_000)
    code = (
        "import sys, json; from lincent.app.fit import fit_table; from lincent import _memory\n"
        "told = []\n"
        "import sklearn.compose, sklearn.impute, pandas, pyarrow.parquet, resource\n"
        "size = _memory._fields(_memory.Path('/proc/self/status'))['VmSize']\n"
        "if sys.argv[2] != 'all':\n"
        "    most = int(size) + int(sys.argv[2])\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "model = fit_table(sys.argv[1], 'label', method='quick', tell=told.append)\n"
        "print(json.dumps([told[0], model.pipeline[-1].coef_.tolist()]))\n"
    )
    import json

    answers = []
    for limit in (str(500_000_000), "all"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path), limit], capture_output=True, text=True,
            timeout=200, env=os.environ | SPARING,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        answers.append(json.loads(done.stdout.splitlines()[-1]))
    assert "read in batches" in answers[0][0]
    assert "read in batches" not in answers[1][0]
    np.testing.assert_allclose(answers[0][1], answers[1][1], atol=1e-6)
