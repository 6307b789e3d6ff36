"""Progress of a fit: for scikit-learn's callbacks (1.9 and newer), and printed by ``verbose``.

The tasks of a fit, as a callback sees them::

    fit
        search, fold        one for each search, also of out-of-fold scores; its subtasks are folds
        solve               one for each binary subproblem; its subtasks are the points that the
                            solver certifies, with ``metadata={"objective": ..., "gap": ...}``

``gap`` is the relative duality gap over all samples.  A callback that returns True at the end of a
point stops that solve: the best point so far is the result.  A solver reports to a ``Watch`` (see
``solvers.solution``), and knows nothing of callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar

from lincent import _console
from lincent.solvers.solution import Solution

F = TypeVar("F", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks are not supported."""

    def with_callbacks(method: F) -> F:
        """Return the method unchanged."""
        return method


log: Callable[[str], None] = print


class SolveTask:
    """One solve, as callbacks see it."""

    def __init__(self, fit: FitTasks, name: str) -> None:
        self.stopped = False
        self._fit = fit
        self._shown = float("inf")
        self.context = fit.begin(fit.root, f"solve, {name}", None)

    def reached(self, objective: float, gap: float) -> None:
        """Report a point; the solver stops where it next checks the time."""
        shown = gap <= 0.1 * self._shown  # about ten lines of a progress bar
        # A task with subtasks has a line in scikit-learn's progress bar, and others have none.
        name = f"objective {objective:.6e}, gap {gap:.1e}"
        metadata = {"objective": float(objective), "gap": float(gap)}
        with self._fit.lock:
            point = self._fit.begin(self.context, name, None if shown else 0, metadata=metadata)
            self.stopped |= self._fit.end(point, metadata=metadata)
        self._shown = gap if shown else self._shown


class FitTasks:
    """The tasks of one fit, begun and ended in order."""

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.lock = RLock()  # subproblems may be solved by several threads
        self._model = model
        self._data = {"X": X, "y": y}
        self.root = model._init_callback_context(max_subtasks=None)
        self.root.call_on_fit_task_begin(estimator=model, **self._data)
        self._stage: Any = None
        self._step: Any = None
        self._solves: dict[str, SolveTask] = {}

    def begin(self, parent: Any, name: str, subtasks: int | None, **context: Any) -> Any:
        """Begin a task below another; ``subtasks=None`` is any number of subtasks."""
        with self.lock:
            task = parent.subcontext(task_name=name, max_subtasks=subtasks)
            return task.call_on_fit_task_begin(estimator=self._model, **context)

    def end(self, task: Any, **context: Any) -> bool:
        """End a task; return whether a callback asks to stop."""
        with self.lock:
            return bool(task.call_on_fit_task_end(estimator=self._model, **context))

    def step(self, what: str, done: int, total: int, detail: str = "") -> None:
        """Begin the next of ``total`` steps; a listener of ``_console``."""
        with self.lock:
            stage = self._stage
            full = stage is not None and self._step.task_id + 1 >= stage.max_subtasks
            if stage is None or full or (stage.task_name, stage.max_subtasks) != (what, total):
                self._end_stage()
                self._stage = self.begin(self.root, what, total)
            else:
                self.end(self._step)
            name = f"{what} {done + 1}" + (f": {detail}" if detail else "")
            self._step = self.begin(self._stage, name, 0)

    def _end_stage(self) -> None:
        for task in (self._step, self._stage):
            if task is not None:
                self.end(task)
        self._stage = self._step = None

    def solve(self, name: str) -> SolveTask:
        """Begin the solve of a problem; a search before it is over."""
        with self.lock:
            self._end_stage()
            self._solves[name] = SolveTask(self, name)
            return self._solves[name]

    def solved(self, name: str, solution: Solution) -> bool:
        """End a solve with its last point; return whether a callback had stopped it."""
        with self.lock:
            task = self._solves.pop(name, None)
        if task is None:
            return False
        stopped = task.stopped
        task.reached(solution.certificate.objective, solution.relative_gap)
        self.end(task.context)
        return stopped

    def close(self) -> None:
        """End the fit."""
        self._end_stage()
        self.end(self.root, reconstruction_attributes={}, **self._data)


@contextmanager
def observed_fit(model: Any, tasks: FitTasks | None) -> Iterator[None]:
    """Report the steps of the fit in the body to callbacks, and print them if ``verbose``."""
    listeners: list[_console.Listener] = []
    if getattr(model, "verbose", 0):
        listeners.append(_printer(model))
    if tasks is not None:
        model._fit_tasks = tasks
        listeners.append(tasks.step)
    try:
        with _console.listening(*listeners):
            yield
        if tasks is not None:
            tasks.close()
    finally:
        vars(model).pop("_fit_tasks", None)


def _printer(model: Any) -> _console.Listener:
    """Return a listener that prints folds with ``verbose=1``, every step with 2."""

    def show(what: str, done: int, total: int, detail: str) -> None:
        if what.endswith("fold") or model.verbose > 1:
            log(f"{what} {done + 1} of {total}" + (f": {detail}" if detail else ""))

    return show


def solve_ended(model: Any, name: str, solution: Solution) -> bool:
    """Report the end of a solve; return whether a callback has stopped it."""
    if getattr(model, "verbose", 0):
        answer = solution.certificate
        log(
            f"{name}: {solution.solver}, {solution.iterations} steps, objective "
            f"{answer.objective:.10e}, relative gap {answer.relative_gap:.1e}"
        )
    tasks = getattr(model, "_fit_tasks", None)
    return tasks is not None and tasks.solved(name, solution)
