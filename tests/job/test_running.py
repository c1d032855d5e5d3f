"""Figures of running tasks are read from files that may be stale or damaged."""

from __future__ import annotations

import os
from pathlib import Path

from diptych.job.running import STALE_SECONDS, read_running, remove_running, write_running


def test_only_fresh_and_sound_figures_are_read(tmp_path: Path) -> None:
    for name in ("a", "b", "old"):
        write_running(tmp_path, name, {"pages": 2, "host": "h"})
    (tmp_path / "broken.json").write_bytes(b"{")
    (tmp_path / "list.json").write_bytes(b"[1]")
    before = (tmp_path / "old.json").stat().st_mtime - 2 * STALE_SECONDS
    os.utime(tmp_path / "old.json", (before, before))
    assert sorted(read_running(tmp_path)) == ["a", "b"]
    assert read_running(tmp_path, ["b", "old"]) == {"b": {"pages": 2, "host": "h"}}
    remove_running(tmp_path, "a")
    remove_running(tmp_path, "a")
    assert sorted(read_running(tmp_path)) == ["b"]


def test_a_missing_folder_does_not_stop_a_task(tmp_path: Path) -> None:
    write_running(tmp_path / "gone", "a", {"pages": 1})
    assert read_running(tmp_path / "gone") == {}
