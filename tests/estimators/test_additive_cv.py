"""AdditiveLCCCV: smoothing, C and pairs by cross-validation."""

import numpy as np
import pytest

from lincent import AdditiveLCC, AdditiveLCCCV
from support.labeled import noisy


def test_the_choice_is_the_best_of_what_was_tried():
    X, y = noisy(200, 3)
    model = AdditiveLCCCV().fit(X, y)
    tried = model.cv_results_
    best = tried["score"].argmax()
    assert model.terms_.smoothing == tried["smoothing"][best]
    assert len(model.terms_.pairs) == tried["pairs"][best]
    assert set(tried["pairs"]) == {0, 1}
    single = AdditiveLCC(tried["C"][best], smoothing=model.terms_.smoothing)
    if not model.terms_.pairs:
        np.testing.assert_allclose(
            model.decision_function(X), single.fit(X, y).decision_function(X), atol=1e-5
        )


def test_a_number_of_pairs_is_kept_whatever_cross_validation_says():
    X, y = noisy(150, 4)
    assert len(AdditiveLCCCV(interactions=2).fit(X, y).terms_.pairs) == 2


@pytest.mark.parametrize(("interactions", "told"), [("many", "Got 'many'"), (-1, "interactions")])
def test_unusable_interactions_are_named(interactions, told):
    with pytest.raises(ValueError, match=told):
        AdditiveLCCCV(interactions=interactions).fit(*noisy(60, 3))
