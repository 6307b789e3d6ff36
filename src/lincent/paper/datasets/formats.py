"""From the text of an original source to the table of the registry.

Carrier packages and servers hold the same few originals: the files of the UCI repository, the CSV
export of the R package MASS, plain CSV with coded classes. Each function reads one such form; the
result is checked against the registry by whoever called it.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lincent.paper.datasets.registry import DataTable, build_table

BREAST_CANCER_FEATURES = (
    "clump_thickness",
    "cell_size_uniformity",
    "cell_shape_uniformity",
    "marginal_adhesion",
    "epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
)
CRAB_MEASURES = ("FL", "RW", "CL", "CW", "BD")
GLASS_FEATURES = ("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
PIMA_FEATURES = (
    "pregnancies",
    "glucose",
    "blood_pressure",
    "skin_thickness",
    "insulin",
    "bmi",
    "pedigree",
    "age",
)
PARKINSON_FEATURES = (
    "MDVP_Fo_Hz",
    "MDVP_Fhi_Hz",
    "MDVP_Flo_Hz",
    "MDVP_Jitter_pct",
    "MDVP_Jitter_Abs",
    "MDVP_RAP",
    "MDVP_PPQ",
    "Jitter_DDP",
    "MDVP_Shimmer",
    "MDVP_Shimmer_dB",
    "Shimmer_APQ3",
    "Shimmer_APQ5",
    "MDVP_APQ",
    "Shimmer_DDA",
    "NHR",
    "HNR",
    "RPDE",
    "DFA",
    "spread1",
    "spread2",
    "D2",
    "PPE",
)
IONOSPHERE_FEATURES = tuple(f"a{number:02d}" for number in range(1, 35))
GERMAN_FEATURES = tuple(f"a{number:02d}" for number in range(1, 25))
SHAPE_FEATURES = ("x", "y")

_GLASS_TYPES = dict.fromkeys("123", "window") | dict.fromkeys("567", "non-window")
_FGL_TYPES = dict.fromkeys(("WinF", "WinNF", "Veh"), "window") | dict.fromkeys(
    ("Con", "Tabl", "Head"), "non-window"
)


def labelled_rows(
    rows: Sequence[Sequence[str]], features: Sequence[str], classes: Mapping[str, str]
) -> DataTable:
    """Make a table of rows whose last cell is the code of a class."""
    codes = [row[-1].strip() for row in rows]
    unknown = set(codes) - set(classes)
    if unknown:
        raise ValueError(f"unexpected class codes {sorted(unknown)[:5]}.")
    return build_table(features, [row[:-1] for row in rows], [classes[code] for code in codes])


def _cells(text: str, separator: str | None = ",") -> list[list[str]]:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("@"))
    return [line.split(separator) for line in lines]


def breast_cancer_from_uci(text: str) -> DataTable:
    """Read breast-cancer-wisconsin.data: a number, nine grades, 2 or 4."""
    rows = [row[1:] for row in _cells(text)]
    return labelled_rows(rows, BREAST_CANCER_FEATURES, {"2": "benign", "4": "malignant"})


def breast_cancer_from_mass(text: str) -> DataTable:
    """Read the CSV of MASS biopsy: ID, V1 to V9, class."""
    rows = list(csv.DictReader(io.StringIO(text)))
    grades = [[row[f"V{number}"] for number in range(1, 10)] for row in rows]
    return build_table(BREAST_CANCER_FEATURES, grades, [row["class"] for row in rows])


def crabs_from_mass(text: str) -> DataTable:
    """Read the CSV of MASS crabs: species becomes 0 (B) or 1 (O), the target is the sex."""
    rows = list(csv.DictReader(io.StringIO(text)))
    species, sex = {"B": 0.0, "O": 1.0}, {"F": "female", "M": "male"}
    values = [[species[row["sp"]], *(row[name] for name in CRAB_MEASURES)] for row in rows]
    return build_table(("species", *CRAB_MEASURES), values, [sex[row["sex"]] for row in rows])


def glass_from_uci(text: str) -> DataTable:
    """Read glass.data: a number, nine features, the type from 1 to 7."""
    return labelled_rows([row[1:] for row in _cells(text)], GLASS_FEATURES, _GLASS_TYPES)


def glass_from_mass(text: str) -> DataTable:
    """Read the CSV of MASS fgl, where RI is stored as 1000 (RI - 1.518)."""
    rows = list(csv.DictReader(io.StringIO(text)))
    values = [
        [round(1.518 + float(row["RI"]) / 1000, 5), *(row[name] for name in GLASS_FEATURES[1:])]
        for row in rows
    ]
    return build_table(GLASS_FEATURES, values, [_FGL_TYPES[row["type"]] for row in rows])


def parkinson_from_uci(text: str) -> DataTable:
    """Read parkinsons.data: recording name, measures, with the status among them."""
    rows = _cells(text)[1:]
    measures = [[*row[1:17], *row[18:]] for row in rows]
    target = [{"0": "healthy", "1": "parkinson"}[row[17]] for row in rows]
    # phon_R01_S01_1 is the first recording of speaker phon_R01_S01.
    speakers = [row[0].rpartition("_")[0] for row in rows]
    return build_table(PARKINSON_FEATURES, measures, target, speakers)


def ionosphere_reader(good: str, bad: str, separator: str = ",", skip: int = 0) -> "Reader":
    """Return a reader of 34 values and a class code, after ``skip`` lines of header."""

    def read(text: str) -> DataTable:
        rows = _cells(text, separator)[skip:]
        return labelled_rows(rows, IONOSPHERE_FEATURES, {good: "good", bad: "bad"})

    return read


def pima_from_csv(text: str) -> DataTable:
    """Read eight features and the class, as a word or as 0 and 1; KEEL's @ lines are skipped."""
    classes = {"0": "negative", "1": "positive", "negative": "negative", "positive": "positive"}
    return labelled_rows(_cells(text), PIMA_FEATURES, classes)


def german_from_uci(text: str) -> DataTable:
    """Read german.data-numeric: 24 integers and 1 (good) or 2 (bad), separated by blanks."""
    return labelled_rows(_cells(text, None), GERMAN_FEATURES, {"1": "good", "2": "bad"})


def shape_reader(classes: Mapping[str, str], separator: str | None = None) -> "Reader":
    """Return a reader of x, y and a class code."""

    def read(text: str) -> DataTable:
        return labelled_rows(_cells(text, separator), SHAPE_FEATURES, classes)

    return read


Reader = Callable[[str], DataTable]


def _fill_missing(table: DataTable) -> DataTable:
    return replace(table, data=np.where(np.isnan(table.data), 3.5, table.data))


def _without_first_pair(table: DataTable) -> DataTable:
    return replace(table, feature_names=table.feature_names[2:], data=table.data[:, 2:])


# Two sets are another one with a small change; sources outside a data folder know the first only.
DERIVED: dict[str, tuple[str, Callable[[DataTable], DataTable]]] = {
    "breast_cancer": ("breast_cancer_with_missing", _fill_missing),
    "ionosphere_32": ("ionosphere", _without_first_pair),
}


def original_of(name: str) -> tuple[str, Callable[[DataTable], DataTable]]:
    """Return the set as sources hold it, and the change that leads from it to ``name``."""
    return DERIVED.get(name, (name, lambda table: table))
