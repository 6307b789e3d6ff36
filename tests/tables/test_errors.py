"""An error names the extra of a missing package."""

import sys

import pytest

from lincent._errors import AppError
from lincent.tables.formats import TableError, arrow


def test_table_errors_are_errors_of_the_user():
    assert issubclass(TableError, AppError)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AppError, match=rf"needs {package}: pip install .lincent\[app\]"):
        arrow()


def test_the_package_itself():
    assert arrow().__name__ == "pyarrow"
