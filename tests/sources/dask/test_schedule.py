"""Dask on a cluster of processes: the same optimum, and faults that end well."""

import _thread
import threading
import time

import numpy as np
import pytest

from lincent import LCC
from support.faulty_blocks import corrupt, deadly, lincent_tasks, slowly
from support.own_cluster import own_cluster

pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

pytestmark = [
    pytest.mark.slow,
    # Processes that are killed leave sockets and streams behind; that is the point of these tests.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
M, N, BLOCK = 8_000, 5, 1_000


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, N))
    score = X @ rng.standard_normal(N)
    score += score.std() * rng.standard_normal(M)
    return X, np.where(score > 0, "yes", "no")


@pytest.fixture(scope="module")
def reference(data):
    return LCC(random_state=0).fit(*data)


def in_blocks(data, seconds=0.0):
    X = da.from_array(data[0], chunks=(BLOCK, N))
    if seconds:
        X = X.map_blocks(slowly, seconds=seconds, dtype=X.dtype, meta=np.empty((0, 0)))
    return X, da.from_array(data[1], chunks=BLOCK)


def assert_same(model, reference):
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-9)
    assert model.duality_gap_ <= 1e-9


def assert_nothing_left(client):
    """Tasks that are done or cancelled are forgotten, once the scheduler has heard of it.

    A graph is sent without waiting for the scheduler: one that was cancelled at once may be
    counted after a first look, so that nothing is left only where several looks agree.
    """
    counts, deadline = [1], time.monotonic() + 60
    while any(counts[-5:]) and time.monotonic() < deadline:
        client.submit(int, pure=False).result()
        counts.append(client.run_on_scheduler(lincent_tasks))
    assert not any(counts[-5:])


def after(seconds, action):
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


def test_the_same_optimum_and_lazy_answers(client, data, reference):
    X, y = in_blocks(data)
    model = LCC(random_state=0).fit(X, y)
    assert_same(model, reference)
    np.testing.assert_array_equal(model.predict(X).compute(), reference.predict(data[0]))
    assert_nothing_left(client)


def test_folds_of_a_search_go_to_the_workers(client, data):
    from joblib import parallel_config

    from lincent import LCCCV

    X, y = data[0][:600], data[1][:600]
    with parallel_config(backend="dask"):
        model = LCCCV(margins=(0.01, 0.1), n_jobs=2).fit(X, y)
    reference = LCCCV(margins=(0.01, 0.1)).fit(X, y)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert model.margin_ == reference.margin_


def together(monkeypatch):
    """The largest number of reads that were under way at once, as a list that is filled."""
    from lincent.sources.dask.schedule import Schedule

    running, most, lock = [0], [0], threading.Lock()
    original = Schedule.run

    def watched(self, *rest, **named):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        try:
            return original(self, *rest, **named)
        finally:
            with lock:
                running[0] -= 1

    monkeypatch.setattr(Schedule, "run", watched)
    return most


def assert_same_search(model, reference):
    for name, values in reference.cv_results_.items():
        if name.startswith(("split", "mean")):
            np.testing.assert_allclose(model.cv_results_[name], values, atol=1e-12)
    assert model.best_index_ == reference.best_index_
    assert_same(model, reference)


def test_a_search_over_blocks_has_its_folds_in_parallel(client, data, monkeypatch):
    from lincent import LCCCV
    from lincent.sources.dask import schedule as run

    asked, original = [], run.Schedule.read_all

    def counted(self, requests, halt):
        asked.append(len(requests))
        original(self, requests, halt)

    most = together(monkeypatch)
    monkeypatch.setattr(run.Schedule, "read_all", counted)
    model = LCCCV(4, cv=3, random_state=0).fit(*in_blocks(data))
    assert_same_search(model, LCCCV(4, cv=3, random_state=0).fit(*data))
    assert most[0] == 3
    # Folds side by side read as one.
    alone = sum(asked)
    assert max(asked) == 3
    assert len(asked) < 0.6 * alone
    assert_nothing_left(client)


def test_the_current_client_has_the_folds_of_a_search(client, data, monkeypatch):
    from lincent import LCCCV

    most = together(monkeypatch)
    with client.as_current():
        model = LCCCV(2, cv=3, random_state=0).fit(*in_blocks(data))
    assert_same_search(model, LCCCV(2, cv=3, random_state=0).fit(*data))
    assert most[0] == 3
    assert_nothing_left(client)


