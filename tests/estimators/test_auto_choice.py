"""Members, cut and honest score from out-of-fold scores."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from lincent.estimators import auto_choice
from lincent.estimators.auto_choice import Rows, Setting, best, blend, choose_shift, measure_of

RNG = np.random.default_rng(0)
CODES = (RNG.random(300) < 0.2).astype(int)
ROWS = Rows(CODES, np.ones(300), 2)
CLASSES = np.array(["no", "yes"])
FOLDS = np.array_split(RNG.permutation(300), 5)


def setting(quality, shift=0.0, name="columns"):
    scores = (quality * (2 * CODES - 1) + RNG.normal(size=300) + shift)[:, None]
    return Setting(name, 1.0, scores, auto_choice.deviation(scores, ROWS.weight))


def test_the_measure_is_the_scorer_s():
    scores = setting(1.0).scores
    assert measure_of(None, CLASSES)(scores, ROWS) == pytest.approx(roc_auc_score(CODES, scores))
    hard = measure_of("balanced_accuracy", CLASSES)(scores, ROWS)
    assert hard == pytest.approx(balanced_accuracy_score(CODES, scores[:, 0] > 0))
    weight = RNG.uniform(0.5, 2, 300)
    weighted = measure_of("roc_auc", CLASSES)(scores, Rows(CODES, weight, 2))
    assert weighted == pytest.approx(roc_auc_score(CODES, scores, sample_weight=weight))


def test_more_classes_are_judged_by_likelihood_each_alike():
    codes = np.arange(90) % 3
    right = np.eye(3)[codes]
    measure, rows = measure_of(None, np.arange(3)), Rows(codes, np.ones(90), 3)
    assert measure(right + 0.3 * RNG.normal(size=(90, 3)), rows) > measure(
        RNG.normal(size=(90, 3)), rows
    )
    assert measure(np.zeros((90, 3)), rows) == pytest.approx(np.log(1 / 3))


def test_one_class_alone_ranks_nothing():
    assert auto_choice.ranking(np.ones((3, 1)), Rows(np.ones(3, int), np.ones(3), 2)) == 0.5


def test_whether_the_cut_matters_is_asked_of_the_scorer():
    assert auto_choice.judges_labels("accuracy", CLASSES)
    assert not auto_choice.judges_labels("roc_auc", CLASSES)
    assert not auto_choice.judges_labels(None, CLASSES)


def test_level_settings_are_taken_in_their_order():
    assert best(np.array([0.5, 0.9, 0.9, 0.1]), 3) == [1, 2, 0]
    one, two = setting(1.0), setting(1.0)
    mixed = blend([one, two], [0, 1])
    np.testing.assert_allclose(mixed, (one.scores / one.deviation + two.scores / two.deviation) / 2)


def test_a_cut_that_is_off_is_moved_and_a_good_one_is_not():
    measure = measure_of("balanced_accuracy", CLASSES)
    off = setting(1.5, shift=3.0).scores
    shift = choose_shift(off, ROWS, FOLDS, measure)
    assert shift[0] < -1.5
    assert measure(off + shift, ROWS) > measure(off, ROWS) + 0.1
    # Another cut can be better by chance; it must be by more than the error of the gain.
    noise = RNG.normal(size=(300, 1))
    assert abs(choose_shift(noise, ROWS, FOLDS, measure)[0]) < 3.0


def test_the_honest_score_of_noise_is_not_that_of_the_luckiest():
    measure = measure_of(None, CLASSES)
    lucky, honest = [], []
    for _ in range(10):
        settings = [setting(0.0) for _ in range(30)]
        lucky.append(max(measure(s.scores, ROWS) for s in settings))
        honest.append(auto_choice.honest_score(settings, ROWS, FOLDS, measure, 1, False))
    assert np.mean(lucky) > 0.57
    assert np.mean(honest) < np.mean(lucky) - 0.03
