"""A bill of materials beside the wheel: ``python .ci/sbom.py dist/lincent-*.whl``.

CycloneDX 1.6 as JSON, from the metadata of the wheel and of the packages that are installed beside
this interpreter: what the wheel needs (scope required) and what its extras add (optional), each
with version, license and what it needs itself.  The wheel is named by its SHA-256.
"""

from __future__ import annotations

import email
import hashlib
import json
import sys
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("baselines", "app", "dask", "gpu", "onnx", "paper", "eeg")


def needs(requires: list[str], extras: tuple[str, ...]) -> list[Requirement]:
    """The requirements that hold here, with these extras."""
    found = []
    for text in requires:
        wanted = Requirement(text)
        places = [default_environment() | {"extra": extra} for extra in ("", *extras)]
        if wanted.marker is None or any(wanted.marker.evaluate(place) for place in places):
            found.append(wanted)
    return found


def closure(start: list[Requirement]) -> dict[str, tuple[Distribution, list[str]]]:
    """Installed packages that are needed, directly or not, and what each needs itself."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    todo = [(canonicalize_name(wanted.name), tuple(sorted(wanted.extras))) for wanted in start]
    while todo:
        name, extras = todo.pop()
        if name in found or name == "lincent":
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        below = needs(package.requires or [], extras)
        found[name] = package, sorted({canonicalize_name(wanted.name) for wanted in below})
        todo += [(canonicalize_name(wanted.name), tuple(wanted.extras)) for wanted in below]
    return found


def component(name: str, package: Distribution, scope: str) -> dict[str, Any]:
    """One entry of the bill."""
    license_of = package.metadata.get("License-Expression") or package.metadata.get("License")
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference(name, package.version),
        "name": name,
        "version": package.version,
        "scope": scope,
        "purl": reference(name, package.version),
    }
    if license_of:
        entry["licenses"] = [{"license": {"name": license_of.splitlines()[0][:200]}}]
    return entry


def reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def bill(wheel: Path) -> dict[str, Any]:
    """The whole bill of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        inside = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(archive.read(inside))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    requires = about.get_all("Requires-Dist") or []
    required = closure(needs(requires, ()))
    every = closure(needs(requires, EXTRAS))
    own = reference("lincent", about["Version"])
    places = {name: reference(name, package.version) for name, (package, _) in every.items()}
    below = {name: [places[n] for n in names if n in places] for name, (_, names) in every.items()}
    direct = {canonicalize_name(wanted.name) for wanted in needs(requires, EXTRAS)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library", "bom-ref": own, "name": "lincent", "version": about["Version"],
                "purl": own, "licenses": [{"license": {"id": about["License-Expression"]}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
        },
        "components": [
            component(name, package, "required" if name in required else "optional")
            for name, (package, _) in sorted(every.items())
        ],
        "dependencies": [
            {"ref": own, "dependsOn": sorted(places[name] for name in direct if name in places)},
            *({"ref": places[name], "dependsOn": below[name]} for name in sorted(every)),
        ],
    }  # fmt: skip


def main() -> int:
    wheel = Path(sys.argv[1])
    target = wheel.with_suffix(".cdx.json")
    target.write_text(json.dumps(bill(wheel), indent=1) + "\n", "utf-8")
    print(f"{target}: {len(bill(wheel)['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())
