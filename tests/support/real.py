"""The paper's seven tabular sets, split as the paper does."""

import functools

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from lincent.paper.datasets import load_dataset
from lincent.paper.datasets.registry import DatasetNotFoundError

CODES = ("BC", "CG", "GC", "PR", "IS", "PD", "GR")


@functools.cache
def table(code):
    """(X, y), or None where the set is not on this machine."""
    try:
        data = load_dataset(code, download_if_missing=False)
    except DatasetNotFoundError:
        return None
    return np.asarray(data.data, dtype=float), np.asarray(data.target)


def split(code, seed):
    """Stratified 70/30, z-scored on the training part, constant columns dropped."""
    found = table(code)
    if found is None:
        pytest.skip(f"data set {code} is not here: set LINCENT_DATA to the folder with the sets")
    X, y = found
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    varies = X_train.std(axis=0) > 0
    mean, scale = X_train[:, varies].mean(axis=0), X_train[:, varies].std(axis=0)
    return (X_train[:, varies] - mean) / scale, y_train, (X_test[:, varies] - mean) / scale, y_test
