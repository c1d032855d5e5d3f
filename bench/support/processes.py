"""Functions to start programs, and to end a benchmark that cannot run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["give_up", "last_line", "running"]


def give_up(message: str) -> NoReturn:
    """Print the reason why a benchmark cannot run in one line, and exit with status 2."""
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(2)


def last_line(text: str) -> str:
    """The last line that a program wrote, which is usually its error."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


@contextmanager
def running(command: Sequence[str], *, ready: str) -> Iterator[str]:
    """Run a server inside the context; yields the line that it prints when it is ready."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert process.stdout is not None
            line = next((text for text in process.stdout if text.startswith(ready)), None)
            if line is None:
                errors.seek(0)
                give_up(f"'{' '.join(command[1:3])}' did not start: {last_line(errors.read())}")
            yield line.strip()
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
