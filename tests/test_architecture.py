"""The shape of the code, read from its source: what may import what, and how large things are."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import diptych
from diptych.pipeline import STAGES
from diptych.registry import DISCOVERY_STAGES, STRATEGIES, strategies

SRC = Path(diptych.__file__).parent
FILES = sorted(SRC.rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40

EFFECTS = {
    "socket", "ssl", "asyncio", "aiohttp", "http.client", "http.server", "urllib.request",
    "subprocess", "multiprocessing", "threading", "concurrent.futures", "signal", "sqlite3", "os",
    "pathlib", "shutil", "tempfile", "glob", "time", "random", "secrets", "uuid", "sys",
}  # fmt: skip
"""network, processes, disk, clock and chance: what decides is given them as arguments"""
NETWORK = {
    "socket", "ssl", "asyncio", "aiohttp", "yarl", "http.client", "http.server", "urllib.request",
    "subprocess", "multiprocessing", "threading",
}  # fmt: skip

PURE_FOLDERS = ("text", "pair", "verify", "align_dom", "align_sentences", "filter", "export")
PURE_MODULES = {
    "types", "units", "protocols", "errors", "urllist", "n_way", "crawl.bfs", "crawl.bfs_langs",
    "crawl.chances", "crawl.hybrid", "crawl.matches", "crawl.models", "crawl.parallel_links",
    "crawl.politeness", "crawl.pplocator", "crawl.reading", "crawl.robots", "crawl.scope",
    "crawl.smart", "crawl.spots", "crawl.tongues", "crawl.traps", "crawl.worth",
    "discover.backforth", "discover.bits", "discover.contexts", "discover.detect",
    "discover.focused", "discover.following", "discover.forward", "discover.naive_bayes",
    "discover.naming",
    "discover.neighbourhood", "discover.seeds_only", "discover.site_pages", "discover.sources",
    "discover.triggers", "kernels",
    "kernels.beads", "kernels.beads_reference", "kernels.edges",
    "kernels.edges_reference", "kernels.ibm1", "kernels.ibm1_reference",
    "kernels.langid", "kernels.langid_reference", "kernels.langid_texts", "kernels.links",
    "kernels.nearest",
    "kernels.nearest_reference", "kernels.pieces", "kernels.tree_align",
    "kernels.tree_align_reference", "learn.lexicon", "learn.logistic", "learn.ibm1",
    "learn.links", "learn.texts",
    "cascade",
}  # fmt: skip
ALLOWED = {
    ("crawl.models", "learn.url_lang"),
    ("crawl.models", "learn.url_pair"),
    ("crawl.reading", "crawl.frontier"),
    ("crawl.smart", "learn"),
    ("crawl.smart", "learn.url_lang"),
    ("crawl.smart", "learn.url_pair"),
    ("align_sentences.embedding", "learn.encoder"),
    ("filter.likeness", "learn"),
    ("filter.likeness", "learn.encoder_rows"),
    ("filter.quality", "learn"),
    ("filter.quality", "learn.encoder"),
    ("filter.quality", "learn.quality"),
    ("discover.contexts", "learn"),
    ("discover.contexts", "learn.url_lang"),
    ("discover.detect", "learn"),
    ("discover.detect", "learn.link_predictor"),
    ("pair.union", "learn.page_pair"),
    ("pair.union", "learn.url_pair"),
    ("pair.url_model", "learn.concepts"),
    ("pair.url_model", "learn.url_pair"),
    ("pair.url_model", "learn.url_reading"),
    ("pair.weighing", "learn.page_pair"),
    ("verify.classify", "learn.verify"),
    ("verify.decision_tree", "learn.verify"),
    ("verify.maxent", "learn.verify"),
}
"""pure -> not pure: `reading` takes the name of a kind of URL, an enumeration, from the frontier;
a trained model is a constant that is read from the package or from a folder the recipe names"""
PRIVILEGED = {"engine", "demo"}
"""`engine` is the web and the processes; `demo` serves its site on loopback to be mined"""
IMPORTERS = {
    "findings": {"store"},
    "tasks": {
        "alignment",
        "engine.answers",
        "engine.live",
        "engine.pool",
        "engine.replay",
        "pipeline",
        "teaching",
    },
    "engine.pool": {"alignment", "engine.answers", "pipeline", "teaching"},
    "alignment": {"pipeline"},
    "teaching": {"api", "mining", "pipeline"},
}
"""the halves of one thing, and what runs in several processes: who may know of each"""


def name_of(path: Path) -> str:
    """`crawl.bfs` for src/diptych/crawl/bfs.py; a package is its folder's name."""
    parts = list(path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES if name_of(path)}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _typing_only(module: ast.Module) -> set[ast.AST]:
    """What stands under `if TYPE_CHECKING`, which never runs."""
    return {
        inner
        for node in ast.walk(module)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }


