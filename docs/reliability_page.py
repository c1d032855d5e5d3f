"""The tables of the page on reliability, generated from the results of its tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ceilings import ceilings
from figures import RESULTS, ROOT, machine_words, rows_table, table

FOLDER = RESULTS / "reliability"


def reliability() -> dict[str, str]:
    """The generated parts of the page: servers of the tests, ceilings, and a table per result."""
    results = {f"reliability {file.stem}": _part(file) for file in sorted(FOLDER.glob("*.json"))}
    return {"misbehaviours": _misbehaviours(), "reliability ceilings": ceilings(), **results}


def _misbehaviours() -> str:
    """The table of servers that misbehave, which the tests crawl."""
    sys.path.append(str(ROOT / "tests"))
    from support.misbehaviour.table import TABLE

    rows = ((row.name, row.does, row.outcome, f"{row.requests:,}") for row in TABLE)
    head = ("server", "what it does", "outcome", "requests at most")
    return table(head, rows, right=head[3:])


def _part(file: Path) -> str:
    """A result as a table, with the command that wrote it and the machine it ran on."""
    result = json.loads(file.read_text("utf-8"))
    parts = [rows_table(result["rows"])]
    if result.get("command"):
        where = f" on {machine_words(result['machine'])}" if result.get("machine") else ""
        parts.append(f"Written by `{result['command']}`{where}.")
    return "\n\n".join(parts)
