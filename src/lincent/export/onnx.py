"""Write models as ONNX graphs: a whole model, and converters for skl2onnx.

The outputs of a graph are

    label           the class
    score           ``decision_function``
    probability     where the model has them, one column per class

The expressions of ``inspection.expression`` are computed in double precision, and so are the
outputs: single precision cannot tell dates in seconds apart.
A graph of a whole model (``onnx_bytes``) has the scale of its scores and a decision threshold of
the user in it, and one input for each column.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from lincent._errors import AppError, import_optional
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.export.model import Model
from lincent.inspection.expression import Expr, classifier_outputs, fold

OPSETS = (("", 13), ("ai.onnx.ml", 1))


def onnx_bytes(model: Model, values: dict[str, Expr | None]) -> bytes:
    """Return a whole model, preprocessing included, with one input per column.

    Inputs are columns of shape (rows, 1) in double precision, or strings for text columns; their
    names are those of the columns, with _ for what is neither a letter of ASCII nor a digit.
    """
    classes, n = model.classifier.classes_, len(model.classes)
    writer = GraphWriter(model.schema.names)
    helper, kinds = writer.onnx.helper, writer.proto
    tensor = helper.make_tensor_value_info
    text = {*model.schema.categorical}
    inputs = [
        tensor(writer.inputs[name], kinds.STRING if name in text else kinds.DOUBLE, [None, 1])
        for name in model.schema.names
    ]
    names = ["label", "score", *(["probability"] if values["probability"] else [])]
    writer.outputs(classes, values, dict(zip(names, names, strict=True)))
    shapes = {
        "label": (kinds.STRING if is_text(classes) else kinds.INT64, [None]),
        "score": (kinds.DOUBLE, [None, n] if n > 2 else [None]),
        "probability": (kinds.DOUBLE, [None, n]),
    }
    outputs = [tensor(name, *shapes[name]) for name in names]
    whole = helper.make_model(
        helper.make_graph(writer.nodes, "lincent", inputs, outputs, writer.constants),
        opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS],
        ir_version=8, producer_name="lincent", producer_version=model.version,
    )  # fmt: skip
    return bytes(whole.SerializeToString())


def graph_answers(graph: bytes, columns: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the outputs of a graph for columns in the order of its inputs, missing text named."""
    with _no_telemetry():
        onnxruntime = import_optional("onnxruntime", "onnx", "Export to ONNX")
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    outputs = [entry.name for entry in session.get_outputs()]
    rows = {name: values[:, None] for name, values in zip(names, columns, strict=True)}
    return dict(zip(outputs, map(np.asarray, session.run(None, rows)), strict=True))


@contextmanager
def _no_telemetry() -> Iterator[None]:
    """Turn the telemetry of onnxruntime off, as far as the user has not chosen.

    It is read when the package is imported, and would leave an identifier of the device and a
    database of events in the cache folder of the user.
    """
    name = "ORT_DISABLE_TELEMETRY"
    chosen = name in os.environ
    os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        if not chosen:
            del os.environ[name]


def is_text(classes: np.ndarray) -> bool:
    """Return whether classes are text; raise an error where they are fractions."""
    if classes.dtype.kind == "f" and np.any(classes != np.round(classes)):
        raise AppError(
            "Classes that are fractions have no ONNX form: use whole numbers or text as labels."
        )
    return classes.dtype.kind in "UO"


# Converters for skl2onnx.


