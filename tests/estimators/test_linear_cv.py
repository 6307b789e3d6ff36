"""LCCCV: the choice is the best of its table."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, get_scorer
from sklearn.model_selection import StratifiedKFold

from lincent import LCC, LCCCV
from lincent.estimators import linear_cv
from lincent.estimators.calibration import fit_softmax
from lincent.estimators.linear_cv import Candidate, FoldScores, best_candidate
from lincent.solvers.lp import path
from support.clock import Clock
from support.labeled import noisy


def single_fits(X, y, cv, params, scorer, **settings):
    """Return the scores of LCC on each fold, at a fraction of the largest feasible margin."""
    for train, test in cv.split(X, y):
        d = X[train][y[train] == 1].mean(axis=0) - X[train][y[train] == 0].mean(axis=0)
        # A hair below: at the fraction 1 the largest margin is met up to rounding only.
        margin = params["relative_margin"] * np.abs(d).sum() * (1 - 1e-13)
        single = LCC(params["C"], margin, params["discriminator"], **settings)
        yield scorer(single.fit(X[train], y[train]), X[test], y[test])


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc"])
def test_scores_are_those_of_single_fits(scoring):
    """Each entry of the table is what a plain LCC with that margin scores on that fold."""
    X, y = noisy(200)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    model = LCCCV([0.05, 0.5, 1.0], discriminators=("distance", "svm"), cv=cv, scoring=scoring)
    model.fit(X, y)
    for k, params in enumerate(model.cv_results_["params"]):
        expected = list(single_fits(X, y, cv, params, get_scorer(scoring)))
        found = [model.cv_results_[f"split{fold}_test_score"][k] for fold in range(4)]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_choice_and_refit():
    X, y = noisy(300)
    model = LCCCV(cv=3).fit(X, y)
    results = model.cv_results_
    assert model.best_score_ == np.nanmax(results["mean_test_score"])
    assert model.best_index_ == int(np.nanargmax(results["mean_test_score"]))
    assert results["rank_test_score"][model.best_index_] == 1
    assert model.best_params_ == results["params"][model.best_index_]
    assert len(results["params"]) == 15
    assert (results["relative_gap"] <= 1e-9).all()
    largest = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).sum()
    assert model.margin_ == pytest.approx(model.relative_margin_ * largest)
    single = LCC(model.C_, model.margin_, model.discriminator_).fit(X, y)
    assert model.objective_ == pytest.approx(single.objective_, rel=1e-9)
    assert (model.predict(X) == single.predict(X)).all()
    np.testing.assert_allclose(
        model.misclassification_impact(X, y), single.misclassification_impact(X, y), atol=1e-9
    )


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(strategy):
    X, y = noisy(240, classes=3)
    model = LCCCV(6, multi_class=strategy, cv=3).fit(X, y)
    assert model.margin_.shape == (3,)
    np.testing.assert_allclose(model.relative_margin_, model.relative_margin_[0])
    assert balanced_accuracy_score(y, model.predict(X)) > 0.6
    assert model.misclassification_impact(X, y).shape == (240,)


def test_callable_scoring_sees_every_point():
    X, y = noisy(150)
    seen = []

    def scorer(estimator, rows, labels):
        seen.append(estimator.margin)
        return float(np.mean(estimator.predict(rows) == labels))

    model = LCCCV(5, scoring=scorer, cv=3).fit(X, y)
    assert len(seen) == 15
    named = LCCCV(5, scoring="accuracy", cv=3).fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scoring_by_probability(scoring, classes):
    """Probabilities of held-out samples are calibrated on their labels."""
    X, y = noisy(240, 4, classes=classes)
    margins, cv = [0.01, 0.3], StratifiedKFold(3)
    settings = {"multi_class": "ovo" if classes == 3 else "ovr"}
    model = LCCCV(margins, scoring=scoring, cv=cv, **settings).fit(X, y)
    for k, margin in enumerate(margins):
        expected = []
        for train, test in cv.split(X, y):
            single = LCCCV([margin], **settings).fit(X[train], y[train])
            scores = single.decision_function(X[test]).reshape(len(test), -1)
            chance = fit_softmax(scores, y[test], np.ones(len(test))).probability(scores)
            truth = np.eye(classes)[y[test]]
            losses = {
                "neg_log_loss": -np.log((chance * truth).sum(axis=1)),
                "neg_brier_score": ((chance - truth) ** 2).sum(axis=1) / (2 if classes == 2 else 1),
            }
            expected.append(-losses[scoring].mean())
        found = model.cv_results_["mean_test_score"][k]
        assert found == pytest.approx(np.mean(expected), rel=1e-6)
    assert not hasattr(model, "predict_proba")
    model = LCCCV(margins, scoring=scoring, cv=cv, probability="sigmoid", **settings).fit(X, y)
    assert model.predict_proba(X).shape == (240, classes)


def test_scorer_of_one_s_own_by_probability():
    X, y = noisy(120)

    def sure(estimator, rows, labels):
        return float(estimator.predict_proba(rows)[np.arange(len(labels)), labels].mean())

    model = LCCCV(3, scoring=sure, cv=3).fit(X, y)
    assert 0.5 < model.best_score_ < 1


def test_parallel_folds_give_the_same():
    X, y = noisy(200)
    one, two = (LCCCV(6, cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


def test_failed_fit_keeps_the_old_model():
    X, y = noisy(100)
    model = LCCCV(4, cv=3).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(100))
    assert (model.predict(X) == before).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"margins": 0}, "'margins' parameter .* Got 0"),
        ({"margins": [0.5, 2.0]}, "above 1"),
        ({"discriminators": ()}, r"discriminators=\(\) is not usable"),
        ({"discriminators": "magic"}, "discriminators='magic' is not usable"),
        ({"probability": "sure"}, "Got 'sure'"),
        ({"Cs": [-1.0]}, "Cs=.*-1.* is not usable"),
    ],
)
def test_bad_parameters(settings, words):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=words):
        LCCCV(**settings).fit(X, y)


def test_fold_without_a_class():
    X, y = noisy(60)
    cut = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    with pytest.raises(ValueError, match="no row of class number 1"):
        LCCCV(3, cv=cut).fit(X, y)


def test_weights_enter_fits_and_scores():
    X, y = noisy(120)
    weight = np.random.default_rng(0).integers(1, 4, 120)
    fold = np.arange(120) % 3
    cut = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    again = np.repeat(np.arange(120), weight)
    cut_again = [
        (np.flatnonzero(fold[again] != k), np.flatnonzero(fold[again] == k)) for k in range(3)
    ]
    weighted = LCCCV(6, cv=cut).fit(X, y, sample_weight=weight)
    repeated = LCCCV(6, cv=cut_again).fit(X[again], y[again])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], repeated.cv_results_["mean_test_score"]
    )
    assert weighted.best_index_ == repeated.best_index_


def test_clone_keeps_the_grid():
    model = LCCCV(margins=[0.1, 1.0], Cs=(1.0, 2.0), discriminators=("svm",))
    assert clone(model).get_params() == model.get_params()


def test_a_small_class_has_fewer_folds():
    """No warning, and every fold tests both classes, where a class has fewer rows than folds."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 3)), np.repeat([0, 1], [20, 4])
    model = LCCCV().fit(X + 2 * y[:, None], y)
    splits = [key for key in model.cv_results_ if key.startswith("split")]
    assert len(splits) == 4


