"""Answers are merged before they are many or large."""

import numpy as np
import pytest

from lincent.sources import shared_reads as pile


@pytest.mark.parametrize(
    ("entries", "count", "much", "expected"),
    [
        (10, 100, 2**20, [64]),
        (100, 10, 3_999, [5, 6]),
        # As much as what was merged is waited for, so that this is not copied for every answer.
        (100, 10, 1, [1, 3, 3, 3, 3]),
    ],
)
def test_how_many_are_merged_at_once(monkeypatch, entries, count, much, expected):
    monkeypatch.setattr(pile, "MUCH", much)
    seen = []

    def merge(parts):
        seen.append(len(parts))
        return [np.sum([part[0] for part in parts], axis=0)]

    answers = pile.TreeReducer(merge)
    for i in range(count):
        answers.put([np.full(entries, float(i))])
    assert seen == expected
    np.testing.assert_array_equal(merge(answers.answers)[0], count * (count - 1) / 2)
