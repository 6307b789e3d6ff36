"""One column at a time: what it is."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from lincent.tables.infer import infer_type  # noqa: E402

RNG = np.random.default_rng(0)
N = 200


def role(values, name="x", decimal="."):
    found = infer_type(name, pa.chunked_array([pa.array(values)]), decimal)
    return found.role


NUMBERS = RNG.normal(size=N)
CASES = {
    "number": [
        NUMBERS,
        [f"{v:.3f}" for v in NUMBERS],
        [*map(str, NUMBERS[:-9]), *["?"] * 9],
        [*map(str, NUMBERS[:-9]), *["NA"] * 9],
        RNG.integers(0, 10**9, N),  # far apart: nothing says that they count rows
        RNG.integers(20, 80, N),
        ["1e5", "+3", " 4 ", "-2.5e-3"] * 50,
        np.arange(15),  # too few rows to say
    ],
    "identifier": [
        np.arange(N),
        RNG.permutation(N) + 5000,
        RNG.permutation(4 * N)[:N].astype(float),
        [f"c{k}" for k in range(N)],
        ["NA", "null", *(f"c{k}" for k in range(N))],
    ],
    "flag": [NUMBERS > 0, ["true", "False"] * 100, ["TRUE", "", "FALSE", "NA"] * 50],
    "category": [
        ["a", "b"] * 100,
        ["a", None] * 100,
        ["01234", "99999"] * 100,
        ["yes", "5", "no", "6"] * 50,
        [1.0, None] * 100,
    ],
    "date": [
        ["2020-01-31", "2021-12-01"] * 100,
        ["31.01.2020", "01.12.2021"] * 100,
        ["1/31/2020", "12/1/2021"] * 100,
        ["2020-01-31 10:00:00", "2020-02-01 11:30:00"] * 100,
        np.arange(N).astype("datetime64[D]"),
        ["2020-01-01"] * N,
    ],
    "text": [
        [f"the customer {w} said that order {k} came late" for k, w in enumerate(["x"] * N)],
        [f"k{k % 250}" for k in range(750)],
    ],
    "constant": [[5] * N, ["a"] * N, [""] * N, [None] * N, [True] * N],
    "unknown": [[[1, 2]] * N],
}


@pytest.mark.parametrize(("wanted", "case"), [(r, k) for r in CASES for k in range(len(CASES[r]))])
def test_roles(wanted, case):
    assert role(CASES[wanted][case]) == wanted


def test_a_name_tells_an_identifier():
    far_apart = RNG.choice(10**9, N, replace=False)
    assert role(far_apart, "amount") == "number"
    for name in ("id", "customer_id", "CustomerID", "ID", "row index"):
        assert role(far_apart, name) == "identifier", name
    assert role(RNG.integers(0, 50, N), "id") == "number"


def test_a_quantity_with_repeats_is_no_identifier():
    """Most of a range, drawn with repeats, is what quantities look like."""
    assert role(np.sort(RNG.integers(0, 2 * N, N))) == "number"


def test_decimal_commas_and_marks():
    found = infer_type("x", pa.array(["1,5", "2,25", "-", "3"] * 10), ",")
    assert found.role == "category"  # a quarter of the cells are no numbers
    found = infer_type("x", pa.array(["1,5", "2,25", "3", "4", "5", "-"] * 10), ",")
    assert (found.role, found.marks) == ("number", ("-",))


def test_dates_know_their_form():
    found = infer_type("x", pa.array(["1/2/2020 10:30", "31/1/2021 11:00"]))
    assert found.form == "%d/%m/%Y %H:%M"
