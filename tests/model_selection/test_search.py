"""Cross-validated search: training folds, held-out samples, results, time limits."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold

from lincent import LCC, RegularizedLCCCV
from lincent.estimators.base import open_training
from lincent.estimators.linear_cv import (
    REFIT_FRACTION,
    Candidate,
    FoldScores,
    best_candidate,
    next_deadline,
    search_deadline,
)
from lincent.model_selection.search import (
    LinearModels,
    check_grid,
    make_training_folds,
    search_folds,
)
from lincent.solvers.solution import Controls
from support.clock import Clock
from support.labeled import noisy

da = pytest.importorskip("dask.array")
X, Y = noisy(150, 4, classes=3)
NUMBERS = np.random.default_rng(0).integers(-1, 3, 150)
MODELS = [LinearModels(None, np.arange(8.0).reshape(4, 2), np.array([0.5, -0.5]))]
GRID = [Candidate(2.0, margin, "distance") for margin in (0.1, 0.2, 0.4)]
NAN = float("nan")


def score_by(name):
    scorer = get_scorer(name)
    return lambda model, rows, labels, extra: scorer(model, rows, labels, **extra)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro", "accuracy"])
@pytest.mark.parametrize("weigh", [True, False])
def test_dask_folds_hold_out_the_samples_of_folds_in_memory(scoring, weigh):
    weight = np.random.default_rng(1).uniform(0.5, 2, 150) if weigh else None
    fitted = LCC().fit(X, Y)
    found = []
    for rows in (X, da.from_array(X, chunks=(40, 4))):
        folds = make_training_folds(open_training(LCC(), rows, Y, weight), NUMBERS)
        assert len(folds.splits) == 3
        found.append(
            [folds.score(k, [fitted], score_by(scoring), weigh, scoring)[0] for k in range(3)]
        )
    np.testing.assert_allclose(found[0], found[1])
    for k in range(3):
        held = k == NUMBERS
        extra = {"sample_weight": weight[held]} if weigh else {}
        wanted = get_scorer(scoring)(fitted, X[held], Y[held], **extra)
        assert found[0][k] == pytest.approx(wanted)


def test_splitters_see_the_labels():
    y = np.array(["d", "b", "a"])[Y]
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    found = make_training_folds(open_training(LCC(), X, y, None), splitter).splits
    for ours, theirs in zip(found, splitter.split(X, y), strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)

    class OneClass:
        def split(self, X, y=None, groups=None):
            yield np.flatnonzero(y != "?"), np.flatnonzero(y == "b")

    ((_, test),) = make_training_folds(open_training(LCC(), X, y, None), OneClass()).splits
    np.testing.assert_array_equal(test, np.flatnonzero(y == "b"))


@pytest.mark.parametrize("place", ["memory", "dask"])
def test_every_fold_tests_every_class_where_it_must(place):
    y = np.array([0] * 60 + [1] * 3)
    rows = np.random.default_rng(0).normal(size=(63, 2))
    rows = rows if place == "memory" else da.from_array(rows, chunks=(20, 2))
    training = open_training(LCC(), rows, y, None)
    assert len(make_training_folds(training, 5).splits) == 5
    assert len(make_training_folds(training, 5, every_class=True).splits) == 3
    with pytest.raises(ValueError, match="at least 2 folds"):
        make_training_folds(training, 1)


def test_training_part_is_what_is_not_held_out():
    for rows in (X, da.from_array(X, chunks=(40, 4))):
        folds = make_training_folds(open_training(LCC(), rows, Y, None), NUMBERS)
        counts = [np.bincount(Y[k != NUMBERS], minlength=3) for k in range(3)]
        for k in range(3):
            np.testing.assert_allclose(folds.train(k).totals, counts[k])


def test_folds_that_hold_nothing_out_are_refused():
    for rows in (X, da.from_array(X, chunks=(40, 4))):
        training = open_training(LCC(), rows, Y, None)
        with pytest.raises(ValueError, match="cv gives no folds"):
            make_training_folds(training, np.full(150, -1))


def test_samples_without_weight_need_not_be_held_out():
    weight = np.where(np.arange(150) < 20, 0.0, 1.0)
    folds = make_training_folds(open_training(LCC(), X, Y, weight), None)
    assert len(folds.partition(range(5))) == 5
    given = make_training_folds(open_training(LCC(), X, Y, None), NUMBERS)
    assert given.partition(range(3)) == []  # some are never held out


def training_folds(rows, cv, n_repeats=1, y=Y):
    return make_training_folds(open_training(RegularizedLCCCV(), rows, y, None), cv, n_repeats)


@pytest.mark.parametrize("cv", [None, 3, np.arange(150) % 4])
def test_hash_folds_of_dask_blocks_are_those_in_memory(cv):
    host, remote = training_folds(X, cv, 2), training_folds(da.from_array(X, chunks=(37, 4)), cv, 2)
    assert len(host.splits) == len(remote.splits)
    for split in range(len(remote.splits)):
        one, other = (folds.decision_values(split, MODELS) for folds in (host, remote))
        order = np.argsort(other.rows)
        np.testing.assert_array_equal(np.sort(one.rows), other.rows[order])
        np.testing.assert_allclose(one.scores[np.argsort(one.rows)], other.scores[order])
        np.testing.assert_allclose(host.train(split).totals, remote.train(split).totals)


def test_decision_values_are_those_of_the_mapped_samples():
    class Squares:
        columns = width = 4

        def __call__(self, rows):
            return rows**2

    model = LinearModels(Squares(), np.ones((4, 1)), np.array([1.0]))
    np.testing.assert_allclose(model(X)[:, 0], (X**2).sum(axis=1) + 1.0)
    assert model.width == 1


def test_training_part_without_a_class_is_refused():
    y = np.zeros(150, dtype=int)
    y[:5] = 1
    folds = (np.arange(150) >= 5).astype(int)
    rows = da.from_array(X, chunks=(40, 4))
    with pytest.raises(ValueError, match="have none of class"):
        RegularizedLCCCV(cv=folds).fit(rows, da.from_array(y, chunks=40))


def test_candidates_are_pruned_after_the_first_fold():
    seen = []

    def evaluate(split, candidates):
        seen.append((split, candidates))
        return split

    def run(jobs):
        return [job() for job in jobs]

    assert search_folds(3, evaluate, run) == [0, 1, 2]
    assert seen == [(0, None), (1, None), (2, None)]
    seen.clear()
    assert search_folds(3, evaluate, run, lambda first: [first + 7]) == [0, 1, 2]
    assert seen == [(0, None), (1, [7]), (2, [7])]
    assert search_folds(1, evaluate, run, lambda first: 1 / 0) == [0]


def fold_scores(scores, late=None, gaps=None):
    scores = np.array(scores)
    late = np.zeros(scores.shape, dtype=bool) if late is None else np.array(late, dtype=bool)
    return FoldScores(scores, np.zeros(scores.shape) if gaps is None else np.array(gaps), late)


def choice(results):
    return best_candidate(GRID, results.cv_results([candidate._asdict() for candidate in GRID]))


def test_the_best_mean_wins_and_ties_go_to_the_smaller_margin():
    assert choice(fold_scores([[0.5, 0.9, 0.6], [0.5, 0.7, 0.6]])) == 1
    assert choice(fold_scores([[0.8, 0.8, 0.7], [0.8, 0.8, 0.7]])) == 0


def test_a_point_without_a_solution_in_some_fold_is_not_chosen():
    results = fold_scores([[0.5, 0.6, NAN], [0.5, 0.6, 0.99]])
    assert choice(results) == 1
    table = results.cv_results([candidate._asdict() for candidate in GRID])
    np.testing.assert_array_equal(table["feasible"], [True, True, False])
    np.testing.assert_array_equal(table["rank_test_score"], [2, 1, 3])


def test_points_are_compared_on_the_folds_that_finished_the_most():
    late = [[0, 0, 0], [0, 1, 1]]
    results = fold_scores([[0.5, 0.9, 0.6], [0.5, NAN, NAN]], late)
    np.testing.assert_array_equal(results.folds, [True, False])
    assert choice(results) == 1
    with pytest.warns(ConvergenceWarning, match="3 of 3 candidates were finished, in 1 of 2 folds"):
        results.warn(1e-9, 5.0)


def test_where_nothing_was_scored_the_largest_margin_is_taken():
    results = fold_scores([[NAN] * 3] * 2, [[1] * 3] * 2)
    assert choice(results) == 2
    with pytest.warns(ConvergenceWarning, match="the choice is the largest margin"):
        results.warn(1e-9, 5.0)


def test_no_feasible_margin_is_an_error():
    with pytest.raises(ValueError, match="No margin of the grid is feasible"):
        choice(fold_scores([[NAN] * 3] * 2))


def test_points_that_are_not_certified_are_counted():
    gaps = [[0, 1e-3, 0], [0, 0, 0]]
    with pytest.warns(ConvergenceWarning, match="1 of 3 points of the search are not certified"):
        fold_scores([[0.5] * 3] * 2, gaps=gaps).warn(1e-9, None)


def test_grids_are_positive_numbers():
    np.testing.assert_array_equal(check_grid("Cs", 2), [2.0])
    for wrong in ([], [[1.0]], [0.0], [-1.0], [np.inf]):
        with pytest.raises(ValueError, match="Cs"):
            check_grid("Cs", wrong)
    with pytest.raises(ValueError, match="Cs='a' is not usable"):
        check_grid("Cs", "a")
    assert check_grid("Cs", [np.inf], infinite=True)[0] == np.inf


def test_part_of_the_time_is_reserved_for_the_refit():
    limits = Controls(deadline=110.0)
    assert search_deadline(limits, 10.0) == 110.0 - REFIT_FRACTION * 100.0
    assert search_deadline(Controls(), 10.0) == np.inf


def test_time_a_path_does_not_need_goes_to_those_after_it(monkeypatch):
    clock = Clock(monkeypatch)
    ends = clock.now + 90.0
    assert next_deadline(ends, 3) == pytest.approx(clock.now + 30.0)
    clock.pass_by(10.0)
    assert next_deadline(ends, 2) == pytest.approx(clock.now + 40.0)
    clock.pass_by(70.0)  # too long: what is left is for the last
    assert next_deadline(ends, 1) == pytest.approx(clock.now + 10.0)
    clock.pass_by(20.0)
    assert next_deadline(ends, 1) < clock.now


def test_without_a_limit_no_path_ends(monkeypatch):
    Clock(monkeypatch)
    assert next_deadline(np.inf, 2) == np.inf
