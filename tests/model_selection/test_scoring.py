"""Scoring of decision values and of fitted models."""

import numpy as np
import pytest

from lincent.model_selection.scoring import PrecomputedScores, RemoteSamples, takes_weights


def test_remote_samples_cannot_be_looked_at():
    held = RemoteSamples(7)
    assert len(held) == 7
    with pytest.raises(TypeError, match="stay in their Dask partitions"):
        held[0]


def test_precomputed_scores_are_a_fitted_model():
    scores = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1]])
    model = PrecomputedScores(np.array(["a", "b", "c"]), scores)
    np.testing.assert_array_equal(model.predict(RemoteSamples(2)), ["b", "a"])
    np.testing.assert_array_equal(
        PrecomputedScores(model.classes_, scores, [2, 2]).predict(None), ["c", "c"]
    )


def test_whether_a_scorer_takes_weights():
    assert not takes_weights(lambda model, X, y: 0.0)
    assert takes_weights(lambda model, X, y, sample_weight=None: 0.0)
