"""Answers of models of tables are read off the same scores, whichever model it is."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lincent import AdditiveLCC, AutoLCC

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", [AdditiveLCC(), AutoLCC(feature_maps=["columns"])])
def test_labels_and_decisions_are_those_of_the_scores(model, classes):
    rows = Y > 0 if classes == 2 else Y >= 0
    model.fit(X[rows], Y[rows])
    decisions = model.decision_function(X)
    assert decisions.shape == ((150,) if classes == 2 else (150, 3))
    codes = (decisions > 0).astype(int) if classes == 2 else decisions.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[codes])
    assert model.score(X[rows], Y[rows]) == np.mean(model.predict(X[rows]) == Y[rows])


def test_a_cut_that_was_moved_moves_labels_and_not_probabilities():
    rows = Y > 0
    model = AutoLCC(feature_maps=["columns"]).fit(X[rows], Y[rows])
    decisions, chances = model.decision_function(X), model.predict_proba(X)
    model._shift = model._shift + 1.0
    np.testing.assert_allclose(model.decision_function(X), decisions + 1.0)
    np.testing.assert_array_equal(model.predict_proba(X), chances)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(chances))
