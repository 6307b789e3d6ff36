"""The EEG data sets by name: the paper's twelve subjects, and substitutes for them.

    seizure_dog_1, ...     code Subject1 ...: the real recordings, where LINCENT_DATA/seizure has
                           the challenge's folders (they are behind a login; no package has them)
    substitute_bonn        real recordings of other people, one channel
    substitute_subject1    synthetic, of the shape of a subject, and so on

Subjects 1 to 4 are the dogs of the 2014 seizure detection challenge, 5 to 12 its patients.  The
paper prints channels, sampling rate and the number of ictal and interictal seconds; it prints no
number of events, so events are counted and reported but cannot be compared.  Substitutes carry no
code of the paper, so no report can mistake them for its subjects.

The Bonn recordings (R. G. Andrzejak et al., Phys. Rev. E 64, 061907, 2001) are five sets Z, O, N,
F, S of 100 recordings of one channel, 23.6 s at 173.61 Hz.  S is ictal, N and F are interictal, all
three intracranial.  Each recording gives 23 segments of 178 samples (1.025 s).  A recording of S
becomes an event: its latency starts at 0 again.  Interictal segments are written recording by
recording, so blocks of 23 consecutive ones are the recordings of N and F.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from lincent.paper.datasets.registry import (
    DatasetChecksumError,
    DatasetNotFoundError,
    DataTable,
    Entry,
    cache_folder,
    data_folder,
)
from lincent.paper.seizure import synthetic
from lincent.paper.seizure.events import EventShuffleSplit, find_events, split_groups
from lincent.paper.seizure.features import extract_features, feature_names, fft_magnitude
from lincent.paper.seizure.recordings import ICTAL, INTERICTAL, write_segment
from lincent.paper.seizure.subjects import SUBJECTS, Subject

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


FOLDER = "seizure"
SUBSTITUTE = "substitute_"
HOW = (
    "accept the rules of the Kaggle competition seizure-detection, unpack clips.tar.gz so that "
    "DIR/Dog_1/Dog_1_ictal_segment_1.mat is there, and run lincent reproduce --seizure DIR or put "
    f"Dog_1 and the others into the folder {FOLDER} of LINCENT_DATA"
)
_SOURCE = "UPenn and Mayo Clinic's Seizure Detection Challenge, Kaggle 2014, training part"


def feature_cache() -> Path:
    """Return the folder in which features of raw recordings are kept."""
    return cache_folder() / "eeg"


def _real(subject: Subject) -> Entry:
    return Entry(
        name=f"seizure_{subject.folder.lower()}",
        code=subject.code,
        title=f"Seizure detection, {subject.folder}: FFT magnitudes of {subject.channels} channels",
        n_rows=subject.segments,
        n_features=subject.features,
        class_counts=(("ictal", subject.ictal), ("interictal", subject.interictal)),
        licence="competition rules, no redistribution",
        source=_SOURCE,
        description="Intracranial EEG, one second a row. Groups: seizures, interictal blocks.",
        aliases=(subject.folder.lower(),),
    )


def _synthetic(subject: Subject) -> Entry:
    return Entry(
        name=f"{SUBSTITUTE}{subject.code.lower()}",
        code="",
        title=f"SUBSTITUTE, synthetic: EEG of the shape of {subject.code} ({subject.folder})",
        n_rows=subject.segments,
        n_features=subject.features,
        class_counts=(("ictal", subject.ictal), ("interictal", subject.interictal)),
        licence="BSD-3-Clause (generated by lincent)",
        source="synthetic: lincent.paper.seizure.make_synthetic_features",
        description=(
            "Synthetic, not the data of the paper: for tests of size and speed. Scores on it say "
            "nothing about seizures."
        ),
        generated=True,
    )


_BONN = Entry(
    name=f"{SUBSTITUTE}bonn",
    code="",
    title="SUBSTITUTE, real but not the paper's: Bonn EEG, seizure (S) against interval (N, F)",
    n_rows=6900,
    n_features=49,
    class_counts=(("ictal", 2300), ("interictal", 4600)),
    licence="CC BY 4.0",
    source="Andrzejak et al., Phys. Rev. E 64, 061907 (2001), University of Bonn",
    description=(
        "300 intracranial recordings of one channel, cut into 23 segments each. Groups: "
        "recordings. It replaces the paper's set, whose subjects have 16 to 72 channels."
    ),
    aliases=("bonn",),
)
_BY_NAME: dict[str, tuple[Entry, Subject | None]] = {
    **{(entry := _real(subject)).name: (entry, subject) for subject in SUBJECTS},
    _BONN.name: (_BONN, None),
    **{(entry := _synthetic(subject)).name: (entry, subject) for subject in SUBJECTS},
}


def eeg_entries() -> list[Entry]:
    """Return all EEG sets: the paper's subjects first, then the substitutes."""
    return [entry for entry, _ in _BY_NAME.values()]


