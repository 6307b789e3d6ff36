"""Features on disk, some segments to a file, so that a second run opens no raw file.

A file holds the features of up to 128 segments with, for each, the name, size, time of change and
SHA-256 of the raw file. It begins with the SHA-256 of all that follows: a damaged file is noticed,
whatever the damage. A killed run leaves whole files only and the next run goes on after them.

A row is taken if the raw file's size and time are those noted; if only the time differs, the raw
file is read and its digest decides. The folder's name is a hash of the settings.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from lincent._files import write_whole

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
    """Write a part, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **{item.name: getattr(part, item.name) for item in fields(part)})
    payload = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, hashlib.sha256(payload).digest() + payload)


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
