"""A table's columns as an ONNX sub-graph: what ``TableEncoder`` makes of them.

The inputs are one column each, numbers or text, or all columns as one array of numbers.
"""

from __future__ import annotations

from typing import Any

from lincent.export.onnx_graph import Graph
from lincent.export.onnx_tables import check_table, encoded_table
from lincent.features import TableEncoder


def register_columns(skl2onnx: Any) -> None:
    """Teach skl2onnx the transformer."""
    skl2onnx.update_registered_converter(
        TableEncoder, "LincentTableNumbers", _shapes, _convert, overwrite=True, parser=_parser
    )


def _parser(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx._supported_operators import _get_sklearn_operator_name
    from skl2onnx.common.data_types import FloatTensorType

    if not any(map(_is_text, inputs)):
        check_table(model)
    operator = scope.declare_local_operator(_get_sklearn_operator_name(type(model)), model)
    operator.inputs = list(inputs)
    operator.outputs.append(scope.declare_local_variable("columns", FloatTensorType()))
    return operator.outputs


def _is_text(variable: Any) -> bool:
    return "String" in type(variable.type).__name__


def _shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [rows, len(operator.raw_operator.scale_)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """In double precision, cast at the end."""
    model, g = operator.raw_operator, Graph(scope, container)
    texts = {j: one.full_name for j, one in enumerate(operator.inputs) if _is_text(one)}
    numbers = [g.real_numbers(one.full_name) for one in operator.inputs if not _is_text(one)]
    X = g.node("Concat", *numbers, axis=1) if numbers else None
    Z = encoded_table(g, model, X, texts)
    wide = g.wide()
    Z = wide.node("Sub", Z, wide.constant(model.center_))
    Z = wide.node("Div", Z, wide.constant(model.scale_))
    g.node("Identity", g.real_numbers(Z), output=operator.outputs[0].full_name)
