"""Hashes of what the wheel needs: ``python .ci/lock.py > .ci/locked.txt``, after a change of pins.

The versions are those of constraints.txt; the hashes are those of the wheels for Linux on x86-64
and the supported versions of Python, as the index that pip is set to gives them.  CI installs from
this file alone, and pip refuses a file with another content.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

CORE = ("numpy", "scipy", "scikit-learn")
VERSIONS = ("3.11", "3.12", "3.13")


def chosen(version: str) -> list[tuple[str, str]]:
    """Name with version, and hash, of every wheel that pip would install for a Python."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run",
                   "--report", report, "--target", place, "--only-binary", ":all:",
                   "--python-version", version, "-c", "constraints.txt", *CORE]  # fmt: skip
        subprocess.run(command, check=True, stdout=sys.stderr)
        found = json.loads(report.read_text())["install"]
    return [
        (
            f"{entry['metadata']['name'].lower()}=={entry['metadata']['version']}",
            entry["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for entry in found
    ]


def main() -> int:
    hashes: dict[str, set[str]] = {}
    for version in VERSIONS:
        for name, digest in chosen(version):
            hashes.setdefault(name, set()).add(digest)
    print("# Made by .ci/lock.py from constraints.txt.")
    for name in sorted(hashes):
        print(" \\\n".join([name, *(f"    --hash=sha256:{d}" for d in sorted(hashes[name]))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
