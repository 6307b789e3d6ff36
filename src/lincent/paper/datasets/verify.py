"""Compare what was found with the checksums of the registry. A difference is never silent."""

import hashlib

from lincent.paper.datasets.errors import DatasetChecksumError
from lincent.paper.datasets.registry import Entry
from lincent.paper.datasets.table import DataTable, groups_text, table_checksum, text_checksum


def verify_bytes(content: bytes, expected: str, place: str, advice: str) -> None:
    """Check the bytes of a file against the sha256 listed for it."""
    _compare(hashlib.sha256(content).hexdigest(), expected, place, advice)


def verify_table(table: DataTable, entry: Entry, place: str, advice: str) -> DataTable:
    """Check the values of a table, and its groups where it has them; return it."""
    _compare(table_checksum(table), entry.table_sha256, place, advice)
    if table.groups is not None:
        found = text_checksum(groups_text(table.groups.tolist()))
        _compare(found, entry.groups_sha256, f"{place} (groups)", advice)
    return table


def _compare(found: str, expected: str, place: str, advice: str) -> None:
    if found != expected:
        raise DatasetChecksumError(
            f"{place} does not hold the published values: expected sha256 {expected}, "
            f"got {found}; {advice}."
        )
