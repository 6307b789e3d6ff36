"""Training data of any source, and their binary subproblems."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse as sp

from lincent import FQCC, LCC, LCCCV, RegularizedLCC
from lincent.estimators.base import open_training
from lincent.estimators.problem import BinaryProblem, binary_tasks
from lincent.estimators.validation import check_class_weight
from support.samples import three_classes, two_classes


def on_torch(X):
    return pytest.importorskip("torch").asarray(X)


PLACES = {
    "memory": lambda X: X,
    "sparse": sp.csr_array,
    "dask": lambda X: da.from_array(X, chunks=(23, X.shape[1])),
    "device": on_torch,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_every_place_gives_the_same_problems(place, strategy):
    X, y = three_classes(n=4)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    weights = {"a": 1.0, "b": 2.0, "c": 5.0}
    y = np.array(["a", "b", "c"])[np.unique(y, return_inverse=True)[1]]

    def problems(rows):
        training = open_training(LCC(), rows, y, weight)
        costs = check_class_weight(weights, training.classes, training.totals)
        assert training.shape == X.shape
        assert training.weighted
        return [training.task(task, costs) for task in binary_tasks(3, strategy)]

    for found, expected in zip(problems(PLACES[place](X)), problems(X), strict=True):
        assert found.name == expected.name
        np.testing.assert_allclose(found.importance, expected.importance)
        np.testing.assert_allclose(found.means + found.offset, expected.means, atol=1e-12)
        counted = expected.weight > 0
        sign, cost = found.source.namespace.fetch(found.sign), np.asarray(found.cost)
        if place != "dask":  # blocks leave out rows without weight
            sign, cost = sign[counted], cost[counted]
        np.testing.assert_array_equal(np.asarray(sign), expected.sign[counted])
        np.testing.assert_allclose(cost, expected.cost[counted])


def test_problems_have_names():
    training = open_training(LCC(), *three_classes(), None)
    costs = check_class_weight(None, training.classes, training.totals)
    one, other = (training.task(binary_tasks(3, way)[0], costs) for way in ("ovr", "ovo"))
    labels = training.classes.tolist()
    assert one.name == f"class {labels[0]!r} against the rest"
    assert other.name == f"class {labels[0]!r} against class {labels[1]!r}"
    assert training.task(binary_tasks(3, "ovo")[0], costs, "fold 2").name.endswith(", fold 2")


def test_rows_without_weight_can_be_left_out():
    X, y = two_classes()
    weight = np.ones(len(y))
    weight[::3] = 0
    problem = BinaryProblem(X, np.where(y == y[0], -1.0, 1.0), weight, weight)
    assert len(problem.drop_zero_weight().weight) == np.count_nonzero(weight)
    np.testing.assert_allclose(problem.drop_zero_weight().means, problem.means)


@pytest.mark.parametrize("place", [0, 30])
def test_a_large_sample_of_weight_zero_does_not_count(place):
    """Beside data of size 1e-15 its range once made the class centers one."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = 1e-15 * (rng.normal(size=(60, 3)) + 0.7 * y[:, None])
    expected = LCC(margin=1e-16).fit(X, y)
    more, labels = np.insert(X, place, 1.0, axis=0), np.insert(y, place, 0)
    weight = np.insert(np.ones(60), place, 0.0)
    model = LCC(margin=1e-16).fit(more, labels, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert model.duality_gap_ < 1e-9


# Scores of rows that far away are rough, which fit says; the optimum is not.
@pytest.mark.filterwarnings("ignore:X is so far from zero")
class TestOffsets:
    """A shift of X changes nothing, also where it is large: x - origin is exact in doubles."""

    @staticmethod
    def shifted_data(offset, n=4):
        rng = np.random.default_rng(0)
        A = rng.standard_normal((300, n))
        y = np.arange(300) % 2
        A[y == 1] += 0.3
        far = A + offset
        return far, far - offset, y  # the last two hold the same numbers exactly

    @pytest.mark.parametrize("offset", [1e6, 1e8, 2.0**40])
    @pytest.mark.parametrize(
        "model",
        [LCC(), LCCCV(), FQCC(), RegularizedLCC(), LCC(probability="sigmoid"),
         LCC(discriminator="svm"), LCC(discriminator="nearest"), LCC(class_weight={0: 1, 1: 2})],
        ids=str,
    )  # fmt: skip
    def test_in_memory(self, model, offset):
        far, near, y = self.shifted_data(offset)
        assert np.array_equal(far, near + offset)
        shifted, plain = model.fit(far, y).coef_.copy(), model.fit(near, y)
        # Weights of the same rows in another order of rounding: the optimum to tol.
        np.testing.assert_allclose(shifted, plain.coef_, atol=2e-9 * np.abs(plain.coef_).max())
        again = model.fit(far, y)
        np.testing.assert_allclose(again.objective_, plain.fit(near, y).objective_, rtol=1e-12)

    @pytest.mark.parametrize("place", ["dask", "device"])
    def test_remote_data(self, place):
        far, near, y = self.shifted_data(1e8)
        found = LCC().fit(PLACES[place](far), y)
        plain = LCC().fit(near, y)
        np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-12)
        np.testing.assert_allclose(found.centers_ - 1e8, plain.centers_, atol=1e-7)

    def test_a_column_with_a_large_mean_is_not_constant(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], 50)
        z = rng.normal(size=(100, 1)) * 0.1 + 0.3 * y[:, None]
        model = LCC(margin=1e-3).fit(z + 1e10, y)
        assert model.score(z + 1e10, y) > 0.9
        line = (z + 1e10 - model.centers_.mean(axis=0)) @ model.coef_[0]
        slack = np.maximum(model.margin - np.where(y == 1, 1, -1) * line, 0)
        width = float((model.centers_[1] - model.centers_[0]) @ model.coef_[0])
        objective = -width + model.C * (slack.sum() - model.margin * len(y))
        np.testing.assert_allclose(objective, model.objective_, rtol=1e-4)

    @pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e10 / 3])
    @pytest.mark.parametrize("place", PLACES)
    def test_a_constant_column_has_no_coefficient(self, value, place):
        X, y = two_classes()
        wide = np.column_stack([X, np.full(len(y), value)])
        model = LCC().fit(PLACES[place](wide), y)
        assert model.coef_[0, -1] == 0
        plain = LCC().fit(X, y)
        np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-9)
