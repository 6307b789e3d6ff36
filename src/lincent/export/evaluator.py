"""Carry out the description of a model on one row, with nothing but Python.

The source of this file is a part of every exported Python module.  Its operations, and the form of
a description, are listed in ``inspection.expression``.
"""

# ruff: noqa: B905 - exported modules also run on versions of Python without zip(strict=...)

import math


def predict_row(model, row):
    """Return class, score and probability of a mapping from columns to cells."""
    values = evaluate(model["nodes"], row)
    classes, score = model["classes"], values[model["score"]]
    shares = [] if model["probability"] is None else values[model["probability"]]
    second = values[model["decision"]][0] > 0
    code = int(second) if len(classes) == 2 else score.index(max(score))
    answer = {"class": classes[code], "score": score[0] if len(classes) == 2 else max(score)}
    if shares:
        both = dict(zip(classes, shares))
        answer["probability"] = shares[1] if len(classes) == 2 else both
    return answer


def evaluate(nodes, row):
    """Return the value of each node, a list of numbers."""
    values: list = []
    for op, args, data in nodes:
        if op in ("input", "text"):
            values.append([_cell(op, row[data])])
        else:
            values.append(OPERATIONS[op](data, *(values[k] for k in args)))
    return values


def _cell(op, cell):
    """Return a cell as a number, NaN where missing, or as text, None where missing."""
    if cell is None or cell != cell:
        return math.nan if op == "input" else None
    if op == "input":
        return float(cell)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _one_of(data, x):
    values, missing, tokens = data
    if x[0] is None or x[0].strip() in tokens:
        return [float(value == missing) for value in values]
    return [float(value == x[0] != missing) for value in values]


def _each(constant, x):
    """Return one constant for each column."""
    return constant if isinstance(constant, list) else [constant] * len(x)


def _two(x, y):
    """Return pairs of entries; a single column counts for all."""
    width = max(len(x), len(y))
    return zip(x * width if len(x) == 1 else x, y * width if len(y) == 1 else y)


def _affine(data, x):
    totals = list(_each(data[1], data[0][0]))
    for a, weights in zip(x, data[0]):
        if a:
            totals = [t + a * w for t, w in zip(totals, weights)]
    return totals


def _equal(data, x):
    return [float(abs(a - v) < t) for a, v, t in zip(x, _each(data[0], x), _each(data[1], x))]


def _clip(data, x):
    return [
        low if low is not None and a < low else high if high is not None and a > high else a
        for a, low, high in zip(x, _each(data[0], x), _each(data[1], x))
    ]


def _softmax(data, x):
    exps = [math.exp(a - max(x)) for a in x]
    return [e / sum(exps) for e in exps]


def _distances(data, x):
    power = 1 if data[1] == "l1" else 2
    return [sum(abs(a - c) ** power for a, c in zip(x, point)) for point in data[0]]


def _trees(data, x):
    values, roots, feature, threshold, left, right = data
    totals = [0.0] * len(values[0])
    for k in roots:
        while left[k] != k:
            k = left[k] if x[feature[k]] <= threshold[k] else right[k]
        totals = [t + v for t, v in zip(totals, values[k])]
    return totals


OPERATIONS: dict = {
    "one_of": _one_of,
    "missing": lambda data, x: [float(a != a) for a in x],
    "fill": lambda data, x: [value if a != a else a for a, value in zip(x, _each(data, x))],
    "equal": _equal,
    "affine": _affine,
    "scale": lambda data, x: [
        f * a + b for a, f, b in zip(x, _each(data[0], x), _each(data[1], x))
    ],
    "concat": lambda data, *args: [a for x in args for a in x],
    "take": lambda data, x: [x[k] for k in data],
    "add": lambda data, x, y: [a + b for a, b in _two(x, y)],
    "mul": lambda data, x, y: [a * b for a, b in _two(x, y)],
    "clip": _clip,
    "power": lambda data, x: [a**data for a in x],
    "exp": lambda data, x: [math.exp(a) for a in x],
    "abs": lambda data, x: [abs(a) for a in x],
    "positive": lambda data, x: [float(a > 0) for a in x],
    "softmax": _softmax,
    "distances": _distances,
    "trees": _trees,
}
