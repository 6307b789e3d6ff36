"""Segment files of the seizure detection challenge: names, reading, and the paper's features.

    ROOT/<Subject>/<Subject>_<kind>_segment_<N>.mat      kind: ictal, interictal or test

N counts from 1 without leading zeros, so files are sorted by the number, not by the text.  Hidden
files (``._Dog_1_...`` of an archive made on a Mac) and files that are not ``.mat`` are ignored; a
``.mat`` file with another name is reported as foreign.

A file holds ``data`` (channels by samples, one second), ``freq`` (an average over the whole record,
so 399.61 rather than 400), ``channels`` (a structure whose *values* are the electrode names; its
field names are mangled by the program that wrote the files) and, in ictal files, ``latency``: the
seconds from the marked onset to the first sample.  Scalars come as (1,) or (1, 1).

The paper's features are computed in parallel and cached.  With N samples x_0 ... x_{N-1} of one
channel in one second,

    X_k = | sum_t x_t exp(-2 pi i k t / N) |,        k = 1 ... 49

where bin k lies at k · rate / N hertz: k Hz for a segment of one second.  Sixteen channels give
16 × 49 = 784 features.  The paper writes "1 to 50 Hz" and 49 values, so 50 is left out, and so is
the constant part, k = 0.  A constant channel has 49 zeros.

The features of a subject are cached in one file of NumPy's (a zip file, whose checksums detect
damage), written atomically.  It holds a hash of name, size and modification time of every raw file:
where one differs, the subject is read again.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from lincent._files import write_file
from lincent.paper.datasets.registry import DatasetNotFoundError
from lincent.paper.seizure.events import find_events

ICTAL, INTERICTAL = "ictal", "interictal"
KINDS = (ICTAL, INTERICTAL)
VISIBLE = "[!.]*.mat"
LOW, HIGH = 1, 49
_NAME = re.compile(r"(?P<subject>.+)_(?P<kind>ictal|interictal|test)_segment_(?P<number>\d+)\.mat")


class SegmentError(ValueError):
    """A file is not a segment of this layout; the message has the file's name."""


class SegmentFile(NamedTuple):
    """Where one segment lies; the order is kind (ictal first), then number."""

    kind: str
    number: int
    path: Path


class Listing(NamedTuple):
    """The segments of one subject, in order, and one message for each foreign file."""

    subject: str
    folder: Path
    files: tuple[SegmentFile, ...]
    foreign: tuple[str, ...]

    def gaps(self) -> list[str]:
        """Return one message for each kind whose numbers do not run from 1 without a gap."""
        sentences = []
        for kind in KINDS:
            numbers = {file.number for file in self.files if file.kind == kind}
            last = max(numbers, default=0)
            missing = sorted(set(range(1, last + 1)) - numbers)
            if missing:
                sentences.append(
                    f"{self.subject} lacks {len(missing)} {kind} segments between 1 and {last}, "
                    f"the first is number {missing[0]}."
                )
        return sentences


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
    folders = [
        folder
        for folder in (root, *root.glob("[!.]*/"))
        if any(_NAME.fullmatch(path.name) for path in folder.glob(VISIBLE))
    ]
    if not folders:
        raise DatasetNotFoundError(
            f"No segments below {str(root)!r}: expected files such as "
            "Dog_1/Dog_1_ictal_segment_1.mat."
        )

    def natural_key(folder: Path) -> list[tuple[int, str]]:  # Patient_2 before Patient_10
        parts = re.split(r"(\d+)", folder.name)
        return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

    return sorted(folders, key=natural_key)


