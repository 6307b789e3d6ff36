"""The paper's features of EEG segments, from a folder of raw files, in parallel and cached.

With N samples x_0 ... x_{N-1} of one channel in one second,

    X_k = | sum_t x_t exp(-2 pi i k t / N) |,        k = 1 ... 49

where bin k lies at k · rate / N hertz: k Hz for a segment of one second.  Sixteen channels give
16 × 49 = 784 features.  The paper writes "1 to 50 Hz" and 49 values, so 50 is left out, and so is
the constant part, k = 0.  A constant channel has 49 zeros.

Segments are processed in groups of up to 128 of one kind and consecutive numbers.  A group is the
unit of parallel work and of the cache, so memory is that of one group per process besides the
resulting table.  A cache file holds the features of a group with the name, size, modification time
and SHA-256 of each raw file, and starts with the SHA-256 of all that follows, so that any damage is
detected (joblib.Memory would return a flipped bit as a feature).  A cached sample is used if size
and time are unchanged; if only the time differs, the digest of the raw file decides.  Cache files
are written atomically: a killed run continues after the last one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import groupby
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from lincent._files import remove_partial, write_file
from lincent.paper.seizure.events import find_events
from lincent.paper.seizure.recordings import (
    ICTAL,
    Listing,
    Segment,
    SegmentError,
    SegmentFile,
    list_segments,
    map_parallel,
    read_segment,
    warn_skipped,
)

LOW, HIGH = 1, 49
SECOND_TOLERANCE = 0.1


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
    """
    from scipy.fft import rfft

    part = np.abs(rfft(data, axis=-1)[..., low : high + 1])
    return np.asarray(part.reshape(*data.shape[:-2], -1))


