"""Rows in batches: the same optimum as in memory, one iteration for each pass, clear errors."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import lincent
from lincent import LCC, LCCCV, KernelLCC, RegularizedLCC, StructuredLCC, batches
from lincent.sources.batches import Batches
from lincent.sources.shared_reads import run_concurrently
from support.samples import two_classes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

M, N = 6_000, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, N))
    y = (X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.standard_normal(M) > 1).astype(int)
    return X, y, rng.integers(1, 4, M).astype(float)


def stream(*arrays, rows=1_300):
    def start():
        for k in range(0, len(arrays[0]), rows):
            yield tuple(array[k : k + rows] for array in arrays)

    return lincent.batches(start)


MODELS = [
    LCC(random_state=0), RegularizedLCC(random_state=0), StructuredLCC(n_centers=5),
    KernelLCC(n_components=15, random_state=0), LCCCV(margins=5, random_state=0),
    LCC(discriminator="nearest"), LCC(class_weight={0: 1.0, 1: 3.0}),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_same_optimum(model, data):
    X, y, weight = data
    batches = stream(X, y, weight)
    found = model.fit(batches, batches.target)
    objective, gap, predicted = found.objective_, found.duality_gap_, found.predict(batches)
    scores = found.decision_function(batches)
    plain = model.fit(X, y, weight)
    np.testing.assert_allclose(objective, plain.objective_, rtol=1e-9)
    assert gap <= 2e-9
    np.testing.assert_array_equal(predicted, plain.predict(X))
    assert scores.shape == (M,)


def test_parquet_files(data, tmp_path):
    X, y, weight = data
    columns = {f"x{k}": X[:, k] for k in range(N)}
    table = pa.table({**columns, "label": np.array(["no", "yes"])[y], "count": weight, "id": y})
    for k in range(3):
        pq.write_table(table.slice(2_000 * k, 2_000), tmp_path / f"part-{k}.parquet")
    batches = lincent.batches(
        str(tmp_path / "part-*.parquet"),
        target="label", weight="count", columns=list(columns), rows=700,
    )  # fmt: skip
    model = LCC(random_state=0).fit(batches, batches.target)
    plain = LCC(random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-9)
    assert model.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(model.predict(batches), np.array(["no", "yes"])[plain.predict(X)])
    assert set(batches.target.array()) == {"no", "yes"}
    impact = model.misclassification_impact(batches, batches.target)
    np.testing.assert_allclose(impact, plain.misclassification_impact(X, y), atol=1e-7)
    other = lincent.batches(tmp_path / "part-0.parquet", columns=list(columns)[::-1])
    with pytest.raises(ValueError, match="and fit had"):
        model.predict(other)


def test_record_batches(data):
    X, y, _ = data
    table = pa.table({**{f"x{k}": X[:, k] for k in range(N)}, "label": y})
    batches = lincent.batches(table.to_batches(max_chunksize=900), target="label")
    model = RegularizedLCC().fit(batches, batches.target)
    np.testing.assert_allclose(model.objective_, RegularizedLCC().fit(X, y).objective_, rtol=1e-9)


def test_a_batch_that_fails_is_named_and_nothing_is_left(data):
    X, y, _ = data

    def start():
        for k in range(0, M, 1_000):
            if k == 2_000:
                raise OSError("disk on fire")
            yield X[k : k + 1_000], y[k : k + 1_000]

    batches, model = lincent.batches(start), LCC()
    with pytest.raises(RuntimeError, match=r"batch 2 .* disk on fire"):
        model.fit(batches, batches.target)
    assert vars(model).keys() == vars(LCC()).keys()


def test_bad_values_are_found_where_they_are(data):
    X, y, _ = data
    broken = X.copy()
    broken[3_000, 1] = np.nan
    batches = stream(broken, y)
    with pytest.raises(ValueError, match=r"In batch 2 .*row 400 of the partition, column 1"):
        LCC().fit(batches, batches.target)


def test_a_generator_that_cannot_be_started_again_is_refused(data):
    X, y, _ = data
    once = iter([(X[:3_000], y[:3_000]), (X[3_000:], y[3_000:])])
    batches = lincent.batches(lambda: once)
    with pytest.raises(ValueError, match=r"no batches|from the beginning"):
        LCC().fit(batches, batches.target)


def test_labels_come_with_the_rows(data):
    X, y, _ = data
    batches = stream(X, y)
    with pytest.raises(ValueError, match=r"X\.target"):
        LCC().fit(batches, y)


@pytest.mark.parametrize("wrong", [[], [1.0], {"a": 1}])
def test_other_things_are_refused(wrong):
    with pytest.raises(TypeError, match="batches takes Parquet files"):
        lincent.batches(wrong)


def test_missing_columns_and_files_are_named(data, tmp_path):
    pq.write_table(pa.table({"a": [1.0], "b": [0]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="no column 'c'"):
        lincent.batches(tmp_path / "a.parquet", target="c")
    with pytest.raises(FileNotFoundError):
        lincent.batches(str(tmp_path / "none-*.parquet"))


def test_text_columns_are_named(tmp_path):
    pq.write_table(pa.table({"a": ["x", "y"], "b": [0, 1]}), tmp_path / "a.parquet")
    batches = lincent.batches(tmp_path / "a.parquet", target="b")
    with pytest.raises(ValueError, match=r"a.parquet: column 'a' has values .* encode text and"):
        LCC().fit(batches, batches.target)


def test_a_damaged_file_is_named(data, tmp_path):
    X, y, _ = data
    table = pa.table({**{f"x{k}": X[:, k] for k in range(N)}, "label": y})
    for k in range(4):
        pq.write_table(table.slice(1_000 * k, 1_000), tmp_path / f"part-{k}.parquet")
    (tmp_path / "part-2.parquet").write_bytes(b"PAR1 torn PAR1")
    batches = lincent.batches(str(tmp_path / "part-*.parquet"), target="label")
    with pytest.raises(ValueError, match=r"In batch 2 .*part-2.parquet cannot be read: Arrow"):
        LCC().fit(batches, batches.target)


def test_no_dask_is_needed():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('dask', 'distributed'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import numpy as np, lincent\n"
        "X = np.random.default_rng(0).standard_normal((9000, 3)); y = (X[:, 0] > 0.1).astype(int)\n"
        "b = lincent.batches(lambda: ((X[k::3], y[k::3]) for k in range(3)))\n"
        "for model in (lincent.LCC(), lincent.LCCCV(), lincent.StructuredLCC(n_centers=3)):\n"
        "    model.fit(b, b.target)\n"
        "print('fitted')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "fitted", done.stderr


def test_lazy_frames_and_streams_give_the_model_of_the_table():
    pl = pytest.importorskip("polars")
    X, y = two_classes()
    table = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(y=pl.Series(y))
    arrow = table.to_arrow()
    sources = (
        table.lazy(),
        arrow,
        lambda: pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(7)),
    )
    expected = LCC().fit(X, y)
    for source in sources:
        stream = batches(source, target="y", rows=11)
        model = LCC().fit(stream, stream.target)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
        assert list(model.feature_names_in_) == ["a", "b", "c", "d"]


def test_fits_to_parts_of_the_same_rows_share_their_passes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)
    weight = (np.arange(600) % 5 > 0).astype(float)
    passes = []

    def read():
        passes.append(None)
        for part in np.array_split(np.arange(600), 4):
            yield X[part], y[part], weight[part]

    def fits():
        everything = Batches(read, None, lambda X, y, weight: (X, y, None))
        rest = Batches(read, None)
        return [partial(RegularizedLCC().fit, data, data.target) for data in (everything, rest)]

    apart = [fit() for fit in fits()]
    alone = len(passes)
    together = run_concurrently(fits(), 2)
    assert len(passes) - alone < 0.7 * alone
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(
        together[1].objective_, RegularizedLCC().fit(X, y, weight).objective_, rtol=1e-8
    )
