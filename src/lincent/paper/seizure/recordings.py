"""Segment files of the seizure detection challenge: names, reading, and the paper's features.

    ROOT/<Subject>/<Subject>_<kind>_segment_<N>.mat      kind: ictal, interictal or test

N counts from 1 without leading zeros, so files are sorted by the number, not by the text.  Files
with other names (``._Dog_1_...`` of an archive made on a Mac) are ignored.

A file holds ``data`` (channels by samples, one second), ``freq`` (an average over the whole record,
so 399.61 rather than 400), ``channels`` (a structure whose *values* are the electrode names; its
field names are mangled by the program that wrote the files) and, in ictal files, ``latency``: the
seconds from the marked onset to the first sample.

The paper's features are computed in parallel and cached.  With N samples x_0 ... x_{N-1} of one
channel in one second,

    X_k = | sum_t x_t exp(-2 pi i k t / N) |,        k = 1 ... 49

where bin k lies at k · rate / N hertz: k Hz for a segment of one second.  Sixteen channels give
16 × 49 = 784 features.  The paper writes "1 to 50 Hz" and 49 values, so 50 is left out, and so is
the constant part, k = 0.  A constant channel has 49 zeros.

The cache is joblib's.  Its key has name, size and modification time of every raw file: where one
differs, the subject is read again.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Memory, Parallel, delayed

from lincent.paper.datasets.registry import DatasetNotFoundError
from lincent.paper.seizure.events import find_events

ICTAL, INTERICTAL = "ictal", "interictal"
LOW, HIGH = 1, 49
_NAME = re.compile(r"(?P<subject>[^.].*)_(?P<kind>ictal|interictal)_segment_(?P<number>\d+)\.mat")


class SegmentError(ValueError):
    """A file is not a segment of this layout; the message has the file's name."""


class SegmentFile(NamedTuple):
    """Where one segment lies; the order is kind (ictal first), then number."""

    kind: str
    number: int
    path: Path


def find_subjects(root: str | os.PathLike[str]) -> list[Path]:
    """Return the subject folders below ``root``, or ``root`` itself if it is one, by natural order.

    Parameters
    ----------
    root : str or path-like
        The folder that has them.

    Returns
    -------
    list of pathlib.Path
        The folders.

    Raises
    ------
    DatasetNotFoundError
        If there is no such folder or it holds no segments.
    """
    root = Path(root).expanduser()
    if not root.is_dir():
        raise DatasetNotFoundError(
            f"{str(root)!r} is not a folder; name the one that holds Dog_1, Patient_1 and so on."
        )
    folders = [folder for folder in (root, *root.glob("[!.]*/")) if list_segments(folder)]
    if not folders:
        raise DatasetNotFoundError(
            f"No segments below {str(root)!r}: expected files such as "
            "Dog_1/Dog_1_ictal_segment_1.mat."
        )
    # Patient_2 before Patient_10
    return sorted(folders, key=lambda folder: (len(folder.name), folder.name))


def list_segments(folder: str | os.PathLike[str]) -> list[SegmentFile]:
    """List the training segments of one subject by kind and number, without opening any.

    Parameters
    ----------
    folder : path
        The subject's folder; its files bear its name.

    Returns
    -------
    list of SegmentFile
        The files by kind and number.
    """
    folder = Path(folder).expanduser()
    matches = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted(
        SegmentFile(match["kind"], int(match["number"]), path)
        for match, path in matches
        if match and match["subject"] == folder.resolve().name
    )


@dataclass(frozen=True)
class Segment:
    """One second of EEG.

    Parameters
    ----------
    path : Path
        The file.
    data : ndarray of shape (n_channels, n_samples)
        The samples, one line per channel.
    rate : float
        Samples per second, as the file has it.
    channels : tuple of str
        Names of the electrodes.
    latency : float
        Seconds since onset; NaN where the file has none.
    """

    path: Path
    data: np.ndarray = field(repr=False)
    rate: float
    channels: tuple[str, ...]
    latency: float


def read_segment(path: str | os.PathLike[str]) -> Segment:
    """Read one segment file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Segment
        The second of EEG.

    Raises
    ------
    SegmentError
        If the file is truncated, not a MAT file, or holds something else.
    """
    from scipy.io import loadmat

    path = Path(path)
    wanted = ("data", "freq", "channels", "latency")
    try:
        content = loadmat(path, variable_names=wanted, simplify_cells=True)
        data = np.atleast_2d(content["data"]).astype(float)
        rate, latency = float(content["freq"]), float(content.get("latency", "nan"))
        names = tuple(map(str, content["channels"].values()))
    except Exception as error:  # a damaged file can make the reader raise nearly anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise SegmentError(
            f"{path.name} is no segment of the challenge, a MAT v5 file with data, freq and "
            f"channels, or it is truncated ({reason})."
        ) from error
    if data.ndim != 2 or not np.isfinite(data).all() or not 0 < rate < np.inf:
        raise SegmentError(
            f"{path.name} has data of shape {data.shape} at {rate} Hz: expected finite numbers, "
            "channels by samples, and samples per second."
        )
    return Segment(path, data, rate, names, latency)


