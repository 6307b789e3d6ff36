"""Faults during a fit to blocks or batches: the same result, or an error message."""

import threading
import time

import numpy as np
import pytest

import lincent
from lincent import (
    LCC,
    LCCCV,
    AdditiveLCC,
    AdditiveLCCCV,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)
from support.faulty_blocks import deadly
from support.own_cluster import own_cluster

M, N, BLOCK = 2_000, 4, 250
MEMBERS = {
    "LCC": lambda: LCC(random_state=0),
    "LCCCV": lambda: LCCCV(3, cv=2, random_state=0),
    "RegularizedLCC": lambda: RegularizedLCC(random_state=0),
    "RegularizedLCCCV": lambda: RegularizedLCCCV((0.01, 0.1), cv=2),
    "StructuredLCC": lambda: StructuredLCC(4),
    "StructuredLCCCV": lambda: StructuredLCCCV(3, Cs=(0.01, 0.1), cv=2),
    "AdditiveLCC": lambda: AdditiveLCC(),
    "AdditiveLCCCV": lambda: AdditiveLCCCV(0, n_knots=3, cv=2),
    "KernelLCC": lambda: KernelLCC(n_components=10, random_state=0),
    "AutoLCC": lambda: AutoLCC(feature_maps=["columns", "splines"], cv=2),
}


def make():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((M, N)) * 16) / 16
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(M) > 1).astype(int)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed", reason="distributed is not installed")
    with own_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize("member", ["LCC", "LCCCV", "RegularizedLCC", "AutoLCC"])
def test_a_killed_worker_changes_nothing(cluster, member, tmp_path):
    import dask.array as da

    X, y = make()
    cluster.ready(2)
    before = cluster.alive()
    blocks = da.from_array(X, chunks=(BLOCK, N))
    blocks = blocks.map_blocks(
        deadly, folder=str(tmp_path), at=1, dtype=X.dtype, meta=np.empty((0, 0))
    )
    found = MEMBERS[member]().fit(blocks, y)
    assert len(list(tmp_path.iterdir())) >= 3  # the second read was the last of one worker
    assert len(before - cluster.alive()) == 1
    plain = MEMBERS[member]().fit(X, y)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    if hasattr(plain, "objective_"):
        np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("at", [0, 2], ids=["first read", "a later read"])
def test_a_source_that_fails_at_its_third_batch_is_named(member, at):
    X, y = make()
    starts, closed = [], []

    def start():
        number = len(starts)
        starts.append(number)
        try:
            for k in range(0, M, BLOCK):
                if number >= at and k == 2 * BLOCK:
                    raise ValueError("the tape is torn")
                yield X[k : k + BLOCK], y[k : k + BLOCK]
        finally:
            closed.append(number)

    model, stream = MEMBERS[member](), lincent.batches(start)
    before, running = dict(vars(model)), threading.active_count()
    with pytest.raises(RuntimeError, match=r"batch 2 \(counted from 0\) failed .* tape is torn"):
        model.fit(stream, stream.target)
    assert vars(model) == before
    assert sorted(closed) == starts  # every generator that was begun has ended
    deadline = time.monotonic() + 60
    while threading.active_count() > running and time.monotonic() < deadline:
        time.sleep(0.01)  # threads of a search that were told to end
    assert threading.active_count() <= running
