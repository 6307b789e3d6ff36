"""Answers in the kind of array that was asked with."""

import numpy as np
import pandas as pd
import pytest

from lincent import (
    LCC,
    AdditiveLCC,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    batches,
)
from lincent.estimators.base import output_like_input
from support.devices import torch_far_away  # noqa: F401
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
    if method == "predict":
        np.testing.assert_array_equal(found.compute(), expected)
    else:  # products of fewer rows may be summed in another order
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12)


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
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-12)


def test_device_arrays_stay_on_their_device(model):
    torch = pytest.importorskip("torch")
    rows = torch.asarray(X)
    scores = model.decision_function(rows)
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), model.decision_function(X))
    assert isinstance(model.predict(rows), np.ndarray)  # words have no place there


def test_the_method_keeps_its_name_and_words():
    class Model:
        @output_like_input
        def answer(self, X):
            """What it says."""
            return X

    assert (Model.answer.__name__, Model.answer.__doc__) == ("answer", "What it says.")
    assert Model().answer([[1]]) == [[1]]


@pytest.mark.parametrize(
    "made",
    [
        LCC(probability="sigmoid"),
        RegularizedLCC(multi_class="ovr"),
        RegularizedLCCCV((0.01, 0.1), cv=3),
        StructuredLCC(3),
        AdditiveLCC(probability="sigmoid"),
        KernelLCC(n_components=10, random_state=0),
        AutoLCC(feature_maps=["columns"], cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_answer_on_a_device(torch_far_away, made):  # noqa: F811
    torch, model = torch_far_away, made.fit(X, Y)
    rows, labels = torch.asarray(X), torch.asarray(Y)
    weight = torch.asarray(np.arange(1.0, len(Y) + 1))
    assert model.score(rows, labels) == model.score(X, Y)
    assert model.score(rows, labels, weight) == model.score(X, Y, weight.numpy())
    methods = {
        "predict": (),
        "decision_function": (),
        "predict_proba": (),
        "predict_log_proba": (),
        "transform": (),
        "contributions": (),
        "misclassification_impact": (labels,),
    }
    for name, given in methods.items():
        if not hasattr(model, name):
            continue
        answer = getattr(model, name)(rows, *given)
        expected = getattr(model, name)(X, *(part.numpy() for part in given))
        assert isinstance(answer, torch.Tensor), name
        np.testing.assert_allclose(answer.numpy(), expected, atol=1e-9, err_msg=name)
