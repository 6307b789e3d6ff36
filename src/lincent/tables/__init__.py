"""A user's table: read, judged, prepared, and printed as code.

read        a file or frame as Arrow, whole or in batches     (source, dialect, formats, names)
judge       the role of every column, the target, leaks       (columns, target, leaks)
convert     cells as numbers and text, by the schema          (schema)
prepare     the scikit-learn transformer
as_code     the same reading and preparation as a program
"""

from typing import TYPE_CHECKING

from lincent._lazy import lazily

__all__ = [
    "AS_FOUND",
    "NO_WISHES",
    "Column",
    "JudgedColumn",
    "Reading",
    "Schema",
    "TableError",
    "Understood",
    "UserTable",
    "Wishes",
    "preparation",
    "program",
    "read_batches",
    "read_table",
    "to_frame",
    "understand",
    "with_preparation",
]

if TYPE_CHECKING:
    from lincent.tables.as_code import program
    from lincent.tables.convert import to_frame
    from lincent.tables.errors import TableError
    from lincent.tables.judge import NO_WISHES, JudgedColumn, Understood, Wishes, understand
    from lincent.tables.prepare import preparation, with_preparation
    from lincent.tables.read import AS_FOUND, Reading, UserTable, read_batches, read_table
    from lincent.tables.schema import Column, Schema
else:
    __getattr__ = lazily(
        __name__,
        {
            "AS_FOUND": "read",
            "Column": "schema",
            "JudgedColumn": "judge",
            "NO_WISHES": "judge",
            "Reading": "read",
            "Schema": "schema",
            "TableError": "errors",
            "Understood": "judge",
            "UserTable": "read",
            "Wishes": "judge",
            "preparation": "prepare",
            "program": "as_code",
            "read_batches": "read",
            "read_table": "read",
            "to_frame": "convert",
            "understand": "judge",
            "with_preparation": "prepare",
        },
    )
