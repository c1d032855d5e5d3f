"""The results of the long tests, as docs/reliability.md shows them."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.support.machine import machine
from bench.support.tables import show

RESULTS = Path(__file__).parents[2] / "bench" / "results" / "reliability"


def keep(name: str, rows: Sequence[dict[str, Any]], **more: Any) -> None:
    """Print the rows of the test `name`, and write them to its file of results."""
    show({name: rows})
    test = Path(sys.argv[0]).stem
    command = shlex.join(["python", "-m", f"tools.torture.{test}", *sys.argv[1:]])
    result = {"command": command, "rows": rows, **more, "machine": machine([])}
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", "utf-8")
