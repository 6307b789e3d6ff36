"""More than two classes: one-vs-rest and one-vs-one."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from lincent import LCC, RegularizedLCC
from support.samples import three_classes, two_classes, weights


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("rule", ["distance", "nearest", "svm"])
def test_one_vs_rest_is_scikit_learn_s(rule):
    X, y = iris()
    model = LCC(discriminator=rule).fit(X, y)
    theirs = OneVsRestClassifier(LCC(discriminator=rule)).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))


def test_one_vs_one_is_scikit_learn_s():
    X, y = three_classes(spread=1.5)
    model = LCC(multi_class="ovo").fit(X, y)
    theirs = OneVsOneClassifier(LCC()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_shapes(strategy):
    X, y = three_classes(n=5)
    model = LCC(multi_class=strategy).fit(X, y)
    assert model._coef.shape == (3, 5)
    assert model.centers_.shape == (3, 2, 5)
    assert model.objective_.shape == model.dual_objective_.shape == model.n_iter_.shape == (3,)
    assert len(model.solver_) == 3
    assert model.decision_function(X).shape == (len(y), 3)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_two_jobs_are_one_job(strategy):
    X, y = three_classes()
    alone = LCC(multi_class=strategy).fit(X, y, weights(len(y)))
    together = LCC(multi_class=strategy, n_jobs=2).fit(X, y, weights(len(y)))
    np.testing.assert_array_equal(alone._coef, together._coef)
    np.testing.assert_array_equal(alone.objective_, together.objective_)


def test_one_vs_one_problems_are_the_pairs():
    X, y = three_classes()
    model = LCC(multi_class="ovo").fit(X, y)
    for k, (i, j) in enumerate(combinations(range(3), 2)):
        pair = np.isin(y, (i, j))
        alone = LCC().fit(X[pair], y[pair])
        np.testing.assert_allclose(model.objective_[k], alone.objective_, rtol=1e-9)


def test_with_two_classes_the_strategy_does_not_matter():
    X, y = two_classes()
    rest, pairs = LCC(multi_class="ovr").fit(X, y), LCC(multi_class="ovo").fit(X, y)
    np.testing.assert_array_equal(rest.decision_function(X), pairs.decision_function(X))


def test_messages_name_the_problem_in_plain_labels():
    X, y = three_classes()
    with pytest.raises(ValueError, match=r"class 0 against the rest"):
        LCC(margin=50.0).fit(X, y)
    names = np.array(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"class 'a' against class 'b'"):
        LCC(margin=50.0, multi_class="ovo").fit(X, names[y])


@pytest.mark.parametrize("name", ["LCC", "LCCCV", "FQCC", "RegularizedLCC", "RegularizedLCCCV"])
def test_coef_is_by_class_or_there_is_none(name):
    """Other packages take a row of ``coef_`` for a class; pairs of classes have none."""
    import lincent

    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4))
    X[:, 0] += 3.0 * (y == 1)
    X[:, 2] += 3.0 * (y == 2)
    pairs = getattr(lincent, name)(multi_class="ovo").fit(X, y)
    assert not hasattr(pairs, "coef_")
    assert not hasattr(pairs, "intercept_")
    assert pairs.feature_importances_.shape == (4,)
    each = getattr(lincent, name)(multi_class="ovr").fit(X, y)
    assert not hasattr(each, "feature_importances_")
    np.testing.assert_allclose(X @ each.coef_.T + each.intercept_, each.decision_function(X))


@pytest.mark.parametrize("name", ["LCCCV", "RegularizedLCCCV", "StructuredLCCCV", "AdditiveLCCCV"])
def test_groups_are_never_split_between_folds(name):
    import sklearn
    from sklearn.model_selection import GroupKFold

    import lincent

    rng, y, groups = np.random.default_rng(0), np.arange(60) % 2, np.arange(60) // 5
    X = rng.normal(size=(60, 3)) + y[:, None]
    kind, folds = getattr(lincent, name), GroupKFold(3)
    model = kind(cv=folds).fit(X, y, groups=groups)
    assert model.cv is folds
    given = kind(cv=list(folds.split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), given.decision_function(X))
    kind(cv=3).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="give one for each of 60 rows"):
        kind().fit(X, y, groups=groups[:9])
    with pytest.raises(ValueError, match="has no cv"):
        lincent.AdditiveLCC().fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        assert kind().set_fit_request(groups=True).get_metadata_routing().fit.requests["groups"]


def test_classes_in_the_middle_are_found_by_pairs():
    """No line cuts a class in the middle off from the rest; pairs of classes are the default."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 60)
    X = rng.normal(size=(300, 2)) + np.stack([4.0 * y, 0.0 * y], axis=1)
    found = {k: RegularizedLCC(multi_class=k).fit(X, y).score(X, y) for k in ("ovo", "ovr")}
    assert RegularizedLCC().fit(X, y).score(X, y) == found["ovo"]
    assert found["ovo"] > 0.95 > found["ovr"]
