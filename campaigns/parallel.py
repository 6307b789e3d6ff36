"""All estimators in eight threads, in processes and after a fork: the answers of one thread."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import clone

import lincent
from campaigns.outcome import Outcome
from lincent.paper import baselines

WAYS = ("threads", "loky", "fork")


def kinds() -> list[Any]:
    """Every public classifier."""
    found = []
    for module in (lincent, baselines):
        for name in module.__all__:
            kind = getattr(module, name)
            if hasattr(kind, "decision_function"):
                found.append(kind)
    return found


def fitted(kind: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return np.asarray(clone(model).fit(X, y).decision_function(X))


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    kind = kinds()[rng.integers(len(kinds()))]
    way = WAYS[rng.integers(len(WAYS))]
    X = rng.standard_normal((60, 4))
    y = np.arange(60) % int(rng.integers(2, 4))
    X += y[:, None]
    expected = fitted(kind, X, y)
    if way == "threads":
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: fitted(kind, X, y), range(8)))
    elif way == "loky":
        from joblib import Parallel, delayed

        answers = Parallel(n_jobs=2)(delayed(fitted)(kind, X, y) for _ in range(2))
    else:
        answers = [_forked(kind, X, y)]
    size = np.abs(expected).max()
    off = max(float(np.abs(answer - expected).max()) for answer in answers)
    fault = f"{kind.__name__} differs by {off:.1e} in {way}" if off > 1e-9 * size else ""
    return Outcome(way, fault)


def finish() -> None:
    """End the processes that joblib keeps for the next trial."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def _forked(kind: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The answer of a child process that has what its parent had."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            with os.fdopen(write, "wb") as stream:
                stream.write(fitted(kind, X, y).tobytes())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return np.frombuffer(data).reshape(fitted(kind, X, y).shape) if data else np.full(1, np.nan)
