"""Console blocks of the documentation: functions to read them, run them and compare outputs.

In a ```console block, a line that begins with `$ ` is a command (`> ` continues it), and the lines
after it are its output.  The blocks of one document run in order in one shell, in a new folder, on
a terminal, so that they show what a user sees there: standard output and standard error.  After a
command that ends in `&`, the next command waits until it has printed one line.
"""

from __future__ import annotations

import fcntl
import os
import pty
import random
import re
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from diptych.commands.demo import PORT

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100  # columns of the terminal
LIMIT = 600.0  # seconds; only a command that hangs takes that long
FENCE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(.)", re.DOTALL)
VOLATILE = (  # times, ports and file offsets, which may differ from run to run
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d| UTC)?"), "TIME"),
    (re.compile(r"(?<![\w.,])[\d,]+(\.\d+)? (ms|s|seconds?|min|minutes?)\b"), "TIME"),
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d+"), r"\1:PORT"),
    (re.compile(r"\bat byte [\d,]+"), "at byte OFFSET"),
)
# Reads commands from file descriptor 3, each ended by a zero byte, and prints their exit codes.
LOOP = r"""
while IFS= read -r -d '' -u 3 command; do eval "$command" 3<&-; printf '\036%d\036' "$?"; done
"""


@dataclass(frozen=True)
class Command:
    """A command and its output."""

    text: str
    output: str
    code: int = 0


def commands(block: str) -> list[Command]:
    r"""The commands of a block, with the output shown below each.

    >>> commands("$ echo a \\\n> b\na b\n$ true\n")
    [Command(text='echo a \\\nb', output='a b', code=0), Command(text='true', output='', code=0)]
    """
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a console block begins with no command: {parts[0].splitlines()[0]!r}")
    found = []
    for part in parts[1:]:
        lines = part.splitlines()
        end = next((n for n, line in enumerate(lines) if n and not line.startswith("> ")), None)
        text = "\n".join([lines[0], *(line[2:] for line in lines[1:end])])
        found.append(Command(text, "\n".join(lines[end:] if end else []).rstrip("\n")))
    return found


def console_blocks(text: str) -> list[list[Command]]:
    """The commands of each console block of a document."""
    return [commands(found[1]) for found in FENCE.finditer(text)]


def normalised(output: str) -> str:
    r"""An output without times, ports and file offsets, which may differ from run to run.

    >>> normalised("2026-01-02T10:11:12Z, 3.5 s, http://127.0.0.1:8735/, a.warc.gz at byte 1,204")
    'TIME, TIME, http://127.0.0.1:PORT/, a.warc.gz at byte OFFSET'
    """
    for pattern, name in VOLATILE:
        output = pattern.sub(name, output)
    return output


def on_screen(printed: str) -> str:
    r"""The text that remains on a terminal, without colours and erased text.

    >>> on_screen("10%\r\x1b[2K\x1b[1mdone\x1b[0m  \r\nnext\r\n")
    'done\nnext'
    """
    lines, row, column = [""], 0, 0
    for found in CONTROL.finditer(printed):
        number, action, character = found[1], found[2], found[3]
        if character == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif character == "\r":
            column = 0
        elif character is not None:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + character + line[column + 1 :]
            column += 1
        elif action == "A":
            row = max(0, row - int(number or 1))
        elif action == "K":
            lines[row] = "" if number == "2" else lines[row][:column]
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def run_document(text: str) -> list[list[Command]]:
    """Run the console blocks of a document in a new folder; returns them with their output."""
    with tempfile.TemporaryDirectory() as name, Shell.open(Path(name)) as shell:
        return [[shell.run(each.text) for each in block] for block in console_blocks(text)]


def filled(text: str, ran: list[list[Command]]) -> str:
    """A document with new outputs; those that differ only in times, ports or offsets are kept."""
    blocks = iter(ran)

    def block(found: re.Match[str]) -> str:
        lines = []
        for shown, real in zip(commands(found[1]), next(blocks), strict=True):
            same = normalised(shown.output) == normalised(real.output)
            lines.append("$ " + shown.text.replace("\n", "\n> "))
            lines += [shown.output if same else real.output]
        return "```console\n" + "".join(f"{line}\n" for line in lines if line) + "```"

    return FENCE.sub(block, text)


class Shell:
    """A shell on its own terminal, with this checkout's `diptych` and `python` in its path."""

    def __init__(self, folder: Path, terminal: int, orders: int, port: int) -> None:
        self._folder, self._terminal, self._orders, self._port = folder, terminal, orders, port

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Shell]:
        """Start a shell in the subfolder `work`; afterwards end all processes that it started."""
        (folder / "bin").mkdir()
        (folder / "work").mkdir()
        for name, arguments in (("diptych", "-m diptych "), ("python", "")):
            program = folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
            program.chmod(0o755)
        terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
        orders, ours = os.pipe()
        port = free_port()
        process = subprocess.Popen(
            ["bash", "--norc", "-c", f"exec 3<&{orders} {orders}<&-\n{LOOP}"],
            cwd=folder / "work", env=_environment(folder, port), pass_fds=(orders,),
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        os.close(orders)
        try:
            yield cls(folder / "work", terminal, ours, port)
        finally:
            os.close(ours)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(terminal)

    def run(self, text: str) -> Command:
        """Run a command; its output shows the usual port of the demo and no temporary folder."""
        command = text.replace(f":{PORT}", f":{self._port}")
        os.write(self._orders, command.encode() + b"\0")
        printed, code = self._answer(text)
        shown = on_screen(printed).replace(f":{self._port}", f":{PORT}")
        return Command(text, shown.replace(str(self._folder.resolve()), "/path/to"), code)

    def _answer(self, text: str) -> tuple[str, int]:
        """The output of a command, and its exit code."""
        said, end = b"", time.monotonic() + LIMIT
        while True:
            done = re.search(rb"\x1e(\d+)\x1e", said)
            if done:
                printed = said[: done.start()] + said[done.end() :]
                if not text.endswith("&") or b"\n" in printed:
                    return printed.decode("utf-8"), int(done[1])
            if not select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"{text!r} does not end; so far it has printed {said!r}")
            said += os.read(self._terminal, 1 << 16)


def _environment(folder: Path, port: int) -> dict[str, str]:
    """The environment of a shell: that of this process without variables that affect outputs."""
    dropped = ("columns", "lines", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
    kept = {name: value for name, value in os.environ.items() if name.lower() not in dropped}
    path = os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", os.defpath)])
    return {
        **kept, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "DIPTYCH_DEMO_PORT": str(port),
        "TERM": "xterm", "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
    }  # fmt: skip


def free_port() -> int:
    """A free port on loopback with as many digits as the demo's, so that lines wrap equally."""
    for port in random.sample(range(2_000, 10_000), 8_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port of four digits is free")
