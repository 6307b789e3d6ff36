"""The maps among which AutoLCC chooses, made of blocks of features that maps share.

A block is learned once for some training rows and applied once to any rows, whichever maps use it.
Which map is best varies over data sets: landmarks suit smooth borders in few columns, splines
tables with skewed columns, plain columns wide data with little noise.

Blocks see columns in units of their deviation, or in another view: factors on the columns, which
are the first word of their name.  Where all columns have the same unit (pixels, channels, votes),
the deviation of a column says how much it matters, and "even" blocks see them in that common unit;
such maps are tried on such data only.  "relevant" blocks see columns the larger, the more they say
about the class (``features.relevance``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.features.relevance import relevance
from lincent.features.transformer import BLOCK_ROWS, RowMap, by_blocks
from lincent.sources.array_namespace import HOST
from lincent.sources.source import dense_rows, namespace_of
from lincent.tables.weighted import merged, shares_of_classes

COLUMNS, SPLINES = "columns", "splines"
EVEN, RELEVANT = "even", "relevant"
LANDMARKS = 300
LANDMARKS_MANY = 800
"""For more than two classes: each has to have its share of them.  Half as many do for choosing."""
CENTERS = 300
"""Local centers of all classes together, at most 30 for each."""


def _landmarks(gamma: float) -> Callable[[int, bool], RowMap]:
    def made(classes: int, choosing: bool) -> RowMap:
        count, share = (LANDMARKS, 0.5) if classes == 2 else (LANDMARKS_MANY, 1.0)
        if choosing:
            count, share = count // 2, max(share / 2, 0.5)
        return KernelLandmarks(count, gamma, max_share=share, include_columns=False)

    return made


BLOCKS: dict[str, Callable[[int, bool], RowMap]] = {
    "splines": lambda classes, choosing: SplineFeatures(5, 0.05),
    "centers": lambda classes, choosing: LocalCenters(
        max(2, min(30, CENTERS // classes)), 1.0, include_columns=False
    ),
    "landmarks 0.3": _landmarks(0.3),
    "landmarks 1": _landmarks(1.0),
    "landmarks 3": _landmarks(3.0),
    "even landmarks 1": _landmarks(1.0),
    "relevant landmarks 0.3": _landmarks(0.3),
    "relevant landmarks 1": _landmarks(1.0),
    "relevant landmarks 3": _landmarks(3.0),
}
"""From the number of classes, and whether settings are chosen, to a block not learned yet."""
MAPS: dict[str, tuple[str, ...]] = {
    "columns": (COLUMNS,),
    "splines": ("splines",),
    "centers": (COLUMNS, "centers"),
    "splines + centers": ("splines", "centers"),
    "landmarks 0.3": (COLUMNS, "landmarks 0.3"),
    "landmarks 1": (COLUMNS, "landmarks 1"),
    "landmarks 3": (COLUMNS, "landmarks 3"),
    "splines + landmarks 1": ("splines", "landmarks 1"),
    "splines + landmarks 3": ("splines", "landmarks 3"),
    "even landmarks 1": ("even landmarks 1",),
    "relevant landmarks 0.3": ("relevant landmarks 0.3",),
    "relevant landmarks 1": ("relevant landmarks 1",),
    "relevant landmarks 3": ("relevant landmarks 3",),
}
TWO_CLASSES = ("splines + centers", "splines + landmarks 3")
"""Tried by default for two classes only: never among the best for more, where a fit costs more."""
SAME_UNIT = 0.5
"""Columns have one unit if this share of them has at least this share of the largest range."""


def common_units(reach: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """Factors from columns in units of ``scale`` to a common unit, if they seem to have one.

    ``reach`` is the difference of the largest and the least value of each column.
    """
    wide = reach >= SAME_UNIT * max(float(reach.max()), 1e-300)
    if len(reach) < 2 or np.mean(wide) < SAME_UNIT or np.allclose(scale, scale[0]):
        return None
    return np.asarray(scale / np.sqrt(np.mean(scale**2)))


def usable_maps(units: np.ndarray | None, n_columns: int) -> list[str]:
    """The maps for such data."""
    senseless = {EVEN} if units is None else set()
    if n_columns == 1:
        senseless.add(RELEVANT)
    return [name for name in MAPS if name.split()[0] not in senseless]


def seen_by(name: str, Z: Any, views: Mapping[str, np.ndarray]) -> Any:
    """The rows as a block sees them."""
    factors = views.get(name.split()[0])
    return Z if factors is None else Z * namespace_of(Z).send(factors)


@dataclass(frozen=True)
class TrainingRows:
    """Rows in units of the columns' deviations, with keys (of their values), classes, weights."""

    Z: np.ndarray
    keys: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    units: np.ndarray | None

    def __getitem__(self, index: np.ndarray) -> TrainingRows:
        return TrainingRows(
            self.Z[index], self.keys[index], self.codes[index], self.weight[index], self.units
        )

    def merged(self) -> TrainingRows:
        """One of each kind of row, in an order that values decide, with its total weight."""
        everything = np.arange(len(self.codes))
        index, weight = merged(everything, self.keys, self.codes, self.weight)
        return replace(self[index], weight=weight)

    def sample(self, count: int, totals: Sequence[float] | None = None) -> np.ndarray:
        """The places of about ``count`` different rows that count, by weight of their classes.

        By keys, so repetitions of a row stay together and the order of the rows does not matter.
        ``totals`` are the weights of the classes where these rows are a sample themselves.
        """
        counted = self.weight > 0
        classes = [np.flatnonzero(counted & (self.codes == k)) for k in np.unique(self.codes)]
        kinds = [np.unique(self.keys[rows]) for rows in classes]
        weights = totals or [float(self.weight[rows].sum()) for rows in classes]
        wanted = shares_of_classes([len(keys) for keys in kinds], weights, count)
        taken = [
            rows[self.keys[rows] <= keys[some - 1]]
            for rows, keys, some in zip(classes, kinds, wanted, strict=True)
            if some
        ]
        return np.sort(np.concatenate(taken))