@pytest.fixture
def begun(monkeypatch):
    """When each solve of a search was begun, in seconds; each takes ten of a clock of its own."""
    clock, times = Clock(monkeypatch), []
    solve = path.PathSolver.solve

    def slow(self, program):
        times.append(clock.passed)
        found = solve(self, program)
        clock.pass_by(10.0)
        return found

    monkeypatch.setattr(path.PathSolver, "solve", slow)
    return times


def limited(X, y, words, **settings):
    """A search of five margins in three folds, which ends with one warning in these words."""
    with pytest.warns(ConvergenceWarning) as said:
        model = LCCCV(5, cv=3, random_state=0, **settings).fit(X, y)
    assert [words in str(one.message) for one in said] == [True]
    return model


def test_time_limit_leaves_what_was_not_begun_and_compares_on_whole_folds(begun):
    X, y = noisy(300)
    words = "time_limit=104.0 s ended the search: 5 of 5 candidates were finished, in 1 of 3 folds"
    model = limited(X, y, words, time_limit=104.0)
    # The refit has its quarter: five margins of the first fold, three of the second, then none.
    assert begun == pytest.approx(np.arange(8) * 10.0)
    free = LCCCV(5, cv=3, random_state=0).fit(X, y)
    found = model.cv_results_
    np.testing.assert_array_equal(found["split0_test_score"], free.cv_results_["split0_test_score"])
    np.testing.assert_array_equal(found["mean_test_score"], found["split0_test_score"])
    assert np.isnan(found["split1_test_score"]).tolist() == [True, True, False, False, False]
    assert np.isnan(found["split2_test_score"]).all()
    assert found["feasible"].all()
    assert model.best_index_ == np.argmax(found["split0_test_score"])
    single = LCC(margin=model.margin_).fit(X, y)
    assert model.objective_ == pytest.approx(single.objective_, rel=1e-9)


