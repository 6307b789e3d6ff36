"""Write models as ONNX graphs: converters for skl2onnx, and the export of a whole model.

The outputs of a classifier are

    label           the class
    score           ``decision_function``
    probability     where the model has them, one column per class
    contribution    where they are asked for, one column for each name in the graph's metadata

A whole model (``onnx_bytes``) also has the scale of its scores and a decision threshold of the
user; they reach the converter as an attribute of the classifier (``Additions``).  The expressions
of ``expression`` are computed in double precision, and the outputs have the precision of the
inputs: double for a whole model, since single precision cannot tell dates in seconds apart.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line, import_optional
from lincent.estimators.auto import AutoLCC
from lincent.estimators.calibration import PAIR_FLOOR
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.export.contributions import Contributions
from lincent.export.expression import (
    TABLE_MODELS,
    Expr,
    check_numeric,
    check_scores,
    class_scores,
    contributions,
    encoded,
    has_probabilities,
    probabilities,
    problem_scores,
)
from lincent.export.model import Model
from lincent.inspection.thresholds import PROBABILITY, DecisionThreshold, positive_code
from lincent.tables.encoder import TableEncoder
from lincent.tables.schema import CATEGORY

OPSET = 13


def register_converters() -> None:
    """Register the classifiers of this package with skl2onnx; ``to_onnx`` then takes pipelines."""
    skl2onnx = import_optional("skl2onnx", "onnx", "Export to ONNX")
    for name in (*ESTIMATORS, *BASELINES):
        skl2onnx.update_registered_converter(
            estimator_class(name), f"Lincent{name}", _classifier_shapes, _convert_classifier,
            overwrite=True, parser=_parse_classifier,
        )  # fmt: skip
    skl2onnx.update_registered_converter(
        TableEncoder, "LincentTableEncoder", _encoder_shapes, _convert_encoder,
        overwrite=True, parser=_parse_encoder,
    )  # fmt: skip


@dataclass(frozen=True)
class Additions:
    """What a model adds to its classifier: the scale of scores, a threshold, contributions."""

    unit: float = 1.0
    threshold: DecisionThreshold | None = None
    contributions: Contributions | None = None


def onnx_bytes(model: Model, parts: Contributions | None = None) -> bytes:
    """Return a whole model, preprocessing included, with one input per column.

    Inputs are columns of shape (rows, 1) in double precision, or strings for text columns.
    """
    import_optional("skl2onnx", "onnx", "Export to ONNX")
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    register_converters()
    inputs = [
        (
            name,
            StringTensorType([None, 1]) if column.kind == CATEGORY else DoubleTensorType([None, 1]),
        )
        for column in model.schema.columns
        for name in column.inputs
    ]
    classifier, pipeline = copy.copy(model.classifier), copy.copy(model.pipeline)
    classifier._additions = Additions(model.score_scale, model.threshold, parts)
    pipeline.steps = [*model.pipeline.steps[:-1], (model.pipeline.steps[-1][0], classifier)]
    try:
        graph = convert_sklearn(pipeline, "lincent", inputs)
    except AppError:
        raise
    except Exception as error:
        raise AppError(f"The model cannot be written as ONNX: {first_line(error)}.") from error
    graph.producer_name, graph.producer_version = "lincent", model.version
    if parts is not None:
        for key, value in (("contribution_names", list(parts.names)), ("base", parts.base)):
            entry = graph.metadata_props.add()
            entry.key, entry.value = key, json.dumps(value)
    return bytes(graph.SerializeToString())


def graph_scores(graph: bytes, frame: Any) -> np.ndarray:
    """Return the scores of a graph for the rows of a frame, missing text named."""
    onnxruntime = import_optional("onnxruntime", "onnx", "Export to ONNX")
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    columns = [frame[name].to_numpy()[:, None] for name in frame]
    return np.asarray(session.run(["score"], dict(zip(names, columns, strict=True)))[0])


# The converters.


def _declare(scope: Any, model: Any, inputs: Any) -> Any:
    from skl2onnx._supported_operators import _get_sklearn_operator_name

    operator = scope.declare_local_operator(_get_sklearn_operator_name(type(model)), model)
    operator.inputs = list(inputs)
    return operator


def _is_text(variable: Any) -> bool:
    return "String" in type(variable.type).__name__


def _float_type(inputs: Any) -> Any:
    """Return the type of the outputs: single precision where an input is, else double."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    single = any(isinstance(variable.type, FloatTensorType) for variable in inputs)
    return FloatTensorType if single else DoubleTensorType


