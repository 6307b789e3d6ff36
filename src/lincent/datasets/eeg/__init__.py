"""Seizure detection from raw EEG: reader, features, events, and stand-ins for the paper's set."""

from lincent.datasets.eeg.bonn import by_recording, write_bonn
from lincent.datasets.eeg.cache import DamagedCacheWarning
from lincent.datasets.eeg.events import EventShuffleSplit, find_events, split_groups
from lincent.datasets.eeg.extraction import SubjectFeatures, extract_features, iter_features
from lincent.datasets.eeg.features import FFTMagnitude, fft_magnitude
from lincent.datasets.eeg.layout import SegmentError, find_subjects, list_segments
from lincent.datasets.eeg.reader import Segment, SkippedSegmentsWarning, iter_segments, read_segment
from lincent.datasets.eeg.subjects import SUBJECTS, Subject, differences, find_subject
from lincent.datasets.eeg.synthetic import (
    make_synthetic_features,
    synthetic_seconds,
    write_synthetic,
)
from lincent.datasets.eeg.writer import write_segment

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
