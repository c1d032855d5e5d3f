"""Commands of the benchmarks that documents and scripts name."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "bench" / "README.md"
NAMING = [
    ROOT / "Makefile", README, *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs/models").glob("*.md"), *(ROOT / "docs/strategies").glob("*.md"),
    *(ROOT / "src").rglob("*.md"), *(ROOT / "bench").rglob("*.py"),
]  # fmt: skip
"""decisions are records: what they name may be gone"""
MODULE = re.compile(r"-m[ ,\"]+(bench[\w.]*\w)")
NO_MODULE = "bench.tasks.NAME"  # in place of a name
PATH = re.compile(r"\bbench/[\w/]+\.(?:py|json|txt|md)\b")


def named(pattern: re.Pattern[str]) -> list[str]:
    texts = (file.read_text("utf-8") for file in NAMING)
    return sorted({found[found.re.groups] for text in texts for found in pattern.finditer(text)})


@pytest.mark.parametrize("name", [name for name in named(MODULE) if name != NO_MODULE])
def test_named_modules_can_be_run(name):
    spec = find_spec(name)
    assert spec is not None
    if spec.submodule_search_locations:
        assert find_spec(f"{name}.__main__") is not None
    else:
        assert "__main__" in Path(spec.origin or "").read_text("utf-8")


def test_named_files_are_there():
    made = {"bench/results/crawl_live.json", "bench/results/many_sites.json",
            "bench/results/loop_block.json", "bench/results/crawl_speed_light.json",
            "bench/results/real_sites.json"}  # fmt: skip
    missing = [name for name in named(PATH) if not (ROOT / name).is_file()]
    assert set(missing) <= made


@pytest.mark.parametrize("folder", ["tasks", "training"])
def test_every_program_is_in_the_readme(folder):
    programs = [
        file.stem
        for file in (ROOT / "bench" / folder).glob("*.py")
        if '__name__ == "__main__"' in file.read_text("utf-8")
    ]
    assert programs
    text = README.read_text("utf-8")
    assert [name for name in programs if f"python -m bench.{folder}.{name}" not in text] == []


def test_every_result_is_of_a_task():
    tasks = {file.stem for file in (ROOT / "bench" / "tasks").glob("*.py")}
    assert {file.stem for file in (ROOT / "bench" / "results").glob("*.json")} <= tasks
