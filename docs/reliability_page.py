"""The tables of the page on reliability, generated from the results of its tests."""

from __future__ import annotations

import json
from pathlib import Path

from ceilings import ceilings
from figures import RESULTS, machine_words, rows_table

FOLDER = RESULTS / "reliability"


def reliability() -> dict[str, str]:
    """The generated parts of the page: one table for each file of results, and one of ceilings."""
    parts = {f"reliability {file.stem}": _part(file) for file in sorted(FOLDER.glob("*.json"))}
    return {**parts, "reliability ceilings": ceilings()}


def _part(file: Path) -> str:
    """A result as a table, with the command that wrote it and the machine it ran on."""
    result = json.loads(file.read_text("utf-8"))
    parts = [rows_table(result["rows"])]
    if result.get("command"):
        where = f" on {machine_words(result['machine'])}" if result.get("machine") else ""
        parts.append(f"Written by `{result['command']}`{where}.")
    return "\n\n".join(parts)
