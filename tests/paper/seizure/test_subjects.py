"""The table of subjects, and the synthetic recordings of the benchmarks."""

import numpy as np
import pytest

from lincent.paper.seizure import SUBJECTS, differences, extract_features, find_events, find_subject
from support.benchmarks import load_benchmark

synthetic_eeg = load_benchmark("synthetic_eeg")
make_synthetic_features = synthetic_eeg.make_synthetic_features
write_synthetic = synthetic_eeg.write_synthetic

# The paper's table of details: channels, rate, <ictal, interictal>.
PAPER = """16 400 178 418/16 400 172 1148/16 400 480 4760/16 400 257 2790/68 500 70 104/
16 5000 151 2990/55 5000 327 714/72 5000 20 190/64 5000 135 2610/30 5000 225 2772/
36 5000 282 3239/16 5000 180 1710"""


def test_the_table_of_subjects_is_the_papers():
    printed = [tuple(map(int, line.split())) for line in PAPER.replace("\n", "").split("/")]
    assert [(s.channels, s.rate, s.ictal, s.interictal) for s in SUBJECTS] == printed
    assert sum(s.ictal + s.interictal for s in SUBJECTS) == 25_922
    assert [s.features for s in SUBJECTS][4:9] == [3332, 784, 2695, 3528, 3136]


def test_a_folder_is_checked_against_the_table():
    right = {"ictal": 178, "interictal": 418, "channels": 16, "rate": 399.61}
    assert differences(find_subject("Dog_1"), **right) == []
    found = differences(find_subject(1), **right | {"ictal": 170, "channels": 15, "rate": 500})
    assert [sentence.split(" here")[0] for sentence in found] == [
        "Subject1 (Dog_1) has 170 ictal segments",
        "Subject1 (Dog_1) has 15 channels",
        "Subject1 (Dog_1) has 500 Hz",
    ]
    assert find_subject("Synthetic_Dog_1") is None


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.code)
def test_every_shape_can_be_made(subject):
    seconds = list(synthetic_eeg.synthetic_seconds(subject, ictal=4, interictal=2))
    assert [s.kind for s in seconds] == ["ictal"] * 4 + ["interictal"] * 2
    assert all(s.data.shape == (subject.channels, subject.rate) for s in seconds)
    assert all(np.isfinite(s.data).all() for s in seconds)
    assert len(set(find_events([s.latency for s in seconds[:4]]))) == 2


def test_files_and_memory_agree(tmp_path):
    folder = write_synthetic(tmp_path, "Dog_1", ictal=5, interictal=9, random_state=3)
    assert folder.name == "Synthetic_Dog_1"
    found = extract_features(folder)
    X, y, latency = make_synthetic_features(1, ictal=5, interictal=9, random_state=3)
    np.testing.assert_allclose(found.X, X, rtol=1e-4, atol=1.0)  # files are doubles, memory floats
    np.testing.assert_array_equal(found.y, y)
    np.testing.assert_array_equal(found.latency, latency)


def test_the_seizure_is_a_three_hertz_rhythm_that_spreads():
    X, y, latency = make_synthetic_features(1, ictal=200, interictal=200)
    power = X.reshape(len(X), 16, 49)
    late = power[(y == "ictal") & (latency > 15)].mean(axis=0)
    early = power[(y == "ictal") & (latency < 2)].mean(axis=0)
    quiet = power[y == "interictal"].mean(axis=0)
    gain = (late / quiet).mean(axis=0)
    assert gain[2] > 1.5  # 3 Hz
    assert gain[2] > 1.5 * gain[40]
    assert (late[:, 2] > 1.5 * early[:, 2]).mean() > 0.8  # it is not there yet at the onset


def test_background_falls_with_frequency_and_neighbors_resemble():
    X, _, _ = make_synthetic_features(1, ictal=0, interictal=300)
    spectrum = np.median(X.reshape(-1, 16, 49), axis=(0, 1))
    slope = np.polyfit(np.log(np.arange(15, 45)), np.log(spectrum[14:44]), 1)[0]
    assert -1.3 < slope < -0.5
    level = np.log(np.maximum(X, 1)).mean(axis=1)  # a flat channel is zero
    steps = np.abs(np.diff(level))
    apart = np.abs(level[:-50] - level[50:])
    assert np.median(steps) < 0.6 * np.median(apart)


def test_same_seed_same_signal():
    first, again, other = (
        make_synthetic_features(1, ictal=3, interictal=3, random_state=seed)[0]
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
