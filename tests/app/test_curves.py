"""Numbers behind the figures of a report."""

import numpy as np

from lincent.inspection import curves


def test_cuts_count_what_is_called_and_what_is_found():
    chance = np.array([0.05, 0.2, 0.5, 0.5, 0.9, 0.99])
    positive = np.array([False, True, False, True, True, True])
    by_cut = {cut["at"]: (cut["called"], cut["found"]) for cut in curves.cuts(chance, positive)}
    assert by_cut[0.05] == (6, 4)  # from the cut on, the cut itself included
    assert by_cut[0.5] == (4, 3)
    assert by_cut[0.95] == (1, 1)
