"""Ours against theirs, on tables whose answer is known."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from lincent.paper.study import paper  # noqa: E402
from lincent.paper.study.agreement import agreements, compact_table  # noqa: E402
from lincent.paper.study.statistics import TEST  # noqa: E402
from lincent.paper.study.summary import lines, mean_ranks, pairs, short_of_runs  # noqa: E402
from support.runs import made  # noqa: E402


def test_the_papers_own_numbers_agree_with_themselves():
    cells = agreements(made())
    assert len(cells) == 112
    assert all(cell.within_points and cell.within_error for cell in cells)
    assert max(abs(cell.difference) for cell in cells) < 1e-9


def test_an_offset_is_found_where_it_is():
    cells = agreements(made({"TSV": 1.6, "SVM": 1.4}))
    assert {cell.method for cell in cells if not cell.within_points} == {"TSV"}
    assert {cell.method for cell in cells if not cell.within_error} == {"TSV", "SVM"}


def test_error_combines_both_numbers_of_runs():
    cell = agreements(made(), sets=("BC",))[0]
    frame = made()
    values = 100 * frame[(frame["dataset"] == "BC") & (frame["method"] == "LCC")]["train_paper_auc"]
    assert cell.error == pytest.approx(values.std(ddof=1) * np.sqrt(1 / 20 + 1 / 50))


def test_missing_sets_and_methods_are_left_out_not_invented():
    cells = agreements(made(sets=("BC", "GR"), methods=("LCC", "SVM")))
    assert len(cells) == 2 * 2 * 2


def test_compact_table_counts_significant_sets_and_turns_time_round():
    cells = {(c.row, c.method): c for c in compact_table(made(), ("LDA", "SVM"), paper.SETS)}
    # Same noise for all methods: every difference of the printed means is significant.
    assert (cells["test", "LDA"].better, cells["test", "LDA"].worse) == (6, 1)
    assert (cells["time", "SVM"].better, cells["time", "SVM"].worse) == (7, 0)
    assert cells["time", "SVM"].theirs == (7, 0)


def test_failed_cells_do_not_count():
    frame = made(sets=("BC",))
    frame.loc[frame["method"] == "SVM", ["status", "error"]] = ["failed", "ValueError: no"]
    found = {line.method: line for line in lines(frame, "BC", "test_paper_auc")}
    assert np.isnan(found["SVM"].mean)
    assert found["SVM"].failed == 20
    assert found["SVM"].reason == "failed: ValueError: no"
    assert lines(frame, "BC", "test_paper_auc")[-1].method == "SVM"
    assert "SVM" not in {pair.method for pair in pairs(frame, "BC", "LCC", "test_paper_auc")}


def test_pairs_have_sign_size_and_correction():
    frame = made(sets=("GC",), methods=("LCC", "SMP"))
    (pair,) = pairs(frame, "GC", "SMP", "test_paper_auc")
    assert pair.method == "LCC"
    assert 100 * pair.difference.mean == pytest.approx(90.67 - 87.03)
    assert (pair.wins, pair.ties, pair.losses) == (20, 0, 0)
    assert pair.effect == 1.0
    assert pair.real


def test_mean_ranks_of_the_printed_table():
    table = pandas.DataFrame(
        {m: {s: paper.printed(s, "test", m).value / 100 for s in paper.SETS} for m in paper.METHODS}
    )
    ranks = mean_ranks(table)
    assert sum(ranks.values()) == pytest.approx(36)  # 1 to 8 on each set
    assert min(ranks, key=ranks.get) == "SMP"  # by the printed table at defaults


def test_methods_on_fewer_splits_are_named():
    frame = pandas.concat([made(methods=("LCC", "SVM")), made(methods=("DLS",), runs=3)])

    class Result:
        pass

    result = Result()
    result.frame = frame
    assert short_of_runs(result) == ["DLS"]


def test_the_test_is_described():
    assert set(TEST) == {"test", "zero_rule", "method", "alpha"}
