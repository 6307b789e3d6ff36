"""The pins agree with each other, and the bill of materials names what the wheel needs."""

import importlib.util
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCKED = ROOT / ".ci" / "locked.txt"
pytestmark = pytest.mark.skipif(not LOCKED.exists(), reason="not a checkout")


def pins(text):
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.MULTILINE))


def test_locked_versions_are_those_of_the_constraints():
    locked = pins(LOCKED.read_text())
    wanted = {name.lower(): v for name, v in pins((ROOT / "constraints.txt").read_text()).items()}
    assert {"numpy", "scipy", "scikit-learn"} <= locked.keys()
    assert {name: wanted.get(name) for name in locked} == locked


def test_every_locked_package_has_a_hash():
    for entry in re.split(r"\n(?=\S)", LOCKED.read_text().strip())[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.skipif(importlib.util.find_spec("packaging") is None, reason="needs packaging")
def test_the_bill_of_materials(tmp_path):
    wheel = tmp_path / "lincent-9.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        needs = "Requires-Dist: numpy\nRequires-Dist: pytest; extra == 'app'\n"
        about = (
            f"Metadata-Version: 2.4\nName: lincent\nVersion: 9.9\nLicense-Expression: MIT\n{needs}"
        )
        archive.writestr("lincent-9.9.dist-info/METADATA", about)
    subprocess.run([sys.executable, ROOT / ".ci" / "sbom.py", wheel], check=True, timeout=60)
    bill = json.loads(wheel.with_suffix(".cdx.json").read_text())
    scopes = {entry["name"]: entry["scope"] for entry in bill["components"]}
    assert (scopes["numpy"], scopes["pytest"], scopes["pluggy"]) == ("required",) + (
        "optional",
    ) * 2
    refs = {entry["bom-ref"] for entry in bill["components"]}
    for entry in bill["dependencies"]:
        assert set(entry["dependsOn"]) <= refs
    assert bill["metadata"]["component"]["hashes"][0]["alg"] == "SHA-256"
