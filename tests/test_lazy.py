"""Names that are imported when they are asked for are those that type checkers see."""

import ast
import importlib
import pickle
from pathlib import Path

import pytest

import lincent

PACKAGES = ["lincent", "lincent.export"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_comes_from_where_type_checkers_look(package):
    pytest.importorskip("pyarrow")
    module = importlib.import_module(package)
    seen = {}
    for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            seen |= {alias.name: node.module for alias in node.names}
    for name in set(module.__all__) - {"__version__"}:
        assert getattr(module, name) is getattr(importlib.import_module(seen[name]), name)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_is_not_there_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'LCD'"):
        importlib.import_module(package).LCD  # noqa: B018


def test_public_names_can_be_pickled():
    for name in set(lincent.__all__) - {"__version__"}:
        value = getattr(lincent, name)
        assert pickle.loads(pickle.dumps(value)) is value


def test_modules_are_attributes_without_an_import_of_their_own():
    assert lincent.paper.baselines.LinearSVM.__name__ == "LinearSVM"
