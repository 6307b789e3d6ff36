"""Every bad file gives one sentence with file, row and column."""
# ruff: noqa: E501

import re

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from lincent.study import TableError, make_problem  # noqa: E402

GOOD = "age,color,y\n" + "".join(
    f"{20 + k},{'red' if k % 2 else 'blue'},{'yes' if k % 3 else 'no'}\n" for k in range(0, 60, 1)
).replace("20,", "71,", 1)


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
    "short row": (replaced(7, "1,2"), "y", r"row 7 has 2 cells where the header has 3.*column 3"),
    "long row": (replaced(9, "1,2,yes,4"), "y", r"row 9 has 4 cells.*column 4"),
    "word in numbers": (replaced(12, "abc,red,yes"), "y", r"column 1 \('age'\), row 12: 'abc' is not"),
    "no target": (GOOD, "class", r"row 1 has no column 'class' \(--target\)"),
    "near target": (GOOD, "ye", r"did you mean 'y'\?"),
    "empty target": (replaced(5, "1,red,"), "y", r"row 5, column 3 \('y'\): the target is missing"),
    "one class": (GOOD.replace("no", "yes"), "y", r"rows 2 to 61, column 3 \('y'\): all 60.*'yes'"),
    "rare class": (replaced(30, "3,red,maybe"), "y", r"row 30, column 3.*'maybe' has 1 rows"),
    "regression": (GOOD, "age", r"column 1 \('age'\): 59 different targets"),
    "constant": (with_column("k", [7] * 60), "y", r"column 4 \('k'\): it is '7' in all rows 2 to 61"),
    "empty column": (with_column("k", [""] * 60), "y", r"column 4 \('k'\): every cell in rows 2 to 61"),
    "text": (
        with_column("k", [f"a long sentence about case {k} that is nobody's category" for k in range(60)]),
        "y",
        r"column 4 \('k'\): from row 2 on it holds free text",
    ),
    "double name": (GOOD.replace("age,color", "age,age", 1), "y", r"row 1: .*'age' stands in columns 1 and 2"),
    "no name": (GOOD.replace("age,", ",", 1), "y", r"row 1, column 1: the column has no name"),
    "header only": ("a,b,y\n", "y", r"followed by no row"),
    "empty": ("", "y", r"the file is empty"),
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


def test_huge_category_column(tmp_path):
    path = tmp_path / "many.csv"
    rows = [f"{k % 7},c{k % 300},{'u' if k % 2 else 'v'}" for k in range(900)]
    path.write_text("a,kind,y\n" + "\n".join(rows))
    with pytest.raises(
        TableError, match=r"column 2 \('kind'\): from row 2 on it holds 300 different"
    ):
        make_problem(str(path), "y")
    problem = make_problem(str(path), "y", skip_bad_columns=True)
    assert list(problem.X.columns) == ["a"]
    assert "left out" in problem.notes[0]


def test_header_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes(GOOD.replace("color", "größe", 1).encode("latin-1"))
    with pytest.raises(TableError, match=r"row 1, column 2: the header is not UTF-8 \(byte 0xf6"):
        make_problem(str(path), "y")


def test_cell_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes(replaced(8, "3,grün,yes").encode("latin-1"))
    with pytest.raises(TableError, match=r"row 8, column 2 \('color'\): byte 0xfc is not UTF-8"):
        make_problem(str(path), "y")


def test_utf16(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(GOOD, encoding="utf-16")
    with pytest.raises(TableError, match="UTF-16"):
        make_problem(str(path), "y")


@pytest.mark.parametrize("line_ends", [True, False])
def test_a_large_text_is_refused_quickly(tmp_path, line_ends):
    # The test of 200 MB is benchmarks/study_bad_files.py; the code path is the same.
    path = tmp_path / "prose.txt"
    end = "\n" if line_ends else " "
    path.write_text(("it was the best of times it was the worst of times" + end) * 200_000)
    with pytest.raises(TableError, match=r"row 1"):
        make_problem(str(path), "y")


def test_not_a_file(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        make_problem(str(tmp_path / "absent.csv"), "y")
    with pytest.raises(TableError, match="folder"):
        make_problem(str(tmp_path), "y")
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(TableError, match=r"ending '\.xlsx'"):
        make_problem(str(tmp_path / "a.xlsx"), "y")
    (tmp_path / "a.parquet").write_text("x,y")
    with pytest.raises(TableError, match=r"a\.parquet"):
        make_problem(str(tmp_path / "a.parquet"), "y")
    (tmp_path / "a.csv").write_text(GOOD)
    with pytest.raises(TableError, match="--target"):
        make_problem(str(tmp_path / "a.csv"))
    with pytest.raises(TableError, match="did you mean 'glass'"):
        make_problem("glas")


@pytest.mark.parametrize("kind", ["csv", "semicolon", "tab", "parquet", "arrow", "bom", "gz"])
def test_every_format_gives_the_same_problem(kind, tmp_path):
    frame = pandas.DataFrame(
        {
            "x": np.arange(40) * 1.5 + 0.25,
            "c": np.where(np.arange(40) % 2, "u", "v"),
            "y": np.where(np.arange(40) % 3, "p", "q"),
        }
    )
    path = tmp_path / {"parquet": "a.parquet", "arrow": "a.arrow", "gz": "a.csv.gz"}.get(
        kind, "a.csv"
    )
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "arrow":
        frame.to_feather(path)
    elif kind == "semicolon":
        frame.to_csv(path, sep=";", decimal=",", index=False)
    elif kind == "bom":
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    else:
        frame.to_csv(path, sep="\t" if kind == "tab" else ",", index=False)
    problem = make_problem(str(path), "y")
    assert list(problem.X.columns) == ["x", "c"]
    assert problem.X["x"].tolist() == frame["x"].tolist()
    assert problem.categories == ("c",)
    assert problem.class_counts == {"p": 26, "q": 14}


def test_types_missing_values_and_notes(tmp_path):
    rng = np.random.default_rng(0)
    n = 100
    y = np.where(np.arange(n) % 2, "ill", "well")
    frame = pandas.DataFrame(
        {
            "id": np.arange(n),
            "name": [f"p{k}" for k in range(n)],
            "weight": np.where(np.arange(n) % 10 == 0, np.nan, rng.random(n)),
            "city": np.where(np.arange(n) % 9 == 0, None, "ulm"),
            "smokes": rng.random(n) > 0.5,
            "result": (y == "ill") * 1.0 + rng.random(n) * 0.1,
            "y": y,
        }
    )
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    problem = make_problem(str(path), "y")
    assert list(problem.X.columns) == ["weight", "city", "smokes", "result"]
    assert problem.left_out == ("id", "name")
    text = " ".join(problem.notes)
    assert "column 1 ('id') counts the rows" in text
    assert "column 2 ('name') has a different value" in text
    assert "'result' may be a leak" in text
    prepared = problem.preparation().fit_transform(problem.X)
    assert np.isfinite(prepared).all()
    kept = make_problem(str(path), "y", keep=("id",), drop=("result",))
    assert list(kept.X.columns) == ["id", "weight", "city", "smokes"]


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
    assert problem.class_counts == {"0": 10, "1": 10}
    assert any("repeat an earlier row" in note for note in problem.notes)
