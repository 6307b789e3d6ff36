"""The table of conclusions, recomputed here by other means from the same rows."""

import numpy as np
import pytest
from scipy import stats

pandas = pytest.importorskip("pandas")

from lincent.paper.study import paper  # noqa: E402
from lincent.paper.study.conclusions import RIVALS, best_width, conclusions, tuned_ranks  # noqa: E402
from support.runs import folds, made  # noqa: E402


def by_claim(frame):
    return {item.claim: item for item in conclusions(frame)}


def significant(frame, row, method):
    """Sets won and lost by LCC, by scipy's own signed-rank test."""
    column = "fit_seconds" if row == "time" else f"{row}_paper_auc"
    won = lost = 0
    for code in paper.SETS:
        part = frame[frame["dataset"] == code].pivot(index="split", columns="method", values=column)
        gap = np.round(part["LCC"] - part[method], 12)
        gap = -gap if row == "time" else gap
        if (gap == 0).all():
            continue
        p = stats.wilcoxon(gap, zero_method="wilcox", correction=False, method="approx").pvalue
        won += p < 0.05 and gap.mean() > 0
        lost += p < 0.05 and gap.mean() < 0
    return won, lost


@pytest.fixture(scope="module")
def noisy():
    """Methods with noise of their own, so that some differences are significant and some not."""
    rng = np.random.default_rng(1)
    frame = made(runs=12)
    for part in ("train", "test"):
        frame[f"{part}_paper_auc"] += rng.normal(0, 0.03, len(frame))
    frame["fit_seconds"] *= rng.lognormal(0, 0.5, len(frame))
    return frame


@pytest.mark.parametrize("row", ["train", "test", "time"])
def test_wins_and_losses_are_recomputed(noisy, row):
    found = by_claim(noisy)
    word = {"train": "in training", "test": "on test", "time": "in time"}[row]
    seen = 0
    for method in RIVALS:
        if method not in paper.COMPACT[row]:
            continue
        (item,) = [
            item
            for claim, item in found.items()
            if claim.startswith(f"LCC against {method} {word}")
        ]
        won, lost = significant(noisy, row, method)
        better, worse = paper.COMPACT[row][method]
        assert item.ours == f"{won} won, {lost} lost of 7"
        assert item.theirs == f"{better} won, {worse} lost of 7"
        assert item.holds == (np.sign(won - lost) == np.sign(better - worse))
        seen += 1
    assert seen == (6 if row == "train" else 7)


def test_ranks_at_defaults_are_recomputed(noisy):
    (item,) = [i for c, i in by_claim(noisy).items() if "most accurate of the eight" in c]
    table = noisy.groupby(["dataset", "method"])["test_paper_auc"].mean().unstack()
    ranks = (100 * table).round(2).rank(axis=1, ascending=False).mean()
    assert item.ours.startswith(
        f"LCC {ranks['LCC']:.2f}, place {int((ranks < ranks['LCC']).sum()) + 1}"
    )
    assert item.holds == (ranks.idxmin() == "LCC")
    assert "first SMP" in item.theirs  # the paper's own appendix has SMP first


def test_ranks_with_tuning():
    rng = np.random.default_rng(2)
    scores = {(s, m): float(rng.uniform(0.7, 0.9)) for s in paper.SETS for m in paper.METHODS}
    frame = pandas.concat([made(runs=3), folds(scores)], ignore_index=True)
    table = pandas.Series(scores).unstack()
    expected = (100 * table).round(2).rank(axis=1, ascending=False).mean()
    found = tuned_ranks(frame, paper.SETS)
    assert found == pytest.approx(expected[list(found)].to_dict())
    (item,) = [i for c, i in by_claim(frame).items() if "tuned parameters" in c]
    assert item.holds == (expected.idxmin() == "LCC")
    assert item.theirs.startswith("LCC 3.57, place 1 of 8")


def test_untied_constants_are_a_second_reading_of_the_same_claim():
    scores = {(s, m): 0.8 - 0.01 * k for s in paper.SETS for k, m in enumerate(paper.METHODS)}
    tied = pandas.concat([made(runs=2), folds(scores)], ignore_index=True)
    claims = [claim for claim in by_claim(tied) if "procedure 2" in claim]
    assert claims == ["LCC has the best mean rank with tuned parameters (procedure 2)"]
    apart = folds({(s, "TSV-untied"): 0.9 for s in paper.SETS})
    found = by_claim(pandas.concat([tied, apart], ignore_index=True))
    one, two = (item for claim, item in found.items() if "procedure 2" in claim)
    assert one.holds
    assert not two.holds
    assert two.ours == "LCC 2.00, place 2 of 8; first TSV 1.00"


def test_forms_of_centralization():
    codes = ("LCC", "FQCC", "LCC-1NN", "LCC-1SV")
    same = by_claim(made({"LCC-1NN": -1.0, "LCC-1SV": -0.5}, methods=codes))
    assert same["FQCC and LCC do not differ significantly in training or on test"].holds
    assert same["Of the discriminators the nearer center (LCC-Dist) is best"].holds
    frame = made({"FQCC": 2.0, "LCC-1NN": 1.0}, methods=codes)
    frame.loc[frame["method"] == "FQCC", "fit_seconds"] *= 7
    apart = by_claim(frame)
    differ = apart["FQCC and LCC do not differ significantly in training or on test"]
    assert not differ.holds
    assert differ.ours.startswith("14 of 14 comparisons differ at 0.05 (BC train +2.0")
    slow = apart["FQCC takes almost 250 times as long as LCC"]
    assert not slow.holds
    assert slow.ours.startswith("7.0 times")
    assert not apart["Of the discriminators the nearer center (LCC-Dist) is best"].holds


def test_the_best_width_is_that_of_the_splits_that_score():
    rows = [
        {"dataset": "Jain", "method": "KernelLCC", "procedure": "holdout", "status": "ok",
         "params": params, "split": k, "train_paper_auc": 1.0, "test_paper_auc": score}
        for params, scores in (('{"gamma": 1.0}', (0.9, 0.8)), ('{"gamma": 4.0}', (0.99, 0.98)))
        for k, score in enumerate(scores)
    ]  # fmt: skip
    frame = pandas.concat([made(sets=("BC",), runs=3), pandas.DataFrame(rows)], ignore_index=True)
    best = best_width(frame, "Jain")
    assert (best.params, best.runs) == ('{"gamma": 4.0}', 2)
    assert best.test == pytest.approx(0.985)
    item = by_claim(frame)["LCC with an RBF kernel on Jain: train and test, percent"]
    assert item.ours == "100.0 and 98.5"
    assert item.holds
    assert best_width(frame, "Flame") is None


def test_what_was_not_run_is_not_concluded():
    assert conclusions(made(sets=("BC",), methods=("LDA", "SVM"))) == []
    few = by_claim(made(sets=("BC", "GR"), methods=("LCC", "SVM")))
    assert all(claim.startswith("LCC against SVM") for claim in few)
    assert {item.ours.split(" of ")[1] for item in few.values()} == {"2"}
