"""Fixtures: the problems of the baselines."""

import pytest

from support.baseline_problems import REAL, SHAPES, random_problem, real_problem


@pytest.fixture(params=[*range(len(SHAPES)), *REAL], ids=[*map(str, SHAPES), *REAL])
def problem(request):
    """X and y in {-1, 1}."""
    if isinstance(request.param, str):
        return real_problem(request.param)
    return random_problem(*SHAPES[request.param], seed=request.param)


@pytest.fixture(params=range(4), ids=[*map(str, SHAPES[:4])])
def tall_problem(request):
    """The random problems with more rows than columns."""
    return random_problem(*SHAPES[request.param], seed=request.param)
