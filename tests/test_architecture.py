"""The shape of the code, read from its source: one test for each rule."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import diptych
from diptych.registry import STRATEGIES, strategies

ROOT = Path(__file__).resolve().parent.parent
SRC = Path(diptych.__file__).parent
TESTS = Path(__file__).parent
ROOMS = (
    "base . kernels . language . text . learn . page . run . frontier . engine . sources . stages"
    " . corpus . reports . steps . pipeline . job . api . commands"
)
"""a room imports only rooms to its left; CONTRIBUTING.md says the same"""
ORDER = ROOMS.split(" . ")
BASE = {
    "_version",
    "demo",
    "errors",
    "files",
    "protocols",
    "reason",
    "recipes",
    "registry",
    "types",
    "units",
}
MAX_ROOT_MODULES = 12
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40

NETWORK = {
    "socket", "socketserver", "ssl", "select", "selectors", "asyncio", "aiohttp", "yarl",
    "http.client", "http.server", "urllib.request", "subprocess", "multiprocessing", "threading",
    "concurrent.futures", "pty",
}  # fmt: skip
EFFECTS = NETWORK | {
    "signal", "sqlite3", "os", "pathlib", "shutil", "tempfile", "glob", "time", "random", "secrets",
    "uuid", "sys",
}  # fmt: skip
"""network, processes, disk, clock and chance: code that decides is given them as arguments"""
ALLOWED = {
    "base": {"os", "pathlib", "shutil", "sys"},
    "learn": {"pathlib", "random", "sys"},  # models in files; training is seeded
    "run": {"pathlib", "shutil", "sqlite3", "sys", "tempfile", "uuid"},
    "frontier": {"sqlite3"},
    "engine": EFFECTS - {"sqlite3"},
    "sources": {"glob", "os", "pathlib", "shutil", "sqlite3", "tempfile"},
    "corpus": {"os", "pathlib", "secrets", "tempfile"},  # sorts on disk
    "reports": {"pathlib", "time"},
    "steps": {"pathlib"},
    "job": {"pathlib", "time"},
    "api": {"pathlib", "tempfile", "time"},
    "commands": {"os", "pathlib", "signal", "sys", "tempfile", "time"},
}
"""what a room may use of these; the others decide and use none"""
STARTS_PROCESSES = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"}
SQL_ROOMS = {"run", "frontier", "sources"}
SQL_ATTRIBUTES = {"db", "execute", "executemany", "executescript"}
SQL_STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|BEGIN|COMMIT)\b")
PURE_ROOMS = {"kernels", "language", "text", "page", "stages", "pipeline"}
WITHOUT_STRATEGY = {"shared", "__init__"}


def name_of(path: Path) -> str:
    """`crawl.bfs` for src/diptych/crawl/bfs.py; a package is its folder's name."""
    parts = list(path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(SRC.rglob("*.py")) if name_of(path)}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _typing_only(module: ast.Module) -> set[ast.AST]:
    """The statements under `if TYPE_CHECKING`, which never run."""
    return {
        inner
        for node in ast.walk(module)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }


@cache
def imports(path: Path) -> frozenset[str]:
    """All that a module imports when run, also inside functions, as full names."""
    module = tree(path)
    skipped = _typing_only(module)
    found: set[str] = set()
    for node in ast.walk(module):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def own_imports(path: Path) -> set[str]:
    """The modules of diptych that a module imports, without the package's name."""
    found = set()
    for name in imports(path):
        if name.startswith("diptych."):
            inner = name.removeprefix("diptych.")
            while inner and inner not in MODULES:
                inner = inner.rpartition(".")[0]
            found.add(inner)
    return found - {""}


def room_of(name: str) -> str:
    first = name.partition(".")[0]
    return "base" if first in BASE else "commands" if first == "__main__" else first


def effects(name: str) -> set[str]:
    """The libraries with effects that a module imports, whole or in part."""
    used = imports(MODULES[name])
    return {each for each in EFFECTS if any(f"{found}.".startswith(f"{each}.") for found in used)}


# -- rooms -----------------------------------------------------------------------------------------


def test_a_room_imports_only_rooms_to_its_left() -> None:
    assert {room_of(name) for name in MODULES} == set(ORDER)
    wrong = {
        f"{name} -> {other}"
        for name, path in MODULES.items()
        for other in own_imports(path)
        if ORDER.index(room_of(other)) > ORDER.index(room_of(name))
    }
    assert wrong == set()


def test_the_order_of_rooms_is_written_down_once_for_people() -> None:
    assert f"`{ROOMS}`" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_few_modules_lie_in_the_root() -> None:
    assert len(list(SRC.glob("*.py"))) <= MAX_ROOT_MODULES


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: own_imports(path) - {name} for name, path in MODULES.items()}
    # A package imports its parts, which are all that may import it.
    graph = {
        name: {other for other in others if not name.startswith(f"{other}.")}
        for name, others in graph.items()
    }
    seen: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join((*above, name))
        if name not in seen:
            for other in sorted(graph[name]):
                visit(other, (*above, name))
            seen.add(name)

    for name in graph:
        visit(name, ())


