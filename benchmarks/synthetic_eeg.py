"""Synthetic substitute for the paper's seizure set: EEG of any of its twelve shapes.

For tests of size and speed; scores on it say nothing about seizures. A stretch of L seconds is made
in one piece and cut into seconds, so neighbors resemble each other as in real recordings:

    background    amplitude 1/f^(a/2) with random phases, a drawn per stretch; a part common to all
                  channels and a part shared with the next channel
    seizure       3 Hz spike and wave (a narrow spike, then a slow wave), slowing from 3.5 to 2.5
                  Hz; starts at a focus channel and reaches others later and weaker
    line noise    60 Hz on every channel, strength per channel
    artefacts     on some seconds: a drift, a muscle burst on a few channels, or a flat channel

Folders are named ``Synthetic_Dog_1`` and so on, never like the real ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lincent.paper.seizure import SUBJECTS, Subject, fft_magnitude, find_subject
from lincent.paper.seizure.recordings import ICTAL, INTERICTAL

PREFIX = "Synthetic_"
LINE_HERTZ = 60.0
MEAN_SECONDS = 30
ARTEFACT_SHARE = 0.04
FLAT_SHARE = 0.002


@dataclass(frozen=True)
class Second:
    """One synthetic segment."""

    kind: str
    number: int
    data: np.ndarray
    latency: float | None


@dataclass(frozen=True)
class _Body:
    """What stays the same for a subject: electrodes, focus, line noise."""

    subject: Subject
    focus: int
    gains: np.ndarray
    line: np.ndarray


def channel_names(subject: Subject) -> list[str]:
    """Return the names of the electrodes."""
    return [f"synthetic-{k + 1:02d}" for k in range(subject.channels)]


def synthetic_seconds(
    subject: str | int | Subject,
    ictal: int | None = None,
    interictal: int | None = None,
    random_state: int | None = 0,
) -> Iterator[Second]:
    """Make segments one after another, ictal ones first, one stretch in memory at a time."""
    shape = _shape(subject)
    rng = np.random.default_rng(None if random_state is None else [random_state, shape.number])
    body = _Body(
        shape,
        int(rng.integers(shape.channels)),
        rng.lognormal(0.0, 0.25, shape.channels),
        rng.uniform(0.5, 5.0, shape.channels),
    )
    counts = {
        ICTAL: shape.ictal if ictal is None else ictal,
        INTERICTAL: shape.interictal if interictal is None else interictal,
    }
    for kind, count in counts.items():
        number = 0
        for length in _stretch_lengths(count, rng):
            stretch = _stretch(body, kind, length, rng)
            for second in range(length):
                number += 1
                cut = stretch[:, second * shape.rate : (second + 1) * shape.rate].copy()
                _add_artefact(cut, shape.rate, rng)
                yield Second(kind, number, cut, float(second) if kind == ICTAL else None)


def make_synthetic_features(
    subject: str | int | Subject,
    *,
    ictal: int | None = None,
    interictal: int | None = None,
    random_state: int | None = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a subject's shape and return its features, without files.

    Parameters
    ----------
    subject : str or int or Subject
        Whose shape: 1 to 12, ``"Dog_1"``, ``"Subject1"``.
    ictal : int, default=None
        How many segments of seizures; None is the paper's number.
    interictal : int, default=None
        How many others; None is the paper's number.
    random_state : int, default=0
        An integer gives the same segments each time.

    Returns
    -------
    X : ndarray of shape (n_segments, 49 * n_channels)
        Features, labels and events.
    y : ndarray of shape (n_segments,)
        ``"ictal"`` or ``"interictal"``.
    latency : ndarray of shape (n_segments,)
        NaN for interictal segments.

    Examples
    --------
    >>> from synthetic_eeg import make_synthetic_features
    >>> X, y, latency = make_synthetic_features("Dog_1", ictal=6, interictal=10)
    >>> X.shape
    (16, 784)
    """
    rows, y, latency = [], [], []
    for second in synthetic_seconds(subject, ictal, interictal, random_state):
        rows.append(fft_magnitude(second.data))
        y.append(second.kind)
        latency.append(np.nan if second.latency is None else second.latency)
    return np.array(rows), np.array(y), np.array(latency)


def write_synthetic(
    root: str | os.PathLike[str],
    subject: str | int | Subject,
    *,
    ictal: int | None = None,
    interictal: int | None = None,
    random_state: int | None = 0,
) -> Path:
    """Write a subject's shape as segment files ``ROOT/Synthetic_<Subject>/...``.

    Parameters
    ----------
    root : path
        Made if it is not there.
    subject : str or int or Subject
        As in `make_synthetic_features`.
    ictal : int, default=None
        As in `make_synthetic_features`.
    interictal : int, default=None
        As in `make_synthetic_features`.
    random_state : int, default=0
        As in `make_synthetic_features`.

    Returns
    -------
    Path
        The subject's folder.
    """
    shape = _shape(subject)
    folder = Path(root) / f"{PREFIX}{shape.folder}"
    folder.mkdir(parents=True, exist_ok=True)
    for second in synthetic_seconds(shape, ictal, interictal, random_state):
        path = folder / f"{folder.name}_{second.kind}_segment_{second.number}.mat"
        write_segment(path, second.data, shape.rate, channel_names(shape), second.latency)
    return folder


