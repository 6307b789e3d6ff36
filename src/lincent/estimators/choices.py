"""The words that parameters take, as types: an editor offers them, and a checker knows them."""

from __future__ import annotations

from typing import Literal, TypeAlias

Strategy: TypeAlias = Literal["ovr", "ovo"]
StrategyOrNative: TypeAlias = Literal["ovr", "ovo", "native"]
Calibrated: TypeAlias = Literal["sigmoid", "isotonic"] | None
SolverName: TypeAlias = Literal["auto", "interior-point", "highs"]
Rule: TypeAlias = Literal["distance", "nearest", "svm"]
