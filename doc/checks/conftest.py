"""The built site: checked after `make docs`, not part of the suite."""

import os
from pathlib import Path

import pytest

SITE = Path(os.environ.get("LINCENT_HTML", Path(__file__).parents[1] / "_build" / "html"))


def pages():
    """Every page that a reader can come to."""
    left_out = ("_static", "_sources", "_downloads", "_images", "_modules")
    found = [p for p in SITE.rglob("*.html") if p.relative_to(SITE).parts[0] not in left_out]
    return sorted(found)


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").exists():
        pytest.exit(f"There is no built site in {SITE.name}: run make docs first.", returncode=2)
    return SITE


def pytest_generate_tests(metafunc):
    if "page" in metafunc.fixturenames:
        found = pages()
        metafunc.parametrize("page", found, ids=[str(p.relative_to(SITE)) for p in found])
