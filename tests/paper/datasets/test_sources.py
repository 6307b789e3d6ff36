"""Packages, network and cache deliver the table of the data folder, or say that they do not."""

import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from lincent.paper.datasets import (
    DatasetChecksumError,
    DatasetNotFoundError,
    cache_folder,
    load_dataset,
    loader,
)
from lincent.paper.datasets.registry import (
    ENTRIES,
    build_table,
    canonical_text,
    checksum,
    parse_table,
)

# Taken before the fixture that seals each test replaces it.
REAL_DOWNLOAD = loader.download_text


def table_checksum(table):
    return checksum(canonical_text(table))


def from_folder(name: str, data_folder: Path):
    entry = ENTRIES[name]
    found = loader.read_files(entry, data_folder, "")
    assert found is not None
    return found[0]


# ---------------------------------------------------------------- the checksum


def test_checksum_ignores_writing_and_sees_values() -> None:
    table = parse_table("u,v,class\n1,2.50,a\n7,-0.0,b\n")
    same = parse_table('"u","v","class"\r\n1.0,2.5,a\r\n7e0,0,b\r\n')
    assert table_checksum(table) == table_checksum(same)
    for other in ("u,v,class\n1,2.5,a\n7,0,c\n", "u,v,class\n1,2.5000001,a\n7,0,b\n"):
        assert table_checksum(table) != table_checksum(parse_table(other))
    assert table_checksum(table) != checksum(
        canonical_text(parse_table("u,w,class\n1,2.5,a\n7,0,b\n"))
    )
    swapped = parse_table("u,v,class\n7,0,b\n1,2.5,a\n")
    assert table_checksum(table) != table_checksum(swapped)


def test_canonical_text_reads_back() -> None:
    rng = np.random.default_rng(0)
    table = build_table(["u", "v"], rng.standard_normal((50, 2)).tolist(), ["a"] * 50)
    again = parse_table(canonical_text(table))
    np.testing.assert_array_equal(again.data, table.data)


# ---------------------------------------------------------------- packages


@pytest.mark.parametrize(("name", "carrier"), loader.CARRIERS.items())
def test_carrier_has_the_published_table(name: str, carrier: loader.Carrier) -> None:
    path = carrier.locate()
    if path is None:
        pytest.skip(f"package {carrier.distribution} is not installed")
    assert table_checksum(carrier.load(path)) == ENTRIES[name].table_sha256


@pytest.mark.parametrize("name", ["BC", "CG", "GC", "IS", "PD", "GR"])
def test_packages_give_what_the_folder_gives(
    name: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_dataset(name)
    monkeypatch.delenv("LINCENT_DATA")
    if not loader.CARRIERS[expected.name].locate():
        pytest.skip(f"no installed package carries {name}")
    found = load_dataset(name, download_if_missing=False)
    assert found.origin.startswith("package ")
    np.testing.assert_array_equal(found.data, expected.data)
    assert found.target.tolist() == expected.target.tolist()
    assert found.feature_names == expected.feature_names


def test_the_extra_covers_six_of_the_seven_sets() -> None:
    carried = {entry.code for entry in ENTRIES.values() if entry.name in loader.CARRIERS}
    assert carried == {"BC", "CG", "GC", "IS", "PD", "GR"}


def test_a_carrier_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "box_of_files"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "t.csv").write_text("1,2,1\n")
    monkeypatch.syspath_prepend(tmp_path)

    class Reader:
        def read(self, text: str) -> str:
            return text

    carrier = loader.Carrier("box", "box_of_files", "t.csv", Reader())
    path = carrier.locate()
    assert path is not None
    assert carrier.load(path) == "1,2,1\n"
    assert "box_of_files" not in sys.modules