def imports(path: Path) -> Iterator[str]:
    """All that a module imports when run, also inside functions, as full names."""
    module = tree(path)
    skipped = _typing_only(module)
    for node in ast.walk(module):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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


def is_pure(name: str) -> bool:
    return name.partition(".")[0] in PURE_FOLDERS or name in PURE_MODULES


PURE = sorted(name for name in MODULES if is_pure(name))


def test_all_that_should_be_pure_is_there() -> None:
    assert set(MODULES) >= PURE_MODULES
    assert {name.partition(".")[0] for name in PURE} >= set(PURE_FOLDERS)
    assert len(PURE) > 30


@pytest.mark.parametrize("name", PURE)
def test_what_decides_touches_no_network_disk_clock_or_chance(name: str) -> None:
    used = set(imports(MODULES[name]))
    assert not used & EFFECTS
    assert not {found.partition(".")[0] for found in used} & EFFECTS


@pytest.mark.parametrize("name", PURE)
def test_what_decides_rests_on_nothing_but_its_like(name: str) -> None:
    # `_version` is a constant, and a folder's `__init__` without code is its docstring.
    reached = {found for found in own_imports(MODULES[name]) if found != "_version"}
    impure = {(name, found) for found in reached if not is_pure(found)}
    assert impure - ALLOWED - {(name, "crawl")} == set()