def test_stages_never_import_each_other() -> None:
    wrong = {
        f"{name} -> {other}"
        for name, path in MODULES.items()
        for other in own_imports(path)
        if name.startswith("stages.")
        and other.startswith("stages.")
        and name.split(".")[1] != other.split(".")[1]
    }
    assert wrong == set()


def test_a_stage_holds_strategies_and_what_they_share() -> None:
    assert sorted(path.name for path in (SRC / "stages").iterdir() if path.is_dir()) == sorted(
        [*STRATEGIES, *(["__pycache__"] if (SRC / "stages" / "__pycache__").exists() else [])]
    )
    for stage, known in STRATEGIES.items():
        modules = {path.partition(":")[0] for path in known.values()}
        folder = SRC / "stages" / stage
        entries = {path.stem for path in folder.iterdir() if path.name != "__pycache__"}
        for entry in entries - WITHOUT_STRATEGY:
            name = f"diptych.stages.{stage}.{entry}"
            is_strategy = {name, f"{name}.strategy"} & modules or defines_strategy(name, stage)
            assert is_strategy, f"{name} is no strategy: it belongs in shared/ or in its strategy"


def defines_strategy(name: str, stage: str) -> bool:
    """Whether a module has a strategy that no recipe names: commands use it themselves."""
    methods = {
        method
        for cls in strategies(stage).values()
        for method in ("follow", "pair", "verify", "rank")
        if callable(getattr(cls, method, None))
    }
    return any(
        isinstance(member, type) and member.__module__ == name
        and dataclasses.is_dataclass(member) and methods & set(dir(member))
        for member in vars(importlib.import_module(name)).values()
    )  # fmt: skip


def test_strategies_are_frozen_dataclasses_with_defaults_for_all_fields() -> None:
    for stage in STRATEGIES:
        for name, cls in strategies(stage).items():
            assert cls.__module__.startswith(f"diptych.stages.{stage}."), name
            assert dataclasses.is_dataclass(cls), name
            assert cls.__dataclass_params__.frozen, name  # type: ignore[attr-defined]
            assert "__slots__" in vars(cls), name
            assert "__post_init__" not in vars(cls), name
            for field in dataclasses.fields(cls):
                has_default = field.default is not dataclasses.MISSING
                assert has_default or field.default_factory is not dataclasses.MISSING, (
                    name,
                    field.name,
                )


# -- purity ----------------------------------------------------------------------------------------


def test_only_the_engine_speaks_to_the_network_and_starts_processes() -> None:
    outside = [name for name in MODULES if room_of(name) != "engine"]
    assert {name: found for name in outside if (found := effects(name) & NETWORK)} == {}
    for name in outside:
        for node in ast.walk(tree(MODULES[name])):
            is_of_os = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "os"
            if is_of_os and isinstance(node, ast.Attribute):
                starts = node.attr in STARTS_PROCESSES or node.attr.startswith(("exec", "spawn"))
                assert not starts, f"{name}:{node.lineno}"


def test_a_room_uses_only_the_effects_it_may() -> None:
    """Most rooms decide: they use no network, disk, clock or chance."""
    wrong = {
        name: found
        for name in MODULES
        if (found := effects(name) - ALLOWED.get(room_of(name), set()))
    }
    assert wrong == {}
    assert set(ORDER) - set(ALLOWED) == PURE_ROOMS


def test_code_that_decides_opens_no_file_by_itself() -> None:
    for name, path in MODULES.items():
        if room_of(name) in PURE_ROOMS:
            calls = {
                node.func.id
                for node in ast.walk(tree(path))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            assert not calls & {"open", "exec", "eval", "input", "__import__"}, name


def test_nouns_and_verbs_import_nothing_of_ours_but_each_other() -> None:
    assert own_imports(MODULES["types"]) == {"reason"}
    assert own_imports(MODULES["errors"]) == set()
    assert own_imports(MODULES["units"]) == {"types"}
    assert own_imports(MODULES["protocols"]) == {"types", "units"}


# -- SQL -------------------------------------------------------------------------------------------


def test_sql_is_only_where_what_is_on_disk_is() -> None:
    """Other rooms ask by name; none of them sees a connection or holds a statement."""
    for name, path in MODULES.items():
        if room_of(name) in SQL_ROOMS:
            continue
        for node in ast.walk(tree(path)):
            where = f"{name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {getattr(node, "module", ""), *(alias.name for alias in node.names)}
                assert "sqlite3" not in names, where
            elif isinstance(node, ast.Attribute):
                assert node.attr not in SQL_ATTRIBUTES, where
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not SQL_STATEMENT.match(node.value), where
    folders = {path.parent.relative_to(SRC).parts[0] for path in SRC.rglob("*.sql")}
    assert folders <= SQL_ROOMS


# -- modules ---------------------------------------------------------------------------------------


def modules() -> Iterator[str]:
    yield "diptych"
    for found in pkgutil.walk_packages(diptych.__path__, "diptych."):
        if found.name != "diptych.__main__":
            yield found.name


def test_what_a_module_makes_public_exists_and_is_named_once() -> None:
    for name in modules():
        module = importlib.import_module(name)
        public = getattr(module, "__all__", [])
        assert [member for member in public if not hasattr(module, member)] == [], name
        assert len(set(public)) == len(public), name
        assert (module.__doc__ or "").strip().partition("\n")[0].endswith((".", ":")), name


def test_modules_of_the_root_say_what_is_public() -> None:
    for name in {path.stem for path in SRC.glob("*.py")} - {"types", "_version", "__main__"}:
        body = tree(SRC / f"{name}.py").body
        defined = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)
        said = any(
            isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            for node in body
        )
        assert said or not defined, name


