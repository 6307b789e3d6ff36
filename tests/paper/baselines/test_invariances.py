"""What must not change the answer: labels, order, scale, storage, repetition."""

import numpy as np
import pytest

from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
    column_mean_auc,
)

ALL = [
    RegularizedLDA(),
    LinearSVM(tol=1e-10),
    DiscriminativeLeastSquares(),
    DiscriminativeLeastSquares(discriminator="1nn"),
    MinimaxProbabilityMachine(1e-6),
    StructuralMPM(1),
    TwinSVC(tol=1e-12),
    WeightedTwinSVC(c1=10.0, c2=10.0),
    DiscriminativeElasticNet(tol=1e-13),
    DiscriminativeElasticNet(nuclear=0.0),
]
WEIGHTED = [model for model in ALL if not isinstance(model, StructuralMPM)]
PLANES = (TwinSVC, WeightedTwinSVC)
MINIMAX = (MinimaxProbabilityMachine, StructuralMPM)
# Of the order of the square root of the optimality gap: scores move more than objectives.
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def by_name(model):
    return repr(model)


@pytest.mark.parametrize("model", ALL, ids=by_name)
def test_label_swap_flips_the_sign(model, problem):
    X, y = problem
    np.testing.assert_allclose(
        model.fit(X, -y).decision_function(X), -model.fit(X, y).decision_function(X), **CLOSE
    )


@pytest.mark.parametrize("model", ALL, ids=by_name)
def test_row_order_does_not_matter(model, problem):
    X, y = problem
    order = np.random.default_rng(5).permutation(len(X))
    np.testing.assert_allclose(
        model.fit(X[order], y[order]).decision_function(X),
        model.fit(X, y).decision_function(X),
        **CLOSE,
    )


@pytest.mark.parametrize("model", WEIGHTED, ids=by_name)
def test_a_weight_counts_repetitions(model, problem):
    X, y = problem
    count = np.random.default_rng(6).integers(0, 4, size=len(X))
    count[np.flatnonzero(y > 0)[:3]] = 1
    count[np.flatnonzero(y < 0)[:3]] = 2
    np.testing.assert_allclose(
        model.fit(X, y, sample_weight=count).decision_function(X),
        model.fit(np.repeat(X, count, axis=0), np.repeat(y, count)).decision_function(X),
        **CLOSE,
    )


def test_structural_machine_offers_no_weights(tall_problem):
    X, y = tall_problem
    with pytest.raises(TypeError, match="sample_weight"):
        StructuralMPM().fit(X, y, sample_weight=np.ones(len(X)))


# Twin planes have a penalized intercept, so they alone may see a shift.
@pytest.mark.parametrize("model", [m for m in ALL if not isinstance(m, PLANES)], ids=by_name)
def test_shift_of_the_features(model, tall_problem):
    X, y = tall_problem
    np.testing.assert_allclose(
        model.fit(X + 3.0, y).decision_function(X + 3.0),
        model.fit(X, y).decision_function(X),
        **CLOSE,
    )


@pytest.mark.parametrize("model", ALL, ids=by_name)
def test_rotation_of_the_features(model, tall_problem):
    X, y = tall_problem
    if isinstance(model, RegularizedLDA):
        model = RegularizedLDA(shrinkage=0.0)  # the diagonal turns with the features
    Q, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(X.shape[1],) * 2))
    np.testing.assert_allclose(
        model.fit(X @ Q, y).decision_function(X @ Q), model.fit(X, y).decision_function(X), **CLOSE
    )


# The ridge of the minimax machines is a multiple of the mean variance, which zeros lower.
@pytest.mark.parametrize("model", [m for m in ALL if not isinstance(m, MINIMAX)], ids=by_name)
def test_columns_of_zeros_change_nothing(model, tall_problem):
    # With so many columns the problem is solved in the space of the rows: both sides must agree.
    X, y = tall_problem
    wide = np.hstack([X, np.zeros((len(X), len(X) + 5))])
    np.testing.assert_allclose(
        model.fit(wide, y).decision_function(wide), model.fit(X, y).decision_function(X), **CLOSE
    )


