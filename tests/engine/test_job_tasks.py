"""The process that runs a task contains its faults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.jobtasks import Unlucky

from diptych.engine.job_tasks import TICK, contained, message_of, tick_of_task
from diptych.engine.worker import Failed
from diptych.errors import ConfigError, StoppedError, option_name


@dataclass(frozen=True)
class Ticking:
    name: str = "ticking"
    attempt: int = 1
    signature: str = ""

    def run(self) -> dict[str, int]:
        tick_of_task()
        return {"pages": 1}


def test_a_request_to_stop_is_not_contained(tmp_path: Path) -> None:
    def stop() -> None:
        raise StoppedError("Stopped.")

    assert contained(Ticking(), tmp_path / "log") == {"pages": 1}
    before = TICK.set(stop)
    try:
        with pytest.raises(StoppedError):
            contained(Ticking(), tmp_path / "log")
    finally:
        TICK.reset(before)


def test_a_log_that_cannot_be_written_does_not_hide_the_fault(tmp_path: Path) -> None:
    found = contained(Unlucky("a", "raise", 1), tmp_path / "missing" / "log")
    assert found == Failed("OSError", "the disk is full")


def test_messages_are_one_line_and_name_options() -> None:
    assert message_of(ValueError("a\nb\x1b[2J")) == "a b [2J"
    assert message_of(ConfigError(f"set {option_name('out')}")) == "set --out"
    assert len(message_of(ValueError("x" * 9999))) == 500
