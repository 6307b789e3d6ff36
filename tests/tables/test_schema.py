"""What a model expects of a table survives a round trip."""

import json
from dataclasses import asdict

from lincent.tables.schema import Column, Schema


def test_round_trip():
    schema = Schema(
        (
            Column("a", "number", "double", marks=("?",)),
            Column("w", "date", "string", form="%d.%m.%Y"),
            Column("c", "category", "string", (None, "u")),
        ),
        "y",
        ("id",),
    )
    assert Schema.from_json(json.loads(json.dumps(asdict(schema)))) == schema
    assert schema.numeric == ["a", "w"]
    assert schema.categorical == ["c"]
