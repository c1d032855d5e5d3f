"""Targets: the compiled kernels, by the tests that compare each with its reference in Python.

The coverage of the reference guides the fuzzer; Hypothesis makes arguments from its bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random

from tools.torture.fuzzing.target import Maker, Target

_MODULES = (
    *(f"kernels.test_{name}" for name in (
        "beads", "characters", "edges", "ibm1", "langid", "lines", "nearest", "outline_nodes",
        "pieces", "same_words", "stems", "text_hints", "tree_align", "tree_match",
        "url_lang", "word_evidence", "word_links", "word_numbers",
    )),
    "page.test_fast_scan", "page.test_fast_walk", "learn.test_trees",
    "learn.url.test_pair_features", "text.test_near_duplicates", "text.test_stems",
)  # fmt: skip
_SEEDS, _LONG = 8, 4096


def _tests(name: str) -> list[Callable[[bytes], object]]:
    """The tests of a module that need nothing but examples, as functions of bytes."""
    found = [
        each
        for each in vars(import_module(name)).values()
        if hasattr(each, "hypothesis") and not inspect.signature(each).parameters
    ]
    return [each.hypothesis.fuzz_one_input for each in found]


def _target(name: str) -> Maker:
    def make(folder: Path) -> Target:
        tests = _tests(name)
        chance = Random(1)

        def read(data: bytes) -> None:
            if data:
                tests[data[0] % len(tests)](data[1:])

        seeds = [
            bytes([test]) + chance.randbytes(_LONG >> number)
            for test in range(len(tests)) for number in range(_SEEDS)
        ]  # fmt: skip
        return Target(read, seeds)

    return make


def _short(name: str) -> str:
    return "kernel " + name.rpartition("test_")[2]


TARGETS: dict[str, Maker] = {_short(name): _target(name) for name in _MODULES}