def _parse_encoder(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    if not any(map(_is_text, inputs)):
        check_numeric(model)
    operator = _declare(scope, model, inputs)
    operator.outputs.append(scope.declare_local_variable("columns", _float_type(inputs)()))
    return operator.outputs


def _encoder_shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [rows, len(operator.raw_operator.scale_)]


def _convert_encoder(scope: Any, operator: Any, container: Any) -> None:
    model = operator.raw_operator
    columns = [Expr("text" if _is_text(v) else "input", (), v.full_name) for v in operator.inputs]
    X: Any = columns if len(columns) == len(model.columns_) else columns[0]
    writer = Writer(scope, container, operator.inputs)
    writer.output(encoded(model, X, scaled=True), operator.outputs[0].full_name)


def _parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    check_scores(model)
    if isinstance(model, TABLE_MODELS):
        check_numeric(model)
    classes = model.classes_
    if classes.dtype.kind == "f" and np.any(classes != np.round(classes)):
        raise AppError(
            "Classes that are fractions have no ONNX form: use whole numbers or text as labels."
        )
    operator = _declare(scope, model, inputs)
    label = StringTensorType() if classes.dtype.kind in "UO" else Int64TensorType()
    numbers = _float_type(inputs)
    names = [("label", label), ("score", numbers())]
    if has_probabilities(model):
        names.append(("probability", numbers()))
    if _additions(model).contributions is not None:
        names.append(("contribution", numbers()))
    for name, kind in names:
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _additions(model: Any) -> Additions:
    additions: Additions = vars(model).get("_additions") or Additions()
    return additions


def _classifier_shapes(operator: Any) -> None:
    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    classes = len(model.classes_)
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows] if classes == 2 else [rows, classes]
    if has_probabilities(model):
        operator.outputs[2].type.shape = [rows, classes]
    parts = _additions(model).contributions
    if parts is not None:
        operator.outputs[-1].type.shape = [rows, len(parts.names)]


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    model, additions = operator.raw_operator, _additions(operator.raw_operator)
    names = [output.full_name for output in operator.outputs]
    writer = Writer(scope, container, operator.inputs)
    X = Expr("input", (), operator.inputs[0].full_name)
    scores = problem_scores(model, X)
    shifted = scores.scale(1.0, model._shift) if isinstance(model, AutoLCC) else scores
    shown = class_scores(model, shifted.scale(1.0 / additions.unit))
    two = len(model.classes_) == 2
    score = writer.output(shown, names[1], squeeze=two)
    if has_probabilities(model):
        writer.output(probabilities(model, scores), names[2])
    if additions.threshold is not None:
        index = _above_threshold(writer, model, additions.threshold, names)
    elif two:
        above = writer.node("Greater", score, writer.value(0.0))
        index = writer.node("Cast", above, to=writer.proto.INT64)
    else:
        index = writer.node("ArgMax", score, axis=1, keepdims=0)
    text = model.classes_.dtype.kind in "UO"
    labels = writer.strings(model.classes_) if text else writer.integers(model.classes_)
    writer.node("Gather", labels, index, output=names[0], axis=0)
    if additions.contributions is not None:
        writer.output(contributions(model, additions.contributions, X), names[-1])


def _above_threshold(
    writer: Writer, model: Any, threshold: DecisionThreshold, names: list[str]
) -> str:
    """Write the index of the class by a threshold of the user (see ``inspection.thresholds``)."""
    side = positive_code(model.classes_, threshold.positive)
    if threshold.scale == PROBABILITY:
        column = writer.node("Gather", names[2], writer.integers([side]), axis=1)
        values = writer.node("Squeeze", column, writer.integers([1]))
    else:
        values = names[1] if side == 1 else writer.node("Neg", names[1])
    inside = writer.node("GreaterOrEqual", values, writer.value(threshold.at))
    return writer.node("Where", inside, writer.integers(side), writer.integers(1 - side))


# Expressions.

