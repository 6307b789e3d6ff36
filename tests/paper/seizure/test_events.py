"""Events and the splitter: what stays together, how much trains, and scikit-learn's groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import LCC
from lincent.paper.seizure import EventShuffleSplit, find_events, split_groups

lengths = st.lists(st.integers(1, 40), min_size=2, max_size=12)


def segments(event_lengths, interictal=100):
    events = np.repeat(np.arange(len(event_lengths)), event_lengths)
    y = np.repeat(["ictal", "interictal"], [len(events), interictal])
    return y, np.concatenate([events, np.full(interictal, -1)])


@given(lengths, st.floats(0, 3))
def test_an_event_begins_where_latency_falls(event_lengths, first):
    latency = np.concatenate([first + np.arange(n) for n in event_lengths])
    assert np.bincount(find_events(latency)).tolist() == event_lengths


def test_a_segment_without_latency_stays_with_the_one_before():
    assert find_events([np.nan, 0, np.nan, 2, np.nan, 0, 1]).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert find_events([0, 0, 0]).tolist() == [0, 1, 2]  # seizures of one second
    assert find_events([]).tolist() == []


@given(lengths, st.integers(0, 1000))
def test_no_event_is_on_both_sides_and_each_side_has_one(event_lengths, seed):
    y, events = segments(event_lengths)
    groups = split_groups(events)
    for train, test in EventShuffleSplit(2, random_state=seed).split(y, y, groups):
        assert sorted([*train, *test]) == list(range(len(y)))
        assert not set(groups[train]) & set(groups[test])
        assert set(y[train]) == set(y[test]) == {"ictal", "interictal"}
        share = (y[train] == "interictal").sum() / 100
        assert share == pytest.approx(0.7, abs=0.06)


def test_the_share_of_ictal_segments_is_about_seventy_percent():
    y, events = segments([50, 10, 10])  # in a bad order the nearest share would be 29 %
    for train, _ in EventShuffleSplit(30, random_state=0).split(y, y, events):
        assert 0.6 < (y[train] == "ictal").sum() / 70 < 0.87
    y, events = segments(np.random.default_rng(0).integers(5, 40, 20))
    chosen = set()
    for train, _ in EventShuffleSplit(50, random_state=0).split(y, y, events):
        ictal = y == "ictal"
        assert ictal[train].sum() / ictal.sum() == pytest.approx(0.7, abs=0.05)
        chosen.add(tuple(np.unique(events[train])))
    assert len(chosen) > 40  # the splits differ


def test_two_events_split_into_one_and_one():
    y, events = segments([10, 10])
    for train, test in EventShuffleSplit(5, random_state=0).split(y, y, events):
        assert (y[train] == "ictal").sum() == (y[test] == "ictal").sum() == 10


def test_segments_without_an_event_are_groups_of_their_own():
    assert split_groups([0, 0, 1, -1, -1]).tolist() == [0, 0, 1, 2, 3]
    assert split_groups([-1, -1]).tolist() == [0, 1]


def test_same_seed_same_splits_and_clone():
    y, events = segments([5, 6, 7, 8])
    splitter = EventShuffleSplit(3, random_state=4)
    first, second = (list(item.split(y, y, events)) for item in (splitter, clone(splitter)))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a[0], b[0])


def test_with_cross_validation_of_scikit_learn():
    y, events = segments([10] * 6, 120)
    X = np.random.default_rng(0).normal(size=(len(y), 5)) + (y == "ictal")[:, None]
    model = make_pipeline(StandardScaler(), LCC())
    splitter = EventShuffleSplit(4, random_state=0)
    assert len(cross_val_score(model, X, y, groups=events, cv=splitter)) == 4
    search = GridSearchCV(model, {"lcc__C": [0.5, 2.0]}, cv=splitter)
    assert search.fit(X, y, groups=events).n_splits_ == 4


def test_what_cannot_be_split_is_said():
    y, events = segments([20])
    with pytest.raises(ValueError, match="'ictal' has 20 segments in one event"):
        next(EventShuffleSplit().split(y, y, events))
    with pytest.raises(ValueError, match="needs y and the events as groups"):
        next(EventShuffleSplit().split(y, y))
    mixed = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="of another class"):
        next(EventShuffleSplit().split(y, y, mixed))
