"""ONNX: converters for skl2onnx, and the export of a whole model.

A two-class problem is X coef' + intercept (or the same on the Gram matrix of a kernel); many
classes are its columns (one-vs-rest) or their votes (one-vs-one).  The graph has the outputs

    label           the class
    score           what ``decision_function`` returns
    probability     where the model has them, one column per class

and the same operations as the Python code, so both agree up to single precision.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from lincent.app.errors import AppError, first_line, need
from lincent.app.model import Model
from lincent.app.schema import CATEGORY
from lincent.app.terms import check_linear
from lincent.estimators.calibration import Sigmoid, Steps
from lincent.estimators.discriminators import Cut
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.linear import LCC
from lincent.estimators.regularized import RegularizedLCC
from lincent.estimators.regularized_cv import RegularizedLCCCV
from lincent.estimators.tuned import LCCCV
from lincent.rivals import LinearSVM, MinimaxProbabilityMachine, RegularizedLDA, StructuralMPM

OWN = (LCC, LCCCV, RegularizedLCC, RegularizedLCCCV)
RIVALS = (LinearSVM, MinimaxProbabilityMachine, RegularizedLDA, StructuralMPM)
OPSET = 13
GRAMS = ("linear", "poly", "rbf", "sigmoid")


def register_converters() -> None:
    """Teach skl2onnx the classifiers of this package; ``to_onnx`` then takes any pipeline."""
    skl2onnx = need("skl2onnx", "onnx", "Export to ONNX")
    for kind in (*OWN, *RIVALS, KernelLCC):
        skl2onnx.update_registered_converter(
            kind, f"Lincent{kind.__name__}", _shapes, _convert, overwrite=True, parser=_parser
        )


def onnx_bytes(model: Model) -> bytes:
    """A whole model, preprocessing included, with one input per column.

    Inputs are float columns of shape (rows, 1), or strings for text columns.
    """
    need("skl2onnx", "onnx", "Export to ONNX")
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    check_linear(model, "Export to ONNX")
    register_converters()
    inputs = [
        (
            column.name,
            StringTensorType([None, 1]) if column.kind == CATEGORY else FloatTensorType([None, 1]),
        )
        for column in model.schema.columns
    ]
    try:
        graph = convert_sklearn(model.pipeline, "lincent", inputs)
    except AppError:
        raise
    except Exception as error:
        raise AppError(f"The model cannot be written as ONNX: {first_line(error)}.") from error
    graph.producer_name, graph.producer_version = "lincent", model.version
    return bytes(graph.SerializeToString())


def check_convertible(model: Any) -> None:
    """A sentence for what ONNX cannot express."""
    name = type(model).__name__
    if not all(isinstance(rule, Cut) for rule in getattr(model, "_rules", [])):
        raise AppError(
            f"{name} with discriminator='nearest' has no ONNX form: use 'distance' or 'svm'."
        )
    if _in_pairs(model) and _calibrated_tasks(model):
        raise AppError(
            "Probabilities of one-vs-one have no ONNX form: use multi_class='ovr', or "
            "probability=None."
        )
    if isinstance(model, KernelLCC) and model.kernel not in GRAMS:
        raise AppError(f"kernel={model.kernel!r} has no ONNX form: use one of {', '.join(GRAMS)}.")


def _in_pairs(model: Any) -> bool:
    return len(model.classes_) > 2 and getattr(model, "multi_class", "ovr") == "ovo"


def _calibrated_tasks(model: Any) -> bool:
    return getattr(model, "probability", None) is not None


def _parser(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx._supported_operators import _get_sklearn_operator_name
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    check_convertible(model)
    operator = scope.declare_local_operator(_get_sklearn_operator_name(type(model)), model)
    operator.inputs = inputs
    text = model.classes_.dtype.kind in "UO"
    label = StringTensorType() if text else Int64TensorType()
    operator.outputs.append(scope.declare_local_variable("label", label))
    operator.outputs.append(scope.declare_local_variable("score", FloatTensorType()))
    if _calibrated_tasks(model):
        operator.outputs.append(scope.declare_local_variable("probability", FloatTensorType()))
    return operator.outputs


def _shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    classes = len(operator.raw_operator.classes_)
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows] if classes == 2 else [rows, classes]
    if len(operator.outputs) > 2:
        operator.outputs[2].type.shape = [rows, classes]


class _Graph:
    """Nodes and constants of one classifier, in single precision."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        from onnx import TensorProto

        value = np.asarray(value)
        name = self.scope.get_unique_variable_name("constant")
        if value.dtype.kind in "UO":
            items: Any = [str(item).encode() for item in value.tolist()]
            kind = TensorProto.STRING
        elif dtype is np.int64:
            items, kind = value.astype(np.int64).reshape(-1).tolist(), TensorProto.INT64
        else:
            items, kind = value.astype(np.float32).reshape(-1).tolist(), TensorProto.FLOAT
        self.container.add_initializer(name, kind, list(value.shape), items)
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self.scope.get_unique_variable_name(kind.lower())
        self.container.add_node(
            kind, list(inputs), [output], op_version=OPSET,
            name=self.scope.get_unique_operator_name(kind), **attributes,
        )  # fmt: skip
        return output


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto

    model = operator.raw_operator
    g = _Graph(scope, container)
    X = g.node("Cast", operator.inputs[0].full_name, to=TensorProto.FLOAT)
    names = [output.full_name for output in operator.outputs]
    raw = _task_scores(g, model, X)
    index = _decide(g, model, raw, names[1])
    g.node("Gather", _labels(g, model), index, output=names[0], axis=0)
    if len(names) > 2:
        _probabilities(g, model, raw, names[2])