def test_time_limit_in_the_first_fold_takes_the_best_of_what_was_finished(begun):
    X, y = noisy(300)
    model = limited(X, y, "3 of 5 candidates were finished, in 1 of 3", time_limit=35.0)
    assert len(begun) == 3
    mean = model.cv_results_["mean_test_score"]
    assert np.isnan(mean).tolist() == [True, True, False, False, False]
    assert model.best_index_ == np.nanargmax(mean)
    assert model.cv_results_["relative_gap"][2:].max() <= 1e-9


def test_time_limit_is_shared_by_the_problems_of_a_fold(begun):
    """A candidate needs all three: no problem takes the time of the others."""
    X, y = noisy(240, classes=3)
    model = limited(X, y, "3 of 5 candidates were finished, in 1 of 3", time_limit=118.0)
    assert len(begun) == 9
    assert np.isfinite(model.cv_results_["split0_test_score"]).sum() == 3
    assert model.coef_.shape[0] == 3


def test_time_limit_of_no_time_begins_nothing(begun):
    X, y = noisy(300)
    words = "0 of 5 candidates were finished, and the choice is the largest margin"
    model = limited(X, y, words, time_limit=1e-9)
    assert begun == []
    assert model.best_index_ == 4
    assert np.isnan(model.best_score_)


def test_time_limit_of_no_time_still_refits(begun):
    X, y = noisy(300)
    model = limited(X, y, "0 of 5 candidates", time_limit=1e-9)
    assert begun == []
    assert model.relative_margin_ == 1.0
    assert model.duality_gap_ <= 1e-9


def test_time_limit_that_is_enough_changes_nothing(begun):
    X, y = noisy(300)
    model = LCCCV(5, cv=3, random_state=0, time_limit=1000.0).fit(X, y)
    assert len(begun) == 15
    free = LCCCV(5, cv=3, random_state=0).fit(X, y)
    for name in ("mean_test_score", "std_test_score", "relative_gap"):
        np.testing.assert_array_equal(model.cv_results_[name], free.cv_results_[name])
    np.testing.assert_array_equal(model.coef_, free.coef_)


def test_what_is_proved_goes_before_what_was_cut_short():
    scores = np.array([[0.9, 0.7, 0.6], [0.9, 0.8, 0.6]])
    gaps = np.array([[1e-3, 1e-12, 1e-12], [1e-3, 1e-12, 1e-12]])
    grid = [Candidate(2.0, margin, "distance") for margin in (0.25, 0.5, 1.0)]
    for late, best, words in (
        ([True, False, False], 1, "2 of 3 candidates were finished, in 2 of 2 folds"),
        ([True, True, True], 0, "0 of 3 candidates were finished, and the choice is the best of"),
    ):
        found = FoldScores(scores, gaps, np.array([late, late]))
        results = found.cv_results([candidate._asdict() for candidate in grid])
        assert best_candidate(grid, results) == best
        with pytest.warns(ConvergenceWarning, match=words):
            found.warn(1e-9, 1.0)


def test_a_candidate_that_could_not_be_solved_is_named(monkeypatch):
    """A step that is not a number in one fold must not move the choice in silence."""
    X, y = noisy(200)
    spoiled, solve = [], linear_cv.solve_path

    def fail_once(*given):
        table = solve(*given)
        if not spoiled:
            spoiled.append(first := table[0][0])
            nowhere = replace(first.certificate, objective=np.nan)
            table[0][0] = replace(first, certificate=nowhere)
        return table

    monkeypatch.setattr(linear_cv, "solve_path", fail_once)
    with pytest.warns(ConvergenceWarning, match="takes no part in the choice"):
        model = LCCCV(margins=3).fit(X, y)
    assert np.isnan(model.cv_results_["mean_test_score"]).sum() == 1


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc_ovr", "neg_log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_are_repetitions_in_any_order(seed, classes, scoring):
    X, y = noisy(90, 4, classes=classes, seed=seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, 90)
    settings = {"margins": 6, "scoring": scoring, "probability": "sigmoid", "random_state": 0}
    weighted = LCCCV(**settings).fit(X, y, sample_weight=weight)
    order = rng.permutation(np.repeat(np.arange(90), weight))
    repeated = LCCCV(**settings).fit(X[order], y[order])
    assert weighted.best_index_ == repeated.best_index_
    for name in ("mean_test_score", "std_test_score"):
        found, expected = (model.cv_results_[name] for model in (weighted, repeated))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for method in ("decision_function", "predict_proba"):
        found, expected = (getattr(model, method)(X) for model in (weighted, repeated))
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
