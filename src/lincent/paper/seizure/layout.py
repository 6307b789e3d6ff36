"""Names and places of segment files in the challenge's layout.

    ROOT/<Subject>/<Subject>_<kind>_segment_<N>.mat      kind: ictal, interictal or test

N counts from 1 without leading zeros, so files are sorted by the number, not by the text. Hidden
files (``._Dog_1_...`` of an archive made on a Mac) and files that are not ``.mat`` are no segments
and are passed over; a ``.mat`` file with another name is foreign, and that is said.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from lincent.paper.datasets.registry import DatasetNotFoundError

ICTAL, INTERICTAL, TEST = "ictal", "interictal", "test"
KINDS = (ICTAL, INTERICTAL)
_NAME = re.compile(r"(?P<subject>.+)_(?P<kind>ictal|interictal|test)_segment_(?P<number>\d+)\.mat")


class SegmentError(ValueError):
    """A file is not a segment of this layout; one sentence with the file's name."""


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
    """The segments of one subject, in order, and one sentence for each foreign file."""

    subject: str
    folder: Path
    files: tuple[SegmentFile, ...]
    foreign: tuple[str, ...]

    def gaps(self) -> list[str]:
        """Return one sentence for each kind whose numbers do not run from 1 without a gap."""
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
