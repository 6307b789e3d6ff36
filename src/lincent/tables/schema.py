"""What a model expects of a table: names, kinds and categories of its columns.

Numbers stay numbers (missing ones are imputed later); true and false become 1 and 0; a date becomes
a few numbers, free text a 0 or 1 for each of its usual words; other text is a category, and missing
text is a category of its own.  Columns are found by name, so their order does not matter; columns
that the model does not know are ignored.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lincent._marks import MISSING

NUMBER, FLAG, CATEGORY, DATE, TEXT = "number", "flag", "category", "date", "text"
KINDS = (NUMBER, FLAG, CATEGORY, DATE, TEXT)
DATE_PARTS = ("days", "month", "weekday")
TIME_PARTS = (*DATE_PARTS, "hour")
WITH_TIME = "with time"


@dataclass(frozen=True)
class Column:
    """One column that the model uses.

    Attributes
    ----------
    name, kind, type : str
        Its kind, and the Arrow type in which it came.
    categories : tuple of str
        The values of a category at training, the mark for missing among them; the words of a text
        that are looked for.
    marks : tuple of str
        Cells of a column of numbers that stand for missing, such as ``?``.
    form : str
        How a date is written, as in ``strptime``, or ``ISO8601``.
    detail : str
        ``"with time"`` for a date whose hours differ.
    """

    name: str
    kind: str
    type: str
    categories: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    form: str = ""
    detail: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the frame that the pipeline is given for this one."""
        if self.kind == TEXT:
            return tuple(f"{self.name}: {word}" for word in self.categories)
        if self.kind != DATE:
            return (self.name,)
        parts = TIME_PARTS if self.detail == WITH_TIME else DATE_PARTS
        return tuple(f"{self.name}: {part}" for part in parts)


@dataclass(frozen=True)
class Schema:
    """All columns that the model uses, the target and the identifiers.

    ``missing`` stands for missing text; no text of the training table reads like it.
    """

    columns: tuple[Column, ...]
    target: str
    target_type: str
    ids: tuple[str, ...] = ()
    missing: str = MISSING

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def inputs(self, *kinds: str) -> list[str]:
        """The frame's columns for columns of these kinds."""
        return [name for c in self.columns if c.kind in kinds for name in c.inputs]

    @property
    def numeric(self) -> list[str]:
        return self.inputs(NUMBER, FLAG, DATE, TEXT)

    @property
    def categorical(self) -> list[str]:
        return self.inputs(CATEGORY)

    def csv_types(self) -> dict[str, Any]:
        """The Arrow type of the columns of a text file that can be read as numbers at once."""
        from lincent.tables.errors import arrow

        plain = [c.name for c in self.columns if c.kind == NUMBER and not c.marks]
        return dict.fromkeys(plain, arrow().float64())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        """Read what ``to_json`` wrote, also that of version 0.1.0, which knew fewer fields."""
        columns = tuple(
            Column(
                c["name"], c["kind"], c["type"], tuple(c["categories"]),
                tuple(c.get("marks", ())), c.get("form", ""), c.get("detail", ""),
            )
            for c in data["columns"]
        )  # fmt: skip
        ids = tuple(data["ids"])
        return cls(columns, data["target"], data["target_type"], ids, data.get("missing", MISSING))
