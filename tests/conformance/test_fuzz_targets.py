"""The targets of the fuzzer: their seeds are read, and some changes of them, without a fault."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tools.torture.fuzzing.all_targets import targets_of
from tools.torture.fuzzing.replay import changed
from tools.torture.fuzzing.target import Target, kind_of, tried

QUICK = [(module, name) for module in ("pages", "files", "models", "crawls", "kernels")
         for name in targets_of(module)]  # fmt: skip
CHANGES = 5


@pytest.mark.parametrize(("module", "name"), QUICK)
def test_seeds_and_some_changes_are_read_without_a_fault(
    module: str, name: str, tmp_path: Path
) -> None:
    target = targets_of(module)[name](tmp_path)
    chance = Random(2)
    (tmp_path / "faults").mkdir()
    for data in (*target.seeds[:5], *(changed(target.seeds, chance) for _ in range(CHANGES))):
        tried(target, data, tmp_path)
    assert [path.read_text("utf-8") for path in (tmp_path / "faults").glob("*.txt")] == []


def test_a_fault_is_kept_with_its_input_and_a_declared_error_is_not(tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        if data == b"good":
            raise ValueError("declared")
        raise KeyError(data)

    (tmp_path / "faults").mkdir()
    for data in (b"good", b"bad", b"as bad"):
        tried(Target(read, [], (ValueError,)), data, tmp_path)
    kept = {path.suffix: path.read_bytes() for path in (tmp_path / "faults").iterdir()}
    assert kept[""] == b"bad"
    assert b"KeyError: b'bad'" in kept[".txt"]
    assert len(kept) == 2


def test_faults_are_told_apart_by_type_and_place() -> None:
    from diptych.text.urls import normalise

    with pytest.raises(TypeError) as caught:
        normalise(5)  # type: ignore[arg-type]
    assert kind_of(caught.value).startswith("TypeError at urls.py:normalise:")
