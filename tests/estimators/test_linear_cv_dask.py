"""LCCCV on rows in Dask blocks: the search that a search in memory is."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

from lincent import LCC, LCCCV
from lincent.sources.dask.schedule import Schedule
from support.samples import along_a_line

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

M, N = 6_600, 5
MARGINS = 4


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
    return LCCCV(MARGINS, random_state=0).fit(*data)


def in_blocks(X, chunks=2_500):
    return da.from_array(X, chunks=(chunks, X.shape[1]))


def assert_same(model, reference):
    assert model.cv_results_.keys() == reference.cv_results_.keys()
    for name, values in reference.cv_results_.items():
        if name.startswith(("split", "mean", "std")):
            np.testing.assert_allclose(model.cv_results_[name], values, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(model.cv_results_["feasible"], reference.cv_results_["feasible"])
    gaps = model.cv_results_["relative_gap"]
    assert np.all((gaps <= 1e-9) | ~reference.cv_results_["feasible"])
    assert model.n_splits_ == reference.n_splits_
    assert model.best_index_ == reference.best_index_
    np.testing.assert_allclose(model.margin_, reference.margin_, rtol=1e-12)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    size = np.abs(reference._coef).max()
    np.testing.assert_allclose(model._coef, reference._coef, atol=1e-8 * size)


@pytest.mark.parametrize("chunks", [M, 777, (1, 4_000, 0, 2_598, 1)], ids=str)
def test_the_same_search_for_any_chunking(data, reference, chunks):
    X, y = data
    model = LCCCV(MARGINS, random_state=0).fit(in_blocks(X, chunks), da.from_array(y, chunks=999))
    assert_same(model, reference)
    rows = in_blocks(X)
    for method in ("predict", "decision_function", "transform"):
        lazy = getattr(model, method)(rows)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(model, method)(X), atol=1e-15)


@pytest.mark.parametrize("form", ["array", "dask", "predefined", "count"])
def test_the_same_folds_however_they_are_named(data, form):
    X, y = data
    numbers = np.random.default_rng(1).integers(-1, 3, M)
    cv, here = numbers, numbers
    if form == "dask":
        cv = da.from_array(numbers, chunks=1_000)
    elif form == "predefined":
        cv = here = PredefinedSplit(numbers)
    elif form == "count":
        cv = here = 3
    model = LCCCV(MARGINS, cv=cv, random_state=0).fit(in_blocks(X), y)
    assert_same(model, LCCCV(MARGINS, cv=here, random_state=0).fit(X, y))


def test_text_labels_in_a_frame_with_weights(data):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["label"] = np.where(y == 1, "yes", "no")
    frame["weight"] = np.random.default_rng(2).integers(0, 3, M).astype(float)
    table = dd.from_pandas(frame, npartitions=4)
    names = list("abcde")
    model = LCCCV(MARGINS, cv=3, random_state=0)
    model.fit(table[names], table["label"], sample_weight=table["weight"])
    reference = LCCCV(MARGINS, cv=3, random_state=0)
    reference.fit(frame[names], frame["label"], sample_weight=frame["weight"])
    assert_same(model, reference)
    assert list(model.classes_) == ["no", "yes"]


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_three_classes(strategy):
    X, y = make(classes=3, seed=3)
    y = np.array(["one", "three", "two"])[y]
    options = {"cv": 2, "multi_class": strategy, "random_state": 0}
    model = LCCCV(4, **options).fit(in_blocks(X), da.from_array(y, chunks=1_000))
    assert_same(model, LCCCV(4, **options).fit(X, y))


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "roc_auc"},
        {"scoring": "f1"},
        {"scoring": "neg_log_loss"},
        {"scoring": make_scorer(f1_score, pos_label=0)},
        {"class_weight": "balanced", "scoring": "accuracy"},
        {"class_weight": {0: 1.0, 1: 2.0}},
        {"discriminators": ("distance", "nearest", "svm"), "margins": (0.1, 0.5)},
        {"Cs": (0.001, 2.0)},
        {"margins": (0.01, 0.5, 1.0)},
        {"solver": "interior-point", "margins": (0.5,)},
        {"n_jobs": 2},
    ],
    ids=str,
)
def test_parameters_mean_the_same(data, options):
    X, y = data
    options = {"margins": MARGINS, "cv": 3, "random_state": 0, **options}
    model = LCCCV(**options).fit(in_blocks(X), y)
    assert_same(model, LCCCV(**options).fit(X, y))


def test_weights_in_a_score_of_every_row(data):
    X, y = data
    weight = np.random.default_rng(4).integers(0, 3, M).astype(float)
    options = {"margins": 4, "cv": 2, "scoring": "roc_auc", "random_state": 0}
    model = LCCCV(**options).fit(in_blocks(X), y, sample_weight=weight)
    assert_same(model, LCCCV(**options).fit(X, y, sample_weight=weight))


def test_small_and_sparse_data():
    X, y = make(400)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    rows = in_blocks(X, 150).map_blocks(sp.csr_matrix)
    assert_same(LCCCV(MARGINS).fit(rows, y), LCCCV(MARGINS).fit(sp.csr_array(X), y))
    assert_same(LCCCV(MARGINS).fit(in_blocks(X, 150), y), LCCCV(MARGINS).fit(X, y))


def test_nothing_as_long_as_the_data_comes_here(monkeypatch):
    X, y = make(40_000)
    brought = []
    original = Schedule.run

    def watched(self, verb, *rest, **named):
        answer = original(self, verb, *rest, **named)
        moved = getattr(answer, "taken", answer)
        rows = len(getattr(moved, "sign", ()))
        brought.append((verb, rows))
        return answer

    monkeypatch.setattr(Schedule, "run", watched)
    LCCCV(MARGINS, cv=2, random_state=0).fit(in_blocks(X, 10_000), da.from_array(y, chunks=10_000))
    verbs = {verb for verb, _ in brought}
    assert {"survey", "sample", "look", "check", "score"} <= verbs
    assert not verbs & {"project", "combine", "labels", "scores", "collect", "multipliers"}
    assert max(rows for _, rows in brought) < 10_000


def test_many_blocks_are_merged_in_groups():
    X, y = make(5_000)
    y = np.sort(y)[::-1].copy()  # one class after the other
    rows, labels = in_blocks(X, 70), da.from_array(y, chunks=70)
    model = LCCCV(2, cv=2, random_state=0).fit(rows, labels)
    assert_same(model, LCCCV(2, cv=2, random_state=0).fit(X, y))


def test_verbose_names_the_fold(capsys, data):
    LCCCV(1, cv=2, verbose=1).fit(in_blocks(data[0]), data[1])
    out = capsys.readouterr().out
    assert "without fold 0: read 1, survey: 3 blocks" in out
    assert "fold 1: read 1, score: 3 blocks" in out


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cv": KFold(3)}, "no positions to index"),
        ({"cv": [(np.arange(9), np.arange(9))]}, "no positions to index"),
        ({"cv": StratifiedKFold(3, shuffle=True)}, "no positions to index"),
        ({"cv": 1}, r"'cv' .* an int in the range \[2, inf\)"),
        ({"cv": np.zeros(M)}, "one whole number"),
        ({"cv": np.zeros(M - 1, dtype=int)}, f"X has {M} rows and cv has {M - 1}"),
        ({"cv": -np.ones(M, dtype=int)}, "gives no folds"),
        ({"cv": np.zeros(M, dtype=int)}, "fold 1 have none of class 0"),
        ({"probability": "sigmoid"}, "needs X in memory"),
        ({"scoring": lambda model, X, y: float(np.asarray(X).sum())}, None),
    ],
)
def test_refuses(data, options, words):
    error = ValueError if words else TypeError
    with pytest.raises(error, match=words or "looks at X itself"):
        LCCCV(**{"margins": 2, **options}).fit(in_blocks(data[0]), data[1])


def test_a_class_with_few_rows():
    X, y = make(300)
    y = np.where(np.arange(300) < 3, 2, y)
    rows = in_blocks(X, 100)
    for cv in (None, 4):
        model = LCCCV(2, cv=cv, scoring="accuracy").fit(rows, y)
        assert model.n_splits_ == 3  # every fold tests every class
        assert_same(model, LCCCV(2, cv=cv, scoring="accuracy").fit(X, y))


def test_the_refit_is_the_fit_of_the_choice(data, reference):
    X, y = data
    model = LCCCV(MARGINS, random_state=0).fit(in_blocks(X), y)
    again = LCC(model.C_, model.margin_, model.discriminator_, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.objective_, again.objective_, rtol=1e-9)
