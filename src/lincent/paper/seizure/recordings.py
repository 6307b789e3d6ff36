"""Segment files of the seizure detection challenge: names and reading.

    ROOT/<Subject>/<Subject>_<kind>_segment_<N>.mat      kind: ictal, interictal or test

N counts from 1 without leading zeros, so files are sorted by the number, not by the text.  Hidden
files (``._Dog_1_...`` of an archive made on a Mac) and files that are not ``.mat`` are ignored; a
``.mat`` file with another name is reported as foreign.

A file holds ``data`` (channels by samples, one second), ``freq`` (an average over the whole record,
so 399.61 rather than 400), ``channels`` (a structure whose *values* are the electrode names; its
field names are mangled by the program that wrote the files) and, in ictal files, ``latency``: the
seconds from the marked onset to the first sample.  Scalars come as (1,) or (1, 1).
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lincent.paper.datasets.registry import DatasetNotFoundError

ICTAL, INTERICTAL = "ictal", "interictal"
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
        elif match["kind"] in KINDS:
            files.append(SegmentFile(match["kind"], int(match["number"]), path))
    return Listing(subject, folder, tuple(sorted(files)), tuple(foreign))


def _is_candidate(path: Path) -> bool:
    return path.suffix == ".mat" and not path.name.startswith(".") and path.is_file()


def _has_segments(folder: Path) -> bool:
    if folder.name.startswith(".") or not folder.is_dir():
        return False
    return any(_is_candidate(path) and _NAME.fullmatch(path.name) for path in folder.iterdir())


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
