"""The lines of Python that repeat the winner's fit."""

from __future__ import annotations

import importlib
import json
from typing import Any

from lincent.study.results import MethodRecord, ProblemRecord

_READERS = {
    "csv": "read_csv",
    "tsv": "read_csv",
    "txt": "read_csv",
    "gz": "read_csv",
    "parquet": "read_parquet",
    "pq": "read_parquet",
    "arrow": "read_feather",
    "feather": "read_feather",
    "ipc": "read_feather",
}


def public_import(path: str) -> tuple[str, str]:
    """Return module and name under which a class is public.

    Examples
    --------
    >>> from lincent.study.reports.snippet import public_import
    >>> public_import("sklearn.linear_model._logistic.LogisticRegression")
    ('sklearn.linear_model', 'LogisticRegression')
    """
    module, _, name = path.rpartition(".")
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        candidate = ".".join(parts[:length])
        try:
            found = getattr(importlib.import_module(candidate), name, None)
        except ImportError:
            continue
        if found is not None:
            return candidate, name
    return module, name


def constructor(method: MethodRecord, chosen: dict[str, Any] | None = None) -> tuple[str, str]:
    """Return the import line and the call that makes the estimator."""
    settings = json.loads(method.settings)
    module, name = public_import(settings["class"])
    values = settings["params"] | (chosen or {})
    arguments = ", ".join(f"{key}={value!r}" for key, value in values.items())
    return f"from {module} import {name}", f"{name}({arguments})"


def winner_lines(
    method: MethodRecord,
    problem: ProblemRecord,
    config: dict[str, Any],
    chosen: dict[str, Any] | None = None,
) -> str:
    """Return a program that reads the table and fits the winner on all of its rows."""
    import_line, call = constructor(method, chosen)
    named = not config["target"]
    if named or config["data"] == "in memory":
        return _program_for_arrays(import_line, call, problem, named)
    return _program_for_table(import_line, call, problem, config)


def _program_for_arrays(import_line: str, call: str, problem: ProblemRecord, named: bool) -> str:
    source = (
        [
            "from lincent.datasets import load_dataset",
            "",
            f"data = load_dataset({problem.name!r})",
            "X, y = data.data, data.target",
        ]
        if named
        else ["", "# X: your features as an array of numbers, y: your classes"]
    )
    impute = 'SimpleImputer(strategy="median"), ' if problem.name.endswith("missing") else ""
    lines = [
        "from sklearn.pipeline import make_pipeline",
        "from sklearn.preprocessing import StandardScaler",
        *(["from sklearn.impute import SimpleImputer"] if impute else []),
        import_line,
        *source,
        f"model = make_pipeline({impute}StandardScaler(), {call})",
        "model.fit(X, y)",
        "print(model.predict(X[:5]))",
    ]
    return "\n".join(lines)


def _program_for_table(
    import_line: str, call: str, problem: ProblemRecord, config: dict[str, Any]
) -> str:
    data = config["data"]
    reader = _READERS.get(data.rsplit(".", 1)[-1].lower(), "read_csv")
    extra = ', sep=None, engine="python"' if reader == "read_csv" else ""
    categories = list(problem.categories)
    left_out = [config["target"], *config.get("left_out", [])]
    lines = [
        "import pandas",
        "from sklearn.compose import ColumnTransformer",
        "from sklearn.impute import SimpleImputer",
        "from sklearn.pipeline import make_pipeline",
        "from sklearn.preprocessing import OneHotEncoder, StandardScaler",
        import_line,
        "",
        f"table = pandas.{reader}({data!r}{extra})",
        f"y = table[{config['target']!r}].astype(str)",
        f"X = table.drop(columns={left_out!r})",
        f"categories = {categories!r}",
        'X[categories] = X[categories].astype(object).fillna("(missing)").astype(str)',
        "numbers = [name for name in X.columns if name not in categories]",
        "encode = ColumnTransformer(",
        "    [",
        '        ("numbers", SimpleImputer(strategy="median"), numbers),',
        '        ("categories", OneHotEncoder(handle_unknown="ignore"), categories),',
        "    ],",
        "    sparse_threshold=0.0,",
        ")",
        f"model = make_pipeline(encode, StandardScaler(), {call})",
        "model.fit(X, y)",
        "print(model.predict(X.head()))",
    ]
    return "\n".join(lines)
