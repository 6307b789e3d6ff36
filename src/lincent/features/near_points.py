"""NearPoints: what local centers and landmarks have in common as transformers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.features.similarity import similarity
from lincent.features.transformer import RowMap, check_width
from lincent.sources.source import namespace_of


class NearPoints(RowMap):
    """How near each row is to some points (``features.similarity``), and the columns before that.

    Subclasses have ``gamma``, ``include_columns``, ``variance_`` and ``whitening_``, and say what
    their points are.
    """

    kind: str
    """What a point is called."""

    def _points(self) -> np.ndarray:
        raise NotImplementedError

    def _check_params(self) -> None:
        check_width(self.gamma)

    def apply(self, Z: Any) -> Any:
        near = self._whitened(self._near(Z), namespace_of(Z))
        return namespace_of(Z).beside([Z, near]) if self.include_columns else near

    def scores(self, Z: Any, coef: np.ndarray) -> Any:
        place, own = namespace_of(Z), Z.shape[1] if self.include_columns else 0
        # A rule on the whitened similarities is one on the similarities: a product less.
        scores = self._near(Z) @ place.send(self.whitening_ @ coef[own:])
        return scores + Z[:, :own] @ place.send(coef[:own]) if own else scores

    def _near(self, Z: Any) -> Any:
        return similarity(Z, self._points(), self.gamma / self.variance_)

    def _whitened(self, near: Any, place: Any) -> Any:
        """Similarities, which may be used up, times the root."""
        return near @ place.send(self.whitening_)

    def _names(self, columns: list[str]) -> list[str]:
        near = [f"{self.kind} {j}" for j in range(len(self._points()))]
        return [*columns, *near] if self.include_columns else near
