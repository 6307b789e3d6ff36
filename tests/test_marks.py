"""The mark for a missing category is never one of the categories."""

from lincent._marks import unused_mark


def test_the_mark_for_missing_is_no_value():
    assert unused_mark(["u"]) == "(missing)"
    assert unused_mark(["(missing)", "(missing)'"]) == "(missing)''"