UNARY = {"exp": "Exp", "abs": "Abs", "sqrt": "Sqrt", "sigmoid": "Sigmoid"}
BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}


class Writer:
    """Writes expressions as nodes of a graph in double precision, each once."""

    def __init__(self, scope: Any, container: Any, inputs: Any) -> None:
        from onnx import TensorProto

        self.scope, self.container, self.proto = scope, container, TensorProto
        self.double = _float_type(inputs).__name__ == "DoubleTensorType"
        self.precision = TensorProto.DOUBLE if self.double else TensorProto.FLOAT
        self.names: dict[Expr, str] = {}

    def output(self, expr: Expr, name: str, *, squeeze: bool = False) -> str:
        """Write an output of the graph in the precision of its inputs."""
        value = self.node("Cast", self.write(expr), to=self.precision)
        if squeeze:
            return self.node("Squeeze", value, self.integers([1]), output=name)
        return self.node("Identity", value, output=name)

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        output = output or self._name(kind)
        self._add(kind, list(inputs), [output], **attributes)
        return output

    def _name(self, kind: str) -> str:
        return str(self.scope.get_unique_variable_name(kind.lower()))

    def _add(self, kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        if "op_domain" not in attributes:
            attributes["op_version"] = OPSET
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, inputs, outputs, name=name, **attributes)

    def _constant(self, kind: int, value: np.ndarray, items: list[Any]) -> str:
        name = self._name("constant")
        self.container.add_initializer(name, kind, list(value.shape), items)
        return name

    def constant(self, value: Any) -> str:
        value = np.asarray(value, dtype=np.float64)
        return self._constant(self.proto.DOUBLE, value, value.reshape(-1).tolist())

    def value(self, value: Any) -> str:
        """Add a constant in the precision of the inputs and outputs."""
        value = np.asarray(value, dtype=np.float64 if self.double else np.float32)
        return self._constant(self.precision, value, value.reshape(-1).tolist())

    def integers(self, value: Any) -> str:
        value = np.asarray(value, dtype=np.int64)
        return self._constant(self.proto.INT64, value, value.reshape(-1).tolist())

    def strings(self, value: Any) -> str:
        value = np.asarray(value)
        return self._constant(
            self.proto.STRING, value, [str(item).encode() for item in value.tolist()]
        )

    def write(self, expr: Expr) -> str:
        """Return the name of the value of an expression."""
        if expr not in self.names:
            self.names[expr] = self._write(expr)
        return self.names[expr]

    def _write(self, expr: Expr) -> str:
        op, data = expr.op, expr.data
        if op == "input":
            return self.node("Cast", data, to=self.proto.DOUBLE)
        if op == "one_of":
            return self._one_of(expr.args[0].data, data[0])
        args = [self.write(arg) for arg in expr.args]
        x = args[0]
        if op in UNARY:
            return self.node(UNARY[op], x)
        if op in BINARY:
            return self.node(BINARY[op], *args)
        match op:
            case "concat":
                return self.node("Concat", *args, axis=1)
            case "take":
                return self.node("Gather", x, self.integers(data), axis=1)
            case "affine":
                product = self.node("MatMul", x, self.constant(data[0]))
                return self.node("Add", product, self.constant(data[1]))
            case "scale":
                product = self.node("Mul", x, self.constant(data[0]))
                return self.node("Add", product, self.constant(data[1]))
            case "clip":
                above = self.node("Max", x, self.constant(data[0]))
                return self.node("Min", above, self.constant(data[1]))
            case "power":
                return self.node("Pow", x, self.constant(float(data)))
            case "softmax":
                return self.node("Softmax", x, axis=1)
            case "tanh":  # onnxruntime has no Tanh of doubles: tanh(x) = 2 sigmoid(2 x) - 1
                value = self.node("Sigmoid", self.node("Mul", x, self.constant(2.0)))
                return self.node(
                    "Sub", self.node("Mul", value, self.constant(2.0)), self.constant(1.0)
                )
            case "missing":
                return self._indicator("IsNaN", self.node("Cast", x, to=self.proto.FLOAT))
            case "fill":
                missing = self.node("IsNaN", self.node("Cast", x, to=self.proto.FLOAT))
                return self.node("Where", missing, self.constant(data), x)
            case "positive":
                return self._indicator("Greater", x, self.constant(0.0))
            case "equal":
                return self._equal(x, *data)
            case "min":  # by TopK, which is the same in all versions of ONNX
                least, place = self._name("least"), self._name("place")
                inputs = [x, self.integers([1])]
                self._add("TopK", inputs, [least, place], axis=1, largest=0)
                return least
            case "distances":
                return self._distances(x, *data)
            case "pairwise":
                return self._pairwise(x, data)
        raise AssertionError(op)

    def _indicator(self, kind: str, *inputs: str) -> str:
        return self.node("Cast", self.node(kind, *inputs), to=self.proto.DOUBLE)

    def _one_of(self, name: str, words: Any) -> str:
        output = self._name("one_of")
        self._add(
            "OneHotEncoder", [name], [output], op_domain="ai.onnx.ml",
            cats_strings=[word.encode() for word in words], zeros=1,
        )  # fmt: skip
        squeezed = self.node("Squeeze", output, self.integers([1]))
        return self.node("Cast", squeezed, to=self.proto.DOUBLE)

    def _equal(self, x: str, values: Any, tolerance: Any) -> str:
        if tolerance is None:  # categories that are numbers, in the precision of the inputs
            return self._indicator(
                "Equal", self.node("Cast", x, to=self.precision), self.value(values)
            )
        away = self.node("Abs", self.node("Sub", x, self.constant(values)))
        return self._indicator("Less", away, self.constant(tolerance))

    def _distances(self, x: str, points: np.ndarray, norm: str) -> str:
        points = np.asarray(points, dtype=np.float64)
        if norm == "l1":
            if points.shape[1] == 1:
                return self.node("Abs", self.node("Sub", x, self.constant(points.T)))
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

    def _pairwise(self, p: str, classes: int) -> str:
        """Write the combination of probabilities of pairs of classes (``calibration.couple``).

        With Q_ij = -r_ji r_ij and Q_ii = sum_j r_ji^2 the solution is proportional to that of
        (Q + 1 1') x = 1, whose matrix is positive definite, so elimination needs no pivoting: one
        step per class, for all rows at once.
        """
        p = self.node("Max", p, self.constant(PAIR_FLOOR))
        p = self.node("Min", p, self.constant(1.0 - PAIR_FLOOR))
        # r as a flat matrix is affine in p: r_ji = p and r_ij = 1 - p for the pair (i, j).
        weights = np.zeros((classes, classes, classes * (classes - 1) // 2))
        ones = np.zeros((classes, classes))
        for column, (i, j) in enumerate(combinations(range(classes), 2)):
            weights[j, i, column], weights[i, j, column] = 1.0, -1.0
            ones[i, j] = 1.0
        flat = self.node("MatMul", p, self.constant(weights.reshape(classes**2, -1).T))
        flat = self.node("Add", flat, self.constant(ones.reshape(-1)))
        r = self.node("Reshape", flat, self.integers([-1, classes, classes]))
        mixed = self.node("Mul", r, self.node("Transpose", r, perm=[0, 2, 1]))
        squares = self.node("ReduceSum", self.node("Mul", r, r), self.integers([1]))
        diagonal = self.node("Mul", squares, self.constant(np.eye(classes)[None]))
        system = self.node("Add", self.node("Sub", diagonal, mixed), self.constant(1.0))

        def column_of(name: str, k: int, axis: int) -> str:
            return self.node("Gather", name, self.integers([k]), axis=axis)

        zero = column_of(self.node("Mul", system, self.constant(0.0)), 0, 2)
        table = self.node("Concat", system, self.node("Add", zero, self.constant(1.0)), axis=2)
        for k in range(classes):
            pivot = column_of(table, k, 1)
            row = self.node("Div", pivot, column_of(pivot, k, 2))
            unit = self.constant(np.eye(classes)[k][None, :, None])
            below = self.node("Sub", column_of(table, k, 2), unit)
            table = self.node("Sub", table, self.node("Mul", below, row))
        x = self.node("Squeeze", column_of(table, classes, 2), self.integers([2]))
        x = self.node("Max", x, self.constant(0.0))
        return self.node("Div", x, self.node("ReduceSum", x, self.integers([1])))
