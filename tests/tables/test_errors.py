"""An error names the extra of a missing package."""

import sys

import pytest

from lincent._errors import AppError
from lincent.tables.formats import TableError, pa, pc, pd


def test_table_errors_are_errors_of_the_user():
    assert issubclass(TableError, AppError)


@pytest.mark.parametrize("package", [pa, pc, pd])
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    name = package.__name__
    monkeypatch.setitem(sys.modules, name, None)
    match = rf"needs {name.partition('.')[0]}: pip install .lincent\[app\]"
    with pytest.raises(AppError, match=match):
        package.not_used_so_far  # noqa: B018


def test_the_package_itself():
    assert pa.__name__ == "pyarrow"
    assert pc.__name__ == "pyarrow.compute"
