"""Dask fits whose blocks fail, lie or differ: the answer of one memory, or an exception."""

from __future__ import annotations

import warnings

import numpy as np

from campaigns.outcome import Outcome
from lincent import LCC

FAULTS = ("none", "error", "nan", "columns", "once")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    import dask
    import dask.array as da

    m, n = int(rng.integers(200, 3000)), int(rng.integers(2, 5))
    X = rng.standard_normal((m, n))
    y = np.arange(m) % 2
    X[y == 1] += 0.5
    fault = FAULTS[rng.integers(len(FAULTS))]
    state = {"calls": 0}

    def spoil(block: np.ndarray) -> np.ndarray:
        state["calls"] += 1
        if block.size == 0 or fault == "none":
            return block
        bad = fault == "once" and state["calls"] == 3
        if bad or (fault == "error" and block[0, 0] > 0):
            raise OSError("the block cannot be read")
        if fault == "nan" and block[0, 0] > 0:
            block = block.copy()
            block[-1, -1] = np.nan
        return block[:, :-1] if fault == "columns" and block[0, 0] > 0 else block

    chunks = int(rng.integers(50, m + 1))
    blocks = da.from_array(X, chunks=(chunks, n)).map_blocks(spoil, dtype=float, meta=X[:0])
    labels = da.from_array(y, chunks=chunks)
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        try:
            model = LCC(random_state=0).fit(blocks, labels)
        except Exception as error:
            empty = not str(error)
            harmless = fault == "none"
            text = f"{type(error).__name__}: {str(error)[:200]}"
            return Outcome(f"{fault}: refused", text if empty or harmless else "")
    expected = LCC(random_state=0).fit(X, y).objective_
    off = abs(model.objective_ - expected) / max(1.0, abs(expected))
    return Outcome(f"{fault}: fitted", f"{fault}: objective off by {off:.1e}" if off > 1e-8 else "")
