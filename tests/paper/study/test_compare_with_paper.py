"""Ours beside the paper's, on tables whose answer is known or recomputed here by other means."""

import numpy as np
import pytest
from scipy import stats

pandas = pytest.importorskip("pandas")

from lincent.model_selection import find_method, plan_runs  # noqa: E402
from lincent.model_selection.experiment import Problem, measure  # noqa: E402
from lincent.model_selection.statistics import TEST, compare_pairs, summarize  # noqa: E402
from lincent.paper.study import paper  # noqa: E402
from lincent.paper.study.compare_with_paper import (  # noqa: E402
    agreements,
    best_width,
    conclusions,
    count_wins,
    mean_ranks,
    tuned_scores,
)
from support.runs import folds, make_runs  # noqa: E402


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
    frame = make_runs(runs=12)
    for part in ("train", "test"):
        frame[f"{part}_paper_auc"] += rng.normal(0, 0.03, len(frame))
    frame["fit_seconds"] *= rng.lognormal(0, 0.5, len(frame))
    return frame


@pytest.mark.parametrize("row", ["train", "test", "time"])
def test_wins_and_losses_are_recomputed(noisy, row):
    result = by_claim(noisy)
    word = {"train": "in training", "test": "on test", "time": "in time"}[row]
    seen = 0
    for method in paper.BASELINES:
        if method not in paper.COMPACT[row]:
            continue
        (item,) = [
            item
            for claim, item in result.items()
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
    frame = pandas.concat([make_runs(runs=3), folds(scores)], ignore_index=True)
    table = pandas.Series(scores).unstack()
    expected = (100 * table).round(2).rank(axis=1, ascending=False).mean()
    result = mean_ranks(tuned_scores(frame, paper.SETS))
    assert result == pytest.approx(expected[list(result)].to_dict())
    (item,) = [i for c, i in by_claim(frame).items() if "tuned parameters" in c]
    assert item.holds == (expected.idxmin() == "LCC")
    assert item.theirs.startswith("LCC 3.57, place 1 of 8")


def test_forms_of_centralization():
    codes = ("LCC", "FQCC", "LCC-1NN", "LCC-1SV")
    same = by_claim(make_runs({"LCC-1NN": -1.0, "LCC-1SV": -0.5}, methods=codes))
    assert same["FQCC and LCC do not differ significantly in training or on test"].holds
    assert same["Of the discriminators the nearer center (LCC-Dist) is best"].holds
    frame = make_runs({"FQCC": 2.0, "LCC-1NN": 1.0}, methods=codes)
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
        {"dataset": "Jain", "method": "KernelLCC-box", "procedure": "holdout", "status": "ok",
         "params": params, "split": k, "train_paper_auc": 1.0, "test_paper_auc": score}
        for params, scores in (('{"gamma": 1.0}', (0.9, 0.8)), ('{"gamma": 4.0}', (0.99, 0.98)))
        for k, score in enumerate(scores)
    ]  # fmt: skip
    frame = pandas.concat(
        [make_runs(sets=("BC",), runs=3), pandas.DataFrame(rows)], ignore_index=True
    )
    best = best_width(frame, "Jain")
    assert (best.name, best.runs) == ('{"gamma": 4.0}', 2)
    assert best.test == pytest.approx(0.985)
    item = by_claim(frame)["LCC with an RBF kernel on Jain: train and test, percent"]
    assert item.ours == "100.0 and 98.5"
    assert item.holds
    assert best_width(frame, "Flame") is None


def test_what_was_not_run_is_not_concluded():
    assert conclusions(make_runs(sets=("BC",), methods=("LDA", "SVM"))) == []
    few = by_claim(make_runs(sets=("BC", "GR"), methods=("LCC", "SVM")))
    assert all(claim.startswith("LCC against SVM") for claim in few)
    assert {item.ours.split(" of ")[1] for item in few.values()} == {"2"}


def test_sets_that_are_not_the_papers_are_not_concluded_from():
    frame = make_runs(sets=("BC",), methods=(*paper.METHODS, "LCC-1NN", "LCC-1SV"))
    assert conclusions(frame) != []
    frame["dataset"] = "Circles"
    assert conclusions(frame) == []


