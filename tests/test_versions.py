"""Versions for people and for results."""

import subprocess
import sys

import pytest

import lincent
from lincent import _versions


def test_versions_for_a_bug_report(capsys):
    lincent.show_versions()
    out = capsys.readouterr().out
    assert f"lincent: {lincent.__version__}" in out
    assert "sklearn: " in out
    assert "threads" in out
    assert _versions.versions(("no-such-package",))["no-such-package"] == "absent"


def test_the_command_line_knows_its_version():
    pytest.importorskip("typer")
    done = subprocess.run(
        [sys.executable, "-m", "lincent", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"lincent {lincent.__version__}\n"
