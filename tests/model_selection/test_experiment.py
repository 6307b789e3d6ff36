"""One run: how samples are split, what is scored, and that nothing leaks from the test part."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from lincent.estimators.linear import LCC
from lincent.model_selection import Problem, find_method, plan_runs
from lincent.model_selection.experiment import (
    METRICS,
    decision_values,
    measure,
    relative_gap,
    score_model,
)

Y = np.array(["a"] * 50 + ["b"] * 20)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 3 == 0, "b", "a")
    return Problem("toy", rng.standard_normal((60, 3)) + 1.5 * (y == "b")[:, None], y)


def split(y, number, *arguments, groups=None):
    return Problem("y", np.zeros((len(y), 1)), y, groups=groups).split(number, *arguments)


def measured(problem, code, *arguments, split=0, **options):
    plan = plan_runs([problem], [code], *arguments, **options)
    (run,) = [run for run in plan.runs if run.split == split]
    return measure(run, problem, *plan.methods.values())


def test_holdout_takes_thirty_percent_of_each_class():
    train, test = split(Y, 3)
    assert sorted(np.concatenate([train, test])) == list(range(70))
    assert (Y[test] == "a").sum() == 15
    assert (Y[test] == "b").sum() == 6


def test_split_depends_on_number_and_seed_only():
    def test_part(number, seed):
        return split(Y, number, "holdout", seed)[1]

    assert np.array_equal(test_part(5, 1), test_part(5, 1))
    assert not np.array_equal(test_part(5, 1), test_part(6, 1))
    assert not np.array_equal(test_part(5, 1), test_part(5, 2))


def test_folds_cover_every_sample_once():
    tests = [split(Y, k, "folds")[1] for k in range(10)]
    assert sorted(np.concatenate(tests)) == list(range(70))
    assert all((Y[test] == "b").sum() == 2 for test in tests)


@pytest.mark.parametrize("number", range(5))
def test_groups_stay_together(number):
    groups = np.arange(70) // 3
    for procedure in ("holdout", "folds"):
        train, test = split(Y, number, procedure, groups=groups)
        assert not set(groups[train]) & set(groups[test])
    train, test = split(Y, number, groups=groups)
    assert set(Y[test]) == set(Y[train]) == {"a", "b"}


def test_few_groups_still_split():
    train, test = split(np.tile(["a", "b"], 30), 0, groups=np.arange(60) // 20)
    assert len(train) == 40
    assert len(test) == 20


def test_a_class_in_one_group_cannot_be_split():
    y = np.repeat(["a", "b"], 20)
    with pytest.raises(ValueError, match="No split by group"):
        split(y, 0, groups=np.repeat([0, 1, 2, 3], [7, 7, 6, 20]))


def test_numbers_of_splits_are_checked(problem):
    with pytest.raises(ValueError, match="1 or more, got 0"):
        plan_runs([problem], ["LCC"], n_splits=0)
    with pytest.raises(ValueError, match="n_splits=11 are too many"):
        plan_runs([problem], ["LCC"], "folds", n_splits=11)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [2, 4])
def test_all_metrics_agree_with_scikit_learn(seed, k):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((80, 3)), 1)  # ties in the scores
    y = np.array(list("pqrs"))[rng.integers(0, k, 80)]
    model = LogisticRegression().fit(X[:40], y[:40])
    scores = score_model(model, X, y)
    predicted = model.predict(X)
    assert set(scores) == set(METRICS)
    assert scores["accuracy"] == pytest.approx(reference.accuracy_score(y, predicted))
    assert scores["balanced_accuracy"] == pytest.approx(
        reference.balanced_accuracy_score(y, predicted)
    )
    assert scores["mcc"] == pytest.approx(reference.matthews_corrcoef(y, predicted))
    hard = [reference.roc_auc_score(y == a, predicted == a) for a in np.unique(y)]
    assert scores["hard_auc"] == pytest.approx(np.mean(hard))
    if k == 2:
        assert scores["hard_auc"] == pytest.approx(scores["balanced_accuracy"])
    probability = model.predict_proba(X)
    expected = reference.roc_auc_score(
        y, probability[:, 1] if k == 2 else probability, multi_class="ovr"
    )
    assert scores["score_auc"] == pytest.approx(expected)


def test_degenerate_predictions_have_defined_scores():
    def scores_of(y, predicted, classes):
        model = SimpleNamespace(predict=lambda X: np.array(predicted), classes_=np.array(classes))
        return score_model(model, None, np.array(y))

    always = scores_of([0, 1, 1], [1, 1, 1], [0, 1])
    assert always["hard_auc"] == 0.5
    assert always["mcc"] == 0.0
    assert np.isnan(always["score_auc"])  # there is no decision function
    assert scores_of(["a", "b"], ["c", "c"], ["a", "c"])["balanced_accuracy"] == 0.0


def test_probabilities_of_two_classes_become_one_score():
    class Probable:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.array([[0.9, 0.1], [0.2, 0.8]])

    assert decision_values(Probable(), None).tolist() == pytest.approx([-0.8, 0.6])


def test_paper_scoring_replaces_only_the_papers_number():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    scores = score_model(LogisticRegression().fit(X, y), X, y, lambda *_: 0.123)
    assert scores["paper_auc"] == 0.123
    assert scores["hard_auc"] == 1.0


def test_same_scores_as_by_hand(problem):
    row = measured(problem, "LCC", n_splits=2, split=1)
    train, test = problem.split(1)
    scaler = StandardScaler().fit(problem.X[train])
    model = LCC().fit(scaler.transform(problem.X[train]), problem.y[train])
    predicted = model.predict(scaler.transform(problem.X[test]))
    assert row["test_paper_auc"] == pytest.approx(
        reference.balanced_accuracy_score(problem.y[test], predicted)
    )
    assert np.isfinite(row["test_score_auc"])


def test_a_classifier_of_whole_numbers_is_measured_on_names(problem):
    class Codes(DecisionTreeClassifier):
        """Like XGBoost, which takes the classes 0, 1, ... only, and CatBoost, with its columns."""

        def fit(self, X, y):
            assert np.unique(y).tolist() == [*range(len(np.unique(y)))]
            return super().fit(X, y)

        def predict(self, X):
            return super().predict(X)[:, None]

    assert problem.y.dtype.kind == "U"
    row = measured(problem, Codes(random_state=0), n_splits=1)
    assert (row["status"], row["train_accuracy"], row["train_score_auc"]) == ("ok", 1.0, 1.0)
    assert row["test_accuracy"] > 0.5


def test_nested_selection_does_not_see_the_test_samples(problem):
    train, test = problem.split(0)
    X = problem.X.copy()
    X[test] = 1e6  # would spoil every scale and every choice
    spoiled = replace(problem, X=X, digest="")
    rows = [measured(p, "SVC-RBF", "nested", n_splits=1) for p in (problem, spoiled)]
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert rows[0]["chosen"] == rows[1]["chosen"] != ""
    assert rows[0]["train_score_auc"] == rows[1]["train_score_auc"]
    assert rows[0]["test_accuracy"] != rows[1]["test_accuracy"]
    assert len(train) == rows[0]["n_train"]


@pytest.mark.parametrize("code", ["AutoLCC", "StructuredLCCCV"])
def test_what_an_estimator_searches_itself_is_not_a_parameter_to_set(problem, code):
    """The parameters go into a ``lincent fit`` command, which would refuse them."""
    assert measured(problem, code, n_splits=1)["chosen"] == ""


@pytest.mark.parametrize("code", ["LogReg", "sk-LDA"])  # with a grid and without
def test_nested_selection_keeps_groups_together(problem, code):
    grouped = replace(problem, groups=np.arange(60) // 2, digest="")
    assert measured(grouped, code, "nested", n_splits=1)["status"] == "ok"


@pytest.mark.parametrize("code", ["LCC", "SVM", "TSV"])
def test_the_gap_of_several_classes_is_the_largest_of_its_problems(code):
    """Once the largest gap was divided by the largest objective of all problems."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 4)) + 20 * (y == 1)[:, None]  # one problem has a small objective
    estimator = find_method(code).estimator
    gaps = [relative_gap(clone(estimator).fit(X, y == label)) for label in range(3)]
    assert 0 <= max(gaps) <= 1e-6
    assert relative_gap(make_pipeline(clone(estimator)).fit(X, y)) == pytest.approx(max(gaps))


def test_a_model_without_a_certificate_has_no_gap():
    assert np.isnan(relative_gap(LogisticRegression()))
