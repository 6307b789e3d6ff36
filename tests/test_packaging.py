"""What is published says the same everywhere: versions, requirements, extras."""

import re
import tomllib
from pathlib import Path

import pytest

import lincent

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_one_version():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert recipe["context"]["version"] == citation["version"] == lincent.__version__
    assert (ROOT / "doc" / "whats_new" / f"v{lincent.__version__}.md").is_file()
    assert f"## [{lincent.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_conda_package_needs_what_the_wheel_needs():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["app"]
    found = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    assert found[0] == "python" + PROJECT["requires-python"]
    assert [need.replace("-base", "") for need in found[1:]] == wanted
    (command,) = recipe["build"]["python"]["entry_points"]
    assert command.split(" = ") == ["lincent", PROJECT["scripts"]["lincent"]]


def test_the_package_is_typed_and_its_classifiers_cover_the_versions():
    assert (ROOT / "src" / "lincent" / "py.typed").is_file()
    oldest = int(re.search(r"3\.(\d+)", PROJECT["requires-python"])[1])
    listed = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    assert [int(minor) for minor in listed] == list(range(oldest, oldest + len(listed)))
    assert "Typing :: Typed" in PROJECT["classifiers"]
