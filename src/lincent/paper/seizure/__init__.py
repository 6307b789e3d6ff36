"""Seizure detection from raw EEG: segment files, features, events, and substitutes for the data."""

from lincent.paper.seizure.catalog import by_recording, write_bonn
from lincent.paper.seizure.events import EventShuffleSplit, find_events, split_groups
from lincent.paper.seizure.features import (
    DamagedCacheWarning,
    FFTMagnitude,
    SubjectFeatures,
    extract_features,
    fft_magnitude,
    iter_features,
)
from lincent.paper.seizure.recordings import (
    Segment,
    SegmentError,
    SkippedSegmentsWarning,
    find_subjects,
    iter_segments,
    list_segments,
    read_segment,
    write_segment,
)
from lincent.paper.seizure.subjects import SUBJECTS, Subject, differences, find_subject
from lincent.paper.seizure.synthetic import (
    make_synthetic_features,
    synthetic_seconds,
    write_synthetic,
)

__all__ = [
    "SUBJECTS",
    "DamagedCacheWarning",
    "EventShuffleSplit",
    "FFTMagnitude",
    "Segment",
    "SegmentError",
    "SkippedSegmentsWarning",
    "Subject",
    "SubjectFeatures",
    "by_recording",
    "differences",
    "extract_features",
    "fft_magnitude",
    "find_events",
    "find_subject",
    "find_subjects",
    "iter_features",
    "iter_segments",
    "list_segments",
    "make_synthetic_features",
    "read_segment",
    "split_groups",
    "synthetic_seconds",
    "write_bonn",
    "write_segment",
    "write_synthetic",
]
