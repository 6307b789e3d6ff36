"""The features, the table of a folder, and the cache: second run, change, damage."""

import numpy as np
import pytest

from lincent.paper.seizure import extract_features, fft_magnitude, list_segments, read_segment
from lincent.paper.seizure import recordings as extraction_module
from support.benchmarks import load_benchmark

write_segment = load_benchmark("synthetic_eeg").write_segment


@pytest.mark.parametrize("hertz", [1, 10, 49])
@pytest.mark.parametrize("rate", [400, 500, 5000])
def test_a_sine_lands_in_its_bin_with_its_amplitude(hertz, rate):
    wave = 3 * np.sin(2 * np.pi * hertz * np.arange(rate) / rate)
    features = fft_magnitude(np.vstack([np.zeros(rate), wave])).reshape(2, 49)
    assert features[1].argmax() + 1 == hertz
    assert features[1].max() == pytest.approx(3 * rate / 2)
    assert np.delete(features[1], hertz - 1).max() < 1e-8 * rate
    assert features[0].max() == 0


def test_energy_of_all_bins_is_the_energy_of_the_signal():
    data = np.random.default_rng(0).normal(size=(2, 401))
    bins = fft_magnitude(data, 0, 200).reshape(2, 201)
    weight = np.where(np.arange(201) == 0, 1, 2)
    np.testing.assert_allclose((weight * bins**2).sum(1) / 401, (data**2).sum(1))


def test_segments_of_a_batch_are_independent():
    data = np.random.default_rng(0).normal(size=(5, 3, 200))
    np.testing.assert_array_equal(fft_magnitude(data), [fft_magnitude(part) for part in data])


def test_table_of_a_folder(shared_folder):
    found = extract_features(shared_folder)
    files = list_segments(shared_folder)
    rows = [fft_magnitude(read_segment(file.path).data) for file in files]
    np.testing.assert_array_equal(found.X, rows)
    assert found.X.shape == (32, 784)
    assert (found.y == "ictal").sum() == 12
    assert found.n_events == 2
    assert (found.events[found.y == "interictal"] == -1).all()
    assert (found.channels[0], found.channels[-1]) == ("synthetic-01", "synthetic-16")
    two = extract_features(shared_folder, n_jobs=2)
    np.testing.assert_array_equal(two.X, found.X)


def test_the_second_run_reads_no_raw_file(folder, tmp_path, monkeypatch):
    first = extract_features(folder, cache=tmp_path / "c")
    monkeypatch.setattr(extraction_module, "read_segment", None)
    second = extract_features(folder, cache=tmp_path / "c")
    for name in ("X", "y", "events", "latency"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (second.channels, second.rate) == (first.channels, first.rate)


def test_changed_new_and_removed_files_are_read_again(folder, tmp_path):
    extract_features(folder, cache=tmp_path / "c")
    changed = folder / f"{folder.name}_interictal_segment_4.mat"
    segment = read_segment(changed)
    write_segment(changed, 2 * segment.data, segment.rate, segment.channels)
    again = extract_features(folder, cache=tmp_path / "c")
    np.testing.assert_array_equal(again.X, extract_features(folder).X)
    (folder / f"{folder.name}_interictal_segment_20.mat").unlink()
    segment = read_segment(folder / f"{folder.name}_ictal_segment_1.mat")
    new = folder / f"{folder.name}_ictal_segment_13.mat"
    write_segment(new, segment.data, segment.rate, segment.channels, 0.0)
    again = extract_features(folder, cache=tmp_path / "c")
    assert (len(again.X), again.n_events) == (32, 3)
    np.testing.assert_array_equal(again.X, extract_features(folder).X)


@pytest.mark.parametrize("damage", ["cut", "empty", "text"])
def test_a_damaged_cache_file_is_made_again(folder, tmp_path, damage):
    clean = extract_features(folder, cache=tmp_path / "c")
    target = next((tmp_path / "c").rglob("output.pkl"))
    broken = {"cut": target.read_bytes()[:-5], "empty": b"", "text": b"x" * 99}
    target.write_bytes(broken[damage])
    again = extract_features(folder, cache=tmp_path / "c")
    np.testing.assert_array_equal(again.X, clean.X)