def register_converters() -> None:
    """Register the classifiers of this package with skl2onnx; ``to_onnx`` then takes pipelines."""
    skl2onnx = import_optional("skl2onnx", "onnx", "Export to ONNX")
    for name in (*ESTIMATORS, *BASELINES):
        skl2onnx.update_registered_converter(
            estimator_class(name), f"Lincent{name}", lambda operator: None, _convert,
            overwrite=True, parser=_parse,
        )  # fmt: skip


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs of a classifier, in double precision."""
    from skl2onnx.common import data_types as types

    operator = scope.declare_local_operator(f"Lincent{type(model).__name__}", model)
    operator.inputs = list(inputs)
    rows, n = inputs[0].get_first_dimension(), len(model.classes_)
    label = types.StringTensorType if is_text(model.classes_) else types.Int64TensorType
    score = [rows] if n == 2 else [rows, n]
    outputs = {"label": label([rows]), "score": types.DoubleTensorType(score)}
    if hasattr(model, "predict_proba"):
        outputs["probability"] = types.DoubleTensorType([rows, n])
    for name, kind in outputs.items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _convert(scope: Any, operator: Any, container: Any) -> None:
    model, X = operator.raw_operator, Expr("input", (), operator.inputs[0].full_name)
    names = [output.full_name for output in operator.outputs]
    named = dict(zip(("label", "score", "probability"), names, strict=False))
    writer = GraphWriter([], unique=scope.get_unique_variable_name)
    writer.outputs(model.classes_, classifier_outputs(model, X), named)
    container.nodes += writer.nodes
    container.initializers += writer.constants
    container.node_domain_version_pair_sets |= {*OPSETS}


# Expressions.

SAME: dict[str, tuple[str, dict[str, Any]]] = {
    "exp": ("Exp", {}), "abs": ("Abs", {}), "add": ("Add", {}), "mul": ("Mul", {}),
    "concat": ("Concat", {"axis": 1}), "softmax": ("Softmax", {"axis": 1}),
}  # fmt: skip
"""Operations that ONNX has, with their attributes."""
WITH_TWO = {"affine": ("MatMul", "Add"), "scale": ("Mul", "Add"), "clip": ("Max", "Min")}
"""Operations of two steps, each with a constant."""


class GraphWriter:
    """Writes expressions in double precision as the nodes of a graph, each once.

    Inputs are named by the columns.  ``unique`` makes a new name of the graph from a given one.
    """

    def __init__(self, columns: list[str], *, unique: Callable[[str], str] | None = None) -> None:
        self.onnx = import_optional("onnx", "onnx", "Export to ONNX")
        self.proto = self.onnx.TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.names: dict[Expr, str] = {}
        self.taken = {"label", "score", "probability"}
        self.unique = unique or self._unique
        self.inputs = {
            name: self.unique(re.sub(r"^(?=\d)|[^0-9a-zA-Z]", "_", name)) for name in columns
        }

    def _unique(self, name: str) -> str:
        candidates = (f"{name}{k or ''}" for k in count())
        unique = next(candidate for candidate in candidates if candidate not in self.taken)
        self.taken.add(unique)
        return unique

    def outputs(
        self, classes: np.ndarray, values: dict[str, Expr | None], names: dict[str, str]
    ) -> None:
        """Write the outputs of a classifier under their names; the label follows from the rest."""
        two = len(classes) == 2
        for name, value in values.items():
            if name in names and value is not None:
                self.output(value, names[name], squeeze=two and name == "score")
        score, decision = names["score"], values.get("decision")
        if two:
            if decision is not None:
                score = self.output(decision, self.unique("decision"), squeeze=True)
            above = self.node("Greater", score, self.constant(0.0))
            index = self.node("Cast", above, to=self.proto.INT64)
        else:
            index = self.node("ArgMax", score, axis=1, keepdims=0)
        labels = self.constant(classes, object if is_text(classes) else np.int64)
        self.node("Gather", labels, index, output=names["label"], axis=0)

    def output(self, expr: Expr, name: str, *, squeeze: bool = False) -> str:
        """Write an output of the graph."""
        value = self.write(expr)
        if squeeze:
            return self.node("Squeeze", value, self.integers([1]), output=name)
        return self.node("Identity", value, output=name)

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        name = output or self.unique(kind.lower())
        node = self.onnx.helper.make_node(kind, inputs, [name], name=name, **attributes)
        self.nodes.append(node)
        return name

    def constant(self, value: Any, type: Any = np.float64) -> str:
        """Add a constant and return its name."""
        name, array = self.unique("constant"), np.asarray(value, dtype=type)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, value: Any) -> str:
        """Add a constant of integers and return its name."""
        return self.constant(value, np.int64)

    def write(self, expr: Expr) -> str:
        """Return the name of the value of an expression."""
        return str(fold(expr, self._write, self.names))

    def _write(self, expr: Expr, args: list[str]) -> str:
        op, data, x = expr.op, expr.data, args[0] if args else ""
        if op in SAME:
            return self.node(SAME[op][0], *args, **SAME[op][1])
        if op in WITH_TWO:
            for kind, constant in zip(WITH_TWO[op], data, strict=True):
                x = self.node(kind, x, self.constant(constant))
            return x
        match op:
            case "text":
                return str(self.inputs.get(data, data))
            case "input":
                return self.node("Cast", self.inputs.get(data, data), to=self.proto.DOUBLE)
            case "take":
                return self.node("Gather", x, self.integers(data), axis=1)
            case "power":
                return self.node("Pow", x, self.constant(float(data)))
            case "missing":
                return self._indicator("IsNaN", self.node("Cast", x, to=self.proto.FLOAT))
            case "fill":
                missing = self.node("IsNaN", self.node("Cast", x, to=self.proto.FLOAT))
                return self.node("Where", missing, self.constant(data), x)
            case "positive":
                return self._indicator("Greater", x, self.constant(0.0))
        return str(getattr(self, f"_{op}")(x, data))

    def _indicator(self, kind: str, *inputs: str) -> str:
        return self.node("Cast", self.node(kind, *inputs), to=self.proto.DOUBLE)

    def _one_of(self, x: str, data: Any) -> str:
        words = [word.encode() for word in data[0]]
        output = self.node("OneHotEncoder", x, domain="ai.onnx.ml", cats_strings=words, zeros=1)
        squeezed = self.node("Squeeze", output, self.integers([1]))
        return self.node("Cast", squeezed, to=self.proto.DOUBLE)

    def _equal(self, x: str, data: Any) -> str:
        values, tolerance = map(self.constant, data)
        return self._indicator("Less", self.node("Abs", self.node("Sub", x, values)), tolerance)

    def _distances(self, x: str, data: Any) -> str:
        points, norm = np.asarray(data[0], dtype=np.float64), data[1]
        if norm == "l1":
            rows = self.node("Unsqueeze", x, self.integers([1]))
            away = self.node("Abs", self.node("Sub", rows, self.constant(points[None])))
            return self.node("ReduceSum", away, self.integers([2]), keepdims=0)
        # |x - c|^2 about the mean of the points, as the Python code computes it.
        origin = points.mean(axis=0)
        rows, points = self.node("Sub", x, self.constant(origin)), points - origin
        length = self.node("ReduceSum", self.node("Mul", rows, rows), self.integers([1]))
        product = self.node("MatMul", rows, self.constant(-2.0 * points.T))
        distance = self.node("Add", product, self.constant((points**2).sum(axis=1)))
        return self.node("Max", self.node("Add", distance, length), self.constant(0.0))

    def _trees(self, x: str, data: Any) -> str:
        """Write a step from every node to the next, as often as the deepest tree is deep."""
        values, roots, feature, threshold, left, right = (np.asarray(array) for array in data)
        count = self.node("Gather", self.node("Shape", x), self.integers([0]), axis=0)
        shape = self.node("Concat", count, self.integers([len(roots)]), axis=0)
        node = self.node("Expand", self.integers([roots]), shape)
        tables = [self.integers(table) for table in (feature, left, right)]
        bounds, level = self.constant(threshold), roots
        while np.any(left[level] != level):
            level = np.unique([left[level], right[level]])
            columns, lower, upper = (self.node("Gather", table, node, axis=0) for table in tables)
            value = self.node("GatherElements", x, columns, axis=1)
            inside = self.node("LessOrEqual", value, self.node("Gather", bounds, node, axis=0))
            node = self.node("Where", inside, lower, upper)
        leaves = self.node("Gather", self.constant(values), node, axis=0)
        return self.node("ReduceSum", leaves, self.integers([1]), keepdims=0)
