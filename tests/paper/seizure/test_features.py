"""The transformer, the table of a folder, and the cache: second run, change, damage, kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lincent import LCC
from lincent._files import PARTIAL
from lincent.paper.seizure import (
    DamagedCacheWarning,
    FFTMagnitude,
    extract_features,
    fft_magnitude,
    iter_segments,
    read_segment,
    write_segment,
    write_synthetic,
)
from lincent.paper.seizure import features as extraction_module


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
    bins = FFTMagnitude(2, low=0, high=200).fit_transform(data.reshape(1, -1)).reshape(2, 201)
    weight = np.where(np.arange(201) == 0, 1, 2)
    np.testing.assert_allclose((weight * bins**2).sum(1) / 401, (data**2).sum(1))


def test_flat_and_three_dimensional_segments_agree():
    data = np.random.default_rng(0).normal(size=(5, 3, 200))
    flat = FFTMagnitude(3).fit(data.reshape(5, -1))
    deep = FFTMagnitude().fit(data)
    np.testing.assert_array_equal(flat.transform(data.reshape(5, -1)), deep.transform(data))
    assert deep.get_feature_names_out(["a", "b", "c"])[[0, 48, 49]].tolist() == [
        "a 1Hz",
        "a 49Hz",
        "b 1Hz",
    ]
    assert clone(FFTMagnitude(3, high=20)).get_params() == {"n_channels": 3, "low": 1, "high": 20}


@parametrize_with_checks([FFTMagnitude(low=0, high=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_bins_that_the_samples_do_not_reach():
    with pytest.raises(ValueError, match="Bins 1 to 49 are not in 0 to 40, what 80 samples have"):
        FFTMagnitude().fit(np.zeros((2, 80)))
    with pytest.raises(ValueError, match="A row has 200 values, which 3 channels do not divide"):
        FFTMagnitude(3).fit(np.zeros((2, 200)))


def test_in_a_pipeline_from_raw_segments(shared_folder):
    raw = np.array([segment.data for _, segment in iter_segments(shared_folder)])
    y = np.repeat(["ictal", "interictal"], [12, 20])
    model = make_pipeline(FFTMagnitude(), StandardScaler(), LCC()).fit(raw, y)
    assert model.score(raw, y) == 1.0


def test_table_of_a_folder(shared_folder):
    found = extract_features(shared_folder)
    rows = [fft_magnitude(segment.data) for _, segment in iter_segments(shared_folder)]
    np.testing.assert_array_equal(found.X, rows)
    assert found.X.shape == (32, 784)
    assert (found.y == "ictal").sum() == 12
    assert found.n_events == 2
    assert (found.events[found.y == "interictal"] == -1).all()
    assert found.feature_names[[0, 783]].tolist() == ["synthetic-01 1Hz", "synthetic-16 49Hz"]
    two = extract_features(shared_folder, n_jobs=2)
    np.testing.assert_array_equal(two.X, found.X)


@pytest.fixture
def no_reading(monkeypatch):
    def refuse(path):
        raise AssertionError(f"{path} was read")

    def start():
        monkeypatch.setattr(extraction_module, "read_segment", refuse)
        monkeypatch.setattr(Path, "read_bytes", guarded)

    original = Path.read_bytes

    def guarded(path):
        assert path.suffix != ".mat", f"{path} was read"
        return original(path)

    return start


def test_the_second_run_reads_no_raw_file(folder, tmp_path, no_reading):
    first = extract_features(folder, cache=tmp_path / "c")
    no_reading()
    second = extract_features(folder, cache=tmp_path / "c")
    assert (first.reused, second.reused) == (0, 32)
    for name in ("X", "y", "events", "latency", "numbers", "rates"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert second.channels == first.channels


def test_a_changed_file_is_read_again_and_a_touched_one_is_not(folder, tmp_path):
    extract_features(folder, cache=tmp_path / "c")
    changed = folder / f"{folder.name}_interictal_segment_4.mat"
    segment = read_segment(changed)
    write_segment(changed, 2 * segment.data, segment.rate, segment.channels)
    touched = folder / f"{folder.name}_interictal_segment_5.mat"
    os.utime(touched, (1, 1))  # same content: the digest decides
    again = extract_features(folder, cache=tmp_path / "c")
    assert again.reused == 31
    np.testing.assert_array_equal(again.X, extract_features(folder).X)


def test_new_and_removed_files(folder, tmp_path):
    extract_features(folder, cache=tmp_path / "c")
    (folder / f"{folder.name}_interictal_segment_20.mat").unlink()
    segment = read_segment(folder / f"{folder.name}_ictal_segment_1.mat")
    new = folder / f"{folder.name}_ictal_segment_13.mat"
    write_segment(new, segment.data, segment.rate, segment.channels, 0.0)
    again = extract_features(folder, cache=tmp_path / "c")
    assert (len(again.X), again.reused, again.n_events) == (32, 31, 3)
    np.testing.assert_array_equal(again.X, extract_features(folder).X)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "text"])
def test_a_damaged_cache_file_is_noticed_and_made_again(folder, tmp_path, damage):
    clean = extract_features(folder, cache=tmp_path / "c")
    target = next((tmp_path / "c").rglob("ictal-00000.features"))
    content = bytearray(target.read_bytes())
    content[len(content) // 2] ^= 1
    broken = {"flip": bytes(content), "cut": bytes(content[:-5]), "empty": b"", "text": b"x" * 99}
    target.write_bytes(broken[damage])
    with pytest.warns(DamagedCacheWarning, match=r"ictal-00000.features is damaged"):
        again = extract_features(folder, cache=tmp_path / "c")
    np.testing.assert_array_equal(again.X, clean.X)
    assert again.reused == 20
    assert extract_features(folder, cache=tmp_path / "c").reused == 32


def test_other_settings_use_another_cache(folder, tmp_path, monkeypatch):
    extract_features(folder, cache=tmp_path / "c")
    monkeypatch.setattr(extraction_module, "HIGH", 48)
    assert extract_features(folder, cache=tmp_path / "c").reused == 0


def test_killed_in_the_middle_the_next_run_goes_on(tmp_path, monkeypatch):
    folder = write_synthetic(tmp_path / "raw", "Dog_1", ictal=40, interictal=160)
    cache = tmp_path / "c"
    code = (
        "import time\n"
        "from lincent.paper.seizure import extract_features, features\n"
        "features.SEGMENTS_PER_FILE = 20\n"
        "read = features.read_segment\n"
        "features.read_segment = lambda path: (time.sleep(0.01), read(path))[1]\n"
        f"extract_features({str(folder)!r}, cache={str(cache)!r})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        limit = time.monotonic() + 60
        while len(list(cache.rglob("*.features"))) < 3 and time.monotonic() < limit:
            assert process.poll() is None, "finished before it could be killed"
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (next(cache.rglob("*.features")).parent / f".half.features.0{PARTIAL}").write_bytes(b"half")
    monkeypatch.setattr(extraction_module, "SEGMENTS_PER_FILE", 20)
    again = extract_features(folder, cache=cache)
    assert 60 <= again.reused < 200
    np.testing.assert_array_equal(again.X, extract_features(folder).X)
    assert not list(cache.rglob(f".*{PARTIAL}"))


def test_missing_latency_and_constant_channels_are_noted(folder):
    path = folder / f"{folder.name}_ictal_segment_2.mat"
    segment = read_segment(path)
    segment.data[3] = 0.0
    write_segment(path, segment.data, segment.rate, segment.channels)
    found = extract_features(folder)
    assert found.n_events == 2
    assert found.constant >= 1
    notes = " ".join(found.notes)
    assert "1 ictal segments have no latency" in notes
    assert "without movement" in notes
