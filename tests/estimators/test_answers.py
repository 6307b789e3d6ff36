"""Answers in the kind of array that was asked with."""

import numpy as np
import pandas as pd
import pytest

from lincent import LCC, batches
from lincent.estimators.answers import where_rows_live
from support.labeled import noisy

X, Y = noisy(120, 4)


@pytest.fixture(scope="module")
def model():
    return LCC().fit(X, np.array(["no", "yes"])[Y])


@pytest.mark.parametrize("method", ["predict", "decision_function", "transform"])
@pytest.mark.parametrize("chunks", [(50, 4), (50, 2)])
def test_dask_arrays_give_lazy_ones(model, method, chunks):
    da = pytest.importorskip("dask.array")
    found = getattr(model, method)(da.from_array(X, chunks=chunks))
    assert isinstance(found, da.Array)
    assert found.chunks[0] == (50, 50, 20)
    expected = getattr(model, method)(X)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.compute(), expected)


def test_partitions_of_a_frame_may_be_empty():
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = LCC().fit(frame, Y)
    parts = dd.from_pandas(frame, npartitions=3)
    parts = parts[parts["a"] > frame["a"].iloc[:40].max()]
    kept = frame[frame["a"] > frame["a"].iloc[:40].max()]
    np.testing.assert_array_equal(named.predict(parts).compute(), named.predict(kept))


def test_labels_go_with_their_blocks(model):
    da = pytest.importorskip("dask.array")
    y = np.array(["no", "yes"])[Y]
    expected = model.misclassification_impact(X, y)
    found = model.misclassification_impact(da.from_array(X, chunks=(50, 4)), y)
    np.testing.assert_allclose(found.compute(), expected)


def test_batches_are_answered_one_after_the_other(model):
    rows = batches(lambda: iter([(X[:70], Y[:70]), (X[70:], Y[70:])]))
    np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(X))


def test_device_arrays_stay_on_their_device(model):
    torch = pytest.importorskip("torch")
    rows = torch.asarray(X)
    scores = model.decision_function(rows)
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), model.decision_function(X))
    assert isinstance(model.predict(rows), np.ndarray)  # words have no place there


def test_the_method_keeps_its_name_and_words():
    class Model:
        @where_rows_live
        def answer(self, X):
            """What it says."""
            return X

    assert (Model.answer.__name__, Model.answer.__doc__) == ("answer", "What it says.")
    assert Model().answer([[1]]) == [[1]]
