"""LCC gives the paper's figures on its sets (50 splits: benchmarks/core_reproduction.py)."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from lincent import LCC
from lincent.paper.study.paper import printed
from support.real import CODES, split

SPLITS = 15
ALLOWED = 1.5
"""Points of hard-label AUC; the standard error of our mean is added, the splits being few."""


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
def test_hard_label_auc_is_the_printed_one(code):
    train, test = [], []
    for seed in range(SPLITS):
        X_train, y_train, X_test, y_test = split(code, seed)
        model = LCC().fit(X_train, y_train)
        assert model.duality_gap_ <= 1e-9
        train.append(100 * balanced_accuracy_score(y_train, model.predict(X_train)))
        test.append(100 * balanced_accuracy_score(y_test, model.predict(X_test)))
    for values, name in ((train, "train"), (test, "test")):
        apart = np.mean(values) - printed(code, name, "LCC")
        assert abs(apart) <= ALLOWED + np.std(values) / np.sqrt(SPLITS)
