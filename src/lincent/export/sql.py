"""Write models as a plain SQL query.

Every column of a matrix of ``inspection.expression`` is a sum of SQL terms with coefficients, so
that affine operations only change coefficients.  The other operations make a new term of what they
take, which is given a name (``v1``) in a subquery where it is used more than once.  The query of a
linear model has few such names; that of an additive model has two or three levels of them.

Every column of the table is qualified, so that one which the table lacks is an error on SQLite,
too, which reads an unqualified ``"name"`` as text.  Named values are inside a subquery of the row
and do not leave it, so no column of the table can be taken for one of them.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.export.evaluator import _two
from lincent.export.model import Model
from lincent.inspection.expression import Expr, fold, plain_value
from lincent.tables.schema import FLAG

ROW = "lincent_input"  # the scored table inside the query
MOST_CHARACTERS = 900_000  # longer ones exceed SQLite's columns or the depth of its parser
TERMS_AT_ONCE = 50  # of a sum: SQLite has a limit on the depth of expressions
LARGEST_EXPONENT = 700  # some engines raise errors where EXP overflows, or vanishes

TEMPLATES = {
    "abs": "ABS({x})",
    "positive": "CASE WHEN {x} > 0 THEN 1e0 ELSE 0e0 END",
    "equal": "CASE WHEN ABS({x} - {0}) < {1} THEN 1e0 ELSE 0e0 END",
}
"""Operations on a column x with constants."""

Sum = dict[Any, float]
"""Coefficients of terms: None is the constant, (column, value) the indicator of a category."""


def number(value: Any) -> str:
    """Return a finite number as SQL; with an exponent it is a double, without one a decimal."""
    text = repr(plain_value(float(value)))
    return text if "e" in text else f"{text}e0"


def quoted(name: Any) -> str:
    """Return a name as a quoted identifier."""
    return '"' + str(plain_value(name)).replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a class or category as SQL."""
    if type(value) is float:
        return number(value)
    if type(value) in (bool, int):
        return repr(value).upper()
    return "'" + str(plain_value(value)).replace("'", "''") + "'"


def sql_query(model: Model, table: str, outputs: dict[str, Expr | None]) -> str:
    """Return a SELECT that adds class, score and probabilities to a table."""
    writer = QueryWriter(model)
    parts = writer.columns(outputs["score"])
    scores = [writer.text(parts[0])] if len(parts) == 1 else [writer.named(x) for x in parts]
    shares: list[str] = []
    if outputs["probability"] is not None:
        shares = [writer.text(column) for column in writer.columns(outputs["probability"])]
    classes = [literal(label) for label in model.classes]
    if len(classes) == 2:
        decision = writer.text(writer.columns(outputs["decision"])[0])
        columns = [("score", scores[0]), ("class", _cases([f"{decision} > 0"], classes[::-1]))]
    else:
        wins = [
            " AND ".join(f"{scores[k]} >= {scores[j]}" for j in range(k + 1, len(classes)))
            for k in range(len(classes) - 1)
        ]
        columns = [("class", _cases(wins, classes)), ("score", _cases(wins, scores))]
    named = [(f"probability_{k}", share) for k, share in zip(model.classes, shares, strict=False)]
    columns += named[1:] if len(classes) == 2 else named  # one of two says it all
    lines = [
        f"-- Made by lincent {model.version}; target {json.dumps(model.schema.target)}.",
        # The new columns come first: in a table that was scored before, the names are theirs.
        "SELECT",
        *(f"  {writer.subquery(text)} AS {quoted(name)}," for name, text in columns),
        f"  {ROW}.*",
        f"FROM {quoted(table)} AS {ROW};",
    ]
    query = "\n".join(lines) + "\n"
    if len(query) > MOST_CHARACTERS:
        raise AppError(
            f"The SQL of this {type(model.classifier).__name__} would have {len(query):,} "
            f"characters, above {MOST_CHARACTERS:,}: export to Python or ONNX, or fit with "
            "--method additive or linear."
        )
    return query


def _cases(conditions: list[str], values: list[str]) -> str:
    cases = [f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=False)]
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END"


