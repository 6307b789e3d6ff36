"""What a search found, and what is chosen from it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer

from lincent.estimators.cv_table import (
    Candidate,
    Found,
    asks_probabilities,
    best_candidate,
    check_grid,
    tabulate,
    takes_weights,
)

GRID = [Candidate(2.0, margin, "distance") for margin in (0.1, 0.2, 0.4)]
NAN = float("nan")


def found(scores, late=None, gaps=None):
    scores = np.array(scores)
    late = np.zeros(scores.shape, dtype=bool) if late is None else np.array(late, dtype=bool)
    return Found(scores, np.zeros(scores.shape) if gaps is None else np.array(gaps), late)


def choice(results, usable=None, selection="best"):
    usable = results.points if usable is None else usable
    return best_candidate(GRID, tabulate(GRID, False, results), usable, 2, selection)


def test_the_best_mean_wins_and_ties_go_to_the_smaller_margin():
    assert choice(found([[0.5, 0.9, 0.6], [0.5, 0.7, 0.6]])) == 1
    assert choice(found([[0.8, 0.8, 0.7], [0.8, 0.8, 0.7]])) == 0


def test_one_standard_error_takes_the_largest_margin_within_it():
    results = found([[0.90, 0.88, 0.5], [0.70, 0.68, 0.5]])
    assert choice(results) == 0
    assert choice(results, selection="one-standard-error") == 1


def test_a_point_without_a_solution_in_some_fold_is_not_chosen():
    results = found([[0.5, 0.6, NAN], [0.5, 0.6, 0.99]])
    np.testing.assert_array_equal(results.infeasible, [False, False, True])
    assert choice(results) == 1
    table = tabulate(GRID, False, results)
    np.testing.assert_array_equal(table["feasible"], [True, True, False])
    np.testing.assert_array_equal(table["rank_test_score"], [2, 1, 3])


def test_points_are_compared_on_the_folds_that_finished_the_most():
    late = [[0, 0, 0], [0, 1, 1]]
    results = found([[0.5, 0.9, 0.6], [0.5, NAN, NAN]], late)
    np.testing.assert_array_equal(results.folds, [True, False])
    assert choice(results) == 1
    with pytest.warns(ConvergenceWarning, match="3 of 3 candidates were finished, in 1 of 2 folds"):
        results.warn(1e-9, 5.0)


def test_where_nothing_was_scored_the_largest_margin_is_taken():
    results = found([[NAN] * 3] * 2, [[1] * 3] * 2)
    assert choice(results, usable=np.ones(3, dtype=bool)) == 2
    with pytest.warns(ConvergenceWarning, match="the choice is the largest margin"):
        results.warn(1e-9, 5.0)


def test_no_feasible_margin_is_a_sentence():
    with pytest.raises(ValueError, match="No margin of the grid is feasible"):
        choice(found([[NAN] * 3] * 2))


def test_points_that_are_not_certified_are_counted():
    gaps = [[0, 1e-3, 0], [0, 0, 0]]
    with pytest.warns(ConvergenceWarning, match="1 of 3 points of the search are not certified"):
        found([[0.5] * 3] * 2, gaps=gaps).warn(1e-9, None)


def test_grids_are_positive_numbers():
    np.testing.assert_array_equal(check_grid("Cs", 2), [2.0])
    for wrong in ([], [[1.0]], [0.0], [-1.0], [np.inf]):
        with pytest.raises(ValueError, match="Cs"):
            check_grid("Cs", wrong)
    assert check_grid("Cs", [np.inf], infinite=True)[0] == np.inf


def test_what_a_scorer_asks_for():
    from sklearn.metrics import brier_score_loss, get_scorer

    assert asks_probabilities(get_scorer("neg_log_loss"))
    assert asks_probabilities(make_scorer(brier_score_loss, response_method="predict_proba"))
    assert not asks_probabilities(get_scorer("roc_auc"))
    assert not asks_probabilities(lambda model, X, y: X["column"])
    assert not takes_weights(lambda model, X, y: 0.0)
    assert takes_weights(lambda model, X, y, sample_weight=None: 0.0)
