"""Nodes and constants of an ONNX graph, written through skl2onnx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

OPSET = 13


class Graph:
    """The graph of one classifier; real constants are float32, or float64 in the ``wide`` part."""

    def __init__(self, scope: Any, container: Any, real: Any = np.float32) -> None:
        self.scope, self.container, self.real = scope, container, real

    def wide(self) -> Graph:
        """The same graph, for the parts that need double precision."""
        return Graph(self.scope, self.container, np.float64)

    def constant(self, value: Any) -> str:
        """Real numbers, or strings."""
        from onnx import TensorProto

        value = np.asarray(value)
        if value.dtype.kind in "UO":
            items: Any = [str(item).encode() for item in value.tolist()]
            return self._keep(TensorProto.STRING, value.shape, items)
        kind = TensorProto.FLOAT if self.real is np.float32 else TensorProto.DOUBLE
        return self._keep(kind, value.shape, value.astype(self.real).reshape(-1).tolist())

    def whole(self, value: Any) -> str:
        """Whole numbers."""
        from onnx import TensorProto

        value = np.asarray(value, dtype=np.int64)
        return self._keep(TensorProto.INT64, value.shape, value.reshape(-1).tolist())

    def _keep(self, kind: int, shape: tuple[int, ...], items: list[Any]) -> str:
        name = str(self.scope.get_unique_variable_name("constant"))
        self.container.add_initializer(name, kind, list(shape), items)
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """An operation; the name of its result."""
        output = output or self._name(kind)
        self._add(kind, inputs, [output], **attributes)
        return output

    def _name(self, kind: str) -> str:
        return str(self.scope.get_unique_variable_name(kind.lower()))

    def _add(self, kind: str, inputs: Sequence[str], outputs: list[str], **attributes: Any) -> None:
        self.container.add_node(
            kind, list(inputs), outputs, op_version=OPSET,
            name=self.scope.get_unique_operator_name(kind), **attributes,
        )  # fmt: skip

    # What the operations are made of.

    def real_numbers(self, name: str) -> str:
        """The values in the precision of this part."""
        from onnx import TensorProto

        kind = TensorProto.FLOAT if self.real is np.float32 else TensorProto.DOUBLE
        return self.node("Cast", name, to=kind)

    def affine(self, X: str, weights: np.ndarray, constant: Any) -> str:
        """X weights' + constant"""
        return self.node(
            "Add", self.node("MatMul", X, self.constant(weights.T)), self.constant(constant)
        )

    def squared_distances(self, X: str, points: np.ndarray) -> str:
        """|x - c|^2, about the mean of the points as the Python code does it."""
        origin = points.mean(axis=0)
        rows, points = self.node("Sub", X, self.constant(origin)), points - origin
        length = self.total(self.node("Mul", rows, rows), 1)
        distance = self.affine(rows, -2.0 * points, (points**2).sum(axis=1))
        return self.node("Max", self.node("Add", distance, length), self.constant(0.0))

    def total(self, name: str, axis: int, *, keep: bool = True) -> str:
        return self.node("ReduceSum", name, self.whole([axis]), keepdims=int(keep))

    def least(self, name: str) -> str:
        """The smallest entry of each row; by TopK, which is the same in all versions of ONNX."""
        least, place = self._name("least"), self._name("place")
        self._add("TopK", [name, self.whole([1])], [least, place], axis=1, largest=0)
        return least

    def column(self, name: str, k: int, axis: int = 1) -> str:
        """The k-th entry along an axis, which stays."""
        return self.node("Gather", name, self.whole([k]), axis=axis)

    def one_of(self, name: str, words: Sequence[str]) -> str:
        """A column of text as one column of 0 and 1 for each of these words."""
        output = self._name("one_of")
        self.container.add_node(
            "OneHotEncoder", [name], [output], op_domain="ai.onnx.ml",
            name=self.scope.get_unique_operator_name("OneHotEncoder"),
            cats_strings=[word.encode() for word in words], zeros=1,
        )  # fmt: skip
        return self.node("Squeeze", output, self.whole([1]))

    def negative(self, name: str) -> str:
        return self.node("Neg", name)
