import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from lincent.paper.study import find_method, list_methods, paper, register_method
from lincent.paper.study.cells import settings_of
from lincent.paper.study.methods import _EXTRA
from lincent.paper.study.procedures import grid_values
from lincent.paper.study.reproduce import FAMILY, TODAY, VARIANTS

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
        model = clone(method.estimator).set_params(**point).fit(X, Y)
        assert set(model.predict(X)) <= {"no", "yes"}


def test_the_paper_and_today_are_in_the_registry():
    assert {*paper.METHODS, *VARIANTS, *FAMILY, *TODAY} <= set(list_methods())


@pytest.mark.parametrize("code", [m for m in paper.METHODS if m != "SMP"])
def test_grids_of_procedure_2_have_fifteen_values(code):
    method = find_method(code)
    assert len(method.grid) == 15
    assert len(grid_values(method, 7)) in (2, 3)


def test_defaults_of_the_paper():
    assert '"C": 2.0' not in settings_of(find_method("LCC").estimator)  # it is the default
    lcc = find_method("LCC").estimator.get_params()
    assert (lcc["C"], lcc["margin"], lcc["discriminator"]) == (2.0, 0.01, "distance")
    assert find_method("SVM").estimator.get_params()["C"] == 1.0
    assert find_method("WSV").estimator.get_params()["c1"] == 10.0
    assert find_method("DEL").paper_scoring is not None
    assert find_method("SVM").paper_scoring is None


def test_own_methods_join_by_object_name_and_path():
    assert find_method(KNeighborsClassifier(3)).code == "KNeighborsClassifier"
    assert find_method(("mine", LogisticRegression())).code == "mine"
    assert find_method("sklearn.neighbors:KNeighborsClassifier").family == "own"
    register_method("knn-test", KNeighborsClassifier(), grid=[{"n_neighbors": 3}])
    try:
        assert find_method("KNN-test").grid == ({"n_neighbors": 3},)
        assert "knn-test" in list_methods()
    finally:
        del _EXTRA["knn-test"]


def test_unknown_methods_are_explained():
    with pytest.raises(ValueError, match="did you mean LogReg"):
        find_method("logregg")
    with pytest.raises(ValueError, match="cannot be made"):
        find_method("no.such.module:Thing")
    with pytest.raises(TypeError, match="not a classifier"):
        find_method(Ridge())
    with pytest.raises(TypeError, match="estimator object"):
        find_method(LogisticRegression)
    with pytest.raises(ValueError, match="taken"):
        register_method("LCC", LogisticRegression())


def test_compare_leaves_out_what_is_for_two_classes():
    """With three classes equal priors of length two ended in an IndexError in every cell."""
    from sklearn.datasets import load_iris

    from lincent.paper.study import compare

    X, y = load_iris(return_X_y=True)
    found = compare((X, y), methods=["LCC", "sk-LDA-bal"], runs=1)
    assert found.missing == (("sk-LDA-bal", "is for two classes; this table has 3"),)
    assert set(found.frame["status"]) == {"ok"}
