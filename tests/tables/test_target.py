"""Labels of every kind; what are no classes is refused."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from lincent.tables.formats import TableError  # noqa: E402
from lincent.tables.infer import check_classes, labeled_rows, read_groups  # noqa: E402
from lincent.tables.read import UserTable  # noqa: E402


def table(values, **others):
    return UserTable(pa.table({"y": values, **others}), "t.csv", 2)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["b", "a"], ["b", "a"]),
        ([" b ", "a"], ["b", "a"]),
        (["1", "0"], [1, 0]),
        (["1.0", "0"], [1, 0]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["True", "false"], [True, False]),
        ([True, False], [True, False]),
        ([1.0, 0.0], [1, 0]),
        ([10, 20], [10, 20]),
        (pa.array(["u", "v"]).dictionary_encode(), ["u", "v"]),
        (["1", "x"], ["1", "x"]),
        (["NA", "x", "null"], ["NA", "x", "null"]),
        ([str(2**53 - 1), "0"], [2**53 - 1, 0]),
    ],
)
def test_labels(values, labels):
    assert labeled_rows(table(values), "y", strict=True)[1].tolist() == labels


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([np.inf, 1.0], "not classes"),
        ([1e300, 2e300], "not classes"),
        (["inf", "1"], "not classes"),
        (["1e300", "1"], "not classes"),
        ([0.5, 1.0], "not classes"),
        (["a", ""], r"row 3, column 1 \('y'\): the target is missing"),
        (["1", "NA", "NA"], r"row 3.*\(2 such rows\)"),
        ([1, None], "row 3"),
        ([[1], [2]], "not classes"),
    ],
)
def test_what_are_no_classes(values, words):
    with pytest.raises(TableError, match=words):
        labeled_rows(table(values), "y", strict=True)[1]


def test_classes_are_counted():
    for labels, least, words in [
        (["a"] * 5, 1, "one class"),
        ([f"k{k}" for k in range(101)] * 3, 1, "101 different values"),
        (["a"] * 9 + ["b"], 4, "'b' has 1 rows"),
    ]:
        with pytest.raises(TableError, match=words):
            check_classes(table(labels), "y", np.array(labels), least)
    assert "'NA' (1 rows)" in check_classes(table(["NA", "a"]), "y", np.array(["NA", "a"]))[0]


def test_long_names_are_not_copied_for_each_row():
    names = ["q" * 500, *["a", "b"] * 10_000]
    groups = ["v" * 500, "v" * 500, "u", "u"] * 5000
    labels = labeled_rows(table(names), "y", strict=True)[1]
    assert labels.tolist() == names
    assert labels.nbytes == 8 * len(names)
    assert read_groups(table(names[1:], g=groups), "g", labels[1:]).nbytes == 8 * len(groups)
    check_classes(table(names), "y", labels)
    names[0] *= 4
    with pytest.raises(TableError, match=r"row 2, .*: 'q{20}'\.\.\. is no class: it has 2000"):
        check_classes(table(names), "y", labeled_rows(table(names), "y", strict=True)[1])


def test_groups():
    labels = np.array(["a", "b"] * 4)
    found = read_groups(table(labels, g=[1, 1, 2, 2, 3, 3, 4, 4]), "g", labels)
    assert sorted(set(found)) == ["1", "2", "3", "4"]
    with pytest.raises(TableError, match="'a' occurs in one group only"):
        read_groups(table(labels, g=["u", "v"] * 4), "g", labels)
    with pytest.raises(TableError, match=r"row 3, column 2 .'g'.: the group is missing"):
        read_groups(table(labels, g=["1", None, *["2"] * 6]), "g", labels)
