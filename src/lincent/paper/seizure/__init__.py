"""Seizure detection from raw EEG: segment files, features, events and splits."""

from lincent.paper.seizure.events import EventShuffleSplit, find_events, split_groups
from lincent.paper.seizure.recordings import (
    Segment,
    SegmentError,
    SubjectFeatures,
    extract_features,
    fft_magnitude,
    find_subjects,
    list_segments,
    read_segment,
)
from lincent.paper.seizure.subjects import SUBJECTS, Subject, differences, find_subject

__all__ = [
    "SUBJECTS",
    "EventShuffleSplit",
    "Segment",
    "SegmentError",
    "Subject",
    "SubjectFeatures",
    "differences",
    "extract_features",
    "fft_magnitude",
    "find_events",
    "find_subject",
    "find_subjects",
    "list_segments",
    "read_segment",
    "split_groups",
]
