import numpy as np
import pytest

from lincent.paper.study import Problem


def make_problem(name="toy", n=60, seed=0, groups=None):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "b", "a")
    X = rng.standard_normal((n, 3)) + 1.5 * (y == "b")[:, None]
    return Problem(name, X, y, groups=groups)


@pytest.fixture
def problem():
    return make_problem()


@pytest.fixture
def new_problem():
    return make_problem
