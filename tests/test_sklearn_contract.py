"""Every public estimator passes every scikit-learn check."""

import functools
import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import lincent
import lincent.features
import lincent.paper.baselines
from support.small import SMALL

# Beside the defaults, the configurations that take another path through the estimator: another
# discriminator, reduction to binary problems, norm or kernel, and calibration, which is one mixin
# (tests/estimators/test_probabilities.py has it with every class).
VARIANTS = {
    "LCC": [
        {"discriminator": "nearest"},
        {"discriminator": "svm", "multi_class": "ovo"},
        {"probability": "sigmoid"},
        {"probability": "sigmoid", "multi_class": "ovo"},
    ],
    "LCCCV": [{"probability": "sigmoid"}],
    "DiscriminativeElasticNet": [{"nuclear": 0.0}],
    "DiscriminativeLeastSquares": [{"discriminator": "1nn"}, {"solver": "alternating"}],
    "FQCC": [{"multi_class": "ovo", "random_state": 0}],
    "KernelLCC": [
        {"n_components": 20},
        {"kernel": "laplacian", "discriminator": "nearest"},
        {"kernel": "precomputed"},
        {"multi_class": "ovo", "discriminator": "svm"},
    ],
    "LinearSVM": [{"multi_class": "ovo"}],
    "RegularizedLCC": [
        {"multi_class": "ovr", "probability": "sigmoid"},
        {"norm": "l1"},
    ],
    "RegularizedLDA": [{"shrinkage": 0.0}],
    "RegularizedLCCCV": [{"multi_class": "ovr"}],
    "StructuralMPM": [{"n_components": 1}],
}

# As scikit-learn does with its own searches and ensembles: few candidates and trees, since the
# checks fit hundreds of them.
FEW = SMALL | {
    "AutoLCC": {"cv": 2, "feature_maps": ["columns", "splines", "centers"]},
    "TreeLeaves": {"n_estimators": 10},
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


PLAIN = [estimator(**FEW.get(name, {})) for name, estimator in sorted(public_estimators().items())]
VARIED = [
    public_estimators()[name](**FEW.get(name, {}), **parameters)
    for name, variants in VARIANTS.items()
    for parameters in variants
]


CHECKS = parametrize_with_checks(PLAIN + VARIED)

# Checks of how rows, labels, weights and parameters are read.  Every class passes them with its
# defaults, and its variants read in the same way before they do anything else.
READING = {
    "check_classifier_data_not_an_array",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_supervised_y_2d",
    "check_transformer_data_not_an_array",
}
ONCE = {id(one) for one in VARIED if getattr(one, "kernel", "") != "precomputed"}
ONE_CONTAINER = {id(one) for one in PLAIN if type(one).__name__ in FEW} | set(map(id, VARIED))


def is_needed(parameters):
    """Tell whether a check says something new.

    Sparse matrices are read as sparse arrays are, and what is trained on memory it cannot write to
    can be trained on any.
    """
    estimator, check = getattr(parameters, "values", parameters)
    name = check.func.__name__
    if name in READING:
        return id(estimator) not in ONCE
    if name == "check_estimator_sparse_matrix":
        return id(estimator) not in ONE_CONTAINER
    twice = {"check_classifiers_train", "check_transformer_general", "check_estimators_pickle"}
    return name not in twice or bool(check.keywords)


@pytest.mark.parametrize(
    CHECKS.args[0],
    list(filter(is_needed, CHECKS.args[1])),
    ids=functools.cache(CHECKS.kwargs["ids"]),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_discovery_finds_the_paper_s_method():
    assert "LCC" in public_estimators()


@pytest.mark.parametrize("name", sorted({*VARIANTS, *FEW}))
def test_variants_name_public_estimators(name):
    assert name in public_estimators()
