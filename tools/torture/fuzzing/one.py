"""Fuzz a target: python -m tools.torture.fuzzing.one MODULE NAME FOLDER SECONDS.

A fault does not end the fuzzer: the first input of each kind of fault is kept in FOLDER/faults.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import atheris

_TIME, _MEMORY = 60, 3000  # seconds and megabytes for one input

# Modules are imported when they are needed, so this is never left.
atheris.instrument_imports(include=["diptych", "protego", "w3lib"]).__enter__()

from tools.torture.fuzzing.all_targets import targets_of  # noqa: E402
from tools.torture.fuzzing.target import Target, prepare, tried  # noqa: E402


def write_seeds(folder: Path, target: Target) -> None:
    """Write the seeds of a target to the corpus of the fuzzer."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds:
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


def main() -> None:
    """Fuzz a target for some seconds."""
    module, name, place, seconds = sys.argv[1:]
    folder = Path(place)
    prepare(folder)
    target = targets_of(module)[name](folder / "work")
    write_seeds(folder / "corpus", target)

    most = max(map(len, target.seeds), default=0)
    atheris.Setup(
        [
            sys.argv[0], str(folder / "corpus"), f"-max_total_time={seconds}", f"-timeout={_TIME}",
            f"-rss_limit_mb={_MEMORY}", f"-artifact_prefix={folder}/faults/",
            f"-max_len={max(4096, 2 * most)}", f"-report_slow_units={_TIME}",
            "-len_control=0" if module == "kernels" else "-len_control=100",
        ],
        lambda data: tried(target, data, folder),
    )  # fmt: skip
    atheris.Fuzz()


if __name__ == "__main__":
    main()
