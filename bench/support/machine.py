"""The machine that a result was measured on, without identifying details."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def machine(libraries: Sequence[str]) -> dict[str, Any]:
    """The processor, the Python version, and the versions of installed libraries."""
    versions = {name: _version(name) for name in libraries}
    return {
        "cpus": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {name: number for name, number in versions.items() if number},
    }


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
