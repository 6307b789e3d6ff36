"""One problem fitted for several C: the directions of single fits."""

import numpy as np
import pytest

from lincent import RegularizedLCC
from lincent.estimators.base import open_training
from lincent.estimators.linear import RegularizedFit
from lincent.estimators.problem import binary_tasks
from lincent.estimators.validation import check_class_weight
from lincent.solvers.solution import Controls
from support.labeled import noisy


def two_class(X, y, class_weight="balanced"):
    training = open_training(RegularizedLCC(), X, y, None)
    costs = check_class_weight(class_weight, training.classes, training.totals)
    return training.task(binary_tasks(2, "ovr")[0], costs)


@pytest.mark.parametrize("class_weight", ["balanced", None])
@pytest.mark.parametrize("free", [True, False])
def test_a_path_is_the_single_fits(class_weight, free):
    X, y = noisy()
    fit = RegularizedFit((0.0, 2.0), free, Controls(), 0)
    found = fit.directions(two_class(X, y, class_weight), (0.01, 1.0))
    for direction, C in zip(found, (0.01, 1.0), strict=True):
        single = RegularizedLCC(C, (0.0, 2.0), fit_intercept=free, class_weight=class_weight)
        single.fit(X, y)
        assert direction.solution.certificate.objective == pytest.approx(single.objective_, 1e-8)
        np.testing.assert_allclose(direction.beta, single.coef_[0], atol=1e-5)
        assert direction.intercept == pytest.approx(single.intercept_[0], abs=1e-5)


def test_a_value_that_is_not_finite_is_named():
    X, y = noisy()
    problem = two_class(X, y)
    problem.X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN"):
        RegularizedFit((0.0, 2.0), True, Controls(), 0).directions(problem, (1.0,))