def _labels(g: _Graph, model: Any) -> str:
    if model.classes_.dtype.kind in "UO":
        return g.constant(model.classes_)
    return g.constant(model.classes_, np.int64)


def _task_scores(g: _Graph, model: Any, X: str) -> str:
    if isinstance(model, KernelLCC):
        X, weights = _gram(g, model, X), model.dual_coef_
    else:
        weights = model.coef_
    product = g.node("MatMul", X, g.constant(weights.T))
    return g.node("Add", product, g.constant(model.intercept_))


def _gram(g: _Graph, model: KernelLCC, X: str) -> str:
    """k(X, support vectors)."""
    Z = model.support_vectors_
    Z = np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)
    product = g.node("MatMul", X, g.constant(Z.T))
    if model.kernel == "linear":
        return product
    if model.kernel == "rbf":
        square = g.node("Mul", X, X)
        length = g.node("ReduceSum", square, g.constant([1], np.int64), keepdims=1)
        twice = g.node("Mul", product, g.constant(-2.0))
        distance = g.node("Add", g.node("Add", twice, length), g.constant((Z**2).sum(axis=1)))
        distance = g.node("Max", distance, g.constant(0.0))
        return g.node("Exp", g.node("Mul", distance, g.constant(-model.gamma_)))
    inner = g.node("Mul", product, g.constant(model.gamma_))
    inner = g.node("Add", inner, g.constant(model.coef0))
    if model.kernel == "sigmoid":
        return g.node("Tanh", inner)
    return g.node("Pow", inner, g.constant(float(model.degree)))


def _decide(g: _Graph, model: Any, raw: str, name: str) -> str:
    """Write the score output; the index of the class."""
    from onnx import TensorProto

    classes = len(model.classes_)
    if classes == 2:
        score = g.node("Squeeze", raw, g.constant([1], np.int64), output=name)
        above = g.node("Greater", score, g.constant(0.0))
        return g.node("Cast", above, to=TensorProto.INT64)
    if _in_pairs(model):
        score = _votes(g, raw, classes, name)
    else:
        score = g.node("Identity", raw, output=name)
    return g.node("ArgMax", score, axis=1, keepdims=0)


def _votes(g: _Graph, raw: str, classes: int, name: str) -> str:
    """Votes, and the summed scores squeezed below half a vote (see ``multiclass``)."""
    from onnx import TensorProto

    pairs = list(combinations(range(classes), 2))
    first, second = np.zeros((2, len(pairs), classes))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1.0
    won = g.node("Cast", g.node("Greater", raw, g.constant(0.0)), to=TensorProto.FLOAT)
    # second's votes are won, first's are the others: 1 - won.
    votes = g.node("Add", g.node("MatMul", won, g.constant(second - first)),
                   g.constant(first.sum(axis=0)))  # fmt: skip
    sums = g.node("MatMul", raw, g.constant(second - first))
    size = g.node("Add", g.node("Abs", sums), g.constant(1.0))
    squeezed = g.node("Div", sums, g.node("Mul", size, g.constant(3.0)))
    return g.node("Add", votes, squeezed, output=name)


def _probabilities(g: _Graph, model: Any, raw: str, name: str) -> None:
    columns = []
    for k, calibrator in enumerate(model._calibrators):
        score = g.node("Gather", raw, g.constant([k], np.int64), axis=1)
        columns.append(_calibrated(g, calibrator, score))
    if len(columns) == 1:
        other = g.node("Sub", g.constant(1.0), columns[0])
        g.node("Concat", other, columns[0], output=name, axis=1)
        return
    together = g.node("Concat", *columns, axis=1)
    total = g.node("ReduceSum", together, g.constant([1], np.int64), keepdims=1)
    nothing = g.node("Greater", total, g.constant(0.0))
    even = g.constant(np.full((1, len(columns)), 1.0 / len(columns)))
    total = g.node("Max", total, g.constant(1e-38))
    g.node("Where", nothing, g.node("Div", together, total), even, output=name)


def _calibrated(g: _Graph, calibrator: Any, score: str) -> str:
    if isinstance(calibrator, Sigmoid):
        slope = g.constant(calibrator.slope / calibrator.unit)
        inner = g.node("Add", g.node("Mul", score, slope), g.constant(calibrator.offset))
        return g.node("Sigmoid", inner)
    return _ramps(g, calibrator, score)


def _ramps(g: _Graph, steps: Steps, score: str) -> str:
    """Straight lines between points, as the first height and a clipped ramp per interval."""
    u = g.node("Mul", score, g.constant(1.0 / steps.unit))
    if len(steps.at) == 1:
        nothing = g.node("Mul", u, g.constant(0.0))
        return g.node("Add", nothing, g.constant(steps.height[0]))
    width = np.diff(steps.at)
    along = g.node("Sub", u, g.constant(steps.at[:-1]))
    along = g.node("Mul", along, g.constant(1.0 / width))
    along = g.node("Min", g.node("Max", along, g.constant(0.0)), g.constant(1.0))
    risen = g.node("MatMul", along, g.constant(np.diff(steps.height)[:, None]))
    return g.node("Add", risen, g.constant(steps.height[0]))
