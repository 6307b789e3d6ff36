"""scikit-learn with ``array_api_dispatch=True``: other steps dispatch, models are as without it.

Dispatch needs SCIPY_ARRAY_API=1 before SciPy is imported, which most users do not set.  So the
suite runs without it, and what needs it runs in a process of its own, started by the first test.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lincent import LCC, StructuredLCC
from support.small import make_small

TESTS = Path(__file__).resolve().parent


@pytest.mark.slow
def test_what_needs_dispatch_passes_in_a_process_of_its_own():
    if os.environ.get("SCIPY_ARRAY_API") == "1":
        return  # this is that process
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-m", "array_api"),
            *(__file__, str(TESTS / "test_sklearn_contract.py")),
        ],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-5_000:]
    assert "skipped" not in run.stdout.replace("nothing was skipped", ""), run.stdout[-5_000:]


pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")


@pytest.fixture
def torch():
    from sklearn import config_context

    torch = pytest.importorskip("torch", reason="torch is not installed")
    with config_context(array_api_dispatch=True):
        yield torch


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5)) * [1, 2, 3, 4, 5]
    return X, (X @ rng.standard_normal(5) + 3 * rng.standard_normal(600) > 0).astype(int)


@pytest.mark.array_api
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_in_and_torch_out(torch, data, dtype):
    X, y = data[0].astype(dtype), data[1]
    rows, labels = torch.asarray(X), torch.asarray(y)
    model, reference = LCC().fit(rows, labels), LCC().fit(X, y)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert isinstance(model.coef_, np.ndarray)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-6)
    for method in ("predict", "decision_function", "transform"):
        answer, expected = getattr(model, method)(rows), getattr(reference, method)(X)
        assert isinstance(answer, torch.Tensor)
        assert str(answer.dtype) == f"torch.{expected.dtype}"
        np.testing.assert_allclose(answer.numpy(), expected, atol=1e-6)
    assert isinstance(model.score(rows, labels), float)
    assert model.score(rows, labels) == pytest.approx(reference.score(X, y), abs=1e-6)


@pytest.mark.array_api
def test_after_a_step_that_dispatches(torch, data):
    from sklearn.metrics import accuracy_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = data
    rows, labels = torch.asarray(X), torch.asarray(y)
    model = make_pipeline(StandardScaler(), LCC()).fit(rows, labels)
    reference = make_pipeline(StandardScaler(), LCC()).fit(X, y)
    np.testing.assert_allclose(model[-1].coef_, reference[-1].coef_, rtol=1e-7)
    predicted = model.predict(rows)
    assert isinstance(predicted, torch.Tensor)
    expected = accuracy_score(y, reference.predict(X))
    assert accuracy_score(labels, predicted) == pytest.approx(expected, abs=1e-6)


@pytest.mark.array_api
def test_cross_validated_by_scikit_learn(torch, data):
    from sklearn.model_selection import cross_val_score

    X, y = data
    here = cross_val_score(LCC(), torch.asarray(X), torch.asarray(y), cv=3)
    np.testing.assert_allclose(here, cross_val_score(LCC(), X, y, cv=3))


def public_estimators():
    import lincent
    import lincent.paper.baselines

    modules = (lincent, lincent.paper.baselines)
    things = [getattr(module, name) for module in modules for name in module.__all__]
    return [thing for thing in things if hasattr(thing, "__sklearn_tags__")]


@pytest.mark.array_api
@pytest.mark.parametrize("estimator", public_estimators(), ids=lambda kind: kind.__name__)
def test_arrays_of_another_library_are_read_as_without_dispatch(estimator, data):
    from sklearn import config_context

    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    assert not estimator().__sklearn_tags__().array_api_support
    X, y = (strict.asarray(part) for part in data)
    model = make_small(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = model.fit(*data).predict(data[0])
    with config_context(array_api_dispatch=True):
        answer = model.fit(X, y).predict(X)
    assert isinstance(answer, np.ndarray)
    np.testing.assert_array_equal(answer, expected)


@pytest.mark.array_api
def test_a_model_does_not_depend_on_the_library_of_its_rows(torch, data):
    X, y = data
    model = StructuredLCC(5).fit(torch.asarray(X), torch.asarray(y))
    assert isinstance(model.local_centers_, np.ndarray)
    scores = model.decision_function(torch.asarray(X))
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), model.decision_function(X), atol=1e-9)
