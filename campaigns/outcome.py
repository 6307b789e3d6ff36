"""What a trial says: how it ended, and what is needed to repeat it where it failed."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

INSTANCES = Path(__file__).resolve().parent.parent / "tests" / "instances"


@dataclass
class Outcome:
    """``kind`` is counted; ``fault`` is empty where the promise was kept."""

    kind: str
    fault: str = ""
    instance: dict[str, Any] = field(default_factory=dict)
    checks: int = 1


def as_json(value: Any) -> Any:
    """Arrays as exact hexadecimal floats, bytes as base64."""
    if isinstance(value, np.ndarray):
        return {"array": [float(v).hex() for v in value.ravel()], "shape": list(value.shape)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: as_json(entry) for key, entry in value.items()}
    return value


def from_json(value: Any) -> Any:
    """The inverse of ``as_json``."""
    if isinstance(value, dict) and "array" in value:
        return np.array([float.fromhex(v) for v in value["array"]]).reshape(value["shape"])
    if isinstance(value, dict) and "bytes" in value:
        return base64.b64decode(value["bytes"])
    if isinstance(value, dict):
        return {key: from_json(entry) for key, entry in value.items()}
    return value


def save(campaign: str, outcome: Outcome, seed: str) -> Path:
    """Keep a failure for the suite."""
    path = INSTANCES / f"{campaign}-{seed}.json"
    text = {"campaign": campaign, "fault": outcome.fault, "instance": as_json(outcome.instance)}
    path.write_text(json.dumps(text), "utf-8")
    return path


def load(path: Path) -> tuple[str, dict[str, Any]]:
    """The campaign and the instance of a file."""
    text = json.loads(path.read_text("utf-8"))
    return text["campaign"], from_json(text["instance"])
