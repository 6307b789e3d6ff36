"""Names of version 0.1.0 work, and warn with the new name."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import lincent
from lincent import RegularizedLCC, RegularizedLCCCV, StructuredLCC, StructuredLCCCV
from lincent.estimators.renamed import UNUSED
from support.labeled import two_classes

RENAMED = [RegularizedLCC, RegularizedLCCCV, StructuredLCC, StructuredLCCCV]
RANGE = (-0.5, 1.5)


@pytest.mark.parametrize("kind", RENAMED)
def test_the_old_name_means_the_new_one_and_says_so(kind):
    X, y = two_classes(m=60, n=3)
    with pytest.warns(FutureWarning, match=r"Give margin_range=\(-0.5, 1.5\)"):
        old = clone(kind(margins=RANGE, random_state=0)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = kind(margin_range=RANGE, random_state=0).fit(X, y)
        other = kind(random_state=0).fit(X, y)
    np.testing.assert_array_equal(old.decision_function(X), new.decision_function(X))
    assert not np.array_equal(other.decision_function(X), new.decision_function(X))


def test_an_error_names_the_new_parameter():
    X, y = two_classes(m=20, n=2)
    with (
        pytest.warns(FutureWarning, match="margin_range"),
        pytest.raises(ValueError, match=r"margin_range=\(2, 1\)"),
    ):
        RegularizedLCC(margins=(2, 1)).fit(X, y)


def test_margins_are_the_candidates_of_a_search_and_nothing_else():
    for name in lincent.__all__:
        thing = getattr(lincent, name)
        found = inspect.signature(thing).parameters if inspect.isclass(thing) else {}
        if "margins" in found and found["margins"].default != UNUSED:
            assert name == "LCCCV"
