"""From a folder of raw segments to a table of features, with a cache and in parallel.

Segments are taken in groups of up to 128 of one kind and consecutive numbers. A group is the unit
of parallel work and of the cache: what the cache holds is not read again, what it lacks is read one
segment at a time, and the group is written before it is handed on. Memory is that of a group per
process, besides the table that is asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from lincent._files import remove_abandoned
from lincent.paper.seizure.cache import (
    SEGMENTS_PER_FILE,
    DamagedCacheWarning,
    FeaturePart,
    join_parts,
    read_part,
    settings_key,
    write_part,
)
from lincent.paper.seizure.events import find_events
from lincent.paper.seizure.features import HIGH, LOW, feature_names, segment_features
from lincent.paper.seizure.layout import ICTAL, Listing, SegmentError, SegmentFile, list_segments
from lincent.paper.seizure.reader import Segment, map_parallel, read_segment, warn_skipped


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
        One sentence for each file passed over.
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
    remove_abandoned(home)
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
