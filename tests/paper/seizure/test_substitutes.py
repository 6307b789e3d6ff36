"""Bonn and synthetic recordings: what they are, that files and memory agree, that names say so."""

import gc
import tracemalloc

import numpy as np
import pytest

from lincent.paper.datasets import (
    DatasetChecksumError,
    DatasetNotFoundError,
    list_datasets,
    load_dataset,
)
from lincent.paper.seizure import (
    SUBJECTS,
    by_recording,
    differences,
    extract_features,
    find_events,
    find_subject,
    iter_features,
    list_segments,
    make_synthetic_features,
    synthetic_seconds,
    write_bonn,
    write_synthetic,
)
from lincent.paper.seizure.catalog import read_bonn

# The paper's table of details: channels, rate, <ictal, interictal>.
PAPER = """16 400 178 418/16 400 172 1148/16 400 480 4760/16 400 257 2790/68 500 70 104/
16 5000 151 2990/55 5000 327 714/72 5000 20 190/64 5000 135 2610/30 5000 225 2772/
36 5000 282 3239/16 5000 180 1710"""


def test_the_table_of_subjects_is_the_papers():
    printed = [tuple(map(int, line.split())) for line in PAPER.replace("\n", "").split("/")]
    assert [(s.channels, s.rate, s.ictal, s.interictal) for s in SUBJECTS] == printed
    assert sum(s.segments for s in SUBJECTS) == 25_922
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


def test_bonn_written_and_read_back(seizure_data, tmp_path):
    folder = write_bonn(seizure_data / "bonn_eeg.npz", tmp_path, recordings=4)
    found = extract_features(folder)
    assert found.X.shape == (12 * 23, 49)
    assert found.n_events == 4
    assert set(np.bincount(found.events[found.y == "ictal"])) == {23}
    whole = load_dataset("substitute_bonn")
    rows = np.concatenate([np.arange(s, s + 4 * 23) for s in (0, 2300, 4600)])
    np.testing.assert_array_equal(found.X, whole.data[rows])
    np.testing.assert_array_equal(found.y, whole.target[rows])
    for train, test in by_recording(5).split(found.X, found.y, found.events):
        assert not set(whole.groups[rows][train]) & set(whole.groups[rows][test])


def test_bonn_recordings_are_the_published_ones(seizure_data, tmp_path):
    sets = read_bonn(seizure_data / "bonn_eeg.npz")
    assert {name: values.shape for name, values in sets.items()} == dict.fromkeys(
        "SNF", (100, 4097)
    )
    other = tmp_path / "bonn_eeg.npz"
    np.savez(other, S=np.zeros(3))
    with pytest.raises(DatasetChecksumError, match="does not hold the published recordings"):
        read_bonn(other)
    with pytest.raises(DatasetNotFoundError, match="put the Bonn recordings"):
        read_bonn(tmp_path / "nowhere.npz")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.code)
def test_every_shape_can_be_made(subject):
    seconds = list(synthetic_seconds(subject, ictal=4, interictal=2))
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


def test_the_list_says_what_is_a_substitute():
    records = {record.name: record for record in list_datasets()}
    real = [r for r in records.values() if r.name.startswith("seizure_")]
    assert [r.code for r in real] == [f"Subject{k}" for k in range(1, 13)]
    assert all(not r.available and "Kaggle" in r.how for r in real)
    substitutes = [r for r in records.values() if r.name.startswith("substitute_")]
    assert len(substitutes) == 13
    assert all(r.title.startswith("SUBSTITUTE") and r.code == "" for r in substitutes)
    assert [r.name for r in substitutes if not r.synthetic] == ["substitute_bonn"]


def test_a_substitute_by_name():
    data = load_dataset("substitute_subject1")
    assert data.data.shape == (596, 784)
    assert data.synthetic
    assert "not the data of the paper" in data.DESCR
    ictal = data.target == "ictal"
    assert ictal.sum() == 178
    assert not set(data.groups[ictal]) & set(data.groups[~ictal])


def test_a_real_subject_from_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("LINCENT_DATA", raising=False)
    with pytest.raises(DatasetNotFoundError, match="Kaggle competition seizure-detection"):
        load_dataset("Subject1")
    written = write_synthetic(tmp_path / "seizure", 1, ictal=6, interictal=30)
    folder = written.with_name("Dog_1")
    folder.mkdir()
    for path in written.iterdir():
        path.rename(folder / path.name.removeprefix("Synthetic_"))
    monkeypatch.setenv("LINCENT_DATA", str(tmp_path))
    data = load_dataset("dog_1")
    assert (data.code, data.data.shape) == ("Subject1", (36, 784))
    assert data.origin == str(folder)
    record = next(r for r in list_datasets() if r.code == "Subject1")
    assert record.available == "LINCENT_DATA"


def test_memory_does_not_grow_with_the_number_of_segments(tmp_path):
    folder = write_synthetic(tmp_path, 1, ictal=10, interictal=600)
    listing = list_segments(folder)
    peaks = []
    for count in (270, 610):  # two whole groups are in memory at most
        part = type(listing)(listing.subject, folder, listing.files[:count], ())
        gc.collect()
        tracemalloc.start()
        for item in iter_features(part):
            assert item.part is not None
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0], peaks
