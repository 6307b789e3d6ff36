"""``lincent datasets``."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict

from lincent import _console
from lincent.cli import options


def datasets(json: options.Json = False) -> None:
    """List the data sets of the paper.

    Which are here, which can be downloaded, licence and how.
    """
    with options.errors_as_messages():
        from lincent.paper.datasets import list_datasets

        records = list_datasets()
        if json:
            listed = [asdict(record) for record in records]
            return _console.answer(json_module.dumps(listed, indent=1, default=str))
        for record in records:
            code = f" ({record.code})" if record.code else ""
            here = f"here: {record.available}" if record.available else "not on this machine"
            lines = [
                f"{record.name}{code}: {record.title}",
                f"    {record.rows} rows, {record.features} features, "
                f"{len(record.classes)} classes",
                f"    {here}",
                f"    licence: {record.licence}",
            ]
            lines += [] if record.available else [f"    to get it: {record.how}"]
            _console.answer("\n".join(lines))
