"""``lincent datasets``."""

from __future__ import annotations

from dataclasses import asdict

from lincent import _console
from lincent.cli import options


@options.command
def datasets(quiet: bool = False, json: bool = False) -> None:
    """List the data sets of the paper.

    Which are here, which can be downloaded, licence and how.
    """
    from lincent.paper.datasets import list_datasets

    records = list_datasets()
    if json:
        return _console.answer_json([asdict(record) for record in records])
    for record in records:
        code = f" ({record.code})" if record.code else ""
        here = f"here: {record.available}" if record.available else "not on this machine"
        lines = [
            f"{record.name}{code}: {record.title}",
            f"    {record.rows} rows, {record.features} features, {len(record.classes)} classes",
            f"    {here}",
            f"    licence: {record.licence}",
        ]
        lines += [] if record.available else [f"    to get it: {record.how}"]
        _console.answer("\n".join(lines))
