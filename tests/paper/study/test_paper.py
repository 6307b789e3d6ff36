from collections import Counter

import numpy as np
import pytest

from lincent.paper.datasets import DatasetNotFoundError, load_dataset
from lincent.paper.study import paper
from support.paper_marks import versus_lcc


def test_every_printed_cell_is_there():
    assert len(paper.TABULAR) == 7 * 3 * 8
    assert len(paper.SEIZURE) == 12 * 3 * 7
    assert len({**paper.TABULAR, **paper.SEIZURE}) == 420
    assert {method for _, _, method in paper.TABULAR} == set(paper.METHODS)


def test_spot_checks_against_the_printed_page():
    assert paper.printed("GR", "test", "TSV") == 71.88
    assert versus_lcc("GR", "test", "TSV") == "better"
    assert paper.printed("PR", "time", "SMP") == 231.0
    assert paper.printed("Subject5", "time", "DEL") == 86772.1
    assert versus_lcc("IS", "train", "LCC") == ""


def test_compact_table_follows_from_the_marks():
    # But for two cells, which the compact table prints otherwise than the appendix marks them.
    differing = {}
    for row, cells in paper.COMPACT.items():
        for method, printed in cells.items():
            marks = Counter(versus_lcc(code, row, method) for code in paper.SETS)
            if (marks["worse"], marks["better"]) != printed:
                differing[row, method] = (marks["worse"], marks["better"])
    assert differing == {("test", "SMP"): (3, 3), ("test", "WSV"): (4, 1)}


def test_ranks_count_from_one():
    assert paper.printed_ranks()["LCC"] == paper.MEAN_RANKS["LCC"] + 1
    # Eight methods share the ranks 0 to 7 on each set.
    assert sum(paper.MEAN_RANKS.values()) == pytest.approx(28, abs=0.05)


@pytest.mark.parametrize("code", paper.SETS)
def test_sizes_are_those_of_the_data_but_for_the_columns_of_one_set(code):
    try:
        data = load_dataset(code, download_if_missing=False)
    except DatasetNotFoundError as error:
        pytest.skip(str(error))
    columns, *counts = paper.SIZES[code]
    varying = int((np.ptp(np.asarray(data.data, dtype=float), axis=0) > 0).sum())
    assert sorted(Counter(data.target).values()) == sorted(counts)
    assert varying == (33 if code == "IS" else columns)
