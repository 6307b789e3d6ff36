"""Seizure detection from raw EEG: reader, features, events, and stand-ins for the paper's set."""

from lincent.paper.seizure.bonn import by_recording, write_bonn
from lincent.paper.seizure.cache import DamagedCacheWarning
from lincent.paper.seizure.events import EventShuffleSplit, find_events, split_groups
from lincent.paper.seizure.extraction import SubjectFeatures, extract_features, iter_features
from lincent.paper.seizure.features import FFTMagnitude, fft_magnitude
from lincent.paper.seizure.layout import SegmentError, find_subjects, list_segments
from lincent.paper.seizure.reader import (
    Segment,
    SkippedSegmentsWarning,
    iter_segments,
    read_segment,
)
from lincent.paper.seizure.subjects import SUBJECTS, Subject, differences, find_subject
from lincent.paper.seizure.synthetic import (
    make_synthetic_features,
    synthetic_seconds,
    write_synthetic,
)
from lincent.paper.seizure.writer import write_segment

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
