"""The command line: one module per command, with its options and what it prints.

Exit codes: 0 done; 1 done, with a warning that matters (the optimum is not certified); 2 not done,
and a message on the error stream says why; 130 interrupted, and a message says what is kept.

scikit-learn alone takes a second to import: what a command needs is imported when its options are
checked and the first message is printed.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
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
    try:
        make_app()()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            _leave_at_once(INTERRUPTED)
        raise
    except OSError as error:  # of the version, or of the help, which typer prints
        unknown = f"Standard output was not written: {reason(error)}."
        log(str(error) if isinstance(error, OutputError) else unknown)
        _leave_at_once(2)


def _mend_streams() -> None:
    """Replace closed streams, and escape characters that the encoding of the output lacks.

    Messages to a closed error stream are lost.  A closed input is empty, and a closed output is
    one that cannot be written, which is an error where something is written.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def make_app() -> Any:
    """Return the typer application with all commands."""
    from lincent.cli import compare, datasets, explain, export, fit, predict, reproduce

    app = typer.Typer(
        name="lincent",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for module in (fit, predict, explain, export, reproduce, compare, datasets):
        app.command()(getattr(module, module.__name__.rpartition(".")[2]))
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


def _leave_at_once(code: int) -> NoReturn:
    """End an interrupted process, which has cleaned up, with its exit code.

    Under ``python -m`` an interrupt that came inside ``exec`` (dataclasses use it) is remembered
    although it was handled, and would end the process by the signal.
    """
    with contextlib.suppress(OSError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
