"""Inferred types of columns; every bad file gives a message with file, row and column."""
# ruff: noqa: E501

import re

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

from lincent.model_selection import make_problem  # noqa: E402
from lincent.tables.formats import TableError  # noqa: E402
from lincent.tables.infer import infer_schema  # noqa: E402
from lincent.tables.read import ReadOptions, UserTable  # noqa: E402
from lincent.tables.schema import to_frame  # noqa: E402

GOOD = "age,color,y\n" + "".join(
    f"{20 + k},{'red' if k % 2 else 'blue'},{'yes' if k % 3 else 'no'}\n" for k in range(0, 60, 1)
).replace("20,", "71,", 1)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table with every wart that a column can have."""
    rng = np.random.default_rng(0)
    n = 120
    y = np.where(rng.random(n) < 0.5, "ill", "well")
    words = zip(rng.choice(["loud", "quiet", "tired"], n), range(n), strict=True)
    frame = pandas.DataFrame(
        {
            "id": np.arange(n),
            "member": rng.permutation(3 * n)[:n] + 1000,
            "name": [f"p{k}" for k in range(n)],
            "weight": np.where(np.arange(n) % 10 == 0, np.nan, rng.random(n)),
            "age": np.where(rng.random(n) < 0.1, "?", rng.integers(20, 80, n).astype(str)),
            "city": np.where(np.arange(n) % 9 == 0, None, "ulm"),
            "smokes": rng.random(n) > 0.5,
            "zip": [f"{k:05d}" for k in rng.integers(0, 9, n)],
            "since": pandas.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
            "note": [f"a {a} person came to see us for the time number {k}" for a, k in words],
            "unit": "kg",
            "nothing": "",
            "result": (y == "ill") * 1.0 + rng.random(n) * 0.1,
            "paid": np.where(y == "ill", rng.random(n).round(2).astype(str), ""),
            "y": y,
        }
    )
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return str(path)


def lines(text):
    return text.splitlines(keepends=True)


def replaced(row, text):
    """The good file with one row (as an editor counts) replaced."""
    parts = lines(GOOD)
    parts[row - 1] = text + "\n"
    return "".join(parts)


def with_column(name, values):
    parts = [line.rstrip("\n") for line in lines(GOOD)]
    return "\n".join(
        [f"{parts[0]},{name}", *(f"{p},{v}" for p, v in zip(parts[1:], values, strict=True))]
    )


BAD = {
    "short row": (replaced(7, "1,2"), "y", r"Row #7: Expected 3 columns, got 2: 1,2"),
    "long row": (replaced(9, "1,2,yes,4"), "y", r"Row #9: Expected 3 columns, got 4"),
    "no target": (GOOD, "class", r"has no column 'class' \(--target\)"),
    "near target": (GOOD, "ye", r"did you mean 'y'\?"),
    "one class": (GOOD.replace("no", "yes"), "y", r"column 3 \('y'\): all 60 rows have one class \(yes\)"),
    "rare class": (replaced(30, "3,red,maybe"), "y", r"row 30, column 3 \('y'\): the class 'maybe' has 1 rows"),
    "regression": (GOOD, "age", r"column 1 \('age'\): 59 different values in 60 rows are no classes"),
    "double name": (GOOD.replace("age,color", "age,age", 1), "y", r"'age' stands in columns 1 and 2"),
    "header only": ("a,b,y\n", "y", r"followed by no rows"),
    "empty": ("", "y", r"is empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_file(case, tmp_path):
    text, target, pattern = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(TableError) as caught:
        make_problem(str(path), target)
    message = str(caught.value)
    assert str(path) in message
    assert re.search(pattern, message), message
    assert "\n" not in message


@pytest.mark.parametrize("line_ends", [True, False])
def test_a_large_text_is_refused_quickly(tmp_path, line_ends):
    # The test of 200 MB is benchmarks/study_bad_files.py; the code path is the same.
    path = tmp_path / "prose.txt"
    end = "\n" if line_ends else " "
    path.write_text(("it was the best of times it was the worst of times" + end) * 200_000)
    with pytest.raises(TableError, match=r"row 1 goes on|no column 'y'"):
        make_problem(str(path), "y")


def test_not_a_file(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        make_problem(str(tmp_path / "absent.csv"), "y")
    with pytest.raises(TableError, match="folder"):
        make_problem(str(tmp_path), "y")
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(TableError, match=r"a\.xlsx cannot be read as a workbook"):
        make_problem(str(tmp_path / "a.xlsx"), "y")
    (tmp_path / "a.parquet").write_text("x,y")
    with pytest.raises(TableError, match=r"a\.parquet"):
        make_problem(str(tmp_path / "a.parquet"), "y")
    (tmp_path / "a.csv").write_text(GOOD)
    guessed = make_problem(str(tmp_path / "a.csv"))
    assert guessed.notes[0] == "the target is 'y', the last column (--target names another)."
    with pytest.raises(TableError, match="no such file"):
        make_problem("glass")


def test_types_missing_values_and_notes(people):
    problem = make_problem(people, "y")
    assert problem.roles == {
        "id": "identifier", "member": "identifier", "name": "identifier", "weight": "number",
        "age": "number", "city": "category", "smokes": "flag", "zip": "category", "since": "date",
        "note": "text", "unit": "constant", "nothing": "constant", "result": "leak",
        "paid": "leak", "y": "target",
    }  # fmt: skip
    assert list(problem.X.columns) == ["weight", "age", "city", "smokes", "zip"]
    text = " ".join(problem.notes)
    for words in (
        "column 1 ('id') is left out as identifier: no two rows have the same number",
        "column 3 ('name') is left out as identifier: 120 of 120 cells are different",
        "column 5 ('age'): '?' counts as missing",
        "column 9 ('since') is left out as date",
        "(--keep since uses it)",
        "column 10 ('note') is left out as text: it holds free text",
        "scikit-learn's TfidfVectorizer (--keep note uses it)",
        "it is 'kg' in every row",
        "every cell is empty",
        "column 13 ('result') is left out as leak",
    ):
        assert words in text, words
    prepared = problem.preparation().fit_transform(problem.X)
    assert np.isfinite(prepared).all()


def test_the_user_overrules(people):
    kept = make_problem(people, "y", keep=("id", "result"), drop=("age",))
    assert list(kept.X.columns) == ["id", "weight", "city", "smokes", "zip", "result"]
    assert any("'result'): alone it tells the class" in note for note in kept.notes)
    forced = make_problem(
        people, "y", roles={"zip": "number", "age": "category", "id": "category"}, drop=("city",)
    )
    assert forced.roles["zip"] == "number"
    assert set(forced.X["age"]) >= {"?"}
    assert forced.X["id"][0] == "0"
    used = make_problem(people, "y", keep=("note", "since"))
    assert {"since", "note"} <= set(used.X.columns)
    assert used.X["since"].iloc[0] == 18_262  # days since 1970
    for wrong, words in [
        ({"roles": {"zip": "colour"}}, "the role is one of"),
        ({"roles": {"city": "date"}}, "holds no dates"),
        ({"roles": {"name": "number"}}, "without a number in it"),
        ({"keep": ("absent",)}, r"no column 'absent' \(--keep\)"),
        ({"drop": ("y",)}, "is the target and cannot be --drop"),
    ]:
        with pytest.raises(TableError, match=words):
            make_problem(people, "y", **wrong)


def test_a_leak_stays_where_nothing_else_is(tmp_path):
    frame = pandas.DataFrame(
        {"a": np.arange(60) * 0.5, "y": np.where(np.arange(60) < 30, "u", "v")}
    )
    problem = make_problem(frame, "y")
    assert list(problem.X.columns) == ["a"]
    assert "alone it tells the class" in problem.notes[0]


def test_classes_called_missing(tmp_path):
    """NA beside names is a name, beside numbers a missing number."""
    path = tmp_path / "na.csv"
    path.write_text("a,y\n" + "".join(f"{k * 0.7},{('NA', 'EU')[k % 2]}\n" for k in range(40)))
    problem = make_problem(path, "y")
    assert problem.describe()["classes"] == {"EU": 20, "NA": 20}
    assert any("a class 'NA' (20 rows)" in note for note in problem.notes)
    path.write_text("a,y\n" + "".join(f"{k * 0.7},{('NA', '0', '1')[k % 3]}\n" for k in range(40)))
    problem = make_problem(path, "y")
    assert problem.describe()["classes"] == {"0": 13, "1": 13}
    assert any("column 2 ('y'): 14 rows have no class" in note for note in problem.notes)


def test_groups(tmp_path):
    path = tmp_path / "g.csv"
    rows = [f"{k * 0.7},{k // 3},{'u' if (k // 3) % 2 else 'v'}" for k in range(60)]
    path.write_text("a,who,y\n" + "\n".join(rows))
    problem = make_problem(str(path), "y", group="who")
    assert list(problem.X.columns) == ["a"]
    assert len(set(problem.groups)) == 20
    path.write_text("a,who,y\n" + "\n".join(f"{k},{k % 2},{'uv'[k % 2]}" for k in range(40)))
    with pytest.raises(
        TableError, match=r"row 3, column 2 \('who'\): the class 'u'|one group only"
    ):
        make_problem(str(path), "y", group="who")


def test_number_classes_and_repeated_rows():
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "y": [0.0, 1.0] * 10})
    problem = make_problem(frame, "y")
    assert problem.describe()["classes"] == {"0": 10, "1": 10}
    assert any("repeat an earlier row" in note for note in problem.notes)


@pytest.mark.parametrize(
    ("decimal", "cells", "numbers", "note"),
    [
        (
            ",",
            ["1.094", "999", "1.250,5"],
            [1094, 999, 1250.5],
            "1.094 is read as 1094",
        ),
        (
            ".",
            ["1,094", "999", "-1,000.5"],
            [1094, 999, -1000.5],
            "1,094 is read as 1094",
        ),
        (".", ["1,234,567", "2"], [1234567, 2], "1,234,567 is read as 1234567"),
        (",", ["1.094", "1.5", "2,5"], [1.094, 1.5, 2.5], ""),
        (",", ["1.094", "0.125", "2"], [1.094, 0.125, 2], ""),
    ],
)
def test_thousands(decimal, cells, numbers, note):
    data = pa.table({"x": cells * 8, "y": ["a", "b"] * (4 * len(cells))})
    table = UserTable(data, options=ReadOptions(decimal=decimal))
    prepared = infer_schema(table, "y")
    assert prepared.frame["x"].tolist() == numbers * 8
    assert prepared.columns[0].reason == note
    assert note in "".join(prepared.warnings)
    # A batch is read as the column was, also where it does not show the pattern.
    first = UserTable(data.slice(0, 1), options=table.options)
    assert to_frame(prepared.schema, first)["x"].tolist() == numbers[:1]


def test_a_category_of_mostly_numbers_is_named():
    data = pa.table({"x": ["1", "2", "three"] * 10, "y": ["a", "b"] * 15})
    report = infer_schema(UserTable(data), "y").columns[0]
    assert (report.kind, report.name) == ("category", "x")
    assert report.message == (
        "column 1 ('x'): most cells are numbers, but 'three' is not (--role x=number reads the "
        "numbers)."
    )


def test_codes_that_differ_in_leading_zeros_are_categories():
    frame = pandas.DataFrame({"x": np.arange(40.0) % 7, "code": ["007", "7", "007", "9"] * 10})
    frame["y"] = np.resize(["a", "b", "b"], 40)
    prepared = infer_schema(UserTable(pa.Table.from_pandas(frame), "t", 1), "y")
    assert prepared.roles["code"] == "category"