def find_eeg(name: object) -> Entry | None:
    """Return the EEG set of a name, code or alias in any case, or None."""
    if not isinstance(name, str):
        return None
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    for entry in eeg_entries():
        if key in (entry.name, entry.code.lower(), *entry.aliases) and key:
            return entry
    return None


def is_eeg(name: str) -> bool:
    """Whether a data set is one of these."""
    return name in _BY_NAME


def namespace_of(entry: Entry) -> Path | None:
    """Return the file or folder a set that is not synthetic would be read from, if it is there."""
    folder = data_folder()
    if folder is None or entry.generated:
        return None
    subject = _BY_NAME[entry.name][1]
    place = folder / FOLDER / (FILE if subject is None else subject.folder)
    return place if place.exists() else None


def how_to_get(entry: Entry) -> str:
    """Say how a set can be had."""
    if entry.generated:
        return "always there"
    if _BY_NAME[entry.name][1] is None:
        return f"put the recordings as {FILE} into the folder {FOLDER} of LINCENT_DATA"
    return HOW


def load_eeg(entry: Entry) -> tuple[DataTable, str]:
    """Return features, classes and groups, and where they were taken from.

    Groups are seizures and blocks of consecutive interictal segments, or recordings; any splitter
    that respects groups then gives an unbiased split.
    """
    subject = _BY_NAME[entry.name][1]
    if entry.generated:
        assert subject is not None
        X, y, latency = synthetic.make_synthetic_features(subject)
        names = feature_names([f"synthetic-{k + 1:02d}" for k in range(subject.channels)])
        return _table(names, X, y, _events(y, latency)), "generated"
    place = namespace_of(entry)
    if place is None:
        raise DatasetNotFoundError(
            f"Data set {entry.name!r} is not on this machine: {how_to_get(entry)}."
        )
    if subject is None:
        return _bonn_table(place), str(place)
    found = extract_features(place, cache=feature_cache())
    return _table(found.feature_names, found.X, found.y, found.events), str(place)


def _events(y: np.ndarray, latency: np.ndarray) -> np.ndarray:
    events = np.full(len(y), -1)
    events[y == "ictal"] = find_events(latency[y == "ictal"])
    return events


def _table(names: np.ndarray, X: np.ndarray, y: np.ndarray, events: np.ndarray) -> DataTable:
    return DataTable(tuple(map(str, names)), X, y, split_groups(y, events, "blocks"))


def _bonn_table(place: Path) -> DataTable:
    sets = read_bonn(place)
    cut = np.concatenate([cut_recordings(sets[name]) for name in SETS])
    X = fft_magnitude(cut.reshape(-1, 1, SAMPLES).astype(float))
    kinds = [kind for name, kind in SETS.items() for _ in range(len(sets[name]))]
    recordings = np.repeat(np.arange(len(cut)), SEGMENTS_PER_RECORDING)
    y = np.repeat(kinds, SEGMENTS_PER_RECORDING)
    return DataTable(tuple(map(str, feature_names(["single channel"]))), X, y, recordings)