def list_segments(folder: str | os.PathLike[str]) -> Listing:
    """List the training segments of one subject by kind and number, without opening any.

    Parameters
    ----------
    folder : path
        The subject's folder; its files bear its name.

    Returns
    -------
    Listing
        The files by kind and number.
    """
    folder = Path(folder).expanduser()
    subject = folder.resolve().name
    files, foreign = [], []
    for path in sorted(folder.glob(VISIBLE)):
        match = _NAME.fullmatch(path.name)
        if match is None or match["subject"] != subject:
            foreign.append(
                f"{path.name} in {folder} is not a segment of {subject}: expected "
                f"{subject}_ictal_segment_1.mat and the like."
            )
        elif match["kind"] in KINDS:
            files.append(SegmentFile(match["kind"], int(match["number"]), path))
    return Listing(subject, folder, tuple(sorted(files)), tuple(foreign))


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
    latency : float or None
        Seconds since onset; None where the file has none.
    """

    path: Path
    data: np.ndarray = field(repr=False)
    rate: float
    channels: tuple[str, ...]
    latency: float | None

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.data.shape[1] / self.rate

    @property
    def constant_channels(self) -> np.ndarray:
        """Which channels do not move within this segment."""
        return np.asarray(np.ptp(self.data, axis=1) == 0)


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
    content = path.read_bytes()
    wanted = ("data", "freq", "channels", "latency")
    try:
        variables = dict(loadmat(io.BytesIO(content), variable_names=wanted))
    except Exception as error:  # a damaged file can make the reader raise nearly anything
        raise SegmentError(
            f"{path.name} ({len(content)} bytes) cannot be read as a MAT v5 file, it is truncated "
            f"or not one ({type(error).__name__}: {' '.join(str(error).split())})."
        ) from error
    if "data" not in variables:
        raise SegmentError(
            f"{path.name} has no variable 'data'; it is not a segment of the seizure detection "
            "challenge."
        )
    data = np.asarray(variables["data"])
    if data.ndim != 2 or data.size == 0 or data.dtype.kind not in "iuf":
        raise SegmentError(
            f"{path.name}: data is {data.dtype} of shape {data.shape}, expected real numbers, "
            "channels by samples."
        )
    data = data.astype(float, copy=False)
    wrong = int(data.size - np.isfinite(data).sum())
    if wrong:
        raise SegmentError(f"{path.name}: {wrong} of {data.size} values are not finite numbers.")
    if "freq" not in variables:
        raise SegmentError(f"{path.name} has no sampling rate: no variable 'freq'.")
    rate, latency = _scalar(variables["freq"]), _scalar(variables.get("latency", ()))
    if not 0 < rate < np.inf:
        raise SegmentError(f"{path.name}: freq is {rate}, expected samples per second.")
    names = tuple(f"channel {k + 1}" for k in range(len(data)))
    if "channels" in variables:
        # A structure, field by field, or a cell or text array.
        cells = np.ravel(variables["channels"])
        values = [cells[0][name] for name in cells.dtype.names] if cells.dtype.names else cells
        names = tuple(str(np.ravel(value)[0]) if np.size(value) else "" for value in values)
    if len(names) != len(data):
        raise SegmentError(
            f"{path.name} names {len(names)} channels and has {len(data)} rows of data."
        )
    return Segment(path, data, rate, names, latency if np.isfinite(latency) else None)


def _scalar(value: Any) -> float:
    """Return a number stored in an array of any shape; NaN where there is none."""
    values = np.ravel(value)
    return float(values[0]) if values.size and values.dtype.kind in "iuf" else float("nan")


# Features.


class SkippedSegmentsWarning(UserWarning):
    """Some files were passed over because the caller asked to be lenient."""


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


def segment_features(segment: Segment) -> np.ndarray:
    """Return the features of one segment, which must be about one second long."""
    if abs(segment.duration - 1) > 0.1:
        raise SegmentError(
            f"{segment.path.name} lasts {segment.duration:.3g} s ({segment.data.shape[1]} samples "
            f"at {segment.rate:g} Hz); FFT bin k means k Hz only for one second."
        )
    if segment.data.shape[1] // 2 < HIGH:
        raise SegmentError(
            f"{segment.path.name} has {segment.data.shape[1]} samples, which reach "
            f"{segment.data.shape[1] // 2} Hz; {HIGH} Hz are asked for."
        )
    return fft_magnitude(segment.data)


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
        The electrodes.
    rate : float
        Samples per second, of the first segment.
    skipped : tuple of str
        One message for each file passed over.
    notes : tuple of str
        What a reader of results should know: gaps in the numbers, changing channel names.
    reused : bool
        Whether the features came from the cache.
    """

    subject: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    events: np.ndarray = field(repr=False)
    latency: np.ndarray = field(repr=False)
    channels: tuple[str, ...] = field(repr=False)
    rate: float
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    reused: bool

    @property
    def n_events(self) -> int:
        """How many seizures."""
        return int(self.events.max(initial=-1)) + 1


