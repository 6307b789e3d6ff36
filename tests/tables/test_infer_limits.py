"""The rules of type inference at their limits: a column on either side of each."""

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from lincent.tables import infer, schema  # noqa: E402
from lincent.tables.infer import infer_type  # noqa: E402
from lincent.tables.read import UserTable  # noqa: E402


def role(values, name="column", decimal="."):
    return infer_type(name, pa.array(values), decimal).role


def sentences(count, words=4, letters=5):
    """Return so many different cells of so many words."""
    return [" ".join([f"{k:0{letters}d}x"] + ["w" * letters] * (words - 1)) for k in range(count)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # Different whole numbers are identifiers from 21 rows on, where they are dense.
        (list(range(20)), "number"),
        (list(range(21)), "number"),  # 21² / 42 is not above 20
        (list(range(40)), "number"),
        (list(range(41)), "identifier"),
        ([*range(40), 39], "number"),
        ([k + 0.5 for k in range(41)], "number"),
        ([*range(40), None], "number"),
        ([*range(41), None], "identifier"),
        # Different texts are identifiers from 21 rows on, where 95 % differ.
        ([f"p{k}" for k in range(20)], "category"),
        ([f"p{k}" for k in range(21)], "identifier"),
        ([f"p{k}" for k in range(95)] + ["p0"] * 5, "category"),
        ([f"p{k}" for k in range(96)] + ["p0"] * 4, "identifier"),
        # Free text: more than 20 different cells of four words, half of all cells different.
        (sentences(20) * 2, "category"),
        (sentences(21) + sentences(20), "text"),
        (sentences(21) * 2, "category"),
        (sentences(60, words=3) + sentences(20, words=3), "category"),
        # ... or of more than 40 characters, however often a cell occurs.
        ([text.ljust(41, "w") for text in sentences(21, 1)] * 3, "text"),
        ([text.ljust(40, "w") for text in sentences(21, 1)] * 3, "category"),
        ([text.ljust(41, "w") for text in sentences(20, 1)] * 3, "category"),
        # Categories: at most 200.
        ([f"p{k}" for k in range(200)] * 2, "category"),
        ([f"p{k}" for k in range(201)] * 2, "text"),
    ],
)
def test_roles(values, expected):
    assert role(values) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("id", "identifier"),
        ("customer_no", "identifier"),
        ("orderId", "identifier"),
        ("paid", "number"),
        ("amount", "number"),
    ],
)
def test_sparse_whole_numbers_are_identifiers_by_their_name(name, expected):
    assert role([1_000 * k for k in range(21)], name) == expected
    assert role([1_000 * k for k in range(20)], name) == "number"


def test_text_is_numbers_where_four_fifths_are_with_ten_tokens_for_missing():
    numbers = [f"{k}.5" for k in range(40)]
    ten = [f"token {k}" for k in range(10)]
    report = infer_type("column", pa.array(numbers + ten))
    assert (report.role, report.marks) == ("number", tuple(ten))
    assert role([*numbers, *ten, "token 0"]) == "identifier"  # 40 of 51
    assert role([*numbers, *numbers, *ten, "token 10"]) == "category"  # eleven tokens


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0123", "4567"], "category"),  # one length, and one of them padded: codes
        (["012", "456"], "number"),
        (["0123", "45"], "number"),
        (["007", "7", "15"], "category"),  # 007 and 7 would be one number
        (["007", "8", "15"], "number"),
        (["True", "false"], "flag"),
        (["true", "true"], "constant"),
        (["true", None], "category"),
        (["a", "a"], "constant"),
        (["a", None], "category"),
        (["", None], "constant"),
    ],
)
def test_codes_flags_and_constants(cells, expected):
    assert role(cells) == expected


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["2020-01-31", "2021-12-01"], "ISO8601"),
        (["31.01.2020", "01.12.2021"], "%d.%m.%Y"),
        (["01/31/2020", "12/01/2021"], "%m/%d/%Y"),
        (["31/01/2020", "01/12/2021"], "%d/%m/%Y"),
        (["31.01.20", "01.12.21"], "%d.%m.%y"),
        (["31.01.2020 10:00", "01.12.2021 11:00"], "%d.%m.%Y %H:%M"),
    ],
)
def test_forms_of_dates(cells, form):
    report = infer_type("column", pa.array(cells))
    assert (report.role, report.form) == ("date", form)
    assert role([cells[0], cells[0]]) == "date"
    assert role([*cells, "soon"]) == "category"


@pytest.mark.parametrize(
    ("cells", "decimal", "separated"),
    [
        (["1,234", "12"], ".", True),
        (["1.234", "12,5"], ",", True),
        (["1.234", "1.5"], ",", False),
        (["1.5", "2"], ".", False),
    ],
)
def test_separated_thousands(cells, decimal, separated):
    report = infer_type("column", pa.array(cells), decimal)
    assert report.role == "number"
    assert bool(report.example) == separated


@pytest.mark.parametrize(
    ("cells", "kind"),
    [("few", "category"), ("unique", ""), ("padded", "number"), ("missing", "category")],
)
def test_long_cells_are_hardly_copied(monkeypatch, cells, kind):
    """Their distinct values are looked at; numbers after blanks are numbers all the same."""
    rows, long = 400, ["v" * 2_000, "w" * 2_000]
    column = {
        "few": [long[k // 3 % 2] for k in range(rows)],
        "unique": [f"{k} " + "word " * 400 for k in range(rows)],
        "padded": [" " * 2_000 + str(k * 0.37 % 5) for k in range(rows)],
        "missing": [long[0] if k % 9 else "NA" for k in range(rows)],
    }[cells]
    sizes = []
    for module in (infer, schema):

        def counted(text, *tokens, real=module.with_nulls):
            sizes.append(text.nbytes)
            return real(text, *tokens)

        monkeypatch.setattr(module, "with_nulls", counted)
    labels = ["a", "b"] * (rows // 2)
    table = UserTable(pa.table({"x": [k % 7 for k in range(rows)], "c": column, "y": labels}))
    prepared = infer.infer_schema(table, "y")
    assert next(report.kind for report in prepared.columns if report.name == "c") == kind
    assert cells == "padded" or max(sizes) < 10_000
    if kind == "category":
        assert len({id(cell) for cell in prepared.frame["c"]}) == 2
