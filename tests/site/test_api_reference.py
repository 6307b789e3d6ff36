"""The public names: all on the API pages, all in an example, all documented."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "doc"))
from api_reference import ADDED, MODULES  # noqa: E402

# Names that no example can use, each with its reason.
WITHOUT_EXAMPLE = {
    "DatasetChecksumError": "needs a data file that somebody has changed",
    "show_versions": "prints the folders of the machine that builds the gallery",
}
# Codes of numpydoc's validator that are a matter of taste, not of completeness.
NOT_ASKED = {
    "SA01",  # a See Also section: written where there is something to say
    "ES01",  # an extended summary: the first line is often enough
    "EX01",  # an example: the gallery has one for every name
    "SS05",  # takes "Class" for a verb in the third person
    "GL08",  # a method without a docstring: described by its class (ruff D102)
    "PR03",  # keyword-only parameters stand by importance, common ones last: see the test below
}


def things():
    for module in MODULES:
        imported = importlib.import_module(module.name)
        for name in module.names():
            yield f"{module.name}.{name}", getattr(imported, name)


def documented():
    """Classes, functions and our own methods of the classes."""
    for name, thing in things():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield name
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("lincent"):
                    yield f"{name}.{method}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_the_list_has_every_public_name(module):
    imported = importlib.import_module(module.name)
    public = getattr(imported, "__all__", None)
    if public is None:  # displays: its classes
        classes = inspect.getmembers(imported, inspect.isclass)
        public = [name for name, cls in classes if cls.__module__ == module.name]
    assert sorted(module.names()) == sorted(set(public) - {"__version__"})


def test_versions_are_given_for_names_that_exist():
    assert set(ADDED) <= {name for name, _ in things()}


def names_in_examples():
    used = set()
    for path in (REPOSITORY / "examples").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.Attribute):
                used.add(node.attr)
    return used


def test_every_public_name_is_used_by_an_example():
    names = {name.rpartition(".")[2] for name, _ in things()}
    assert names - names_in_examples() == set(WITHOUT_EXAMPLE)


def test_docstrings_are_complete():
    validate = pytest.importorskip("numpydoc.validate").validate
    faults = [
        f"{name}: {code} {message}"
        for name in documented()
        for code, message in validate(name)["errors"]
        if code not in NOT_ASKED
    ]
    assert faults == []


def test_positional_parameters_come_first_and_in_order():
    checked = 0
    for name, thing in things():
        text = inspect.getdoc(thing) or ""
        section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\w|\Z)", text, re.S | re.M)
        if section is None or not callable(thing):
            continue
        given = inspect.signature(thing).parameters.values()
        positional = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
        lines = re.findall(r"^(\w[\w, ]*)(?: :|$)", section[1], re.M)
        listed = [one for line in lines for one in line.split(", ")]
        assert listed[: len(positional)] == positional, name
        checked += 1
    assert checked > 40
