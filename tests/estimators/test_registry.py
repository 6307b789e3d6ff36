"""The registry of estimators is complete, and loading a name imports one module."""

import subprocess
import sys

import pytest

import lincent
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.paper import baselines


def test_every_public_classifier_is_registered():
    classifiers = {name for name in lincent.__all__ if hasattr(getattr(lincent, name), "fit")}
    assert classifiers == set(ESTIMATORS)
    assert all(estimator_class(name) is getattr(lincent, name) for name in ESTIMATORS)


def test_every_baseline_of_the_paper_is_registered():
    classifiers = {name for name in baselines.__all__ if hasattr(getattr(baselines, name), "fit")}
    assert classifiers == set(BASELINES)
    assert all(estimator_class(name) is getattr(baselines, name) for name in BASELINES)


def test_an_unknown_name_is_a_key_error():
    with pytest.raises(KeyError, match="NoSuchLCC"):
        estimator_class("NoSuchLCC")


def test_the_registry_imports_no_estimator():
    code = "import lincent.estimators.registry, sys; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