def write_segment(
    path: str | os.PathLike[str],
    data: np.ndarray,
    rate: float,
    channels: Sequence[str],
    latency: float | None = None,
) -> Path:
    """Write one segment.

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
    savemat(path, variables, long_field_names=True, oned_as="row")
    return Path(path)


def _shape(subject: str | int | Subject) -> Subject:
    found = subject if isinstance(subject, Subject) else find_subject(subject)
    if found is None:
        names = ", ".join(item.folder for item in SUBJECTS)
        raise ValueError(f"Unknown subject {subject!r}: a number from 1 to 12, or one of {names}.")
    return found


def _stretch_lengths(count: int, rng: np.random.Generator) -> list[int]:
    """Return random lengths in seconds that add up to count, at least two where it allows it."""
    pieces = min(count, max(2, round(count / MEAN_SECONDS)))
    if pieces == 0:
        return []
    weights = rng.uniform(0.5, 1.5, pieces)
    ends = np.round(np.cumsum(weights) / weights.sum() * (count - pieces)).astype(int)
    return [int(length) + 1 for length in np.diff(ends, prepend=0)]


def _stretch(body: _Body, kind: str, seconds: int, rng: np.random.Generator) -> np.ndarray:
    rate = body.subject.rate
    samples = seconds * rate
    data = _background(body, samples, rng)
    times = np.arange(samples, dtype=np.float32) / rate
    hum = np.sin(2 * np.pi * LINE_HERTZ * times + rng.uniform(0, 2 * np.pi))
    data += body.line[:, None].astype(np.float32) * hum
    if kind == ICTAL:
        _add_seizure(data, body, times, rng)
    return data


def _background(body: _Body, samples: int, rng: np.random.Generator) -> np.ndarray:
    from scipy.fft import irfft, next_fast_len

    count, rate = body.subject.channels, body.subject.rate
    length = next_fast_len(samples, real=True)
    frequency = np.arange(length // 2 + 1, dtype=np.float32) * (rate / length)
    slope = rng.uniform(1.4, 2.2)
    # Below half a hertz real amplifiers cut off; without that the drift would hide everything.
    amplitude = np.where(frequency < 0.5, 0.0, np.maximum(frequency, 0.5) ** (-slope / 2))
    rhythm = rng.uniform(0.0, 0.4) * np.exp(-0.5 * ((frequency - rng.uniform(7, 12)) / 1.5) ** 2)
    amplitude = (amplitude + rhythm).astype(np.float32)
    scale = rng.lognormal(np.log(40.0), 0.3) / np.sqrt(0.5 * np.sum(amplitude**2))
    spectrum = np.empty((count + 1, len(frequency)), dtype=np.complex64)
    spectrum.real = rng.standard_normal(spectrum.shape, dtype=np.float32)
    spectrum.imag = rng.standard_normal(spectrum.shape, dtype=np.float32)
    spectrum *= amplitude * np.float32(0.5 * scale * length)
    signal = irfft(spectrum, length, axis=1, overwrite_x=True)[:, :samples]
    data = signal[1:]
    data[1:] += np.float32(0.5) * signal[1:-1]
    data += np.float32(0.5) * signal[0]
    data *= body.gains[:, None].astype(np.float32)
    return np.asarray(data)


def _add_seizure(
    data: np.ndarray, body: _Body, times: np.ndarray, rng: np.random.Generator
) -> None:
    seconds = float(times[-1])
    frequency = 3.5 - times / max(seconds, 1.0)
    phase = np.cumsum(frequency, dtype=np.float64) / body.subject.rate
    strength = rng.lognormal(np.log(80.0), 0.3)
    spread = rng.uniform(0.2, 0.8) * max(seconds, 1.0)  # seconds to the farthest channel
    weakening = rng.uniform(0.5, 2.0)
    distances = np.abs(np.arange(len(data)) - body.focus) / len(data)
    for channel, distance in enumerate(distances):
        start = spread * distance
        rise = 1 / (1 + np.exp(-np.clip(1.5 * (times - start - 2.0), -30, 30)))
        wave = _spike_and_wave((phase - 0.1 * distance) % 1.0)
        data[channel] += (strength * np.exp(-weakening * distance) * rise * wave).astype(np.float32)


def _spike_and_wave(phase: np.ndarray) -> np.ndarray:
    """One period: a spike at a tenth of it, then half a sine of the other sign."""
    spike = np.exp(-0.5 * ((phase - 0.1) / 0.025) ** 2)
    wave = np.where(phase > 0.25, np.sin(np.pi * (phase - 0.25) / 0.75), 0.0)
    return np.asarray(1.5 * spike - 0.8 * wave)


def _add_artefact(data: np.ndarray, rate: int, rng: np.random.Generator) -> None:
    """Now and then disturb a second, in place."""
    draw = rng.uniform()
    if draw > ARTEFACT_SHARE + FLAT_SHARE:
        return
    count, samples = data.shape
    touched = rng.choice(count, max(1, count // 4), replace=False)
    if draw > ARTEFACT_SHARE:
        data[touched[0]] = data[touched[0], 0]
    elif draw > ARTEFACT_SHARE / 2:
        drift = np.cos(2 * np.pi * rng.uniform(0.5, 2.0) * np.arange(samples) / rate)
        data[touched] += (rng.uniform(50, 300) * drift).astype(np.float32)
    else:
        data[touched] += rng.normal(0, rng.uniform(20, 80), (len(touched), samples))
