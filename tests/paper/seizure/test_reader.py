"""One file, a folder of files, and everything that can be wrong with them."""

import shutil

import numpy as np
import pytest
from scipy.io import savemat

from lincent.paper.datasets import DatasetNotFoundError
from lincent.paper.seizure import (
    SegmentError,
    SkippedSegmentsWarning,
    extract_features,
    fft_magnitude,
    find_subjects,
    list_segments,
    read_segment,
)
from support.benchmarks import load_benchmark

write_segment = load_benchmark("synthetic_eeg").write_segment
NAMES = ("left 1", "left 2", "right-1")


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
    assert not clip.constant_channels.any()


def test_what_is_written_is_read(tmp_path, data):
    path = write_segment(tmp_path / "A_ictal_segment_1.mat", data, 399.6, NAMES, 7.0)
    segment = read_segment(path)
    np.testing.assert_array_equal(segment.data, data)
    assert (segment.rate, segment.channels, segment.latency) == (399.6, NAMES, 7.0)
    path = write_segment(tmp_path / "A_interictal_segment_1.mat", data, 399.6, NAMES)
    assert read_segment(path).latency is None


def test_channel_names_come_from_the_values(tmp_path, data):
    fields = {"X.c1.": "true one", "X.c2.": "true two", "X.c3.": "true three"}
    path = tmp_path / "A_ictal_segment_1.mat"
    savemat(path, {"data": data, "freq": 400.0, "channels": fields})
    assert read_segment(path).channels == ("true one", "true two", "true three")


def test_scalars_of_any_shape_and_other_number_types(tmp_path, data):
    path = tmp_path / "A_ictal_segment_1.mat"
    savemat(path, {"data": (100 * data).astype("int16"), "freq": 400, "latency": 3})
    segment = read_segment(path)
    assert (segment.rate, segment.latency) == (400.0, 3.0)
    assert segment.data.dtype == float
    assert segment.channels == ("channel 1", "channel 2", "channel 3")


def test_constant_channel_is_seen_and_has_zero_features(tmp_path, data):
    data[1] = 5.0
    path = write_segment(tmp_path / "A_ictal_segment_1.mat", data, 400, NAMES)
    segment = read_segment(path)
    assert segment.constant_channels.tolist() == [False, True, False]
    features = fft_magnitude(segment.data).reshape(3, 49)
    assert np.abs(features[1]).max() < 1e-9
    assert features[[0, 2]].min() > 0


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"freq": 400.0}, "has no variable 'data'"),
        ({"data": np.zeros((2, 400))}, "no sampling rate"),
        ({"data": np.zeros((2, 400)), "freq": 0.0}, "freq is 0.0"),
        ({"data": np.zeros((2, 400)), "freq": "x"}, "freq is nan"),
        ({"data": np.full((2, 400), np.nan), "freq": 400.0}, "800 of 800 values are not finite"),
        ({"data": np.zeros((2, 3, 4)), "freq": 400.0}, r"shape \(2, 3, 4\)"),
        ({"data": "text", "freq": 400.0}, "expected real numbers"),
        ({"data": np.zeros((2, 9)), "freq": 9.0, "channels": {"a": "1"}}, "names 1 channels"),
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
    listing = list_segments(shared_folder)
    found = [(file.kind, file.number) for file in listing.files]
    assert found == [("ictal", k) for k in range(1, 13)] + [("interictal", k) for k in range(1, 21)]
    latencies = [read_segment(file.path).latency for file in listing.files]
    assert latencies[12:] == [None] * 20
    assert latencies[0] == 0


def test_hidden_and_other_files_are_passed_over_and_test_files_are_not_training(folder):
    first = folder / f"{folder.name}_ictal_segment_1.mat"
    shutil.copy(first, folder / f"._{first.name}")
    (folder / "notes.txt").write_text("x")
    shutil.copy(first, folder / f"{folder.name}_test_segment_1.mat")
    listing = list_segments(folder)
    assert (len(listing.files), listing.foreign) == (32, ())


def test_strict_stops_and_lenient_counts(folder):
    name = folder.name
    shutil.copy(folder / f"{name}_ictal_segment_1.mat", folder / "Dog_2_ictal_segment_1.mat")
    with pytest.raises(SegmentError, match=r"Dog_2_ictal_segment_1.mat .* is not a segment of"):
        extract_features(folder)
    damaged = folder / f"{name}_interictal_segment_3.mat"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    other = folder / f"{name}_interictal_segment_5.mat"
    write_segment(other, np.ones((2, 400)), 400, ("a", "b"))
    short = folder / f"{name}_interictal_segment_6.mat"
    data = read_segment(short).data
    write_segment(short, data[:, :200], 400, [f"c{k}" for k in range(16)])
    with pytest.warns(SkippedSegmentsWarning, match="4 of 33 files were skipped; the first: Dog_2"):
        found = extract_features(folder, lenient=True)
    assert found.X.shape == (29, 784)
    assert (found.y == "interictal").sum() == 17
    said = " ".join(found.skipped)
    for part in (damaged.name, f"{other.name} has 2 channels", f"{short.name} lasts 0.5 s"):
        assert part in said


def test_a_gap_in_the_numbers_is_noted(folder):
    (folder / f"{folder.name}_interictal_segment_7.mat").unlink()
    found = extract_features(folder)
    assert any("lacks 1 interictal segments" in note and "number 7" in note for note in found.notes)


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
