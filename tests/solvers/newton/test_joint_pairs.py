"""The step from pairs is Newton's step."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lincent.problems.joint import JointLoss
from lincent.solvers.newton import joint
from lincent.solvers.newton.joint_pairs import pair_step


def hessian(X, codes, curved, ridge):
    """r I + sum of d a a', written out; the directions rule by rule, then the offsets."""
    (m, n), K = X.shape, curved.shape[1]
    H = np.zeros((K * (n + 1), K * (n + 1)))
    for k in range(K):
        H[k * (n + 1) : k * (n + 1) + n, k * (n + 1) : k * (n + 1) + n] = ridge * np.eye(n)
    for i in range(m):
        for k in range(K):
            a = np.kron(np.eye(K)[codes[i]] - np.eye(K)[k], np.append(X[i], 1.0))
            H += curved[i, k] * np.outer(a, a)
    return H


def test_it_solves_the_equations():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(25, 6)), np.arange(25) % 4
    curved = rng.random((25, 4)) * (rng.random((25, 4)) < 0.4)
    curved[np.arange(25), codes] = 0.0
    wanted = rng.normal(size=(7, 4))
    wanted[-1] -= wanted[-1].mean()  # a shift of all offsets changes nothing
    move = pair_step(X, codes, curved, 2.0, wanted)
    np.testing.assert_allclose(
        hessian(X, codes, curved, 2.0) @ move.T.ravel(), wanted.T.ravel(), atol=1e-9
    )


@pytest.mark.parametrize("C", [10.0, 1e4])
def test_the_optimum_is_that_of_conjugate_gradients(C, monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, w = scale(X), np.ones(len(y))
    coupling = JointLoss(y, w, np.full((3, 3), 1 / 300), -1.0, 3.0)
    found = []
    for pairs in (0, 1500):
        monkeypatch.setattr(joint, "PAIRS", pairs)
        monkeypatch.setattr(joint, "work", lambda count: 0.0)
        found.append(joint.solve_path(joint.Design(X, y, w), coupling, [C], 1e-10, 500)[0])
    assert found[1].relative_gap.max() <= 1e-10
    assert found[1].objective[0] == pytest.approx(found[0].objective[0], rel=1e-8)
