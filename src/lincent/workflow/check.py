"""What a model keeps of its training table, and new tables checked against that.

The rows: hashes of the distinct rows, the ``MOST_HASHES`` smallest of many.  A row of a table whose
hash is in that range is a training row or not; the others are not decided.

The columns and the scores: counts along a grid of quantiles, range, missing cells and categories,
no rows.  A new table of m rows, against n training rows, fails a test where a difference is large
enough to matter and has a probability below ``ALPHA`` divided by the number of tests:

    drift of numbers      Kolmogorov-Smirnov: the largest difference D of the distributions, with
                          the probability 2 exp(-2 D^2 nm / (n + m))
    drift of categories   likelihood-ratio test of homogeneity; rare categories are pooled
    missing cells         the same with two categories
    range                 k new values beyond all training values: C(n+m-k, n) / C(n+m, n)
    unseen categories     against the share of training rows whose category occurs once (Good and
                          Turing), which is the probability of a new one
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2_contingency, hypergeom

from lincent._errors import listed
from lincent.estimators.problem import predicted_codes
from lincent.estimators.validation import plain
from lincent.export.model import Model, require_model
from lincent.export.model_file import summary_errors
from lincent.tables.formats import pd
from lincent.tables.infer import PreparedTable, labeled_rows
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_batches
from lincent.tables.schema import OddCells, to_frame

if TYPE_CHECKING:
    from lincent.inspection.thresholds import HeldOut

MOST_HASHES = 20_000
ALPHA = 0.01
LEAST_ROWS = 20  # of a new table, for the tests
MOST_POINTS = 20  # of a grid
LEAST_EXPECTED = 5.0  # rows of a category, below which it is pooled with others
DRIFT, MISSING, BEYOND = 0.1, 0.02, 0.01
"""Differences that matter: of distributions, missing cells, and cells beyond those of training."""


def pack_hashes(hashes: np.ndarray) -> dict[str, Any]:
    """Return the smallest distinct hashes of rows as plain data."""
    smallest = np.unique(hashes)[:MOST_HASHES]
    return {"all": len(smallest) < MOST_HASHES, "hashes": smallest.tolist()}


def training_rows(packed: dict[str, Any], hashes: np.ndarray) -> tuple[Any, Any]:
    """Return which rows are training rows, and for which that is decided."""
    smallest = np.array(packed["hashes"], dtype=np.uint64)
    decided = np.full(len(hashes), packed["all"]) | (hashes <= smallest[-1])
    return np.isin(hashes, smallest), decided


def reference(table: PreparedTable, held: HeldOut | None, classes: np.ndarray) -> dict[str, Any]:
    """Return the distributions of the columns and of held-out predictions as plain data.

    The scores of several classes depend on the model of the fold; their predictions do not.
    """
    names = table.schema.numeric
    points = int(np.clip(40_000 // max(1, len(names)), 3, MOST_POINTS))
    score, predicted = None, {}
    if held is not None and held.scores.ndim == 1:
        score = _distribution(held.scores, MOST_POINTS)
    elif held is not None:
        counts = np.bincount(predicted_codes(held.scores), minlength=len(classes)) / len(held.rows)
        predicted = {str(plain(c)): float(n) for c, n in zip(classes, counts, strict=True)}
    return {
        "rows": len(table.labels),
        "numbers": {name: _distribution(table.frame[name].to_numpy(), points) for name in names},
        "score": score,
        "predicted": predicted,
    }


def _distribution(values: np.ndarray, points: int) -> dict[str, Any]:
    present = np.sort(values[~np.isnan(values)])
    count = points if len(present) else 0
    grid = np.unique(present[np.linspace(0, len(present) - 1, count).astype(int)])
    counts = np.searchsorted(present, grid, side="right")
    return {"at": grid.tolist(), "counts": counts.tolist(), "rows": len(values)}


def check_table(model: Model, data: Any, *, reading: ReadOptions = DEFAULT_READ) -> dict[str, Any]:
    """Check a table against the training table of a model.

    Parameters
    ----------
    model : Model
        A fitted model, which has summaries of its training table.
    data : path, "-" or frame
        New rows; the target may be missing.
    reading : ReadOptions
        Format, separator, encoding and so on, where they are not to be inferred.

    Returns
    -------
    dict
        ``passed``, ``rows``, ``tests`` (their number) and ``findings``: for each the ``column``,
        the ``check``, whether it ``failed``, and a ``message``.
    """
    require_model(model)
    check, target = TableCheck(model), model.schema.target
    reading = replace(reading, expected_decimal=model.summary.get("decimal"))
    for batch in read_batches(data, reading):
        names = batch.data.schema.names
        columns = tuple(c for c in model.schema.columns if c.name in names)
        frame = to_frame(replace(model.schema, columns=columns), batch, check.odd)
        complete = len(columns) == len(model.schema.columns)
        check.rows += batch.data.num_rows  # also where no column is left
        check.add(frame, model.score_frame(frame) if complete else None)
        if target in names:
            with contextlib.suppress(ValueError):  # no classes at all
                check.outputs[target].add(labeled_rows(batch, target)[1].astype(str))
        extra = {*names} - {*model.schema.names, *model.schema.ids, target}
        check.extra |= extra - {entry["column"] for entry in model.summary.get("columns", ())}
    return check.result()


class TableCheck:
    """Counts of new rows, batch by batch, beside those of the training rows."""

    @summary_errors("the model file")
    def __init__(self, model: Model) -> None:
        self.schema, stored = model.schema, model.summary["reference"]
        rows, shares, predicted = stored["rows"], model.summary["shares"], stored["predicted"]
        self.inputs: dict[str, _Numbers | _Categories] = {
            **{name: _Numbers(one) for name, one in stored["numbers"].items()},
            **{n: _Categories(shares[n], rows) for n in self.schema.categorical if n in shares},
        }
        classes = {name: count / rows for name, count in model.summary["classes"].items()}
        self.outputs: dict[str, _Numbers | _Categories] = {
            **({"(score)": _Numbers(stored["score"])} if stored["score"] else {}),
            **({"(predicted class)": _Categories(predicted, rows)} if predicted else {}),
            self.schema.target: _Categories(classes, rows),
        }
        self.odd, self.rows, self.missing = OddCells(), 0, model.pipeline[0].missing_
        self.seen, self.extra = set[str](), set[str]()

    def add(self, frame: Any, scored: dict[str, np.ndarray] | None) -> None:
        """Count rows as ``to_frame`` returns them, and their predictions."""
        self.seen.update(frame.columns)
        for name, part in self.inputs.items():
            if name in frame:
                values = frame[name]
                if isinstance(part, _Categories):  # a cell that reads like the token is unseen
                    values = values.mask(values == self.missing, "").fillna(self.missing)
                part.add(values.to_numpy())
        for name, key in (("(score)", "score"), ("(predicted class)", "class")):
            if scored is not None and name in self.outputs:
                values = np.asarray(scored[key])
                self.outputs[name].add(values.astype(str) if key == "class" else values)

    @summary_errors("the model file")
    def result(self) -> dict[str, Any]:
        """Decide which columns have drifted or fail another test; failed ones first."""
        parts = [*self.inputs.items(), *self.outputs.items()]
        tested = [(name, part) for name, part in parts if part.rows >= LEAST_ROWS]
        tests = [(name, *test) for name, part in tested for test in part.tests()]
        findings = [
            _finding(column.name, "schema", True, "the table has no such column")
            for column in self.schema.columns
            if self.rows and column.name not in self.seen
        ]
        if not self.rows:
            findings = [_finding("", "schema", True, "the table has no rows")]
        for name, (count, where) in self.odd.unreadable.items():
            failed = count >= BEYOND * self.rows
            message = f"{count} cells are not as in training: {where}"
            findings.append(_finding(name, "schema", failed, message))
        for name, check, probability, difference, least, message in tests:
            if probability < ALPHA / len(tests) and difference >= least:
                findings.append(_finding(name, check, True, message))
        differing = {finding["column"] for finding in findings}
        for name, part in self.inputs.items():
            if isinstance(part, _Categories) and part.unseen and name not in differing:
                message = f"{part.unseen} rows have a category that training did not have"
                findings.append(_finding(name, "unseen categories", False, message))
        if self.extra:
            message = f"not in training, ignored: {listed(sorted(self.extra))}"
            findings.append(_finding("", "schema", False, message))
        findings.sort(key=lambda finding: not finding["failed"])
        passed = not any(finding["failed"] for finding in findings)
        return {"passed": passed, "rows": self.rows, "tests": len(tests), "findings": findings}


def _finding(column: str, check: str, failed: bool, message: str) -> dict[str, Any]:
    return {"column": column, "check": check, "failed": failed, "message": message}


def failure_text(result: dict[str, Any]) -> str:
    """Return the failed checks in one line; empty where all passed."""
    failed: dict[str, str] = {}
    for finding in result["findings"]:
        if finding["failed"]:
            failed.setdefault(finding["column"], finding["message"])
    lines = [f"{column!r}: {message}" for column, message in failed.items()]
    more = [f"and {len(lines) - 3} more columns"] if len(lines) > 3 else []
    return "; ".join([*lines[:3], *more])


class _Numbers:
    """The distribution of a column of numbers."""

    def __init__(self, stored: dict[str, Any]) -> None:
        self.at, self.counts = (np.array(stored[key], dtype=np.float64) for key in ("at", "counts"))
        self.trained, self.present = int(stored["rows"]), int(max(stored["counts"], default=0))
        self.new = np.zeros(len(self.at) + 1)  # up to each point of the grid, and above
        self.rows = self.below = 0

    def add(self, values: np.ndarray) -> None:
        present = values[~np.isnan(values)]
        self.new += np.bincount(np.searchsorted(self.at, present), minlength=len(self.new))
        self.below += int((present < self.at[0]).sum()) if len(self.at) else 0
        self.rows += len(values)

    def tests(self) -> list[tuple[str, float, float, float, str]]:
        """Return check, probability, difference, least difference and message of each test."""
        n, m = self.present, int(self.new.sum())
        old, new = 1 - n / self.trained, 1 - m / self.rows
        probability = _homogeneity(np.array([[self.trained - n, n], [self.rows - m, m]]))
        message = f"{_percent(new)} of the cells are missing, {_percent(old)} in training"
        tests = [("missing", probability, abs(new - old), MISSING, message)]
        if not n or not m:
            return tests
        for count, bound, beyond in (
            (self.below, self.at[0], "below"), (int(self.new[-1]), self.at[-1], "above"),
        ):  # fmt: skip
            message = (
                f"{_percent(count / m)} of the values are {beyond} {bound:g}, none in training"
            )
            # None of the most extreme of n + m values is among the n.
            probability = float(hypergeom.pmf(0, n + m, n, count))
            tests.append(("range", probability, count / m, BEYOND, message))
        difference = self.counts / n - self.new.cumsum()[:-1] / m
        k = int(np.abs(difference).argmax())
        gap = abs(float(difference[k]))
        probability = 2 * math.exp(-2 * gap**2 * n * m / (n + m))
        before, now = self.counts[k] / n, self.counts[k] / n - difference[k]
        message = f"{_percent(now)} are at most {self.at[k]:.4g}, {_percent(before)} in training"
        return [*tests, ("drift", probability, gap, DRIFT, message)]


class _Categories:
    """The frequencies of a column of categories."""

    def __init__(self, shares: dict[str, float], trained: int) -> None:
        self.known = pd.Index(list(shares))
        self.counts = np.round(np.array(list(shares.values()), dtype=np.float64) * trained)
        self.new, self.rows, self.unseen = np.zeros(len(shares)), 0, 0

    def add(self, values: Any) -> None:
        positions = np.bincount(self.known.get_indexer(values) + 1, minlength=len(self.new) + 1)
        self.unseen += int(positions[0])
        self.new += positions[1:]
        self.rows += len(values)

    def tests(self) -> list[tuple[str, float, float, float, str]]:
        """Return check, probability, difference, least difference and message of each test."""
        n, m = float(self.counts.sum()), float(self.rows)
        once, unseen = float((self.counts == 1).sum()), self.unseen / m
        probability = _homogeneity(np.array([[once, n - once], [self.unseen, m - self.unseen]]))
        message = f"{_percent(unseen)} of the rows have a category that training did not have"
        new = ("unseen categories", probability, unseen - once / n, BEYOND, message)
        expected = (self.counts + self.new) * min(n, m) / (n + m)
        rare = expected < LEAST_EXPECTED
        table = np.array([[*c[~rare], c[rare].sum()] for c in (self.counts, self.new)])
        difference = self.new / m - self.counts / n
        k = int(np.abs(difference).argmax())
        message = f"{_percent(self.new[k] / m)} are {self.known[k]!r}, "
        message += f"{_percent(self.counts[k] / n)} in training"
        gap = 0.5 * float(np.abs(difference).sum())
        return [new, ("drift", _homogeneity(table), gap, DRIFT, message)]


def _homogeneity(table: np.ndarray) -> float:
    """Return the probability of a table of counts by the likelihood-ratio test."""
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    return float(chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