def test_a_private_name_stays_in_its_module() -> None:
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("diptych"):
                module = (node.module or "").removeprefix("diptych").lstrip(".")
                private = {
                    alias.name
                    for alias in node.names
                    if alias.name.startswith("_")
                    and not alias.name.startswith("__")
                    and f"{module}.{alias.name}".lstrip(".") not in MODULES
                }
                assert not private, f"{name}:{node.lineno}"


def test_the_package_can_be_starred() -> None:
    space: dict[str, object] = {}
    exec("from diptych import *", space)
    assert {name for name in space if name != "__builtins__"} == set(diptych.__all__)


def test_modules_are_short() -> None:
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > MAX_MODULE_LINES} == {}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body, its docstring not counted."""
    body = function.body
    first = body[1] if ast.get_docstring(function) is not None and len(body) > 1 else body[0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_functions_are_short() -> None:
    long = {
        f"{name}.{function.name}": length(function)
        for name, path in MODULES.items()
        for function in functions(path)
        if length(function) > MAX_FUNCTION_LINES
    }
    assert long == {}


def test_the_library_never_prints() -> None:
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            is_print = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
            assert not is_print, name


def test_what_is_caught_is_named_or_passed_on() -> None:
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.dump(node.type) if node.type is not None else "'BaseException'"
                last = node.body[-1]
                is_passed_on = isinstance(last, ast.Raise) and last.exc is None
                if "'Exception'" in caught or "'BaseException'" in caught:
                    assert is_passed_on, f"{name}:{node.lineno}"


UNPICKLING = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}
"""modules with formats that can run code"""
MAY_PICKLE = {"engine.reading", "engine.worker", "engine.worker_process"}
"""modules that read what processes of this package sent to each other, and no files"""


def test_only_processes_that_speak_to_each_other_use_pickles() -> None:
    found = {name for name, path in MODULES.items() if UNPICKLING & {*roots(path)}}
    assert found == MAY_PICKLE


def roots(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports."""
    return (name.partition(".")[0] for name in imports(path))


def test_text_is_never_run_as_code() -> None:
    for name, path in MODULES.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", "")
                assert called not in {"eval", "exec", "compile", "__import__"}, name


def test_arrays_are_read_without_pickles() -> None:
    """In the package, the tools and the benchmarks; also no model of PyTorch that is a pickle."""
    paths = [*MODULES.values(), *(ROOT / "bench").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]
    for path in paths:
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            of = getattr(node.func.value, "id", "")
            if node.func.attr == "load" and of in {"np", "numpy", "torch"}:
                given = {each.arg: ast.unparse(each.value) for each in node.keywords}
                assert given.get("allow_pickle") == "False", f"{path}:{node.lineno}"


def test_no_unfinished_business() -> None:
    for name, path in MODULES.items():
        text = path.read_text("utf-8")
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "pragma: no cover"):
            assert word not in text, name


# -- tests -----------------------------------------------------------------------------------------


def test_tests_mirror_the_source() -> None:
    """`tests/page/test_links_header.py` tests `page/links.py`, or the folder `page/links/`."""
    apart = {"bench", "conformance", "docs", "papers", "support"}
    known: dict[Path, set[str]] = defaultdict(set)
    for name in MODULES:
        path = Path(*name.split("."))
        known[path.parent].add(path.name)
    homeless = []
    for path in TESTS.rglob("test_*.py"):
        place = path.relative_to(TESTS)
        if place.parts[0] in apart or place.name in (
            "test_architecture.py",
            "test_docs.py",
            "test_public_names.py",
        ):
            continue
        subject = place.stem.removeprefix("test_")
        if not any(
            subject == name or subject.startswith(f"{name}_") for name in known[place.parent]
        ):
            homeless.append(str(place))
    assert homeless == []
