"""What a model expects of a table survives a round trip."""

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
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.numeric == ["a", "w"]
    assert schema.categorical == ["c"]