class QueryWriter:
    """Writes expressions as SQL terms, each once."""

    def __init__(self, model: Model) -> None:
        self.flags = {self._input(c.name) for c in model.schema.columns if c.kind == FLAG}
        self.done: dict[Expr, Any] = {}
        self.names: dict[str, str] = {}  # of texts
        self.tokens: dict[str, str] = {}  # cells of text columns that mean missing
        # Names begin as no column, category or class does, so that a text shows what it uses.
        self.prefix = "v"
        given = json.dumps([asdict(model.schema), model.classes], ensure_ascii=False)
        while re.search(rf"{self.prefix}\d", given):
            self.prefix += "v"

    def text(self, column: Sum) -> str:
        """Return a sum as SQL."""
        parts: list[str] = []
        cases: dict[str, list[tuple[str | None, float]]] = {}
        for term, coef in column.items():
            if isinstance(term, tuple):
                cases.setdefault(term[0], []).append((term[1], coef))
            elif term is not None and coef:
                parts.append(term if coef == 1.0 else f"{number(coef)} * {term}")
        for name, values in cases.items():
            empty = f"{name} IS NULL"
            if name in self.tokens:
                empty += f" OR TRIM({name}) IN ({self.tokens[name]})"
            conditions = [empty if v is None else f"{name} = {literal(v)}" for v, _ in values]
            parts.append(_cases(conditions, [*(number(coef) for _, coef in values), "0e0"]))
        constant = column.get(None, 0.0)
        if constant or not parts:
            parts.insert(0, number(constant))
        while len(parts) > TERMS_AT_ONCE:
            groups = range(0, len(parts), TERMS_AT_ONCE)
            parts = ["(" + " + ".join(parts[k : k + TERMS_AT_ONCE]) + ")" for k in groups]
        return parts[0] if len(parts) == 1 else "(" + "\n      + ".join(parts) + ")"

    def named(self, column: Sum) -> str:
        """Return a name for a sum, or its text where that is a name or a number."""
        text = self.text(column)
        if re.fullmatch(r"[\w.+-]+", text):
            return text
        return self.names.setdefault(text, f"{self.prefix}{len(self.names) + 1}")

    def subquery(self, text: str) -> str:
        """Return the value of a text, with the names that it uses defined in subqueries."""
        uses = re.compile(rf"\b{self.prefix}\d+\b").findall
        needed = set(uses(text))
        for own, name in reversed(self.names.items()):  # a text uses names before its own
            if name in needed:
                needed.update(uses(own))
        levels: dict[str, int] = {}
        fields: dict[int, list[str]] = {}
        for own, name in self.names.items():
            if name in needed:
                levels[name] = max((levels[used] + 1 for used in uses(own)), default=1)
                fields.setdefault(levels[name], []).append(f"{own} AS {name}")
        source = ""
        for level, parts in fields.items():
            before = f"s{level - 1}.*, " if source else ""
            source = f" FROM (SELECT {before}{', '.join(parts)}{source}) AS s{level}"
        return f"(SELECT {text}{source})" if source else text

    # Expressions.

    def columns(self, expr: Expr | None) -> list[Sum]:
        """Return the columns of an expression."""
        assert expr is not None
        columns: list[Sum] = fold(expr, self._write, self.done)
        return columns

    def _write(self, expr: Expr, args: list[Any]) -> Any:
        if expr.op in TEMPLATES:
            return self._each(args[0], TEMPLATES[expr.op], *(expr.data or ()))
        method = getattr(self, f"_{expr.op}", None)
        if method is None:
            raise AppError(
                f"The model has an operation without a SQL form ({expr.op}): export to Python or "
                "ONNX, or fit with --method additive or linear."
            )
        return method(*args, *(() if expr.data is None else (expr.data,)))

    def _input(self, name: str) -> str:
        return f"{ROW}.{quoted(name)}"

    _text = _input

    def _each(self, x: list[Sum], template: str, *constants: Any) -> list[Sum]:
        """Return a new term of each column, by a template with {x} and constants {0}, {1}."""
        rows = [np.broadcast_to(np.asarray(c, dtype=object), len(x)).tolist() for c in constants]
        return [
            {template.format(*(number(row[k]) for row in rows), x=self.named(column)): 1.0}
            for k, column in enumerate(x)
        ]

    def _fill(self, x: Any, values: Any) -> list[Sum]:
        if isinstance(x, list):  # encoded columns are complete
            return x
        if x in self.flags:
            return [{_cases([x, f"NOT {x}"], ["1e0", "0e0", number(values)]): 1.0}]
        return [{f"COALESCE({x}, {number(values)})": 1.0}]

    def _missing(self, x: Any) -> list[Sum]:
        return [{None: 0.0} for _ in x] if isinstance(x, list) else [{(x, None): 1.0}]

    def _one_of(self, name: str, data: Any) -> list[Sum]:
        values, missing, tokens = data
        self.tokens[name] = ", ".join(literal(token) for token in tokens)
        return [{(name, None if value == missing else value): 1.0} for value in values]

    def _affine(self, x: list[Sum], data: Any) -> list[Sum]:
        weights, constant = data
        constants = np.broadcast_to(constant, weights.shape[1]).tolist()
        return [
            combined([*x, {None: 1.0}], [*column, constant])
            for column, constant in zip(weights.T.tolist(), constants, strict=True)
        ]

    def _scale(self, x: list[Sum], data: Any) -> list[Sum]:
        factors, constants = (np.broadcast_to(entry, len(x)).tolist() for entry in data)
        result = []
        for column, a, b in zip(x, factors, constants, strict=True):
            [(term, coef), *rest] = column.items()
            if a == coef == 1.0 and b and not rest and isinstance(term, str):
                # The difference of two large numbers is exact before it is multiplied.
                text = f"({term} {'-' if b < 0 else '+'} {number(abs(b))})"
                result.append({text: 1.0})
            else:
                result.append(combined([column, {None: 1.0}], [a, b]))
        return result

    def _take(self, x: list[Sum], columns: list[int]) -> list[Sum]:
        return [x[k] for k in columns]

    def _concat(self, *args: list[Sum]) -> list[Sum]:
        return [column for x in args for column in x]

    def _add(self, x: list[Sum], y: list[Sum]) -> list[Sum]:
        return [combined([a, b], [1.0, 1.0]) for a, b in _two(x, y)]

    def _mul(self, x: list[Sum], y: list[Sum]) -> list[Sum]:
        return [{f"({self.named(a)} * {self.named(b)})": 1.0} for a, b in _two(x, y)]

    def _clip(self, x: list[Sum], data: Any) -> list[Sum]:
        result: list[Sum] = []
        bounds = (np.broadcast_to(bound, len(x)).tolist() for bound in data)
        for column, a, b in zip(x, *bounds, strict=True):
            below = f"WHEN {{x}} < {number(a)} THEN {number(a)} " if a > -math.inf else ""
            above = f"WHEN {{x}} > {number(b)} THEN {number(b)} " if b < math.inf else ""
            term = self._each([column], f"CASE {below}{above}ELSE {{x}} END")
            result += term if below or above else [column]
        return result

    def _power(self, x: list[Sum], exponent: float) -> list[Sum]:
        if exponent in (2, 3, 4):
            return self._each(x, "(" + " * ".join(["{x}"] * int(exponent)) + ")")
        if exponent == -1:
            return self._each(x, "(1e0 / {x})")
        return self._each(x, "POWER({x}, {0})", exponent)

    def _exp(self, x: list[Sum]) -> list[Sum]:
        return self._each(self._clip(x, (-LARGEST_EXPONENT, LARGEST_EXPONENT)), "EXP({x})")

    def _softmax(self, x: list[Sum]) -> list[Sum]:
        """Return 1 / sum_j exp(x_j - x_k)."""
        sums = []
        for k, column in enumerate(x):
            others = [combined([other, column], [1.0, -1.0]) for j, other in enumerate(x) if j != k]
            sums.append(combined([{None: 1.0}, *self._exp(others)], [1.0] * len(x)))
        return self._power(sums, -1.0)

    def _distances(self, x: list[Sum], data: Any) -> list[Sum]:
        points, norm = np.asarray(data[0], dtype=float), data[1]
        if norm == "l1":
            away = [self._each(self._scale(x, (1.0, -point)), TEMPLATES["abs"]) for point in points]
            return [combined(columns, [1.0] * len(x)) for columns in away]
        # |x - c|^2 = |x|^2 - 2 c x + |c|^2: half as long as a sum of squares.
        names: list[Sum] = [{self.named(column): 1.0} for column in x]
        length = {self.named(combined(self._power(names, 2), [1.0] * len(x))): 1.0}
        weights = np.vstack([-2.0 * points.T, np.ones(len(points))])
        return self._affine([*names, length], (weights, (points**2).sum(axis=1)))


def combined(columns: list[Sum], coefs: list[float]) -> Sum:
    """Return a linear combination of sums."""
    result: Sum = {}
    for column, coef in zip(columns, coefs, strict=True):
        for term, value in column.items():
            result[term] = result.get(term, 0.0) + coef * value
    return result
