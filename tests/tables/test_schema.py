"""What a model expects of a table survives a round trip, also from version 0.1.0."""

from lincent.tables import Column, Schema


def test_round_trip_and_old_files():
    schema = Schema(
        (
            Column("a", "number", "double", marks=("?",)),
            Column("w", "date", "string", form="%d.%m.%Y", detail="with time"),
            Column("c", "category", "string", ("u", "(missing)'")),
            Column("t", "text", "string", ("late",)),
        ),
        "y",
        "string",
        ("id",),
        "(missing)'",
    )
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.numeric == ["a", "w: days", "w: month", "w: weekday", "w: hour", "t: late"]
    assert schema.categorical == ["c"]
    assert list(schema.csv_types()) == []
    old = {
        "columns": [{"name": "a", "kind": "number", "type": "double", "categories": []}],
        "target": "y",
        "target_type": "string",
        "ids": [],
    }
    assert Schema.from_json(old).missing == "(missing)"
    assert list(Schema.from_json(old).csv_types()) == ["a"]
