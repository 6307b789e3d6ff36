import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent.model_selection import Method, Problem, compare, find_method, list_methods, plan_runs
from lincent.model_selection.methods import describe_estimator
from lincent.paper.baselines import column_mean_auc
from lincent.paper.study import paper
from lincent.paper.study.reproduce import DESCENDANTS, MODERN, VARIANTS

RNG = np.random.default_rng(0)
Y = np.repeat(["no", "yes"], 25)
X = RNG.standard_normal((50, 3)) + (Y == "yes")[:, None]


@pytest.mark.parametrize("code", list_methods())
def test_every_method_fits_and_takes_its_grid(code):
    try:
        method = find_method(code)
    except ImportError as error:
        pytest.skip(str(error))
    assert method.code == code
    for point in (method.grid[len(method.grid) // 2 : len(method.grid) // 2 + 1]) or ({},):
        model = clone(method.estimator).set_params(**point).fit(X, Y == "yes")
        assert set(np.ravel(model.predict(X))) <= {0, 1}


def test_a_missing_package_is_named_where_a_method_belongs_to_one(monkeypatch):
    for package in ("xgboost", "lightgbm", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, package, None)
    for code in ("XGBoost", "LightGBM"):
        with pytest.raises(ImportError, match=f"not installed: pip install {code.lower()}"):
            find_method(code)
    with pytest.raises(ImportError, match=r"sklearn\.linear_model") as error:
        find_method("LogReg")
    assert "pip" not in str(error.value)


def test_all_methods_of_the_study_have_names():
    assert {*paper.METHODS, *VARIANTS, *DESCENDANTS, *MODERN} <= set(list_methods())


@pytest.mark.parametrize("code", paper.METHODS)
def test_methods_of_the_paper_work_in_a_grid_search(code):
    method = find_method(code)
    scoring = method.paper_scoring or "balanced_accuracy"
    grid = [{name: [value] for name, value in point.items()} for point in method.grid[:2]]
    search = GridSearchCV(method.estimator, grid or [{}], scoring=scoring, cv=2).fit(X, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    model = make_pipeline(StandardScaler(), clone(method.estimator)).fit(X, Y)
    assert 0.5 < get_scorer(scoring)(model, X, Y) <= 1


def test_values_of_the_grids_are_the_papers():
    costs = [point["C"] for point in find_method("SVM").grid]
    assert costs[0] == pytest.approx(10**-2)
    assert costs[-1] == pytest.approx(10 ** (26 / 15))
    for point, cost in zip(find_method("WSV").grid, costs, strict=True):
        assert (1 / point["c1"], point["c3"]) == (pytest.approx(cost), cost)
    for point, cost in zip(find_method("TSV").grid, costs, strict=True):
        assert set(point.values()) == {cost}


@pytest.mark.parametrize("code", [m for m in paper.METHODS if m != "SMP"])
def test_grids_of_procedure_2_have_fifteen_values(code):
    method = find_method(code)
    assert len(method.grid) == 15
    plan = plan_runs([Problem("toy", X, Y)], [method], "folds", n_splits=1, every=7)
    assert len(plan.runs) in (2, 3)


def test_defaults_of_the_paper():
    assert '"C": 2.0' not in describe_estimator(find_method("LCC").estimator)  # it is the default
    lcc = find_method("LCC").estimator.get_params()
    assert (lcc["C"], lcc["margin"], lcc["discriminator"]) == (2.0, 0.01, "distance")
    assert find_method("SVM").estimator.get_params()["C"] == 1.0
    assert find_method("WSV").estimator.get_params()["c1"] == 10.0
    assert find_method("DEL").paper_scoring is column_mean_auc
    assert find_method("SVM").paper_scoring is None


def test_own_methods_join_by_object_name_and_path():
    assert find_method(KNeighborsClassifier(3)).code == "KNeighborsClassifier"
    assert find_method(("mine", LogisticRegression())).code == "mine"
    assert find_method("sklearn.neighbors:KNeighborsClassifier").family == "own"
    own = Method("kNN", "neighbors", "own", KNeighborsClassifier(), ({"n_neighbors": 3},))
    assert find_method(own) is own


def test_unknown_methods_are_explained():
    with pytest.raises(ValueError, match="did you mean 'LogReg'"):
        find_method("logregg")
    with pytest.raises(ValueError, match="cannot be made"):
        find_method("no.such.module:Thing")
    with pytest.raises(TypeError, match="not a classifier"):
        find_method(Ridge())
    with pytest.raises(TypeError, match="estimator object"):
        find_method(LogisticRegression)


def test_compare_checks_a_pair():
    X, y = np.zeros((60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare((X, y[:59]), methods=["LCC"])
    with pytest.raises(ValueError, match="only one class"):
        compare((X, 0 * y), methods=["LCC"])
    for options in ({"drop": ("a",)}, {"target": "y"}):
        with pytest.raises(ValueError, match="a pair"):
            compare((X, y), methods=["LCC"], **options)
    with pytest.raises(TypeError, match="n_split"):
        compare((X, y), methods=["LCC"], n_split=3)


def test_compare_leaves_out_what_is_for_two_classes(in_process):
    """With three classes equal priors of length two ended in an IndexError in every run."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    result = compare((X, y), methods=["LCC", "sk-LDA-bal"], n_splits=1)
    assert result.missing == [("sk-LDA-bal", "is for two classes; this table has 3")]
    assert set(result.frame["status"]) == {"ok"}