def extract_features(
    folder: str | os.PathLike[str],
    *,
    cache: str | os.PathLike[str] | None = None,
    lenient: bool = False,
    n_jobs: int | None = None,
) -> SubjectFeatures:
    """Read a subject's training segments and return their features, labels and events.

    Parameters
    ----------
    folder : path
        A subject's folder in the challenge's layout.
    cache : path or None
        Where features are kept between runs; None keeps nothing.
    lenient : bool
        Pass over files that cannot be used and warn with their number; otherwise the first of
        them is an error.
    n_jobs : int or None
        Processes; -1 takes all cores.

    Returns
    -------
    SubjectFeatures
        Features, labels and events.
    """
    listing = list_segments(folder)
    if listing.foreign and not lenient:
        raise SegmentError(listing.foreign[0])
    if not listing.files:
        raise SegmentError(f"{listing.folder} holds no ictal or interictal segment.")
    path = None if cache is None else Path(cache).expanduser() / f"{listing.subject}.features"
    # All that decides the features, without a look into the files.
    facts = [(f.path.name, (s := f.path.stat()).st_size, s.st_mtime_ns) for f in listing.files]
    key = hashlib.sha256(repr((LOW, HIGH, facts)).encode()).hexdigest()
    table = None if path is None else _read_cache(path, key)
    reused = table is not None
    if table is None:
        table = _compute(listing.files, lenient, n_jobs)
        if path is not None:
            buffer = io.BytesIO()
            np.savez(buffer, key=np.array(key), **table)  # type: ignore[arg-type]
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, buffer.getvalue())
    skipped = [*listing.foreign, *table["skipped"].tolist()]
    if skipped and not lenient:
        raise SegmentError(skipped[0])
    if skipped:
        total = len(listing.files) + len(listing.foreign)
        warnings.warn(
            f"{listing.subject}: {len(skipped)} of {total} files were skipped; the first: "
            f"{skipped[0]}",
            SkippedSegmentsWarning,
            stacklevel=2,
        )
    if not len(table["features"]):
        raise SegmentError(f"{listing.folder} holds no usable segment.")
    ictal = table["kinds"] == ICTAL
    events = np.full(len(ictal), -1)
    events[ictal] = find_events(table["latencies"][ictal])
    return SubjectFeatures(
        subject=listing.subject,
        X=table["features"],
        y=table["kinds"],
        events=events,
        latency=table["latencies"],
        channels=tuple(table["channels"].tolist()),
        rate=float(table["rates"][0]),
        skipped=tuple(skipped),
        notes=tuple(_notes(listing, table, ictal)),
        reused=reused,
    )


def _read_cache(path: Path, key: str) -> dict[str, np.ndarray] | None:
    """Return the cached table; None where it is missing, damaged, or of other files."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return dict(arrays) if str(arrays["key"]) == key else None
    except Exception:  # a damaged file can make the reader raise nearly anything
        return None


def _measure(file: SegmentFile, lenient: bool) -> tuple[Any, ...] | str:
    """Return the features and facts of one file, or why it cannot be used."""
    try:
        segment = read_segment(file.path)
        features = segment_features(segment)
    except SegmentError as error:
        if not lenient:
            raise
        return str(error)
    latency = np.nan if segment.latency is None else segment.latency
    constant = bool(segment.constant_channels.any())
    return segment.channels, features, file.kind, latency, segment.rate, constant


def _compute(
    files: tuple[SegmentFile, ...], lenient: bool, n_jobs: int | None
) -> dict[str, np.ndarray]:
    """Return the features of raw files as columns, and why some were passed over."""
    rows, skipped = [], []
    channels: tuple[str, ...] = ()
    outcomes = Parallel(n_jobs=n_jobs)(delayed(_measure)(file, lenient) for file in files)
    for file, outcome in zip(files, outcomes, strict=True):
        if isinstance(outcome, str):
            skipped.append(outcome)
            continue
        names, *row = outcome
        channels = channels or names
        if len(names) != len(channels):
            skipped.append(
                f"{file.path.name} has {len(names)} channels and the first segment of this subject "
                f"{len(channels)}."
            )
            continue
        rows.append([*row, names != channels])
    columns = ("features", "kinds", "latencies", "rates", "constant", "renamed")
    values = zip(*rows, strict=True) if rows else ((),) * len(columns)
    table = {name: np.array(column) for name, column in zip(columns, values, strict=True)}
    return table | {"channels": np.array(channels), "skipped": np.array(skipped, dtype=str)}


def _notes(listing: Listing, table: dict[str, np.ndarray], ictal: np.ndarray) -> Iterator[str]:
    yield from listing.gaps()
    if table["renamed"].any():
        yield (
            f"{listing.subject}: the channel names of {table['renamed'].sum()} segments differ "
            "from those of the first; rows are taken in the order of the files."
        )
    if table["constant"].any():
        count = table["constant"].sum()
        yield f"{listing.subject}: {count} segments have channels without movement."
    unknown = int(np.isnan(table["latencies"][ictal]).sum())
    if unknown:
        yield (
            f"{listing.subject}: {unknown} ictal segments have no latency; each is taken as part "
            "of the seizure before it."
        )
