"""Faults in the middle of a fit: the right result, a warning or an error; never a wrong model.

A fit is disturbed once: a factorization fails, a step is NaN, memory is short, or a signal arrives
at some line.  What must be left is the model of an undisturbed fit, a model with a warning, or an
exception and an estimator that is as before or not fitted at all.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import lapack
from sklearn.exceptions import NotFittedError

from campaigns.outcome import Outcome
from lincent import (
    FQCC,
    LCC,
    LCCCV,
    AdditiveLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)
from lincent.paper import baselines

KINDS = (
    LCC, LCC, LCCCV, FQCC, KernelLCC, RegularizedLCC, RegularizedLCCCV, StructuredLCC,
    StructuredLCCCV, AdditiveLCC, baselines.LinearSVM, baselines.RegularizedLDA, baselines.TwinSVC,
)  # fmt: skip
FAULTS = ("factorization", "nan", "memory", "signal")
EVERY = 100
INSIDE = f"{os.sep}lincent{os.sep}"
HOLDERS = ("numpy", "numpy.linalg", "scipy.linalg", "scipy.linalg.lapack")
RETURNING = (lapack.dpotrf, lapack.spotrf)
TARGETS: dict[str, tuple[Any, ...]] = {
    "factorization": (
        *RETURNING, np.linalg.cholesky, np.linalg.solve, np.linalg.lstsq, np.linalg.eigh,
        np.linalg.svd, np.linalg.pinv, np.linalg.inv, np.linalg.qr, scipy.linalg.cho_factor,
        scipy.linalg.cholesky, scipy.linalg.eigh, scipy.linalg.svd, scipy.linalg.qr,
        scipy.linalg.solve_triangular,
    ),
    "nan": (np.linalg.solve, np.where, np.clip),
    "memory": (np.empty, np.zeros, np.ones, np.where),
}  # fmt: skip


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    kind = KINDS[rng.integers(len(KINDS))]
    fault = FAULTS[rng.integers(len(FAULTS))]
    m, n = int(rng.integers(20, 200)), int(rng.integers(2, 8))
    X = rng.standard_normal((m, n))
    y = np.arange(m) % 2
    X[y == 1] += 0.7
    settings = {"margins": 3} if kind is LCCCV else {}
    expected = kind(**settings).fit(X, y)
    model = kind(**settings).fit(X[::-1] + 1.0, y[::-1])
    before = model.predict(X)
    place = int(rng.integers(1, 40 if fault != "signal" else 120))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _disturbed(fault, place):
                model.fit(X, y)
            ended = "fitted"
        except (KeyboardInterrupt, Exception) as error:
            ended = type(error).__name__
            raw = ended in ("LinAlgError", "NotPositiveDefiniteError", "ZeroDivisionError")
            empty = not str(error) and ended not in ("MemoryError", "KeyboardInterrupt")
            if raw or empty:
                return Outcome(fault, f"{kind.__name__}: {ended} {error} is no sentence")
    return Outcome(
        f"{fault}: {_how(ended, caught)}", _judged(kind, model, expected, before, X, ended, caught)
    )


def _how(ended: str, caught: list[Any]) -> str:
    return "right" if ended == "fitted" and not caught else "warned" if ended == "fitted" else ended


def _judged(
    kind: type,
    model: Any,
    expected: Any,
    before: np.ndarray,
    X: np.ndarray,
    ended: str,
    caught: Any,
) -> str:
    try:
        answer = model.predict(X)
    except NotFittedError:
        return "" if ended != "fitted" else f"{kind.__name__}: fitted, and yet not"
    if ended != "fitted":
        # An interrupt may also arrive after the fit has ended, and leaves its model.
        states = (before, expected.predict(X)) if ended == "KeyboardInterrupt" else (before,)
        whole = any(np.array_equal(answer, state) for state in states)
        return "" if whole else f"{kind.__name__}: {ended} leaves a mixture"
    # Rows that two optimal models place on their cuts may differ; more may not, in silence.
    off = float(np.mean(answer != expected.predict(X)))
    return "" if caught or off <= 0.02 else f"{kind.__name__}: another model in silence ({off:.0%})"


@contextmanager
def _disturbed(fault: str, place: int) -> Iterator[None]:
    if fault == "signal":
        with _signal_at(place * EVERY):
            yield
        return
    count = {"left": place}

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            # A step that is not a number comes from arithmetic in a solver; in other places these
            # functions choose among numbers and cannot make one.
            where = sys._getframe(1).f_code.co_filename
            if INSIDE not in where or (fault == "nan" and "solvers" not in where):
                return real(*given, **named)
            count["left"] -= 1
            if count["left"] != 0:
                return real(*given, **named)
            if fault == "memory":
                raise MemoryError
            if fault == "factorization" and real in RETURNING:  # they tell by a number, never raise
                return (*real(*given, **named)[:-1], 1)
            if fault == "factorization":
                raise np.linalg.LinAlgError("the factorization failed")
            answer = real(*given, **named)
            return np.full_like(answer, np.nan) if isinstance(answer, np.ndarray) else answer

        return call

    with ExitStack() as stack:
        for real in TARGETS[fault]:
            stack.enter_context(_replaced(real, wrapped(real)))
        yield


@contextmanager
def _replaced(real: Any, other: Any) -> Iterator[None]:
    """Another function wherever a module of NumPy, SciPy or this package holds this one."""
    places = [
        (module, name)
        for path, module in list(sys.modules.items())
        if path.partition(".")[0] == "lincent" or path in HOLDERS
        for name, value in list(vars(module).items())
        if value is real
    ]
    try:
        for module, name in places:
            setattr(module, name, other)
        yield
    finally:
        for module, name in places:
            setattr(module, name, real)


@contextmanager
def _signal_at(line: int) -> Iterator[None]:
    """KeyboardInterrupt when this many lines of the package were executed in this thread."""
    count = {"left": line}

    def trace(frame: Any, event: str, _: Any) -> Any:
        if "lincent" not in frame.f_code.co_filename:
            return None
        if event == "line":
            count["left"] -= 1
            if count["left"] == 0:
                raise KeyboardInterrupt
        return trace

    old = sys.gettrace()
    assert threading.current_thread() is threading.main_thread()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(old)
