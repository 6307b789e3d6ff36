"""``lincent check``."""

from __future__ import annotations

from typing import Any

import typer

from lincent import _console
from lincent.cli import options
from lincent.tables.formats import check_exists


@options.command
def check(
    model: str, data: str, quiet: bool = False, json: bool = False, reading: Any = None
) -> None:
    """Check new rows against the training table of a model.

    Columns, missing values, ranges, unseen categories, and drift of columns and scores. The exit
    code is 1 where a check fails.
    """
    check_exists(model)
    check_exists(data)
    from lincent.export.model_file import load_model, summary_errors
    from lincent.workflow.check import check_table

    loaded = load_model(model)
    with summary_errors(model):
        result = check_table(loaded, data, reading=reading)
    if json:
        _console.answer_json(result | {"model": model, "data": data})
    elif not quiet:
        _console.answer(check_text(result, loaded.summary.get("rows"), data))
    raise typer.Exit(0 if result["passed"] else 1)


def check_text(result: dict[str, Any], trained: Any, data: str) -> str:
    """Return the findings of a check, a line each."""
    failed = len({f["column"] for f in result["findings"] if f["failed"]})
    outcome = f"{failed} columns differ" if failed else "no column differs"
    lines = [
        f"{data}: {outcome} from training ({result['rows']:,} rows against {trained:,}; "
        f"{result['tests']} tests, a false alarm in 1 of 100 tables)"
    ]
    width = max((len(f["column"][:32]) for f in result["findings"]), default=0)
    lines += [
        f"  {'FAILED' if f['failed'] else 'note  '}  {f['column'][:32]:<{width}}  {f['check']}: "
        f"{f['message']}"
        for f in result["findings"]
    ]
    return "\n".join(lines)
