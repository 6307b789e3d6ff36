"""StopAtGap ends a solve where it is good enough, alone, in a pipeline and in a search."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from lincent import LCC, LCCCV, KernelLCC, RegularizedLCC, StructuredLCC
from lincent.callbacks import StopAtGap
from support.labeled import noisy

with_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="callbacks are of 1.9"
)

LOOSE = 0.05
ANY = StopAtGap(1e9)
"""Content with the first point."""


@with_callbacks
@pytest.mark.parametrize(
    "model",
    [
        LCC(solver="interior-point"),
        LCCCV(margins=2, cv=2, solver="interior-point"),
        KernelLCC(norm="linf", solver="interior-point"),
        RegularizedLCC(norm="l1", C=0.01),
        StructuredLCC(n_centers=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_solve_ends_at_the_gap_without_a_warning(model):
    X, y = noisy(m=400, n=40)
    whole = clone(model).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped = clone(model).set_callbacks(StopAtGap(LOOSE)).fit(X, y)
    assert stopped.duality_gap_ <= LOOSE
    assert stopped.n_iter_ <= whole.n_iter_
    best = whole.objective_ - whole.duality_gap_ * max(1.0, abs(whole.objective_))
    gap = stopped.duality_gap_ * max(1.0, abs(stopped.objective_))
    assert best <= stopped.objective_ <= whole.objective_ + gap + 1e-9
    first = clone(model).set_callbacks(ANY).fit(X, y)
    assert first.n_iter_ < max(whole.n_iter_, 2)


@with_callbacks
def test_it_goes_down_to_the_estimator_of_a_pipeline_and_of_a_search():
    X, y = noisy(m=400, n=40)
    model = LCC(solver="interior-point")
    pipeline = make_pipeline(StandardScaler(), model)
    whole = pipeline.fit(X, y)[-1].n_iter_
    pipeline.set_callbacks(ANY).fit(X, y)
    assert pipeline[-1].n_iter_ == 1 < whole
    search = GridSearchCV(model, {"C": [1.0, 2.0]}, cv=2)
    inner = search.set_callbacks(ANY).fit(X, y).best_estimator_
    assert inner.n_iter_ == 1
    assert "_fit_tasks" not in vars(inner)


@with_callbacks
def test_the_next_fit_without_it_is_whole():
    X, y = noisy(m=200, n=8)
    model = LCC(solver="interior-point").set_callbacks(StopAtGap(LOOSE)).fit(X, y)
    model.set_callbacks().fit(X, y)
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("gap", [0, -1.0, "small", None, np.nan])
def test_a_gap_that_is_none(gap):
    with pytest.raises(ValueError, match="give a number above 0"):
        StopAtGap(gap)


def test_only_points_of_a_solver_have_a_gap():
    callback = pickle.loads(pickle.dumps(StopAtGap(0.5)))
    assert repr(callback) == "StopAtGap(0.5)"
    assert callback.on_fit_task_end(None, None, metadata={"gap": 0.5})
    assert not callback.on_fit_task_end(None, None, metadata={"gap": 0.6})
    assert not callback.on_fit_task_end(None, None, metadata={"sample_weight": None})
    assert not callback.on_fit_task_end(None, None)
