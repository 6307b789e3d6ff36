"""A column that tells the class alone is found, one that is merely good is not."""

import numpy as np
import pytest

pytest.importorskip("pandas")

from sklearn.metrics import roc_auc_score

from lincent.tables import infer
from lincent.tables.infer import hash_rows, independent_fraction, leaks_target

RNG = np.random.default_rng(0)
TWO = np.arange(200) % 2
THREE = np.arange(210) % 3


@pytest.mark.parametrize(
    ("values", "codes", "numeric", "told"),
    [
        (TWO + 0.1 * RNG.random(200), TWO, True, True),
        (-TWO.astype(float), TWO, True, True),
        (THREE + 0.1 * RNG.random(210), THREE, True, True),
        (np.where(THREE == 0, 5.0, RNG.random(210)), THREE, True, False),  # tells one of three
        (1e307 * (THREE + RNG.random(210)), THREE, True, True),  # beyond single precision
        (1e9 + THREE + 0.1 * RNG.random(210), THREE, True, True),  # one value in single precision
        (TWO + RNG.normal(size=200), TWO, True, False),
        (np.where(TWO == 1, RNG.random(200), np.nan), TWO, True, True),  # missing tells
        (np.where(RNG.random(200) < 0.3, np.nan, RNG.random(200)), TWO, True, False),
        (np.array(["a", "b"])[TWO], TWO, False, True),
        (RNG.choice(["a", "b"], 200), TWO, False, False),
        (np.array([f"k{k}" for k in range(200)]), TWO, False, False),  # once each
        (TWO[:20].astype(float), TWO[:20], True, False),  # chance could do it
    ],
)
def test_leaks(values, codes, numeric, told):
    assert leaks_target(values, codes, numeric=numeric) is told


@pytest.mark.parametrize(
    "values", [RNG.integers(0, 4, 200), RNG.normal(size=200)], ids=["ties", "none"]
)
def test_the_area_is_that_of_scikit_learn(values, monkeypatch):
    codes = (values + RNG.normal(size=200) > 1).astype(int)
    area = roc_auc_score(codes, values)
    for least, leaks in ((area - 1e-9, True), (area + 1e-9, False)):
        monkeypatch.setattr(infer, "LEAK_SCORE", least)
        assert leaks_target(values, codes, numeric=True) is leaks
        assert leaks_target(-values, codes, numeric=True) is leaks


def test_repeated_rows_of_a_wide_table_are_found_without_a_warning():
    import pandas as pd

    columns = {f"x{j}": np.array([1.0, 2.0, 1.0, 1.0]) for j in range(150)}
    frame = pd.DataFrame(columns, copy=False)
    assert len(np.unique(hash_rows(frame, np.array(["a", "b", "a", "b"])))) == 3


def test_copies_count_once_and_coincidences_of_few_values_do_not():
    import pandas as pd

    once = pd.DataFrame(RNG.normal(size=(100, 3)), columns=["a", "b", "c"])
    labels = RNG.choice(["u", "v"], 100)
    assert independent_fraction(once, hash_rows(once, labels)) == 1.0
    twice = pd.concat([once, once], ignore_index=True)
    assert independent_fraction(twice, hash_rows(twice, np.tile(labels, 2))) == 0.5
    coarse = pd.DataFrame({"a": RNG.choice(["x", "y", "z"], 200), "b": RNG.integers(0, 4, 200)})
    hashes = hash_rows(coarse, RNG.choice(["u", "v"], 200))
    assert independent_fraction(coarse, hashes) == 1.0