@pytest.mark.parametrize("content", ["1 2 1\n3 4 2\n", "not a table", "1 2 7\n"])
def test_a_carrier_with_other_values_is_passed_over(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "changed_box"
    package.mkdir()
    (package / "jain.csv").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    layout = loader.REMOTES["jain"][0][1]
    carrier = loader.Carrier("box", "changed_box", "jain.csv", layout)
    monkeypatch.setitem(loader.CARRIERS, "jain", carrier)
    with (
        pytest.warns(UserWarning, match=r"Package box .*passed over"),
        pytest.raises(DatasetNotFoundError),
    ):
        load_dataset("jain")


# ---------------------------------------------------------------- remote


def original_text(name: str, data_folder: Path) -> tuple[str, str]:
    """The text of the first address of a set, rebuilt from the data folder."""
    table = from_folder(name, data_folder)
    rows = [[f"{value:.12g}" for value in row] for row in table.data.tolist()]
    if name == "breast_cancer":
        rows = [["?" if cell == "3.5" else cell for cell in row] for row in rows]
    codes: dict[str, str] = {
        "benign": "2", "malignant": "4", "window": "1", "non-window": "7", "good": "1", "bad": "2",
    }  # fmt: skip
    numbered = enumerate(zip(rows, table.target.tolist(), strict=True))
    if name in {"breast_cancer", "glass"}:
        lines = [",".join([str(i), *row, codes[label]]) for i, (row, label) in numbered]
    elif name == "german_credit":
        lines = ["  ".join(["", *row, codes[label], ""]) for _, (row, label) in numbered]
    elif name == "ionosphere":
        lines = [",".join([*row, label[0]]) for _, (row, label) in numbered]
    elif name == "parkinson":
        header = ["name", *table.feature_names[:16], "status", *table.feature_names[16:]]
        lines = [",".join(header)]
        for i, (row, label) in numbered:
            status = "1" if label == "parkinson" else "0"
            lines.append(",".join([f"recording {i}", *row[:16], status, *row[16:]]))
    else:
        lines = ["\t".join([*row, label]) for _, (row, label) in numbered]
    address, _ = loader.REMOTES[name][0]
    return address, "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "name",
    [
        "breast_cancer", "glass", "parkinson", "ionosphere", "german_credit",
        "jain", "spiral", "flame",
    ],
)  # fmt: skip
def test_network_then_cache(name: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_dataset(name)
    address, text = original_text(name, data_folder)
    asked = []

    def serve(wanted: str) -> str:
        asked.append(wanted)
        assert wanted == address
        return text

    monkeypatch.delenv("LINCENT_DATA")
    monkeypatch.setattr(loader, "CARRIERS", {})
    monkeypatch.setattr(loader, "download_text", serve)
    fetched = load_dataset(name)
    assert fetched.origin == address
    cached = load_dataset(name)
    assert asked == [address]
    assert cached.origin == str(cache_folder() / f"{name}.csv")
    for bunch in (fetched, cached):
        np.testing.assert_array_equal(bunch.data, expected.data)
        assert bunch.target.tolist() == expected.target.tolist()


def test_wrong_values_from_the_network_are_refused_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loader, "CARRIERS", {})
    monkeypatch.setattr(loader, "download_text", lambda address: "1.0 2.0 1\n3.0 4.0 2\n")
    with pytest.raises(DatasetChecksumError, match=r"spiral\.txt does not hold .* not stored"):
        load_dataset("spiral")
    assert not cache_folder().exists()


def test_a_silent_server_is_left_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setenv("no_proxy", "*")
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes the call, never answers
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        monkeypatch.setattr(loader, "download_text", REAL_DOWNLOAD)
        monkeypatch.setitem(loader.REMOTES, "spiral", ((address, loader.REMOTES["spiral"][0][1]),))
        with pytest.raises(DatasetNotFoundError, match=r"127\.0\.0\.1:\d+: .*timed out"):
            load_dataset("spiral")


def test_a_file_of_absurd_size_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text("0123456789")
    assert REAL_DOWNLOAD(path.as_uri()) == "0123456789"
    monkeypatch.setattr(loader, "MAX_BYTES", 9)
    with pytest.raises(ValueError, match="more than 9 bytes"):
        REAL_DOWNLOAD(path.as_uri())


@pytest.mark.parametrize("text", ["<html>moved</html>", "", "1 2\n"])
def test_an_answer_that_is_no_table(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "download_text", lambda address: text)
    with pytest.raises(DatasetNotFoundError, match=r"'spiral' .* is not on this machine"):
        load_dataset("spiral")


def test_a_cache_that_cannot_be_written(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, text = original_text("spiral", data_folder)
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("LINCENT_DATA")
    monkeypatch.setenv("LINCENT_CACHE", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(loader, "download_text", lambda wanted: text)
    with pytest.warns(UserWarning, match="was fetched but cannot be kept"):
        assert load_dataset("spiral").origin == address


# ---------------------------------------------------------------- cache


def test_a_damaged_cache_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder().mkdir(parents=True)
    path = cache_folder() / "jain.csv"
    for content in ("x,y,class\n1,2,1\n", "x,y,cl", ""):
        path.write_text(content)
        with pytest.raises(DatasetChecksumError, match=r"jain\.csv .*delete the file"):
            load_dataset("jain")


def test_the_cache_folder_is_that_of_the_variable_or_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LINCENT_CACHE", "/c")
    assert cache_folder() == Path("/c")
    monkeypatch.delenv("LINCENT_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "lincent" / "datasets"
