"""Run a target on the inputs of the fuzzer, and on random changes of them, without coverage.

    python -m tools.torture.fuzzing.replay MODULE NAME FOLDER SECONDS

Under sanitizers, libFuzzer cannot count the coverage of Python.  The input that is read is in
FOLDER/last, so that it is known if the process ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tools.torture.fuzzing.all_targets import targets_of
from tools.torture.fuzzing.target import prepare, tried

_LONGEST = 4096


def changed(inputs: Sequence[bytes], chance: Random) -> bytes:
    """One of the inputs with a few changes, or other bytes after its first one.

    >>> changed([b"abc"], Random(1)) == changed([b"abc"], Random(1))
    True
    """
    data = bytearray(chance.choice(inputs))
    if chance.random() < 0.5:
        return bytes(data[:1]) + chance.randbytes(chance.randrange(_LONGEST))
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[place : place + 1] = chance.randbytes(1)
            case 1:
                del data[place : place + chance.randint(1, 16)]
            case 2:
                data[place:place] = chance.randbytes(chance.randint(1, 16))
            case _:
                data[place:] = chance.choice(inputs)[place:]
    return bytes(data)


def main() -> None:
    """Run a target for some seconds."""
    module, name, place, seconds = sys.argv[1:]
    folder, chance = Path(place), Random(0)
    prepare(folder)
    target = targets_of(module)[name](folder / "work")
    kept = sorted((folder / "corpus").glob("*"))
    inputs = [*filter(None, target.seeds), *(data for path in kept if (data := path.read_bytes()))]
    until, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < until:
        data = inputs[count] if count < len(inputs) else changed(inputs, chance)
        (folder / "last").write_bytes(data)
        tried(target, data, folder)
        count += 1
    print(f"Done {count} runs")


if __name__ == "__main__":
    main()