def test_one_job_reads_one_fold_at_a_time(client, data, monkeypatch):
    from lincent import LCCCV

    most, few = together(monkeypatch), [part[: 2 * BLOCK] for part in data]
    model = LCCCV(2, cv=3, random_state=0, n_jobs=1).fit(*in_blocks(few))
    assert_same_search(model, LCCCV(2, cv=3, random_state=0).fit(*few))
    assert most[0] == 1


def test_a_kernel_map_and_three_classes(client, data):
    from lincent import KernelLCC

    X, y = in_blocks(data)
    model = KernelLCC(n_components=15, random_state=0).fit(X, y)
    reference = KernelLCC(n_components=15, random_state=0).fit(*data)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    np.testing.assert_array_equal(model.support_, reference.support_)
    np.testing.assert_array_equal(model.predict(X).compute(), reference.predict(data[0]))
    three = np.digitize(data[0] @ np.arange(N), [-1.0, 1.0]).astype(str)
    model = LCC(random_state=0).fit(X, da.from_array(three, chunks=BLOCK))
    reference = LCC(random_state=0).fit(data[0], three)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X).compute(), reference.predict(data[0]))


def test_a_fold_that_fails_ends_the_others(client, data, capfd):
    from lincent import LCCCV

    X, y = in_blocks(data)
    bad = X.map_blocks(corrupt, number=5, dtype=X.dtype, meta=np.empty((0, 0)))
    model = LCCCV(2, cv=3)
    with pytest.raises(RuntimeError, match=r"partition 5 of 8 .*OSError: checksum"):
        model.fit(bad, y)
    # One class is held out by the first fold.
    numbers = np.where(data[1] == "yes", 0, np.arange(M) % 3)
    X, y = in_blocks(data, seconds=0.1)
    with pytest.raises(ValueError, match="training rows of fold 1 have none of class 'yes'"):
        LCCCV(cv=numbers).fit(X, y)
    assert_nothing_left(client)


def test_a_corrupt_partition_is_named(client, data, capfd):
    X, y = in_blocks(data)
    bad = X.map_blocks(corrupt, number=5, dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(RuntimeError, match=r"partition 5 of 8 .*OSError: checksum"):
        LCC().fit(bad, y)


@pytest.mark.parametrize("name", ["LCC", "LCCCV"])
def test_an_interrupt_cancels_the_tasks(client, data, name):
    import lincent

    X, y = in_blocks(data, seconds=0.5 if name == "LCC" else 0.05)
    model = getattr(lincent, name)(random_state=0)
    after(1.0, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert_nothing_left(client)


@pytest.mark.parametrize(("block", "shares"), [(250, 1), (1_000, 3)])
def test_a_task_answers_everything_that_is_asked_of_its_block(monkeypatch, block, shares):
    import dask

    from lincent import LCCCV
    from lincent.sources.dask import schedule as run

    tasks, original = [], run._locally

    def counted(parts, wanted, count):
        tasks.append(len(parts) / count)
        return original(parts, wanted, count)

    monkeypatch.setattr(run, "_locally", counted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 3))
    y = (X[:, 0] + rng.standard_normal(5_000) > 0).astype(int)
    with dask.config.set(scheduler="synchronous"):
        rows = da.from_array(X, chunks=(block, 3))
        found = LCCCV(4, cv=3, n_jobs=3, random_state=0).fit(rows, y)
    assert max(tasks) == shares  # few blocks: a task for each fold, so that workers have some
    wanted = LCCCV(4, cv=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(found.objective_, wanted.objective_, rtol=1e-9)
    assert found.best_index_ == wanted.best_index_


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with own_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def own(processes):
    """A cluster with one worker; the last test of the file ends its scheduler."""
    processes.ready(1)
    return processes


def test_a_cluster_without_workers_is_an_error_and_not_a_wait(own, data, monkeypatch, tmp_path):
    """What one worker of several changes by its death is in estimators/test_remote_faults.py."""
    monkeypatch.setattr("lincent.sources.dask.schedule.PATIENCE", 2.0)
    X, y = in_blocks(data)
    X = X.map_blocks(deadly, folder=str(tmp_path), at=1, dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(ConnectionError, match="no workers"):
        LCC().fit(X, y)


def test_a_lost_scheduler_is_an_error_and_not_a_wait(own, data, monkeypatch, capfd):
    monkeypatch.setattr("lincent.sources.dask.schedule.PATIENCE", 2.0)
    X, y = in_blocks(data, seconds=0.3)
    after(1.5, own.scheduler.kill)
    with pytest.raises(ConnectionError, match="scheduler is lost"):
        LCC().fit(X, y)