@pytest.mark.parametrize("name", PURE)
def test_what_decides_opens_no_file_by_itself(name: str) -> None:
    calls = {
        node.func.id
        for node in ast.walk(tree(MODULES[name]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "exec", "eval", "input", "__import__"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_only_the_engine_speaks_to_the_network(name: str) -> None:
    used = set(imports(MODULES[name])) & NETWORK
    assert not used or name.partition(".")[0] in PRIVILEGED


@pytest.mark.parametrize("name", IMPORTERS)
def test_few_know_of_what_runs_in_several_processes(name: str) -> None:
    found = {other for other, path in MODULES.items() if name in own_imports(path)}
    assert found <= IMPORTERS[name]


@pytest.mark.parametrize("stage", STAGES)
def test_stages_never_import_each_other(stage: str) -> None:
    others = set(STAGES) - {stage}
    for name, path in MODULES.items():
        if name.partition(".")[0] == stage:
            reached = {found.partition(".")[0] for found in own_imports(path)}
            assert not reached & others, name


@pytest.mark.parametrize("name", PURE)
def test_what_decides_imports_no_shell(name: str) -> None:
    shell = {
        "engine", "cli", "mining", "progress", "tell", "demo", "report", "run", "store", "findings",
        "pipeline", "tasks", "teaching", "alignment",
    }  # fmt: skip
    reached = {found.partition(".")[0] for found in own_imports(MODULES[name])}
    assert not reached & shell


def test_nouns_and_verbs_import_nothing_of_ours_but_each_other() -> None:
    assert own_imports(MODULES["types"]) == set()
    assert own_imports(MODULES["errors"]) == set()
    assert own_imports(MODULES["units"]) == {"types"}
    assert own_imports(MODULES["protocols"]) == {"types", "units"}


def test_helpers_for_text_import_only_each_other() -> None:
    for name, path in MODULES.items():
        if name.startswith("text."):
            reached = {found.partition(".")[0] for found in own_imports(path)}
            # A kernel is a helper too; what it rests on is checked with the pure modules.
            assert reached <= {"text", "types", "units", "kernels"}, name


def test_only_the_command_line_imports_itself() -> None:
    for name, path in MODULES.items():
        if name not in ("cli", "__main__", "demo"):
            assert "cli" not in own_imports(path), name


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: own_imports(path) for name, path in MODULES.items()}
    # The demo runs the command line, which offers the demo: both inside functions.
    graph["demo"] = graph["demo"] - {"cli"}
    seen: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join((*above, name))
        if name not in seen:
            for other in graph[name]:
                visit(other, (*above, name))
            seen.add(name)

    for name in graph:
        visit(name, ())


def test_folders_are_the_stages() -> None:
    # Not in the order in which they run: a signature keeps the order that it has always had.
    assert sorted(STRATEGIES) == sorted([*STAGES, *DISCOVERY_STAGES])
    for stage in (*STAGES, "discover"):
        assert (SRC / stage / "__init__.py").is_file()


def test_every_strategy_stands_in_the_folder_of_its_stage() -> None:
    for stage, known in STRATEGIES.items():
        for path in known.values():
            folder = "discover" if stage in DISCOVERY_STAGES else stage
            assert path.startswith(f"diptych.{folder}."), path


@pytest.mark.parametrize("stage", STRATEGIES)
def test_strategies_are_frozen_dataclasses_with_defaults_for_all_fields(stage: str) -> None:
    for name, cls in strategies(stage).items():
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


def modules() -> Iterator[str]:
    yield "diptych"
    for found in pkgutil.walk_packages(diptych.__path__, "diptych."):
        if found.name != "diptych.__main__":
            yield found.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_what_a_module_makes_public_exists_and_is_told_in_order(name: str) -> None:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None)
    if public is not None:
        assert all(hasattr(module, member) for member in public)
        assert len(set(public)) == len(public)
    assert (module.__doc__ or "").strip().endswith((".", ":")) or name == "diptych"


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"types", "_version", "__main__"}))
def test_modules_say_what_is_public(name: str) -> None:
    body = tree(MODULES[name]).body
    defined = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)
    said = any(
        isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for node in body
    )
    assert said or not defined


def test_the_package_can_be_starred() -> None:
    space: dict[str, object] = {}
    exec("from diptych import *", space)
    assert {name for name in space if name != "__builtins__"} == set(diptych.__all__)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_modules_are_short(name: str) -> None:
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= MAX_MODULE_LINES


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body, its docstring not counted."""
    body = function.body
    first = body[1] if ast.get_docstring(function) is not None and len(body) > 1 else body[0]
    return (function.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("name", sorted(MODULES))
def test_functions_are_short(name: str) -> None:
    long = {
        function.name: length(function)
        for function in functions(MODULES[name])
        if length(function) > MAX_FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_library_never_prints(name: str) -> None:
    calls = [
        node.lineno
        for node in ast.walk(tree(MODULES[name]))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert calls == []


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_is_caught_is_named_or_passed_on(name: str) -> None:
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.dump(node.type) if node.type is not None else "'BaseException'"
            last = node.body[-1]
            is_passed_on = isinstance(last, ast.Raise) and last.exc is None
            if "'Exception'" in caught or "'BaseException'" in caught:
                assert is_passed_on, node.lineno


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_unfinished_business(name: str) -> None:
    text = MODULES[name].read_text("utf-8")
    for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "pragma: no cover"):
        assert word not in text
