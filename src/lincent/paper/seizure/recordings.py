"""Segment files of the seizure detection challenge: names, reading and writing.

    ROOT/<Subject>/<Subject>_<kind>_segment_<N>.mat      kind: ictal, interictal or test

N counts from 1 without leading zeros, so files are sorted by the number, not by the text.  Hidden
files (``._Dog_1_...`` of an archive made on a Mac) and files that are not ``.mat`` are ignored; a
``.mat`` file with another name is reported as foreign.

A file holds ``data`` (channels by samples, one second), ``freq`` (an average over the whole record,
so 399.61 rather than 400), ``channels`` (a structure whose *values* are the electrode names; its
field names are mangled by the program that wrote the files) and, in ictal files, ``latency``: the
seconds from the marked onset to the first sample.  Scalars come as (1,) or (1, 1).  MAT v5 is read
by SciPy, v7.3 by h5py where it is installed: that is HDF5, whose matrices come transposed, whose
text is an array of character codes and whose structures are groups in order of creation.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lincent._files import atomic_write
from lincent.paper.datasets.registry import DatasetNotFoundError

ICTAL, INTERICTAL, TEST = "ictal", "interictal", "test"
KINDS = (ICTAL, INTERICTAL)
_NAME = re.compile(r"(?P<subject>.+)_(?P<kind>ictal|interictal|test)_segment_(?P<number>\d+)\.mat")


class SegmentError(ValueError):
    """A file is not a segment of this layout; the message has the file's name."""


@dataclass(frozen=True, order=True)
class SegmentFile:
    """Where one segment lies; the order is kind (ictal first), then number."""

    kind: str
    number: int
    path: Path

    @property
    def name(self) -> str:
        """Name of the file without its folder."""
        return self.path.name


@dataclass(frozen=True)
class Listing:
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
            missing = max(numbers, default=0) - len(numbers)
            if missing > 0:
                first = next(n for n in range(1, max(numbers) + 1) if n not in numbers)
                sentences.append(
                    f"{self.subject} lacks {missing} {kind} segments between 1 and "
                    f"{max(numbers)}, the first is number {first}."
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
    folders = [folder for folder in (root, *root.iterdir()) if _has_segments(folder)]
    if not folders:
        raise DatasetNotFoundError(
            f"No segments below {str(root)!r}: expected files such as "
            "Dog_1/Dog_1_ictal_segment_1.mat."
        )
    return sorted(folders, key=lambda folder: natural_key(folder.name))


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return a key by which Patient_2 comes before Patient_10."""
    parts = re.split(r"(\d+)", text)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def list_segments(folder: str | os.PathLike[str], kinds: tuple[str, ...] = KINDS) -> Listing:
    """List the segment files of one subject by kind and number, without opening any.

    Parameters
    ----------
    folder : path
        The subject's folder; its files bear its name.
    kinds : tuple of str
        Of ``"ictal"``, ``"interictal"``, ``"test"``.

    Returns
    -------
    Listing
        The files by kind and number.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DatasetNotFoundError(f"{str(folder)!r} is not a folder.")
    subject = folder.resolve().name
    files, foreign = [], []
    for path in sorted(folder.iterdir()):
        if not _is_candidate(path):
            continue
        match = _NAME.fullmatch(path.name)
        if match is None or match["subject"] != subject:
            foreign.append(
                f"{path.name} in {folder} is not a segment of {subject}: expected "
                f"{subject}_ictal_segment_1.mat and the like."
            )
        elif match["kind"] in kinds:
            files.append(SegmentFile(match["kind"], int(match["number"]), path))
    return Listing(subject, folder, tuple(sorted(files)), tuple(foreign))


def _is_candidate(path: Path) -> bool:
    return path.suffix == ".mat" and not path.name.startswith(".") and path.is_file()


def _has_segments(folder: Path) -> bool:
    if folder.name.startswith(".") or not folder.is_dir():
        return False
    return any(_is_candidate(path) and _NAME.fullmatch(path.name) for path in folder.iterdir())


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
        return _read_hdf5(path, content, _WANTED)
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


def _read_hdf5(path: Path, content: bytes, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the wanted variables; ``channels`` as a tuple of names."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f'{path.name} is a MAT v7.3 file and needs h5py: pip install "lincent[eeg]".'
        ) from error
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            found: dict[str, Any] = {
                name: np.asarray(file[name]).T
                for name in wanted
                if name in file and name != "channels"
            }
            if "channels" in file:
                found["channels"] = _names(file, file["channels"])
            return found
    except Exception as error:  # a damaged file can make the reader raise nearly anything
        raise SegmentError(
            f"{path.name} ({len(content)} bytes) cannot be read as a MAT v7.3 file, it is "
            f"truncated or not one ({type(error).__name__}: {' '.join(str(error).split())})."
        ) from error


def _names(file: Any, channels: Any) -> tuple[str, ...]:
    if hasattr(channels, "keys"):
        fields = channels.attrs.get("MATLAB_fields")
        order = ["".join(_char(c) for c in name) for name in fields] if fields is not None else None
        return tuple(_text(file, channels[key]) for key in order or list(channels))
    return tuple(_text(file, file[reference]) for reference in np.ravel(channels[()]))


def _text(file: Any, item: Any) -> str:
    codes = np.ravel(np.asarray(item).T)
    if codes.dtype.kind == "O":  # a cell that points to the text
        return _text(file, file[codes[0]])
    return "".join(_char(code) for code in codes)


def _char(code: Any) -> str:
    return code.decode() if isinstance(code, bytes) else chr(int(code))


def write_segment(
    path: str | os.PathLike[str],
    data: np.ndarray,
    rate: float,
    channels: Sequence[str],
    latency: float | None = None,
) -> Path:
    """Write one segment atomically.

    Parameters
    ----------
    path : path
        ``<Subject>/<Subject>_<kind>_segment_<N>.mat``.
    data : ndarray of shape (n_channels, n_samples)
        The samples, one line per channel.
    rate : float
        Samples per second.
    channels : sequence of str
        The electrodes.
    latency : float or None
        Only for ictal segments.

    Returns
    -------
    Path
        The file.
    """
    from scipy.io import savemat

    if len(channels) != len(data):
        raise ValueError(f"{len(channels)} channel names for {len(data)} rows of data.")
    fields = {f"X.{re.sub(r'[^A-Za-z0-9_]', '.', name)}.": name for name in channels}
    if len(fields) != len(channels):
        raise ValueError("Two channels have the same name; give each its own.")
    variables = {"data": np.asarray(data, dtype=float), "freq": np.array([float(rate)])}
    variables["channels"] = fields  # type: ignore[assignment]
    if latency is not None:
        variables["latency"] = np.array([float(latency)])
    with atomic_write(path, force=True) as sink:
        savemat(sink, variables, long_field_names=True, oned_as="row")
    return Path(path)
