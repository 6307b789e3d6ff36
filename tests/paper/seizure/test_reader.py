"""One file, a folder of files, and everything that can be wrong with them."""

import shutil

import numpy as np
import pytest
from scipy.io import savemat

from lincent.paper.datasets import DatasetNotFoundError
from lincent.paper.seizure import (
    SegmentError,
    extract_features,
    fft_magnitude,
    find_subjects,
    list_segments,
    read_segment,
)
from support.benchmarks import load_benchmark

write_segment = load_benchmark("synthetic_eeg").write_segment
NAMES = ("left 1", "left 2", "right-1")
LABELS = {"channels": {"a": "left", "b": "right"}}


@pytest.fixture
def data():
    return np.random.default_rng(0).normal(size=(3, 400))


def test_the_real_clip(seizure_data):
    clip = read_segment(seizure_data / "sample_clip.mat")
    assert clip.data.shape == (16, 400)
    assert fft_magnitude(clip.data).shape == (784,)
    assert clip.channels == tuple(f"NVC0905_22_002_Ecog_c{k:03d}" for k in range(1, 17))
    assert clip.latency == 0.0
    assert clip.rate == pytest.approx(399.6097561)


def test_what_is_written_is_read(tmp_path, data):
    path = write_segment(tmp_path / "A_ictal_segment_1.mat", data, 399.6, NAMES, 7.0)
    segment = read_segment(path)
    np.testing.assert_array_equal(segment.data, data)
    assert (segment.rate, segment.channels, segment.latency) == (399.6, NAMES, 7.0)
    path = write_segment(tmp_path / "A_interictal_segment_1.mat", data, 399.6, NAMES)
    assert np.isnan(read_segment(path).latency)


def test_channel_names_come_from_the_values(tmp_path, data):
    fields = {"X.c1.": "true one", "X.c2.": "true two", "X.c3.": "true three"}
    path = tmp_path / "A_ictal_segment_1.mat"
    savemat(path, {"data": data, "freq": 400.0, "channels": fields})
    assert read_segment(path).channels == ("true one", "true two", "true three")


def test_scalars_of_any_shape_and_other_number_types(tmp_path, data):
    path = tmp_path / "A_ictal_segment_1.mat"
    content = {"data": (100 * data).astype("int16"), "freq": 400, "latency": 3}
    savemat(path, content | {"channels": dict(zip("abc", NAMES, strict=True))})
    segment = read_segment(path)
    assert (segment.rate, segment.latency) == (400.0, 3.0)
    assert segment.data.dtype == float
    assert segment.channels == NAMES


def test_a_constant_channel_has_zero_features(tmp_path, data):
    data[1] = 5.0
    path = write_segment(tmp_path / "A_ictal_segment_1.mat", data, 400, NAMES)
    segment = read_segment(path)
    features = fft_magnitude(segment.data).reshape(3, 49)
    assert np.abs(features[1]).max() < 1e-9
    assert features[[0, 2]].min() > 0


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"freq": 400.0}, "KeyError: 'data'"),
        ({"data": np.zeros((2, 400))}, "KeyError: 'freq'"),
        ({"data": np.zeros((2, 400)), "freq": 400.0}, "KeyError: 'channels'"),
        ({"data": np.zeros((2, 400)), "freq": 0.0} | LABELS, r"\(2, 400\) at 0.0 Hz"),
        ({"data": np.zeros((2, 400)), "freq": "x"} | LABELS, "ValueError: could not convert"),
        ({"data": np.full((2, 400), np.nan), "freq": 400.0} | LABELS, "expected finite numbers"),
        ({"data": np.zeros((2, 3, 4)), "freq": 400.0} | LABELS, r"shape \(2, 3, 4\)"),
        ({"data": "text", "freq": 400.0} | LABELS, "ValueError: could not convert"),
    ],
)
def test_foreign_contents_get_one_message_with_the_name(tmp_path, variables, message):
    path = tmp_path / "A_ictal_segment_1.mat"
    savemat(path, variables)
    with pytest.raises(SegmentError, match=message) as caught:
        read_segment(path)
    assert "A_ictal_segment_1.mat" in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 1, 100, 127, 130, 300, 5000, 40_000])
def test_a_file_cut_anywhere_is_named(tmp_path, shared_folder, keep):
    whole = shared_folder / f"{shared_folder.name}_ictal_segment_1.mat"
    path = tmp_path / whole.name
    path.write_bytes(whole.read_bytes()[:keep])
    with pytest.raises(SegmentError, match=path.name):
        read_segment(path)


@pytest.mark.parametrize("content", [b"hello", b"\0" * 1000, b"\x89PNG" * 100, b"MATLAB 5.0" * 50])
def test_a_file_of_another_kind_is_named(tmp_path, content):
    path = tmp_path / "A_ictal_segment_1.mat"
    path.write_bytes(content)
    with pytest.raises(SegmentError, match=r"A_ictal_segment_1.mat"):
        read_segment(path)


def test_numbers_are_sorted_as_numbers(shared_folder):
    files = list_segments(shared_folder)
    found = [(file.kind, file.number) for file in files]
    assert found == [("ictal", k) for k in range(1, 13)] + [("interictal", k) for k in range(1, 21)]
    latencies = [read_segment(file.path).latency for file in files]
    assert np.isnan(latencies[12:]).all()
    assert latencies[0] == 0


def test_hidden_and_other_files_are_passed_over_and_test_files_are_not_training(folder):
    first = folder / f"{folder.name}_ictal_segment_1.mat"
    shutil.copy(first, folder / f"._{first.name}")
    (folder / "notes.txt").write_text("x")
    shutil.copy(first, folder / f"{folder.name}_test_segment_1.mat")
    shutil.copy(first, folder / "Dog_2_ictal_segment_1.mat")
    assert len(list_segments(folder)) == 32


def test_a_file_that_does_not_fit_the_others_is_named(folder):
    other = folder / f"{folder.name}_interictal_segment_5.mat"
    segment = read_segment(other)
    write_segment(other, np.ones((2, 400)), 400, ("a", "b"))
    with pytest.raises(SegmentError, match=f"{other.name} has other channels than .* 98 and 784"):
        extract_features(folder)
    write_segment(other, segment.data[:, :200], 400, segment.channels)
    with pytest.raises(SegmentError, match=f"{other.name} has 200 samples at 400 Hz"):
        extract_features(folder)


def test_places_without_segments(tmp_path, shared_folder):
    with pytest.raises(DatasetNotFoundError, match="is not a folder"):
        find_subjects(tmp_path / "nowhere")
    with pytest.raises(DatasetNotFoundError, match=r"Dog_1/Dog_1_ictal_segment_1.mat"):
        find_subjects(tmp_path)
    assert find_subjects(shared_folder.parent) == [shared_folder]
    assert find_subjects(shared_folder) == [shared_folder]


def test_subjects_in_natural_order(tmp_path):
    for name in ("Patient_10", "Patient_2", "Dog_1"):
        (tmp_path / name).mkdir()
        write_segment(tmp_path / name / f"{name}_ictal_segment_1.mat", np.ones((1, 9)), 9, ["a"])
    assert [f.name for f in find_subjects(tmp_path)] == ["Dog_1", "Patient_2", "Patient_10"]
