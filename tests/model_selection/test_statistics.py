import numpy as np
import pytest
from scipy import stats

from lincent.model_selection.statistics import holm, interval, pivot, rank_biserial, wilcoxon


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_is_scipys_normal_approximation(seed):
    rng = np.random.default_rng(seed)
    a, b = np.round(rng.random(40), 1), np.round(rng.random(40), 1)  # many ties and zeros
    # our differences are rounded to 12 digits, so that 0.3 - 0.2 ties with 0.2 - 0.1
    difference = np.round(a - b, 12)
    difference = difference[difference != 0]
    try:
        expected = stats.wilcoxon(difference, method="asymptotic").pvalue
    except ValueError:  # the name before SciPy 1.13
        expected = stats.wilcoxon(difference, method="approx").pvalue
    assert wilcoxon(a, b) == pytest.approx(expected, rel=1e-9)


def test_equal_columns_are_no_difference():
    assert wilcoxon([0.1] * 9, [0.1] * 9) == 1.0
    assert rank_biserial([0.1] * 9, [0.1] * 9) == 0.0


def test_holm_agrees_with_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(12) ** 3
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1].tolist())
    assert holm([]) == []


def test_effect_size_has_a_sign():
    assert rank_biserial([2, 3, 4], [1, 1, 1]) == 1.0
    assert rank_biserial([1, 1, 1], [2, 3, 4]) == -1.0


def test_correction_widens_the_interval_and_does_not_vanish():
    rng = np.random.default_rng(1)
    difference = rng.normal(0.01, 0.02, 1000)
    plain, corrected = interval(difference), interval(difference, 3 / 7)
    assert plain.low > 0
    assert corrected.low < 0 < corrected.high
    ratio = (corrected.high - corrected.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(np.sqrt((1 / 1000 + 3 / 7) / (1 / 1000)))


def test_plain_interval_is_students():
    values = np.random.default_rng(2).normal(size=30)
    found = interval(values)
    expected = stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_interval_of_one_or_equal_values():
    assert interval([0.5]).low < 0 < interval([0.5]).high
    assert interval([0.2, 0.2, 0.2]).low > 0
    assert interval([0.0, 0.0]).p == 1.0
    assert np.isnan(interval([]).mean)


def test_a_table_of_one_data_set_has_its_own_runs_alone():
    pd = pytest.importorskip("pandas")
    ran = {"procedure": "holdout", "params": "{}", "status": "ok", "split": 0}
    sets = {"dataset": ["a", "a", "b", "b"], "method": ["LCC", "FQCC"] * 2}
    frame = pd.DataFrame(ran | sets | {"score": [1.0, 2.0, 3.0, 4.0]})
    assert pivot(frame, "b", "score").iloc[0].to_dict() == {"LCC": 3.0, "FQCC": 4.0}
