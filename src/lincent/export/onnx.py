"""ONNX: converters for skl2onnx, and the export of a whole model.

A classifier is the scores of its two-class problems (see ``onnx_scores``); many classes are their
columns (one-vs-rest) or their votes (one-vs-one).  The graph has the outputs

    label           the class
    score           what ``decision_function`` returns
    probability     where the model has them, one column per class (see ``onnx_probability``)
    contribution    where they are asked for, one column for each name in the graph's metadata

A whole model (``onnx_bytes``) also has the unit of its scores and the cut that was asked for; they
reach the converter on the classifier (``Wanted``).  The graph has the same operations as the Python
code, so both agree up to single precision.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line, need
from lincent.estimators.additive import AdditiveLCC
from lincent.estimators.additive_cv import AdditiveLCCCV
from lincent.estimators.auto import AutoLCC
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV
from lincent.estimators.probabilities import JointCalibration
from lincent.estimators.quadratic import FQCC
from lincent.estimators.regularized import RegularizedLCC
from lincent.estimators.regularized_cv import RegularizedLCCCV
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.structured_cv import StructuredLCCCV
from lincent.export.contributions import Contributions
from lincent.export.model import Model
from lincent.export.onnx_columns import register_columns
from lincent.export.onnx_graph import Graph
from lincent.export.onnx_probability import probabilities
from lincent.export.onnx_scores import check_scores, task_scores
from lincent.export.onnx_tables import contribution_columns, softmax_probabilities
from lincent.inspection.thresholds import PROBABILITY, DecisionThreshold, positive_code
from lincent.paper import baselines
from lincent.tables.schema import CATEGORY

OWN = (
    LCC,
    LCCCV,
    FQCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
    AdditiveLCC,
    AdditiveLCCCV,
    AutoLCC,
)
BASELINES = tuple(
    kind for name in baselines.__all__ if hasattr(kind := getattr(baselines, name), "fit")
)


def register_converters() -> None:
    """Teach skl2onnx the classifiers of this package; ``to_onnx`` then takes any pipeline."""
    skl2onnx = need("skl2onnx", "onnx", "Export to ONNX")
    for kind in (*OWN, *BASELINES):
        skl2onnx.update_registered_converter(
            kind, f"Lincent{kind.__name__}", _shapes, _convert, overwrite=True, parser=_parser
        )
    register_columns(skl2onnx)


@dataclass(frozen=True)
class Wanted:
    """What a model adds to its classifier: the unit of scores, a cut, contributions."""

    unit: float = 1.0
    cut: DecisionThreshold | None = None
    contributions: Contributions | None = None


def onnx_bytes(model: Model, contributions: Contributions | None = None) -> bytes:
    """A whole model, preprocessing included, with one input per column.

    Inputs are float columns of shape (rows, 1), or strings for text columns.
    """
    need("skl2onnx", "onnx", "Export to ONNX")
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    register_converters()
    inputs = [
        (
            name,
            StringTensorType([None, 1]) if column.kind == CATEGORY else FloatTensorType([None, 1]),
        )
        for column in model.schema.columns
        for name in column.inputs
    ]
    try:
        graph = convert_sklearn(_with_wishes(model, contributions), "lincent", inputs)
    except AppError:
        raise
    except Exception as error:
        raise AppError(f"The model cannot be written as ONNX: {first_line(error)}.") from error
    graph.producer_name, graph.producer_version = "lincent", model.version
    if contributions is not None:
        said = {"contribution_names": list(contributions.names), "base": contributions.base}
        for key, value in said.items():
            entry = graph.metadata_props.add()
            entry.key, entry.value = key, json.dumps(value)
    return bytes(graph.SerializeToString())


def _with_wishes(model: Model, contributions: Contributions | None) -> Any:
    """The pipeline, its classifier a copy that carries what the model adds to it."""
    classifier, pipeline = copy.copy(model.classifier), copy.copy(model.pipeline)
    classifier._wanted = Wanted(model.score_scale, model.threshold, contributions)
    pipeline.steps = [*model.pipeline.steps[:-1], (model.pipeline.steps[-1][0], classifier)]
    return pipeline


def _wanted(model: Any) -> Wanted:
    found: Wanted = vars(model).get("_wanted") or Wanted()
    return found


def _in_pairs(model: Any) -> bool:
    return len(model.classes_) > 2 and getattr(model, "multi_class", "ovr") == "ovo"


def _has_probabilities(model: Any) -> bool:
    return isinstance(model, AutoLCC) or getattr(model, "probability", None) is not None


def _parser(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx._supported_operators import _get_sklearn_operator_name
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    check_scores(model)
    _check_labels(model.classes_)
    operator = scope.declare_local_operator(_get_sklearn_operator_name(type(model)), model)
    operator.inputs = inputs
    text = model.classes_.dtype.kind in "UO"
    label = StringTensorType() if text else Int64TensorType()
    operator.outputs.append(scope.declare_local_variable("label", label))
    operator.outputs.append(scope.declare_local_variable("score", FloatTensorType()))
    if _has_probabilities(model):
        operator.outputs.append(scope.declare_local_variable("probability", FloatTensorType()))
    if _wanted(model).contributions is not None:
        operator.outputs.append(scope.declare_local_variable("contribution", FloatTensorType()))
    return operator.outputs


def _check_labels(classes: np.ndarray) -> None:
    if classes.dtype.kind == "f" and np.any(classes != np.round(classes)):
        raise AppError(
            "Classes that are fractions have no ONNX form: use whole numbers or text as labels."
        )


def _shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    classes = len(operator.raw_operator.classes_)
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows] if classes == 2 else [rows, classes]
    model = operator.raw_operator
    if _has_probabilities(model):
        operator.outputs[2].type.shape = [rows, classes]
    parts = _wanted(model).contributions
    if parts is not None:
        operator.outputs[-1].type.shape = [rows, len(parts.names)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    model = operator.raw_operator
    wanted, g, auto = _wanted(model), Graph(scope, container), isinstance(model, AutoLCC)
    names, X = [output.full_name for output in operator.outputs], operator.inputs[0].full_name
    found = task_scores(g, model, X)
    wide = g.wide()
    moved = wide.node("Add", found, wide.constant(model._shift)) if auto else found
    shown = wide.node("Mul", wide.real_numbers(moved), wide.constant(1.0 / wanted.unit))
    index = _decide(g, model, g.real_numbers(shown), names[1])
    if _has_probabilities(model):
        _write_probabilities(g, model, found, names[2])
    if wanted.cut is not None:
        index = _moved(g, model, wanted.cut, names)
    g.node("Gather", _labels(g, model), index, output=names[0], axis=0)
    if wanted.contributions is not None:
        parts = contribution_columns(g, model, wanted.contributions, X)
        g.node("Identity", g.real_numbers(parts), output=names[-1])


def _write_probabilities(g: Graph, model: Any, found: str, name: str) -> None:
    if isinstance(model, AutoLCC):
        chances = softmax_probabilities(g.wide(), model._calibration, found)
    elif isinstance(calibration := model._chances(), JointCalibration):
        chances = _joint_probabilities(g.wide(), model, calibration, found)
    else:
        return probabilities(g, calibration, g.real_numbers(found), name)
    g.node("Identity", g.real_numbers(chances), output=name)


def _moved(g: Graph, model: Any, cut: DecisionThreshold, names: list[str]) -> str:
    """The index of the class by a cut that was asked for (see ``inspection.thresholds``)."""
    side = positive_code(model.classes_, cut.positive)
    if cut.scale == PROBABILITY:
        values = g.node("Squeeze", g.column(names[2], side), g.whole([1]))
    else:
        values = names[1] if side == 1 else g.negative(names[1])
    inside = g.node("GreaterOrEqual", values, g.constant(cut.at))
    return g.node("Where", inside, g.whole(side), g.whole(1 - side))


def _joint_probabilities(g: Graph, model: Any, chances: JointCalibration, found: str) -> str:
    """One softmax over the scores of all classes, in double precision."""
    scores = g.node("Mul", g.real_numbers(found), g.constant(1.0 / chances.unit))
    if _in_pairs(model):
        scores = _votes(g, scores, len(model.classes_), None)
    return softmax_probabilities(g, chances.softmax, scores)


def _labels(g: Graph, model: Any) -> str:
    if model.classes_.dtype.kind in "UO":
        return g.constant(model.classes_)
    return g.whole(model.classes_)


def _decide(g: Graph, model: Any, raw: str, name: str) -> str:
    """Write the score output; the index of the class."""
    from onnx import TensorProto

    classes = len(model.classes_)
    if classes == 2:
        score = g.node("Squeeze", raw, g.whole([1]), output=name)
        above = g.node("Greater", score, g.constant(0.0))
        return g.node("Cast", above, to=TensorProto.INT64)
    if _in_pairs(model):
        score = _votes(g, raw, classes, name)
    else:
        score = g.node("Identity", raw, output=name)
    return g.node("ArgMax", score, axis=1, keepdims=0)


def _votes(g: Graph, raw: str, classes: int, name: str | None) -> str:
    """Votes, and the summed scores squeezed below half a vote (see ``multiclass``)."""
    pairs = list(combinations(range(classes), 2))
    first, second = np.zeros((2, len(pairs), classes))
    for row, (i, j) in enumerate(pairs):
        first[row, i] = second[row, j] = 1.0
    won = g.real_numbers(g.node("Greater", raw, g.constant(0.0)))
    # second's votes are won, first's are the others: 1 - won.
    votes = g.node("Add", g.node("MatMul", won, g.constant(second - first)),
                   g.constant(first.sum(axis=0)))  # fmt: skip
    sums = g.node("MatMul", raw, g.constant(second - first))
    size = g.node("Add", g.node("Abs", sums), g.constant(1.0))
    squeezed = g.node("Div", sums, g.node("Mul", size, g.constant(3.0)))
    return g.node("Add", votes, squeezed, output=name)
