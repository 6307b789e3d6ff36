"""A stand-in for the paper's seizure set: the Bonn recordings, real, in the challenge's layout.

R. G. Andrzejak et al., Phys. Rev. E 64, 061907 (2001): five sets Z, O, N, F, S of 100 recordings
of one channel, 23.6 s at 173.61 Hz. S is ictal, N and F are interictal, all three intracranial.
Each recording gives 23 segments of 178 samples (1.025 s). They are not the paper's subjects: one
channel, many patients, no onset.

A recording of S becomes an event: its latency starts at 0 again. Interictal segments are written
recording by recording, so blocks of 23 consecutive ones are the recordings of N and F.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from lincent.paper.datasets.registry import DatasetChecksumError, DatasetNotFoundError
from lincent.paper.seizure.events import EventShuffleSplit
from lincent.paper.seizure.layout import ICTAL, INTERICTAL
from lincent.paper.seizure.writer import write_segment

NAME = "Bonn"
FILE = "bonn_eeg.npz"
SHA256 = "0d495014fd2e5ce6842cdfc9d6c9d2a90d37c7e598c64237cc9f70cf9edc0a5d"
SAMPLES = 178
SEGMENTS_PER_RECORDING = 23
RATE = 173.61
SETS = {"S": ICTAL, "N": INTERICTAL, "F": INTERICTAL}


def read_bonn(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Read the recordings of S, N and F and check that they are the published ones."""
    path = Path(path)
    if not path.is_file():
        raise DatasetNotFoundError(
            f"{str(path)!r} is not there: put the Bonn recordings as {FILE} into the folder "
            "seizure of LINCENT_DATA (arrays Z, O, N, F, S of 100 by 4097)."
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256:
        raise DatasetChecksumError(
            f"File {path} does not hold the published recordings: expected sha256 {SHA256}, got "
            f"{found}; replace the file."
        )
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in SETS}


def cut_recordings(recordings: np.ndarray) -> np.ndarray:
    """Return (n_recordings, 23, 178) segments; the last three samples are left over."""
    used = SAMPLES * SEGMENTS_PER_RECORDING
    return recordings[:, :used].reshape(len(recordings), SEGMENTS_PER_RECORDING, SAMPLES)


def write_bonn(
    source: str | os.PathLike[str], root: str | os.PathLike[str], *, recordings: int = 100
) -> Path:
    """Write the recordings as segments ``ROOT/Bonn/Bonn_<kind>_segment_<N>.mat``.

    Parameters
    ----------
    source : path
        The file ``bonn_eeg.npz``.
    root : path
        Made if it is not there.
    recordings : int
        How many of each set, from the first; 100 are all.

    Returns
    -------
    Path
        The subject's folder.
    """
    sets = read_bonn(source)
    folder = Path(root) / NAME
    folder.mkdir(parents=True, exist_ok=True)
    written = {ICTAL: 0, INTERICTAL: 0}
    for name, kind in SETS.items():
        for recording in cut_recordings(sets[name][:recordings]):
            for position, samples in enumerate(recording):
                written[kind] += 1
                latency = position * SAMPLES / RATE if kind == ICTAL else None
                path = folder / f"{NAME}_{kind}_segment_{written[kind]}.mat"
                write_segment(path, samples[None], RATE, ("single channel",), latency)
    return folder


def by_recording(n_splits: int = 50, random_state: int | None = 0) -> EventShuffleSplit:
    """Return the splitter that keeps a recording, ictal or not, on one side.

    Parameters
    ----------
    n_splits : int, default=50
        How many splits.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    EventShuffleSplit
        The splitter.
    """
    return EventShuffleSplit(
        n_splits,
        interictal="blocks",
        block_size=SEGMENTS_PER_RECORDING,
        random_state=random_state,
    )
