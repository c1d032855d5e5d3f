"""SECURITY.md names code and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
PROMISES = TEXT.partition("## What Diptych promises")[2].partition("## ")[0]


def test_each_promise_names_code_and_tests_that_exist() -> None:
    rows = [line.strip("|").split("|") for line in PROMISES.splitlines() if line.startswith("|")]
    assert len(rows) > 10
    for promise, code, tests in rows[2:]:
        named = re.findall(r"`([^`]+)`", code), re.findall(r"`([^`]+)`", tests)
        assert all(named), promise
        for path in named[0]:
            assert (ROOT / "src" / "diptych" / path).exists() or (ROOT / path).exists(), path
        for path in named[1]:
            assert (ROOT / path).exists(), path


def test_the_page_names_make_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^    make (\w+)", TEXT, re.MULTILINE):
        assert f"\n{target}:" in makefile, target