def fft_magnitude(data: np.ndarray, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return the magnitudes of bins ``low`` to ``high``, channels one after another.

    Parameters
    ----------
    data : ndarray of shape (..., n_channels, n_samples)
        The samples, one line per channel.
    low : int, default=LOW
        The first frequency.
    high : int, default=HIGH
        The last frequency.

    Returns
    -------
    ndarray of shape (..., n_channels * (high - low + 1))
        The magnitudes.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.seizure import fft_magnitude
    >>> wave = np.sin(2 * np.pi * 10 * np.arange(400) / 400)
    >>> features = fft_magnitude(wave[None])
    >>> features.shape, int(features.argmax()) + 1
    ((49,), 10)
    """
    from scipy.fft import rfft

    part = np.abs(rfft(data, axis=-1)[..., low : high + 1])
    return np.asarray(part.reshape(*data.shape[:-2], -1))


@dataclass(frozen=True)
class SubjectFeatures:
    """The features of one subject.

    Parameters
    ----------
    subject : str
        Name of the folder.
    X : ndarray of shape (n_segments, n_features)
        Ictal segments first, each kind in the order of its numbers.
    y : ndarray of shape (n_segments,)
        ``"ictal"`` or ``"interictal"``.
    events : ndarray of shape (n_segments,)
        Number of the seizure for ictal segments, -1 for the others; the ``groups`` of
        `EventShuffleSplit`.
    latency : ndarray of shape (n_segments,)
        NaN where the file has none.
    channels : tuple of str
        The electrodes, in the first segment.
    rate : float
        Samples per second, of the first segment.
    """

    subject: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    events: np.ndarray = field(repr=False)
    latency: np.ndarray = field(repr=False)
    channels: tuple[str, ...] = field(repr=False)
    rate: float

    @property
    def n_events(self) -> int:
        """How many seizures."""
        return int(self.events.max(initial=-1)) + 1


def extract_features(
    folder: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> SubjectFeatures:
    """Read a subject's training segments and return their features, labels and events.

    Parameters
    ----------
    folder : path
        A subject's folder in the challenge's layout.
    cache : path or None
        Where features are kept between runs; None keeps nothing.
    n_jobs : int or None
        Processes; -1 takes all cores.

    Returns
    -------
    SubjectFeatures
        Features, labels and events.
    """
    files = list_segments(folder)
    if not files:
        raise SegmentError(f"{folder} holds no ictal or interictal segment.")
    facts = [(file.path, (s := file.path.stat()).st_size, s.st_mtime_ns) for file in files]
    location = None if cache is None else Path(cache).expanduser()
    read = Memory(location, verbose=0).cache(_read_files, ignore=["n_jobs"])
    X, latency, channels, rate = read(facts, n_jobs)
    kinds = np.array([file.kind for file in files])
    events = np.full(len(kinds), -1)
    events[kinds == ICTAL] = find_events(latency[kinds == ICTAL])
    return SubjectFeatures(Path(folder).resolve().name, X, kinds, events, latency, channels, rate)


def _read_files(facts: list[tuple[Path, int, int]], n_jobs: int | None) -> tuple[Any, ...]:
    """Return features and latencies of raw files, and channels and rate of the first."""
    rows = Parallel(n_jobs=n_jobs)(delayed(_read_features)(path) for path, _, _ in facts)
    features, latencies, channels, rates = zip(*rows, strict=True)
    for (path, _, _), own in zip(facts, features, strict=True):
        if len(own) != len(features[0]):
            raise SegmentError(
                f"{path.name} has other channels than {facts[0][0].name}: {len(own)} and "
                f"{len(features[0])} features."
            )
    return np.array(features), np.array(latencies), channels[0], rates[0]


def _read_features(path: Path) -> tuple[Any, ...]:
    """Return the features, latency, channels and rate of one file of about one second."""
    segment = read_segment(path)
    n_samples = segment.data.shape[1]
    if abs(n_samples / segment.rate - 1) > 0.1 or n_samples < 2 * HIGH:
        raise SegmentError(
            f"{path.name} has {n_samples} samples at {segment.rate:g} Hz; FFT bin k means k Hz, up "
            f"to {HIGH} Hz, only for one second of {2 * HIGH} samples or more."
        )
    return fft_magnitude(segment.data), segment.latency, segment.channels, segment.rate
