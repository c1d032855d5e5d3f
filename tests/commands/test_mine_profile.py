"""`diptych mine --profile`: the cost of each stage, on the screen and in a file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from support.commands import rows, run

import diptych
from diptych import Run

STAGES = [
    "starting", "indexing", "crawling", "pairing", "learning words", "aligning", "scoring",
    "writing", "reporting",
]  # fmt: skip


def profile(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "profile.toml").read_text("utf-8"))


def test_profile_is_printed_and_written(recorded, tmp_path) -> None:
    given = "mine", "--warc", recorded / "warc", "--langs", "en,fr", "--out", tmp_path / "run"
    shown = run(*given, "--quiet", "--profile").stderr.splitlines()
    found = profile(tmp_path / "run")
    assert [each["stage"] for each in found["stages"]] == STAGES
    table = shown[-len(STAGES) - 2 :]
    assert table[0].split() == "stage CPU s main workers wall s peak MB done".split()
    assert [line.split("  ")[0] for line in table[1:]] == [*STAGES, "all stages"]
    assert table[-1].endswith(
        f"{found['total']['pages']:,} pages, {found['total']['pairs']:,} page pairs,"
        f" {found['total']['segments']:,} segments"
    )
    assert found["total"]["pairs"] == len(rows(tmp_path / "run" / "pairs.tsv"))
    counted = {each["stage"]: (each["done"], each["unit"]) for each in found["stages"][2:-1]}
    assert counted["crawling"] == (found["total"]["pages"], "pages")
    assert counted["aligning"][1] == "page pairs"
    assert counted["aligning"][0] >= found["total"]["pairs"]
    assert found["total"]["main_cpu_seconds"] > 0


def test_profile_beside_one_json_object(recorded, tmp_path) -> None:
    given = "mine", "--warc", recorded / "warc", "--langs", "en,fr", "--out", tmp_path / "run"
    result = run(*given, "--json", "--profile")
    assert json.loads(result.stdout)["pairs"] == profile(tmp_path / "run")["total"]["pairs"]
    assert "all stages" in result.stderr


def test_nothing_is_measured_unless_asked(recorded, tmp_path, monkeypatch) -> None:
    monkeypatch.delattr("diptych.engine.usage._own_peak")
    given = "mine", "--warc", recorded / "warc", "--langs", "en,fr", "--out", tmp_path / "run"
    result = run(*given, "--quiet")
    assert result.exit_code == 0
    assert "all stages" not in result.stderr
    assert not (tmp_path / "run" / "profile.toml").exists()


def test_profile_from_python_counts_worker_processes(recorded, tmp_path) -> None:
    found = diptych.mine(
        warc=recorded / "warc", langs="en,fr", out=tmp_path / "run", jobs=1, profile=True
    )
    assert isinstance(found, Run)
    total = profile(tmp_path / "run")["total"]
    assert total["worker_cpu_seconds"] > 0.1
    assert total["cpu_seconds"] >= total["worker_cpu_seconds"]
