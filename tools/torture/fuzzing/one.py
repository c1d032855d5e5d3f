"""Fuzz a target: python -m tools.torture.fuzzing.one MODULE NAME FOLDER SECONDS.

A fault does not end the fuzzer: the first input of each kind of fault is kept in FOLDER/faults.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from pathlib import Path

import atheris

_TIME, _MEMORY = 60, 3000  # seconds and megabytes for one input

# Modules are imported when they are needed, so this is never left.
atheris.instrument_imports(include=["diptych", "protego", "w3lib"]).__enter__()

from tools.torture.fuzzing.all_targets import targets_of  # noqa: E402
from tools.torture.fuzzing.target import Target  # noqa: E402


def kind_of(error: BaseException) -> str:
    """The type of an error and the innermost line of Diptych, which tell faults apart."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/diptych/" in frame.filename] or list(frames)
    place = f"{Path(own[-1].filename).name}:{own[-1].name}:{own[-1].lineno}"
    return f"{type(error).__name__} at {place}"


def write_seeds(folder: Path, target: Target) -> None:
    """Write the seeds of a target to the corpus of the fuzzer."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds:
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


def main() -> None:
    """Fuzz a target for some seconds."""
    module, name, place, seconds = sys.argv[1:]
    folder = Path(place)
    (folder / "faults").mkdir(parents=True, exist_ok=True)
    (folder / "work").mkdir(exist_ok=True)
    target = targets_of(module)[name](folder / "work")
    write_seeds(folder / "corpus", target)

    def test_one(data: bytes) -> None:
        try:
            target.read(data)
        except target.errors:
            pass
        except Exception as error:  # noqa: BLE001
            said = kind_of(error)
            file = folder / "faults" / hashlib.sha1(said.encode()).hexdigest()[:12]
            if not file.exists():
                file.write_bytes(data)
                file.with_suffix(".txt").write_text(f"{said}\n\n{traceback.format_exc()}", "utf-8")

    most = max(map(len, target.seeds), default=0)
    atheris.Setup(
        [
            sys.argv[0], str(folder / "corpus"), f"-max_total_time={seconds}", f"-timeout={_TIME}",
            f"-rss_limit_mb={_MEMORY}", f"-artifact_prefix={folder}/faults/",
            f"-max_len={max(4096, 2 * most)}", f"-report_slow_units={_TIME}",
        ],
        test_one,
    )  # fmt: skip
    atheris.Fuzz()


if __name__ == "__main__":
    main()