def segment_features(segment: Segment, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return the features of one segment, which must be about one second long."""
    if abs(segment.duration - 1) > SECOND_TOLERANCE:
        raise SegmentError(
            f"{segment.path.name} lasts {segment.duration:.3g} s ({segment.data.shape[1]} samples "
            f"at {segment.rate:g} Hz); FFT bin k means k Hz only for one second."
        )
    if segment.data.shape[1] // 2 < high:
        raise SegmentError(
            f"{segment.path.name} has {segment.data.shape[1]} samples, which reach "
            f"{segment.data.shape[1] // 2} Hz; {high} Hz are asked for."
        )
    return fft_magnitude(segment.data, low, high)


class FFTMagnitude(TransformerMixin, BaseEstimator):
    """FFT magnitudes of one-second segments, channels one after another.

    Parameters
    ----------
    n_channels : int, default=1
        Channels in a row of a two-dimensional X; a three-dimensional X has its own.
    low, high : int, default=1, 49
        First and last bin, both included; a bin is a hertz for segments of one second.

    Attributes
    ----------
    n_channels_, n_samples_ : int
        Shape of a segment.
    n_features_in_ : int
        Their product.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.seizure import FFTMagnitude
    >>> wave = np.sin(2 * np.pi * 10 * np.arange(400) / 400)
    >>> features = FFTMagnitude().fit_transform(wave[None])
    >>> features.shape, int(features.argmax()) + 1
    ((1, 49), 10)
    """

    def __init__(self, n_channels: int = 1, *, low: int = LOW, high: int = HIGH) -> None:
        self.n_channels = n_channels
        self.low = low
        self.high = high

    def fit(self, X: Any, y: Any = None) -> FFTMagnitude:
        """Learn the shape of a segment.

        Parameters
        ----------
        X : array-like of shape (n_segments, n_channels * n_samples) or \
                (n_segments, n_channels, n_samples)
            The segments.
        y : ignored
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = self._checked(X)
        channels = X.shape[1] if X.ndim == 3 else self._channels()
        width = int(np.prod(X.shape[1:]))
        if width % channels:
            raise ValueError(f"A row has {width} values, which {channels} channels do not divide.")
        samples = width // channels
        if not all(isinstance(bin, Integral) for bin in (self.low, self.high)) or not (
            0 <= self.low <= self.high <= samples // 2
        ):
            raise ValueError(
                f"Bins {self.low!r} to {self.high!r} are not in 0 to {samples // 2}, what "
                f"{samples} samples have; give segments of one second, or other bins."
            )
        self.n_channels_, self.n_samples_, self.n_features_in_ = channels, samples, width
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the magnitudes.

        Parameters
        ----------
        X : array-like, as in `fit`
            The rows.

        Returns
        -------
        ndarray of shape (n_segments, n_channels * (high - low + 1))
            One column per feature of the map.
        """
        check_is_fitted(self)
        X = self._checked(X)
        width = int(np.prod(X.shape[1:]))
        if width != self.n_features_in_ or (X.ndim == 3 and X.shape[1] != self.n_channels_):
            raise ValueError(
                f"X has {width} features, but FFTMagnitude is expecting {self.n_features_in_} "
                f"features as input: {self.n_channels_} channels of {self.n_samples_} samples."
            )
        shape = (len(X), self.n_channels_, self.n_samples_)
        return fft_magnitude(X.reshape(shape), self.low, self.high)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return ``channel Hz`` names; ``input_features`` may name the channels.

        Parameters
        ----------
        input_features : object, default=None
            Ignored: the names follow from the channels.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self)
        names = [f"ch{k}" for k in range(self.n_channels_)]
        if input_features is not None and len(input_features) == self.n_channels_:
            names = [str(name) for name in input_features]
        return feature_names(names, self.low, self.high)

    def _channels(self) -> int:
        if not isinstance(self.n_channels, Integral) or self.n_channels < 1:
            raise ValueError(f"n_channels is a number of channels, got {self.n_channels!r}.")
        return int(self.n_channels)

    def _checked(self, X: Any) -> np.ndarray:
        X = check_array(X, allow_nd=True, dtype=[np.float64, np.float32], estimator=self)
        if X.ndim > 3:
            raise ValueError(f"X has {X.ndim} dimensions, expected 2 or 3.")
        return np.asarray(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


def feature_names(channels: Any, low: int = LOW, high: int = HIGH) -> np.ndarray:
    """Return ``"<channel> <k>Hz"`` for each feature, in order."""
    return np.array([f"{name} {k}Hz" for name in channels for k in range(low, high + 1)], object)


FORMAT = 1
SEGMENTS_PER_FILE = 128


class DamagedCacheWarning(UserWarning):
    """A cache file does not hold what was written to it; it is made again."""


@dataclass(frozen=True)
class FeaturePart:
    """Features of consecutive segments of one kind; one entry per segment in each array.

    ``channels`` has the electrode names of the first segment, ``renamed`` counts segments whose
    names differ from it, ``constant`` the channels without movement.
    """

    features: np.ndarray
    names: np.ndarray
    numbers: np.ndarray
    sizes: np.ndarray
    times: np.ndarray
    digests: np.ndarray
    latencies: np.ndarray
    rates: np.ndarray
    constant: np.ndarray
    renamed: np.ndarray
    channels: np.ndarray

    def rows(self, index: np.ndarray) -> FeaturePart:
        """Return some of the segments."""
        cut = {
            item.name: getattr(self, item.name)[index]
            for item in fields(self)
            if item.name != "channels"
        }
        return FeaturePart(**cut, channels=self.channels)


def join_parts(parts: list[FeaturePart]) -> FeaturePart:
    """Return several parts as one; the channel names are those of the first."""
    joined = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(FeaturePart)
        if item.name != "channels"
    }
    return FeaturePart(**joined, channels=parts[0].channels)


def settings_key(**settings: object) -> str:
    """Return a short hash of all that decides the features besides the raw file."""
    text = json.dumps({"format": FORMAT, **settings}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_part(path: Path, part: FeaturePart) -> None:
    """Write a part atomically."""
    buffer = io.BytesIO()
    np.savez(buffer, **{item.name: getattr(part, item.name) for item in fields(part)})
    payload = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, hashlib.sha256(payload).digest() + payload)


def read_part(path: Path) -> FeaturePart | None:
    """Read a part; None where there is none or it is damaged, which is said."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    digest, payload = content[:32], content[32:]
    if hashlib.sha256(payload).digest() != digest:
        warnings.warn(
            f"The cache file {path} is damaged ({len(content)} bytes, wrong checksum) and is made "
            "again.",
            DamagedCacheWarning,
            stacklevel=2,
        )
        return None
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        return FeaturePart(**{name: arrays[name] for name in arrays.files})


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
    numbers, rates : ndarray of shape (n_segments,)
        The number of each file.
    channels : tuple of str
        The electrodes.
    constant : int
        Channels without movement, counted over all segments.
    skipped : tuple of str
        One message for each file passed over.
    notes : tuple of str
        What a reader of results should know: gaps in the numbers, changing channel names.
    reused : int
        How many segments came from the cache.
    """

    subject: str
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    events: np.ndarray = field(repr=False)
    latency: np.ndarray = field(repr=False)
    numbers: np.ndarray = field(repr=False)
    rates: np.ndarray = field(repr=False)
    channels: tuple[str, ...] = field(repr=False)
    constant: int
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    reused: int

    @property
    def feature_names(self) -> np.ndarray:
        """``"<channel> <k>Hz"`` for each column of X."""
        per_channel = self.X.shape[1] // len(self.channels)
        return feature_names(self.channels, LOW, LOW + per_channel - 1)

    @property
    def n_events(self) -> int:
        """How many seizures."""
        return int(self.events.max(initial=-1)) + 1


@dataclass(frozen=True)
class Group:
    """The files of one unit of work and where its features are kept."""

    files: tuple[SegmentFile, ...]
    cached: Path | None
    channels: int


@dataclass(frozen=True)
class Outcome:
    """What became of a group."""

    part: FeaturePart | None
    skipped: tuple[str, ...]
    reused: int


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
    outcomes = list(iter_features(listing, cache=cache, lenient=lenient, n_jobs=n_jobs))
    skipped = [*listing.foreign, *(text for item in outcomes for text in item.skipped)]
    warn_skipped(listing.subject, skipped, len(listing.files) + len(listing.foreign))
    parts = [item.part for item in outcomes if item.part is not None]
    if not parts:
        raise SegmentError(f"{listing.folder} holds no usable segment.")
    part = join_parts(parts)
    del parts
    ictal = np.char.find(part.names, f"_{ICTAL}_segment_") >= 0
    events = np.full(len(ictal), -1)
    events[ictal] = find_events(part.latencies[ictal])
    return SubjectFeatures(
        listing.subject,
        part.features,
        np.where(ictal, "ictal", "interictal"),
        events,
        part.latencies,
        part.numbers,
        part.rates,
        tuple(part.channels.tolist()),
        int(part.constant.sum()),
        tuple(skipped),
        tuple(_notes(listing, part, ictal)),
        sum(item.reused for item in outcomes),
    )


def iter_features(
    source: str | os.PathLike[str] | Listing,
    *,
    cache: str | os.PathLike[str] | None = None,
    lenient: bool = False,
    n_jobs: int | None = None,
) -> Iterator[Outcome]:
    """Hand on the features of a subject group by group, without a table of all of them.

    Parameters
    ----------
    source : path or Listing
        A subject's folder, or what `list_segments` gives for it.
    cache : str or path-like, default=None
        As in `extract_features`.
    lenient : bool, default=False
        As in `extract_features`.
    n_jobs : int, default=None
        As in `extract_features`.

    Yields
    ------
    outcome : Outcome
        A group of files with its features.
    """
    listing = source if isinstance(source, Listing) else list_segments(source)
    if listing.foreign and not lenient:
        raise SegmentError(listing.foreign[0])
    if not listing.files:
        raise SegmentError(f"{listing.folder} holds no ictal or interictal segment.")
    home = _home(cache, listing.subject)
    places = list(_groups(listing.files, home))
    channels = _channel_count(places)
    groups = [Group(files, path, channels) for files, path in places]
    workers = _workers(n_jobs)
    at_once = 4 * workers if workers > 1 else 1  # bounds what waits in memory
    for start in range(0, len(groups), at_once):
        tasks = [(group, lenient) for group in groups[start : start + at_once]]
        yield from map_parallel(_work, tasks, n_jobs)


def _home(cache: str | os.PathLike[str] | None, subject: str) -> Path | None:
    if cache is None:
        return None
    home = Path(cache).expanduser() / settings_key(kind="fft", low=LOW, high=HIGH) / subject
    home.mkdir(parents=True, exist_ok=True)
    remove_partial(home)
    return home


def _groups(
    files: tuple[SegmentFile, ...], home: Path | None
) -> Iterator[tuple[tuple[SegmentFile, ...], Path | None]]:
    def place(file: SegmentFile) -> tuple[str, int]:
        return file.kind, (file.number - 1) // SEGMENTS_PER_FILE

    for (kind, count), members in groupby(files, place):
        yield tuple(members), None if home is None else home / f"{kind}-{count:05d}.features"


def _channel_count(places: list[tuple[tuple[SegmentFile, ...], Path | None]]) -> int:
    """Return the channels of the first usable segment: all others must agree with it."""
    for files, path in places:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DamagedCacheWarning)  # said when its turn comes
            known = read_part(path) if path is not None else None
        first = files[0]
        if known is not None and known.names[0] == first.name and _unchanged(first.path, known, 0):
            return len(known.channels)
        for file in files:
            with contextlib.suppress(SegmentError):
                return len(read_segment(file.path).channels)
    return 0


def _workers(n_jobs: int | None) -> int:
    if n_jobs in (None, 1):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _work(group: Group, lenient: bool) -> Outcome:
    known = read_part(group.cached) if group.cached is not None else None
    taken = _still_valid(known, group) if known is not None else np.zeros(0, dtype=int)
    have = set(known.names[taken].tolist()) if known is not None else set()
    missing = [file for file in group.files if file.name not in have]
    fresh, skipped = _compute(missing, group.channels, lenient)
    parts = [known.rows(taken)] if known is not None and len(taken) else []
    parts += [fresh] if fresh is not None else []
    if not parts:
        return Outcome(None, tuple(skipped), 0)
    part = join_parts(parts)
    part = part.rows(np.argsort(part.numbers, kind="stable"))
    if fresh is not None and group.cached is not None:
        write_part(group.cached, part)
    return Outcome(part, tuple(skipped), len(taken))


def _still_valid(known: FeaturePart, group: Group) -> np.ndarray:
    """Return the positions in the cached part whose raw file is there and unchanged."""
    files = {file.name: file for file in group.files}
    if len(known.channels) != group.channels:
        return np.zeros(0, dtype=int)
    valid = []
    for position, name in enumerate(known.names.tolist()):
        if name in files and _unchanged(files[name].path, known, position):
            valid.append(position)
    return np.asarray(valid, dtype=int)


def _unchanged(path: Path, known: FeaturePart, position: int) -> bool:
    found = path.stat()
    if found.st_size != known.sizes[position]:
        return False
    if found.st_mtime_ns == known.times[position]:
        return True
    return hashlib.sha256(path.read_bytes()).hexdigest() == str(known.digests[position])


FACTS = (
    "names", "numbers", "sizes", "times", "digests", "latencies", "rates", "constant", "renamed"
)  # fmt: skip
"""What is noted of each segment beside its features: fields of FeaturePart."""


def _compute(
    files: list[SegmentFile], channels: int, lenient: bool
) -> tuple[FeaturePart | None, list[str]]:
    """Return the features of raw files, and why some were passed over."""
    rows: list[np.ndarray] = []
    facts: list[tuple[object, ...]] = []
    channel_names: tuple[str, ...] = ()
    skipped: list[str] = []
    for file in files:
        try:
            found = file.path.stat()
            segment = _segment(file, channels)
            rows.append(segment_features(segment))
        except SegmentError as error:
            if not lenient:
                raise
            skipped.append(str(error))
            continue
        channel_names = channel_names or segment.channels
        facts.append(
            (
                file.name,
                file.number,
                found.st_size,
                found.st_mtime_ns,
                segment.digest,
                np.nan if segment.latency is None else segment.latency,
                segment.rate,
                int(segment.constant_channels.sum()),
                segment.channels != channel_names,
            )
        )
    if not rows:
        return None, skipped
    columns = [np.array(column) for column in zip(*facts, strict=True)]
    named = dict(zip(FACTS, columns, strict=True))
    part = FeaturePart(features=np.array(rows), channels=np.array(channel_names), **named)
    return part, skipped


def _segment(file: SegmentFile, channels: int) -> Segment:
    segment = read_segment(file.path)
    if len(segment.channels) != channels:
        raise SegmentError(
            f"{file.name} has {len(segment.channels)} channels and the first segment of "
            f"this subject {channels}."
        )
    return segment


def _notes(listing: Listing, part: FeaturePart, ictal: np.ndarray) -> Iterator[str]:
    yield from listing.gaps()
    renamed = int(part.renamed.sum())
    if renamed:
        yield (
            f"{listing.subject}: the channel names of {renamed} segments differ from those before "
            "them; rows are taken in the order of the files."
        )
    constant = int((part.constant > 0).sum())
    if constant:
        yield f"{listing.subject}: {constant} segments have channels without movement."
    unknown = int(np.isnan(part.latencies[ictal]).sum())
    if unknown:
        yield (
            f"{listing.subject}: {unknown} ictal segments have no latency; each is taken as part "
            "of the seizure before it."
        )
