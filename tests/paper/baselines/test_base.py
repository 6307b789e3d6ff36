"""A failed or interrupted refit leaves no mixture; extreme weights and values are warned of."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from lincent.paper import baselines

KINDS = [getattr(baselines, n) for n in baselines.__all__ if hasattr(getattr(baselines, n), "fit")]


def data(classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = np.arange(100) % classes
    return X + 0.6 * y[:, None], y


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_failed_refit_keeps_the_model(kind):
    X, y = data()
    model = kind().fit(X, y)
    before, names = model.predict(X), set(vars(model))
    with pytest.raises(ValueError, match="class"):
        model.fit(X[:, :3], np.zeros(100))
    assert set(vars(model)) == names
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_interrupted_refit_is_not_a_mixture(kind, monkeypatch):
    """A signal in the middle of the numbers: either the old model or none."""
    X, y = data()
    model = kind().fit(X, y)
    before = model.predict(X)
    calls = {"left": 3}
    real = np.asarray

    def interrupting(*given, **named):
        calls["left"] -= 1
        if calls["left"] == 0:
            raise KeyboardInterrupt
        return real(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(np, "asarray", interrupting)
        try:
            model.fit(X[:, ::-1] * 5, 1 - y)
        except KeyboardInterrupt:
            pass
        else:
            pytest.skip("the fit does not pass here")
    try:
        answer = model.predict(X)
    except NotFittedError:
        return
    np.testing.assert_array_equal(answer, before)


def test_a_weight_of_a_million_millions():
    """The certificate is that of the hyperplane that is stored."""
    X, y = data()
    weight = np.ones(100)
    weight[3] = 1e12
    model = baselines.LinearSVM().fit(X, y, sample_weight=weight)
    assert model.duality_gap_ <= 1e-9
    assert model.objective_ - model.dual_objective_ <= 1e-9 * model.objective_
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    value = model.coef_[0] @ model.coef_[0] / 2 + weight @ np.maximum(1 - margin, 0)
    assert model.objective_ == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_numbers_whose_squares_overflow_are_a_sentence(kind):
    X, y = data()
    with pytest.raises(ValueError, match="overflow; correct the cell"):
        kind().fit(X * 1e300, y)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", [1e-120, 1e-20, 1e20, 1e120])
def test_no_scale_gives_nonsense_in_silence(kind, scale):
    X, y = data()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind().fit(X * scale, y)
    said = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert said or np.isfinite(model.decision_function(X * scale)).all()