def test_the_papers_own_numbers_agree_with_themselves():
    cells = agreements(make_runs())
    assert len(cells) == 112
    assert all(cell.within_points and cell.within_error for cell in cells)
    assert max(abs(cell.difference) for cell in cells) < 1e-9


def test_an_offset_is_found_where_it_is():
    cells = agreements(make_runs({"TSV": 1.6, "SVM": 1.4}))
    assert {cell.method for cell in cells if not cell.within_points} == {"TSV"}
    assert {cell.method for cell in cells if not cell.within_error} == {"TSV", "SVM"}


def test_error_combines_both_numbers_of_runs():
    cell = agreements(make_runs(), sets=("BC",))[0]
    frame = make_runs()
    values = 100 * frame[(frame["dataset"] == "BC") & (frame["method"] == "LCC")]["train_paper_auc"]
    assert cell.error == pytest.approx(values.std(ddof=1) * np.sqrt(1 / 20 + 1 / 50))


def test_missing_sets_and_methods_are_left_out_not_invented():
    cells = agreements(make_runs(sets=("BC", "GR"), methods=("LCC", "SVM")))
    assert len(cells) == 2 * 2 * 2


def test_compact_table_counts_significant_sets_and_turns_time_round():
    wins = count_wins(make_runs(), ("LDA", "SVM", "FQCC"), paper.SETS)
    # Same noise for all methods: every difference of the printed means is significant.
    assert wins["test", "LDA"] == (6, 1, 7)
    assert wins["time", "SVM"] == (7, 0, 7)
    assert ("test", "FQCC") not in wins  # it was not run


def test_failed_runs_do_not_count():
    frame = make_runs(sets=("BC",))
    frame.loc[frame["method"] == "SVM", ["status", "error"]] = ["failed", "ValueError: no"]
    last = summarize(frame, "BC", "test_paper_auc").iloc[-1]
    assert last["method"] == "SVM"
    assert np.isnan(last["mean"])
    assert last["failed"] == 20
    assert last["reason"] == "failed: ValueError: no"
    pairs = compare_pairs(frame, "BC", "LCC", "test_paper_auc")
    assert set(pairs["method"]) == set(paper.METHODS) - {"LCC", "SVM"}


def test_pairs_have_sign_size_and_correction():
    frame = make_runs(sets=("GC",), methods=("LCC", "SMP"))
    (pair,) = compare_pairs(frame, "GC", "SMP", "test_paper_auc").itertuples()
    assert pair.method == "LCC"
    assert 100 * pair.mean == pytest.approx(90.67 - 87.03)
    assert (pair.wins, pair.ties, pair.losses) == (20, 0, 0)
    assert pair.effect == 1.0
    assert pair.real


def test_mean_ranks_of_the_printed_table():
    table = pandas.DataFrame(
        {m: {s: paper.printed(s, "test", m) / 100 for s in paper.SETS} for m in paper.METHODS}
    )
    ranks = mean_ranks(table)
    assert sum(ranks.values()) == pytest.approx(36)  # 1 to 8 on each set
    assert min(ranks, key=ranks.get) == "SMP"  # by the printed table at defaults


def test_the_test_is_described():
    assert set(TEST) == {"test", "zero_rule", "method", "alpha"}


def test_ranks_share_ties_and_start_at_one():
    scores = pandas.DataFrame([[0.3, 0.1, 0.3, 0.2]], columns=list("abcd"))
    assert mean_ranks(scores) == {"a": 1.5, "b": 4.0, "c": 1.5, "d": 3.0}


def test_procedure_2_ranks_the_best_value_of_the_grid():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 3 == 0, "b", "a")
    problem = Problem("toy", rng.standard_normal((60, 3)) + 1.5 * (y == "b")[:, None], y)
    plan = plan_runs([problem], ["LCC", "SMP"], "folds", n_splits=3, every=7)
    frame = pandas.DataFrame([measure(run, problem, find_method(run.method)) for run in plan.runs])
    best = tuned_scores(frame, ("toy",)).loc["toy"]
    assert set(best.index) == {"LCC", "SMP"}
    lcc = frame[(frame["method"] == "LCC") & (frame["status"] == "ok")]
    means = lcc.groupby("params")["test_paper_auc"].mean()
    assert best["LCC"] == pytest.approx(means.max())
    # margins beyond the distance of the centers are marked, not fatal
    assert (frame[frame["method"] == "LCC"]["status"] == "failed").any()
