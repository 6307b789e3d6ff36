"""One segment file in, one `Segment` out; many files one after another, or shared among processes.

A file holds ``data`` (channels by samples, one second), ``freq`` (an average over the whole record,
so 399.61 rather than 400), ``channels`` (a structure whose *values* are the electrode names; its
field names are mangled by the program that wrote the files) and, in ictal files, ``latency``: the
seconds from the marked onset to the first sample. Scalars come as (1,) or (1, 1). MAT v5 is read by
SciPy, v7.3 (HDF5) by h5py where it is installed.

Each process holds one segment at a time, whatever the number of files.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lincent.paper.seizure.layout import Listing, SegmentError, SegmentFile, list_segments

Result = TypeVar("Result")
RATE_NAMES = ("freq", "sampling_frequency")
_WANTED = ("data", "channels", "latency", *RATE_NAMES)


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
    digest : str
        SHA-256 of the file.
    """

    path: Path
    data: np.ndarray = field(repr=False)
    rate: float
    channels: tuple[str, ...]
    latency: float | None
    digest: str

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.data.shape[1] / self.rate

    @property
    def constant_channels(self) -> np.ndarray:
        """Which channels do not move within this segment."""
        return np.asarray(np.ptp(self.data, axis=1) == 0)


class SkippedSegmentsWarning(UserWarning):
    """Some files were passed over because the caller asked to be lenient."""


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
    path = Path(path)
    content = path.read_bytes()
    variables = _variables(path, content)
    data = _data(path, variables)
    return Segment(
        path,
        data,
        _rate(path, variables),
        _channels(path, variables, len(data)),
        _latency(variables),
        hashlib.sha256(content).hexdigest(),
    )


def iter_segments(
    source: str | os.PathLike[str] | Listing, *, lenient: bool = False
) -> Iterator[tuple[SegmentFile, Segment]]:
    """Read the segments of a subject's folder one after another, ictal first, by number.

    Parameters
    ----------
    source : path or Listing
        A subject's folder, or what `list_segments` found in it.
    lenient : bool
        Pass over files that cannot be used and warn with their number at the end; otherwise the
        first of them is an error.

    Yields
    ------
    file, segment : tuple
        The file and what it holds.
    """
    listing = source if isinstance(source, Listing) else list_segments(source)
    skipped = list(listing.foreign)
    if skipped and not lenient:
        raise SegmentError(skipped[0])
    for file in listing.files:
        try:
            segment = read_segment(file.path)
        except SegmentError as error:
            if not lenient:
                raise
            skipped.append(str(error))
            continue
        yield file, segment
    warn_skipped(listing.subject, skipped, len(listing.files) + len(listing.foreign))


def warn_skipped(subject: str, skipped: list[str], total: int) -> None:
    """Warn once with the number of files passed over and the reason of the first."""
    if skipped:
        warnings.warn(
            f"{subject}: {len(skipped)} of {total} files were skipped; the first: {skipped[0]}",
            SkippedSegmentsWarning,
            stacklevel=3,
        )


def map_parallel(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> list[Result]:
    """Call ``function(*task)`` for each task, in order, in ``n_jobs`` processes."""
    tasks = list(tasks)
    if n_jobs in (None, 1) or len(tasks) < 2:
        return [function(*task) for task in tasks]
    from joblib import Parallel, delayed  # scikit-learn brings it

    return list(Parallel(n_jobs=n_jobs)(delayed(function)(*task) for task in tasks))


def _variables(path: Path, content: bytes) -> dict[str, Any]:
    from scipy.io import loadmat

    if content[:10] == b"MATLAB 7.3" or content[:8] == b"\x89HDF\r\n\x1a\n":
        from lincent.paper.seizure.hdf5 import read_hdf5

        return read_hdf5(path, content, _WANTED)
    try:
        return dict(loadmat(io.BytesIO(content), variable_names=_WANTED))
    except Exception as error:  # a damaged file can make the reader raise nearly anything
        raise SegmentError(
            f"{path.name} ({len(content)} bytes) cannot be read as a MAT file, it is truncated or "
            f"not one ({type(error).__name__}: {' '.join(str(error).split())})."
        ) from error


def _data(path: Path, variables: dict[str, Any]) -> np.ndarray:
    if "data" not in variables:
        names = ", ".join(name for name in variables if not name.startswith("__")) or "none"
        raise SegmentError(
            f"{path.name} has no variable 'data' (known ones in it: {names}); it is not a segment "
            "of the seizure detection challenge."
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
    return data


def _rate(path: Path, variables: dict[str, Any]) -> float:
    name = next((name for name in RATE_NAMES if name in variables), None)
    if name is None:
        raise SegmentError(f"{path.name} has no sampling rate: no variable 'freq'.")
    values = np.ravel(variables[name])
    rate = float(values[0]) if values.size and values.dtype.kind in "iuf" else float("nan")
    if not 0 < rate < np.inf:
        raise SegmentError(f"{path.name}: freq is {rate}, expected samples per second.")
    return rate


def _channels(path: Path, variables: dict[str, Any], count: int) -> tuple[str, ...]:
    if "channels" not in variables:
        return tuple(f"channel {k + 1}" for k in range(count))
    found = variables["channels"]
    names = found if isinstance(found, tuple) else _values(np.asarray(found))
    if len(names) != count:
        raise SegmentError(f"{path.name} names {len(names)} channels and has {count} rows of data.")
    return names


def _values(found: np.ndarray) -> tuple[str, ...]:
    """Return the values of a structure, field by field, or of a cell or text array."""
    if found.dtype.names:
        record = np.ravel(found)[0]
        cells: list[Any] = [record[name] for name in found.dtype.names]
    else:
        cells = list(np.ravel(found))
    return tuple(str(np.ravel(cell)[0]) if np.size(cell) else "" for cell in cells)


def _latency(variables: dict[str, Any]) -> float | None:
    values = np.ravel(variables.get("latency", ()))
    if not values.size or values.dtype.kind not in "iuf" or not np.isfinite(values[0]):
        return None
    return float(values[0])
