"""Every public estimator passes every scikit-learn check.

One expected failure, with ``probability="isotonic"``: ``check_classifiers_train`` asserts that the
largest probability is the predicted class, and the steps of an isotonic calibration cross one half
where the data say so and not at the threshold.  scikit-learn expects the same failure of its own
classifiers whose threshold is not at one half (FixedThresholdClassifier).
"""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import lincent
import lincent.features
import lincent.paper.baselines

# Beside the defaults, the configurations that take another path through the estimator: another
# discriminator, reduction to binary problems, calibration, norm or kernel.
VARIANTS = {
    "LCC": [
        {"discriminator": "nearest"},
        {"discriminator": "svm", "multi_class": "ovo"},
        {"probability": "sigmoid"},
        {"probability": "isotonic", "multi_class": "ovo"},
    ],
    "LCCCV": [{"probability": "sigmoid"}],
    "DiscriminativeElasticNet": [{"nuclear": 0.0}],
    "DiscriminativeLeastSquares": [{"discriminator": "1nn"}, {"solver": "alternating"}],
    "FQCC": [{"multi_class": "ovo", "n_init": 3, "random_state": 0, "probability": "sigmoid"}],
    "AdditiveLCC": [{"probability": "sigmoid"}],
    "KernelLCC": [
        {"n_components": 20},
        {"kernel": "laplacian", "discriminator": "nearest"},
        {"kernel": "precomputed"},
        {"multi_class": "ovo", "discriminator": "svm", "probability": "sigmoid"},
    ],
    "LinearSVM": [{"multi_class": "ovo"}],
    "RegularizedLCC": [
        {"multi_class": "joint"},
        {"multi_class": "ovr", "probability": "sigmoid"},
        {"norm": "l1"},
        {"norm": "linf", "margin_range": (0.01, 0.01), "fit_intercept": False},
    ],
    "RegularizedLDA": [{"shrinkage": 0.0}],
    "RegularizedLCCCV": [{"multi_class": "ovr"}],
    "StructuredLCC": [{"probability": "sigmoid"}],
    "StructuralMPM": [{"n_components": 1}],
}


def public_estimators():
    """All estimator classes that users can import, found by looking."""
    found = {}
    for module in (lincent, lincent.features, lincent.paper.baselines):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                found[name] = thing
    return found


def instances():
    for name, estimator in sorted(public_estimators().items()):
        yield estimator()
        for parameters in VARIANTS.get(name, []):
            yield estimator(**parameters)


def expected_failures(estimator):
    if getattr(estimator, "probability", None) != "isotonic":
        return {}
    return {"check_classifiers_train": "the threshold is not where the probability is one half"}


@parametrize_with_checks(list(instances()), expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_discovery_finds_the_paper_s_method():
    assert "LCC" in public_estimators()


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_variants_name_public_estimators(name):
    assert name in public_estimators()
