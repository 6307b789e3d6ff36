"""Parts to train on and rows held out, in memory and in blocks."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from lincent import LCC
from lincent.estimators.cv_data import Answered, RowsElsewhere, open_folds
from lincent.estimators.problem import open_training
from support.labeled import noisy

da = pytest.importorskip("dask.array")
X, Y = noisy(150, 4, classes=3)
NUMBERS = np.random.default_rng(0).integers(-1, 3, 150)


def measure_by(name):
    scorer = get_scorer(name)
    return lambda model, rows, labels, extra: scorer(model, rows, labels, **extra)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", "accuracy"])
@pytest.mark.parametrize("weigh", [True, False])
def test_blocks_hold_out_the_rows_of_memory(scoring, weigh):
    weight = np.random.default_rng(1).uniform(0.5, 2, 150)
    fitted = LCC().fit(X, Y)
    found = []
    for rows in (X, da.from_array(X, chunks=(40, 4))):
        folds = open_folds(open_training(LCC(), rows, Y, weight), NUMBERS, weigh, scoring)
        assert folds.n_splits == 3
        found.append([folds.scores(k, [fitted], measure_by(scoring))[0] for k in range(3)])
    np.testing.assert_allclose(found[0], found[1])
    for k in range(3):
        held = k == NUMBERS
        extra = {"sample_weight": weight[held]} if weigh else {}
        wanted = get_scorer(scoring)(fitted, X[held], Y[held], **extra)
        assert found[0][k] == pytest.approx(wanted)


@pytest.mark.parametrize("folds", [2, 3, 5])
@pytest.mark.parametrize("classes", [2, 4])
def test_folds_are_those_of_scikit_learn(folds, classes):
    rng = np.random.default_rng(folds)
    y = np.array(["d", "b", "a", "c"])[rng.permutation(np.arange(83) ** 2 % 31 % classes)]
    rows = rng.normal(size=(83, 2))
    found = open_folds(open_training(LCC(), rows, y, None), folds, False, "accuracy").splits
    for ours, theirs in zip(found, StratifiedKFold(folds).split(rows, y), strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_folds_that_scikit_learn_complains_about_are_its_own():
    y = np.array([0] * 60 + [1] * 3)
    training = open_training(LCC(), np.random.default_rng(0).normal(size=(63, 2)), y, None)
    with pytest.warns(UserWarning, match="least populated class"):
        assert open_folds(training, 5, False, "accuracy").n_splits == 5
    with pytest.raises(ValueError, match="at least one"):
        open_folds(training, 1, False, "accuracy")


def test_a_part_is_what_is_not_held_out():
    for rows in (X, da.from_array(X, chunks=(40, 4))):
        folds = open_folds(open_training(LCC(), rows, Y, None), NUMBERS, False, "accuracy")
        counts = [np.bincount(Y[k != NUMBERS], minlength=3) for k in range(3)]
        for k in range(3):
            np.testing.assert_allclose(folds.part(k).totals, counts[k])
        assert folds.each(lambda k: k * k, None) == [0, 1, 4]


def test_rows_that_stay_in_their_blocks_cannot_be_looked_at():
    held = RowsElsewhere(7)
    assert len(held) == 7
    with pytest.raises(TypeError, match="stay in their Dask partitions"):
        held[0]


def test_known_answers_are_a_fitted_model():
    scores = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1]])
    model = Answered(np.array(["a", "b", "c"]), scores)
    np.testing.assert_array_equal(model.predict(RowsElsewhere(2)), ["b", "a"])
    np.testing.assert_array_equal(
        Answered(model.classes_, scores, [2, 2]).predict(None), ["c", "c"]
    )


def test_folds_that_hold_nothing_out_are_refused():
    training = open_training(LCC(), da.from_array(X, chunks=(40, 4)), Y, None)
    with pytest.raises(ValueError, match="every row has the fold number -1"):
        open_folds(training, np.full(150, -1), False, "accuracy")
