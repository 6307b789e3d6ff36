"""Rows in Dask blocks: the same optimum as in memory, however they are cut."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.sources.dask.schedule import Schedule
from support.faulty_blocks import corrupt
from support.samples import along_a_line

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

M, N = 9_000, 6


def make(m=M, n=N, **how):
    return along_a_line(m, n, **how)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def reference(data):
    return LCC(random_state=0).fit(*data)


def unknown(collection):
    """The same collection, without its row counts."""
    chunks = tuple(np.nan for _ in collection.chunks[0])
    return da.Array(
        collection.dask, collection.name, (chunks, *collection.chunks[1:]), meta=collection._meta
    )


def assert_same(model, reference, coef=1e-9):
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert model.duality_gap_ <= 1e-9
    size = np.abs(reference._coef).max()
    np.testing.assert_allclose(model._coef, reference._coef, atol=coef * size)
    np.testing.assert_allclose(model._intercept, reference._intercept, atol=coef * size)
    np.testing.assert_array_equal(model.classes_, reference.classes_)
    # Remote rows are not transferred to the client for simplex steps.
    pairs = zip(np.ravel(model.solver_), np.ravel(reference.solver_), strict=True)
    assert all(there == here or here == "simplex" != there for there, here in pairs)


@pytest.mark.parametrize(
    "chunks", [M, 1_000, 777, (1, 5_000, 0, 3_998, 1), (0, 4_500, 4_500, 0)], ids=str
)
def test_the_same_optimum_for_any_chunking(data, reference, chunks):
    X, y = data
    rows = da.from_array(X, chunks=(chunks, N))
    assert_same(LCC(random_state=0).fit(rows, da.from_array(y, chunks=2_000)), reference)


def test_many_blocks_are_merged_in_groups(data, reference):
    X, y = data
    assert_same(LCC(random_state=0).fit(da.from_array(X, chunks=(90, 2)), y), reference)


@pytest.mark.parametrize("labels", ["dask", "plain"])
def test_unknown_chunk_sizes(data, reference, labels):
    X, y = data
    rows = unknown(da.from_array(X, chunks=((4_000, 0, 5_000), N)))
    y = unknown(da.from_array(y, chunks=((4_000, 0, 5_000),))) if labels == "dask" else y
    assert_same(LCC(random_state=0).fit(rows, y), reference)


def test_sparse_blocks(data):
    X, y = data
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.5, X, 0.0)
    rows = da.from_array(X, chunks=(2_000, N)).map_blocks(sp.csr_matrix)
    model = LCC(random_state=0).fit(rows, y)
    assert_same(model, LCC(random_state=0).fit(sp.csr_array(X), y))
    assert model.predict(rows).compute().shape == (M,)


def test_single_precision_blocks(data):
    X = data[0].astype(np.float32)
    model = LCC(random_state=0).fit(da.from_array(X, chunks=(2_500, N)), data[1])
    assert_same(model, LCC(random_state=0).fit(X, data[1]))
    assert model.transform(da.from_array(X, chunks=(2_500, N))).dtype == np.float32


def test_data_frames_with_names_and_text_labels(data, reference):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["label"] = np.where(y == 1, "yes", "no")
    table = dd.from_pandas(frame, npartitions=5)
    table = table[table["a"] < table["a"].max() + 1]  # partitions of unknown length
    model = LCC(random_state=0).fit(table[list("abcdef")], table["label"])
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert list(model.feature_names_in_) == list("abcdef")
    assert list(model.classes_) == ["no", "yes"]
    predicted = model.predict(table[list("abcdef")])
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), model.predict(frame[list("abcdef")]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[list("fedcba")])


@pytest.mark.parametrize("labels", ["of the frame", "beside it"])
def test_partitions_with_their_columns_in_another_order(data, reference, labels):
    """Dask believes the frame's description; a partition that differs would be read wrongly."""
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    parts = [frame[:4_000], frame[4_000:][["label", *"fedcba"]]]
    table = dd.from_map(lambda part: part, parts, meta=frame[:0], enforce_metadata=False)
    target = (
        table["label"]
        if labels == "of the frame"
        else da.from_array(y, chunks=((4_000, M - 4_000),))
    )
    rows = table.map_partitions(
        lambda part: part.drop(columns="label"), meta=frame[:0].drop(columns="label"),
        enforce_metadata=False,
    )  # fmt: skip
    model = LCC(random_state=0).fit(rows, target)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)

    strange = [parts[0], parts[1].rename(columns={"a": "z"})]
    wrong = dd.from_map(lambda part: part, strange, meta=frame[:0], enforce_metadata=False)
    rows = wrong.map_partitions(
        lambda part: part.drop(columns="label"), meta=frame[:0].drop(columns="label"),
        enforce_metadata=False,
    )  # fmt: skip
    with pytest.raises(ValueError, match="give all partitions the same columns"):
        LCC(random_state=0).fit(rows, da.from_array(y, chunks=((4_000, M - 4_000),)))