@dataclass(frozen=True)
class PortfolioMap:
    """Rows that are numbers to the features of a map, wherever they are."""

    center: np.ndarray
    scale: np.ndarray
    views: Mapping[str, np.ndarray]
    blocks: Sequence[tuple[str, RowMap | None]]
    width: int

    @property
    def columns(self) -> int:
        return len(self.center)

    def __call__(self, X: Any) -> Any:
        place = namespace_of(X)
        Z = (dense_rows(X) - place.send(self.center)) / place.send(self.scale)
        return place.beside([self._features(*block, Z) for block in self.blocks])

    def _features(self, name: str, block: RowMap | None, Z: Any) -> Any:
        seen = seen_by(name, Z, self.views)
        if block is None:
            return seen
        return by_blocks(block.apply, seen) if namespace_of(Z) is HOST else block.apply(seen)


def needs_classes(name: str) -> bool:
    """Whether a block is learned from the classes of the rows, beside their values."""
    return name == "centers" or name.startswith(RELEVANT)


class Blocks:
    """The blocks of some training rows."""

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        seed: int,
        *,
        remember: bool = True,
        choosing: bool = False,
        common: Common | None = None,
    ) -> Blocks:
        """The blocks of these rows; ``remember``: features are kept for the next map.

        ``choosing``: of half the size; ``common``: what all folds of a search have in common.
        """
        return cls(rows.Z, rows.codes, rows.weight, seed, rows.units, remember, choosing, common)

    def __init__(
        self,
        Z: np.ndarray,
        codes: np.ndarray,
        weight: np.ndarray,
        seed: int,
        units: np.ndarray | None = None,
        remember: bool = True,
        choosing: bool = False,
        common: Common | None = None,
    ) -> None:
        self.Z, self.codes, self.weight, self.seed = Z, codes, weight, seed
        self.views = {} if units is None else {EVEN: units}
        self.learned: dict[str, RowMap] = {}
        self._remember, self._choosing, self._common = remember, choosing, common
        self._made: dict[tuple[str, int, str], np.ndarray] = {}
        self._widths: dict[str, int] = {}

    def block(self, name: str) -> RowMap:
        """The learned block of this name."""
        if self._common is not None and not needs_classes(name):
            return self._common.blocks.block(name)
        if name not in self.learned:
            made = BLOCKS[name](int(self.codes.max()) + 1, self._choosing)
            if name.startswith(RELEVANT) and RELEVANT not in self.views:
                self.views[RELEVANT] = relevance(self.Z, self.codes, self.weight)
            Z = seen_by(name, self.Z, self.views)
            self.learned[name] = made.learn(Z, self.codes, self.weight, self.seed)
        return self.learned[name]

    def mapping(self, map_name: str, center: np.ndarray, scale: np.ndarray) -> PortfolioMap:
        """A map as a function of rows before they are centered and scaled."""
        names = MAPS[map_name]
        width = sum(self.width(name) for name in names)
        blocks = [(name, None if name == COLUMNS else self.block(name)) for name in names]
        return PortfolioMap(center, scale, self.views, blocks, width)

    def features(
        self,
        map_name: str,
        Z: np.ndarray,
        dtype: type = np.float64,
        places: np.ndarray | None = None,
    ) -> np.ndarray:
        """The features of a map for these rows, which have these places in those of ``common``."""
        names = MAPS[map_name]
        widths = np.cumsum([0] + [self.width(name) for name in names])
        out = np.empty((len(Z), widths[-1]), dtype=dtype)
        for name, low, high in zip(names, widths[:-1], widths[1:], strict=True):
            shared = self._common if name != COLUMNS and not needs_classes(name) else None
            if shared is None or places is None:
                self._fill(out[:, low:high], name, Z)
            else:
                out[:, low:high] = shared.features(name, places)
        return out

    def width(self, name: str) -> int:
        """How many features a block has."""
        if name not in self._widths:
            one = self.Z[:1]
            if name != COLUMNS:
                block = self.block(name)  # first: it brings its view
                one = block.apply(seen_by(name, one, self.views))
            self._widths[name] = int(one.shape[1])
        return self._widths[name]

    def _fill(self, out: np.ndarray, name: str, Z: np.ndarray) -> None:
        """The features of a block, some rows at a time; rows that were seen before cost nothing."""
        key = (name, id(Z), out.dtype.char)
        if key in self._made:
            out[:] = self._made[key]
            return
        for start in range(0, len(Z), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            rows = seen_by(name, Z[part], self.views)
            out[part] = rows if name == COLUMNS else self.block(name).apply(rows)
        if self._remember and name != COLUMNS:
            self._made[key] = out.copy()


class Common:
    """Blocks that need no classes: learned once, and applied once, for all folds of some rows.

    Rows that are held out take part as they do in the units of the columns: by their values.  Each
    kind of row is mapped once, in an order that values decide.
    """

    def __init__(self, rows: TrainingRows, seed: int) -> None:
        self.blocks, self.seed = Blocks.of(rows.merged(), seed, choosing=True), seed
        _, first, kind = np.unique(rows.keys, return_index=True, return_inverse=True)
        self._Z, self._kind = rows.Z[first], kind.reshape(-1)
        self._features: dict[str, np.ndarray] = {}

    def known_to(self, blocks: Blocks) -> None:
        """Splines are the same whether choosing or not: these rows need not teach them again."""
        blocks.learned.update({k: v for k, v in self.blocks.learned.items() if k == SPLINES})

    def features(self, name: str, places: np.ndarray) -> np.ndarray:
        """The features of a block for the rows in these places, in single precision."""
        if name not in self._features:
            out = np.empty((len(self._Z), self.blocks.width(name)), dtype=np.float32)
            self.blocks._fill(out, name, self._Z)
            self._features[name] = out
        return self._features[name][self._kind[places]]
