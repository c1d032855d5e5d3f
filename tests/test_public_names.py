"""The names that `import diptych` offers: adding or removing one is a decision."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import diptych

NAMES = [
    "AlignedText", "ArchiveError", "Bead", "ConfigError", "CorpusError", "DiptychError", "Document",
    "Exported", "Job", "LangScore", "MachineError", "PageInfo", "PageText", "Pair", "Progress",
    "Run", "Segment", "SegmentPair", "SiteVerdict", "SourceError", "Step", "StoppedError",
    "StoreError", "Summary", "Term", "TextBlock", "__version__", "align", "detect", "discover",
    "mine", "open", "url_languages",
    "url_pairs",
]  # fmt: skip


def test_public_names_are_these() -> None:
    assert sorted(diptych.__all__) == NAMES
    assert dir(diptych) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_name_can_be_used_and_is_documented(name: str) -> None:
    found = getattr(diptych, name)
    assert name.startswith("__") or inspect.getdoc(found)


def test_other_names_are_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'crawl_everything'"):
        diptych.crawl_everything  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(diptych.__file__).read_text("utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("diptych.")
        for alias in node.names
    }
    assert seen == set(NAMES)


def test_functions_are_typed() -> None:
    for name in ("mine", "detect", "discover", "align", "open", "url_languages", "url_pairs"):
        signature = inspect.signature(getattr(diptych, name))
        assert signature.return_annotation is not inspect.Signature.empty, name
        assert all(
            parameter.annotation is not inspect.Parameter.empty
            and parameter.kind is not inspect.Parameter.VAR_KEYWORD
            for parameter in signature.parameters.values()
        ), name


def test_import_is_light() -> None:
    code = (
        "import sys, diptych; print(sorted({'numpy', 'aiohttp', 'rich', 'click'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_package_says_that_it_is_typed() -> None:
    assert (Path(diptych.__file__).parent / "py.typed").exists()


@pytest.mark.slow
def test_type_checkers_find_misspelled_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import diptych\ndiptych.open('run').summary\ndiptych.mime\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", script],
        capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(diptych.__file__).parent.parent)},
    )  # fmt: skip
    assert 'has no attribute "mime"' in done.stdout
