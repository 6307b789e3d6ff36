"""Progress of long work: it reports each step with ``step``, which costs nothing unless someone
listens; ``listening`` passes the steps of a context to functions that show them (``_console``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int, str], None]
_listener: ContextVar[Listener | None] = ContextVar("lincent_progress", default=None)


@contextmanager
def listening(*listeners: Listener) -> Iterator[None]:
    """Pass every step in this context to these listeners, and to those outside of it."""
    outer = _listener.get()
    all_of_them = listeners if outer is None else (outer, *listeners)

    def tell(what: str, done: int, total: int, detail: str) -> None:
        for listener in all_of_them:
            listener(what, done, total, detail)

    token = _listener.set(tell if all_of_them else None)
    try:
        yield
    finally:
        _listener.reset(token)


def step(what: str, done: int, total: int, detail: str = "") -> None:
    """Report that one of ``total`` steps begins, after ``done`` of them; ``detail`` names it."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total, detail)