def test_parquet_files_are_read_once_for_rows_labels_and_weights(data, tmp_path):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    X, y = data
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcdef"))
    frame["label"], frame["weight"] = y.astype(np.int8), 1.0 + (np.arange(M) % 3)
    for k in range(9):
        frame[k * 1_000 : (k + 1) * 1_000].to_parquet(tmp_path / f"{k}.parquet")
    table = dd.read_parquet(tmp_path / "*.parquet")
    weight = table["weight"]
    model = LCC(random_state=0).fit(table[list("abcdef")], table["label"], sample_weight=weight)
    rows = frame[list("abcdef")]
    reference = LCC(random_state=0).fit(rows, frame["label"], sample_weight=frame["weight"])
    assert_same(model, reference)
    other = dd.from_pandas(frame["label"], npartitions=table.npartitions)
    assert_same(LCC(random_state=0).fit(table[list("abcdef")], other, weight), reference)


@pytest.mark.parametrize("labels", ["numbers", "text"])
def test_one_vs_rest_and_one_vs_one(labels):
    X, y = make(classes=3, seed=3)
    y = np.array(["b", "c", "a"])[y] if labels == "text" else y
    rows = da.from_array(X, chunks=(2_000, N))
    for strategy in ("ovr", "ovo"):
        model = LCC(multi_class=strategy, random_state=0).fit(rows, da.from_array(y, chunks=999))
        reference = LCC(multi_class=strategy, random_state=0).fit(X, y)
        assert_same(model, reference, coef=1e-8)
        scores = model.decision_function(rows)
        assert scores.shape == (M, 3)
        np.testing.assert_allclose(scores.compute(), reference.decision_function(X), atol=1e-8)
        np.testing.assert_array_equal(model.predict(rows).compute(), reference.predict(X))


@pytest.mark.parametrize("weight", ["plain", "dask"])
def test_weights_that_differ_and_vanish(data, weight):
    X, y = data
    w = np.random.default_rng(5).integers(0, 4, M).astype(float)
    given = w if weight == "plain" else da.from_array(w, chunks=1_234)
    rows = da.from_array(X, chunks=(2_000, N))
    model = LCC(random_state=0).fit(rows, y, sample_weight=given)
    assert_same(model, LCC(random_state=0).fit(X, y, sample_weight=w))


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"discriminator": "nearest"},
        {"discriminator": "svm"},
        {"solver": "interior-point"},
    ],
    ids=str,
)
def test_parameters_mean_the_same(data, parameters):
    X, y = data
    rows = da.from_array(X, chunks=(2_000, N))
    model = LCC(random_state=0, **parameters).fit(rows, y)
    reference = LCC(random_state=0, **parameters).fit(X, y)
    assert_same(model, reference)
    np.testing.assert_array_equal(model.predict(rows).compute(), reference.predict(X))


def test_hard_margin():
    X, y = make(seed=4)
    X = X + 6.0 * (2 * y - 1)[:, None]
    rows = da.from_array(X, chunks=(2_000, N))
    model = LCC(C=np.inf, random_state=0).fit(rows, y)
    assert_same(model, LCC(C=np.inf, random_state=0).fit(X, y), coef=1e-6)


def test_small_problems_are_collected():
    X, y = make(300)
    assert_same(LCC().fit(da.from_array(X, chunks=(70, N)), y), LCC().fit(X, y))


def test_answers_are_lazy_and_of_the_same_rows(data, reference):
    X, y = data
    rows = da.from_array(X, chunks=((4_000, 0, 5_000), N))
    for method in ("predict", "decision_function", "transform"):
        lazy = getattr(reference, method)(rows)
        assert isinstance(lazy, da.Array)
        assert lazy.chunks[0] == (4_000, 0, 5_000)
        now = getattr(reference, method)(X)
        assert (lazy.dtype, lazy.shape) == (now.dtype, now.shape)
        np.testing.assert_allclose(lazy.compute(), now, rtol=0, atol=1e-15)
    impact = reference.misclassification_impact(rows, da.from_array(y, chunks=1_000))
    np.testing.assert_allclose(impact.compute(), reference.misclassification_impact(X, y))


def test_reads_are_few_and_bring_few_rows(monkeypatch):
    X, y = make(60_000)
    verbs = []
    original = Schedule.run

    def watched(self, verb, *rest, **named):
        answer = original(self, verb, *rest, **named)
        moved = getattr(answer, "taken", answer)
        verbs.append((verb, len(getattr(moved, "sign", ()))))
        return answer

    monkeypatch.setattr(Schedule, "run", watched)
    model = LCC(random_state=0).fit(da.from_array(X, chunks=(10_000, N)), y)
    names = [verb for verb, _ in verbs]
    assert names[:3] == ["survey", "sample", "look"]
    assert set(names[3:]) <= {"look", "split", "check"}
    assert len(names) <= 6
    assert sum(rows for _, rows in verbs) < 0.5 * len(X)
    assert_same(model, LCC(random_state=0).fit(X, y))


