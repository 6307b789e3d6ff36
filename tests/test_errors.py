"""Text of others in our sentences."""

from lincent._errors import first_line, listed, nearest, printable


def test_what_would_steer_a_terminal_is_spelled_out():
    assert printable("age\x1b[2J\x07") == "age\\x1b[2J\\x07"
    assert printable("a\u202egpj.exe") == "a\\u202egpj.exe"
    assert printable("größe 尺寸\n\tb") == "größe 尺寸\n\tb"
    assert printable("\x9b31m\ud800") == "\\x9b31m\\ud800"


def test_lists_and_hints():
    assert listed("abc") == "'a', 'b', 'c'"
    assert listed(range(12), 3) == "0, 1, 2 and 9 more"
    assert nearest("target", ["targets", "x"]) == "did you mean 'targets'?"
    assert nearest("zzz", ["a"]) == "the columns are 'a'."
    assert first_line("a\n  b" + "c" * 300, 10) == "a bcccccc…"
