"""RegularizedLCC on rows that stay where they are: the optimum in memory, in a few reads."""

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse as sp

from lincent import RegularizedLCC
from lincent.sources.dask.schedule import Schedule


def make(m=6_000, n=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.7)
    score = X @ rng.standard_normal((n, classes)) + 2 * rng.standard_normal((m, classes))
    score[:, 0] += 1.0
    return X, score.argmax(axis=1), rng.integers(0, 4, m).astype(float)


def on_torch(X):
    return pytest.importorskip("torch").asarray(X)


def in_blocks(X, kind=np.asarray):
    return da.from_array(X, chunks=(1_234, X.shape[1])).map_blocks(kind)


PLACES = {
    "dask": in_blocks,
    "sparse blocks": lambda X: in_blocks(X, sp.csr_array),
    "torch": on_torch,
}
SETTINGS = [
    {},
    {"class_weight": None, "C": 0.01},
    {"class_weight": {0: 1.0, 1: 6.0}, "margin_range": (0.0, 2.0)},
    {"fit_intercept": False},
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_optimum(place, settings, weighted):
    X, y, weight = make()
    weight = weight if weighted else None
    found = RegularizedLCC(**settings).fit(PLACES[place](X), y, weight)
    plain = RegularizedLCC(**settings).fit(X, y, weight)
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)
    assert found.duality_gap_ <= 1e-9
    size = np.abs(plain.coef_).max()
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=1e-4 * size)
    np.testing.assert_allclose(found.intercept_, plain.intercept_, atol=1e-4)
    assert np.mean(found.predict(X) == plain.predict(X)) > 0.999


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_three_classes(place, strategy):
    X, y, weight = make(classes=3)
    settings = {"multi_class": strategy, "class_weight": {0: 1.0, 1: 2.0, 2: 5.0}}
    found = RegularizedLCC(**settings).fit(PLACES[place](X), y, weight)
    plain = RegularizedLCC(**settings).fit(X, y, weight)
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)


@pytest.mark.parametrize("place", PLACES)
def test_few_columns_by_l1_need_memory(place):
    X, y, _ = make(200)
    with pytest.raises(ValueError, match="needs X in memory"):
        RegularizedLCC(norm="l1").fit(PLACES[place](X), y)


def test_reads_do_not_grow_with_the_rows(monkeypatch):
    reads = []
    run = Schedule.run
    monkeypatch.setattr(Schedule, "run", lambda *a, **k: reads.append(a[1]) or run(*a, **k))
    counts = []
    for m in (5_000, 80_000):
        X, y, _ = make(m)
        # The sample is a small part of the rows, as it is where rows are many.
        monkeypatch.setattr("lincent.solvers.newton.in_place.SAMPLE_ENTRIES", 6_000)
        reads.clear()
        RegularizedLCC(random_state=0).fit(in_blocks(X), y)
        counts.append(len(reads))
    assert reads[:2] == ["survey", "draw"]
    assert max(counts) <= 9


def test_a_class_that_the_sample_misses(monkeypatch):
    monkeypatch.setattr("lincent.solvers.newton.in_place.SAMPLE_ENTRIES", 0)
    monkeypatch.setattr("lincent.solvers.newton.in_place.SAMPLES_PER_FEATURE", 1)
    X, _, _ = make()
    y = np.zeros(len(X), dtype=int)
    y[:12] = 1
    X[:12] += 1.0
    found = RegularizedLCC(random_state=0).fit(in_blocks(X), y)
    np.testing.assert_allclose(found.objective_, RegularizedLCC().fit(X, y).objective_, rtol=1e-9)


def test_a_block_that_fails_is_named_and_nothing_is_left():
    X, y, _ = make()

    def broken(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 2:
            raise OSError("disk on fire")
        return block

    rows = in_blocks(X).map_blocks(broken, dtype=float, meta=np.empty((0, 0)))
    model = RegularizedLCC()
    with dask.config.set(scheduler="synchronous"), pytest.raises(RuntimeError, match="partition 2"):
        model.fit(rows, y)
    assert vars(model).keys() == vars(RegularizedLCC()).keys()