def test_newton_steps_in_blocks_where_the_band_is_too_large(monkeypatch, data, reference):
    monkeypatch.setattr("lincent.sources.dask.source.SPARE_ENTRIES", 0)
    monkeypatch.setattr("lincent.sources.dask.source.SAMPLE_ENTRIES", 2_000 * N)
    X, y = data
    model = LCC(random_state=0).fit(da.from_array(X, chunks=(2_000, N)), y)
    assert_same(model, reference)


def test_multipliers_can_be_fetched(data):
    from lincent.problems.centralization import certify, lcc_program
    from lincent.solvers.lp import screening
    from lincent.solvers.solution import Controls, silent
    from lincent.sources.dask.table import open_dask
    from lincent.sources.rows import SignedRows

    X, y = data
    table = open_dask(da.from_array(X, chunks=(2_000, N)), y, None, N, silent)
    source = table.problem(np.array([-1, 1]), np.ones(2))
    centers = source.class_means(None, None)
    rows = SignedRows(source, source.sign, centers.mean(axis=0))
    program = lcc_program(rows, centers[1] - centers[0], 2.0 * source.costs, 0.01)
    answer = screening.solve(program, Controls(), np.random.default_rng(0)).certificate
    again = certify(program, answer.beta, np.asarray(answer.alpha), answer.t)
    assert again.relative_gap <= 1e-9
    np.testing.assert_allclose(again.objective, answer.objective, rtol=1e-10)
    some = np.array([5, 0, 8_999, 5])
    np.testing.assert_allclose(rows.take(some).dense(), rows.materialize().dense()[some])
    np.testing.assert_allclose(rows.column_scale(), rows.materialize().column_scale())


def test_tiny_data_is_solved_in_its_own_unit(data):
    X, y = data
    w = np.random.default_rng(6).uniform(1e-6, 1e-5, M)
    rows = da.from_array(1e-4 * X, chunks=(2_000, N))
    model = LCC(margin=1e-6, random_state=0).fit(rows, y, sample_weight=w)
    reference = LCC(margin=1e-6, random_state=0).fit(1e-4 * X, y, sample_weight=w)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)


def test_verbose_counts_the_reads(capsys, data):
    X, y = data
    LCC(random_state=0, verbose=1).fit(da.from_array(X, chunks=(2_000, N)), y)
    out = capsys.readouterr().out
    assert "read 1, survey: 5 blocks" in out
    assert "check: 5 blocks" in out


# What goes wrong.


def test_a_corrupt_partition_is_named(data):
    X, y = data
    rows = da.from_array(X, chunks=(1_500, N))
    bad = rows.map_blocks(corrupt, dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(RuntimeError, match=r"partition 3 of 6 .*OSError: checksum"):
        LCC().fit(bad, y)


def test_a_bad_value_is_named(data):
    X, y = data
    X = X.copy()
    X[4_000, 2] = np.nan
    with pytest.raises(ValueError, match=r"partition 2 of 6 .*row 1000 of the .*column 2"):
        LCC().fit(da.from_array(X, chunks=(1_500, N)), y)


def test_wrong_lengths_are_named(data):
    X, y = data
    rows = da.from_array(X, chunks=(1_500, N))
    with pytest.raises(ValueError, match="X has 9000 rows and y has 8999"):
        LCC().fit(rows, y[:-1])
    with pytest.raises(ValueError, match=r"partition 5 .*X has 1500 rows, y has 1499"):
        LCC().fit(unknown(rows), unknown(da.from_array(y[:-1], chunks=1_500)))
    with pytest.raises(ValueError, match="6 partitions and y has 9"):
        LCC().fit(unknown(rows), unknown(da.from_array(y, chunks=1_000)))
    with pytest.raises(ValueError, match="only one class"):
        LCC().fit(rows, np.zeros(M))
    with pytest.raises(ValueError, match="5 features, but LCC is expecting 6"):
        LCC().fit(X, y).predict(rows[:, :5])


def test_what_does_not_fit_is_not_collected(monkeypatch, data):
    monkeypatch.setattr("lincent.sources.dask.source.COLLECT_BYTES", 1_000)
    with pytest.raises(MemoryError, match='use solver="auto"'):
        LCC(solver="highs").fit(da.from_array(data[0], chunks=(1_500, N)), data[1])


def test_estimators_that_need_rows_in_memory_say_so(data):
    from lincent import FQCC, KernelLCC

    rows = da.from_array(data[0], chunks=(1_500, N))
    with pytest.raises(TypeError, match="reads arrays in memory only"):
        FQCC().fit(rows, data[1])
    with pytest.raises(ValueError, match="use norm='l2'"):
        KernelLCC(norm="linf").fit(rows, data[1])
    with pytest.raises(ValueError, match="precomputed"):
        KernelLCC(kernel="precomputed", n_components=5).fit(rows, data[1])
    with pytest.raises(ValueError, match="probability"):
        LCC(probability="sigmoid").fit(rows, data[1])
