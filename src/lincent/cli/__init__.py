"""The command line: commands with their options and what they print.

Exit codes: 0 done; 1 done, with a warning that matters (the optimum is not certified, new rows
failed a check); 2 not done, and a message on the error stream says why; 130 interrupted, and a
message says what is kept.

scikit-learn alone takes a second to import: what a command needs is imported when its options are
checked and the first message is printed.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Annotated, Any, NoReturn

try:
    import typer
except ImportError:
    sys.exit('The command line needs typer: pip install "lincent[app]".')


def main() -> None:
    """Run the command line."""
    from lincent import _memory
    from lincent._console import log
    from lincent._files import OutputError, reason
    from lincent.cli.options import INTERRUPTED

    _memory.reserve_less()
    _mend_streams()
    sys.unraisablehook = _repeat_interrupt
    threading.excepthook = _report_thread
    try:
        make_app()()
    except KeyboardInterrupt:  # while commands were imported
        log("interrupted; nothing was written.")
        _leave_at_once(INTERRUPTED)
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED or not _flush_streams():
            _leave_at_once(int(leaving.code or 0))
        raise
    except OSError as error:  # of the version, or of the help, which typer prints
        unknown = f"Standard output was not written: {reason(error)}."
        log(str(error) if isinstance(error, OutputError) else unknown)
        _leave_at_once(2)


def _repeat_interrupt(unraisable: Any) -> None:
    """Send an interrupt again that Python could not raise, in the callback of a weak reference."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(unraisable)


def _report_thread(error: threading.ExceptHookArgs) -> None:
    """Print the error of a thread, unless an interrupt has ended the workers that it waits for."""
    from lincent.cli.options import interrupted

    if not interrupted.is_set():
        threading.__excepthook__(error)


def _mend_streams() -> None:
    """Replace closed streams, and escape characters that the encoding of the output lacks.

    Messages to a closed error stream are lost.  A closed input is empty, and a closed output is
    one that cannot be written, which is an error where something is written.
    """
    for name, mode in (("stdin", "r"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def make_app() -> Any:
    """Return the typer application with all commands."""
    from lincent.cli.experiments import compare, datasets, reproduce
    from lincent.cli.models import check, explain, export, fit, predict

    app = typer.Typer(
        name="lincent",
        no_args_is_help=True,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for command in (fit, predict, explain, check, compare, export, reproduce, datasets):
        app.command()(command)
    return app


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)
    ] = False,
) -> None:
    """Centralization classifiers: from a table to a model, a report and scored rows."""
    if version:
        from lincent import _versions
        from lincent._console import answer

        answer(f"lincent {_versions.lincent()}")
        raise typer.Exit


def _flush_streams() -> bool:
    """Return whether all output was written; the interpreter fails at its end where it was not."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            written = False
    return written


def _leave_at_once(code: int) -> NoReturn:
    """End a process that was interrupted or cannot write, and has cleaned up, with its exit code.

    Under ``python -m`` an interrupt that came inside ``exec`` (dataclasses use it) is remembered
    although it was handled, and would end the process by the signal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would end it in a traceback
    _flush_streams()
    # The pool of an experiment frees its semaphores at exit, or in threads of its own before.
    deadline = time.monotonic() + 0.3
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not isinstance(thread, threading.Timer):
            with suppress(AssertionError, RuntimeError):  # a thread that Python did not start
                thread.join(max(0.0, deadline - time.monotonic()))
    atexit._run_exitfuncs()
    os._exit(code)
