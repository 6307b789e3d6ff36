"""The winner of a comparison as lines to run: Python, and the command that fits it."""

from __future__ import annotations

import json
import shlex
from typing import Any

from lincent.paper.study.results import MethodRecord, ProblemRecord
from lincent.tables import Reading, Schema, program, with_preparation
from lincent.tables.as_code import Verbatim, public_import


def constructor(method: MethodRecord, chosen: dict[str, Any] | None = None) -> Verbatim:
    """The import line and the call that makes the estimator."""
    settings = json.loads(method.settings)
    module, name = public_import(settings["class"])
    values = settings["params"] | (chosen or {})
    arguments = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return Verbatim(f"from {module} import {name}", f"{name}({arguments})")


def winner_lines(
    method: MethodRecord,
    problem: ProblemRecord,
    config: dict[str, Any],
    chosen: dict[str, Any] | None = None,
) -> str:
    """Return a program that reads the table and fits the winner on all of its rows."""
    made = constructor(method, chosen)
    if "schema" in config and config["data"] != "in memory":
        schema = Schema.from_json(config["schema"])
        reading = Reading(**config["reading"])
        return program(schema, config["data"], reading, with_preparation(made))
    imports, call = config["preparation"]
    if config["target"] or config["data"] == "in memory":
        source = ["", "# X: your features, y: your classes"]
    else:
        source = [
            "from lincent.paper.datasets import load_dataset",
            "",
            f"data = load_dataset({problem.name!r})",
            "X, y = data.data, data.target",
        ]
    lines = [
        *sorted({*imports, made.imports, "from sklearn.pipeline import make_pipeline"}),
        *source,
        f"model = make_pipeline({call}, {made.call})",
        "model.fit(X, y)",
        "print(model.predict(X[:5]))",
    ]
    return "\n".join(lines)


def fit_command(
    method: MethodRecord, config: dict[str, Any], chosen: dict[str, Any] | None = None
) -> str:
    """The ``lincent fit`` line for a method; empty where the command line cannot fit it."""
    ours = method.family in ("centralization", "paper") and not method.code.endswith("-untied")
    if not ours or "schema" not in config or config["data"] == "in memory":
        return ""
    parts = ["lincent", "fit", config["data"], "--target", config["target"]]
    parts += ["--method", method.code]
    for name, value in (chosen or {}).items():
        parts += ["--set", f"{name}={value}"]
    parts += wish_options(config["wishes"])
    return shlex.join([*parts, "-o", "model.lincent"])


def wish_options(wishes: dict[str, Any]) -> list[str]:
    """What was said about the columns, as options."""
    found: list[str] = []
    for option in ("drop", "keep"):
        for column in wishes.get(option) or []:
            found += [f"--{option}", column]
    for column, role in (wishes.get("roles") or {}).items():
        found += ["--role", f"{column}={role}"]
    found += [f"--{option}" for option in ("dates", "text") if wishes.get(option)]
    return found + (["--group", wishes["group"]] if wishes.get("group") else [])
