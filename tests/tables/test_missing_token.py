"""The mark for a missing category is never one of the categories."""

from lincent.tables.encoder import missing_token


def test_the_mark_for_missing_is_no_value():
    assert missing_token(["u"]) == "(missing)"
    assert missing_token(["(missing)", "(missing)'"]) == "(missing)''"