def test_mpm_under_any_affine_map(tall_problem):
    X, y = tall_problem
    rng = np.random.default_rng(8)
    mapped = X @ (np.eye(X.shape[1]) + 0.5 * rng.normal(size=(X.shape[1],) * 2)) + 2.0
    model = MinimaxProbabilityMachine(ridge=0.0)
    np.testing.assert_allclose(
        model.fit(mapped, y).decision_function(mapped),
        model.fit(X, y).decision_function(X),
        rtol=1e-6,
        atol=1e-8,
    )


def test_nearest_neighbor_rule_is_perfect_on_its_own_rows(problem):
    X, y = problem
    _, first = np.unique(X, axis=0, return_index=True)
    model = DiscriminativeLeastSquares(discriminator="1nn").fit(X[first], y[first])
    assert model.score(X[first], y[first]) == 1.0


def test_nearest_neighbor_rule_is_scikit_learn_s(problem):
    from sklearn.neighbors import KNeighborsClassifier

    X, y = problem
    half = np.arange(len(X)) % 2 == 0
    model = DiscriminativeLeastSquares(discriminator="1nn").fit(X[half], y[half])
    oracle = KNeighborsClassifier(1).fit(model.responses(X[half]), y[half])
    np.testing.assert_array_equal(model.predict(X), oracle.predict(model.responses(X)))


def test_column_mean_score(tall_problem):
    X, y = tall_problem
    model = DiscriminativeElasticNet().fit(X, y)
    high, low = (model.responses(X) > 0)[:, 1], (model.responses(X) > 0)[:, 0]
    rate = [np.mean(high[y > 0]), np.mean(~high[y < 0]), np.mean(low[y < 0]), np.mean(~low[y > 0])]
    assert column_mean_auc(model, X, y) == pytest.approx(np.mean(rate))


@pytest.mark.parametrize("model", ALL, ids=by_name)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_many_classes(model, n_classes):
    rng = np.random.default_rng(9)
    y = np.arange(40 * n_classes) % n_classes
    X = rng.normal(size=(len(y), 5))
    X[np.arange(len(y)), y] += 4
    scores = model.fit(X, y).decision_function(X)
    assert scores.shape == ((len(y),) if n_classes == 2 else (len(y), n_classes))
    # Nearest planes are no good for blobs; they still must do much better than chance.
    assert model.score(X, y) > (0.6 if isinstance(model, PLANES) else 0.9)


def test_lda_of_many_classes_is_the_bayes_rule():
    rng = np.random.default_rng(10)
    y = np.repeat([0, 1, 2], [20, 40, 60])
    X = rng.normal(size=(120, 4)) + rng.normal(size=(3, 4))[y]
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    rows = X - means[y]
    S = rows.T @ rows / 117
    S = (S + np.diag(np.diag(S))) / 2
    inverse = np.linalg.inv(S)
    density = [
        -0.5 * np.einsum("ij,jk,ik->i", X - mean, inverse, X - mean) + np.log(share)
        for mean, share in zip(means, np.bincount(y) / 120, strict=True)
    ]
    scores = RegularizedLDA().fit(X, y).decision_function(X)
    expected = np.stack(density, axis=1)
    np.testing.assert_allclose(
        scores - scores[:, :1], expected - expected[:, :1], rtol=1e-8, atol=1e-9
    )


def test_structural_machine_merges_components_that_no_plane_separates():
    # The positive class lies on both sides of the negative one.
    rng = np.random.default_rng(11)
    X = np.concatenate([rng.normal(size=60), rng.normal(size=60) - 9, rng.normal(size=60) + 10])
    y = np.repeat([0, 1, 1], 60)
    model = StructuralMPM(random_state=0).fit(X[:, None], y)
    assert model.n_components_.tolist() == [[1, 1]]
    plain = MinimaxProbabilityMachine(model.ridge).fit(X[:, None], y)
    assert model.kappa_ == pytest.approx(plain.kappa_)
