"""Commands in a pseudo-terminal, and all that they show on its screen."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from threading import Thread

import pyte

import diptych
from support.commands import COMMAND

CTRL_C = b"\x03"
_OWN_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C in this terminal goes to this process
"""
_REDRAWN = b"\r\x1b[2K"  # the beginning of another frame of a live display
_COLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9]+)*m")
_READ = 65_536
_PAUSE = 0.02  # seconds without output, after which a frame is complete; only the record needs it
_OTHERS = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}


class Terminal:
    """A command in a terminal of a size; `frames` are the different screens that it showed."""

    def __init__(
        self, arguments: Sequence[object], columns: int, rows: int, *,
        cwd: Path | None = None, environment: Mapping[str, str] | None = None, before: str = "",
    ) -> None:  # fmt: skip
        """Start the command, once the process has run the code `before`."""
        self.frames: list[str] = []
        self.written = b""
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.ByteStream(self._screen)
        self._held = b""
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        usual = {name: value for name, value in os.environ.items() if name not in _OTHERS}
        usual |= {"PYTHONPATH": str(Path(diptych.__file__).parent.parent), "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL + before + COMMAND, *map(str, arguments)],
            env={**usual, "PYTHONIOENCODING": "utf-8", **(environment or {})}, cwd=cwd,
            start_new_session=True, stdin=slave, stdout=slave, stderr=slave,
        )  # fmt: skip
        os.close(slave)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._master, key)

    def has_shown(self, *texts: str) -> bool:
        """True if a frame has shown all the texts."""
        return any(all(text in frame for text in texts) for frame in list(self.frames))

    def wait(self) -> int:
        """Wait for the end of the command, and give its exit code."""
        self._reader.join()
        return self.process.wait()

    @property
    def text(self) -> str:
        """All lines that are left on the screen and above it."""
        above = (
            "".join(line[column].data for column in range(self._screen.columns))
            for line in self._screen.history.top
        )
        return _text([*above, *self._screen.display])

    @property
    def colours(self) -> list[bytes]:
        """The codes for colours that were written."""
        return _COLOUR.findall(self.written)

    def _read(self) -> None:
        with suppress(OSError):  # the last process that had the terminal has ended
            while chunk := os.read(self._master, _READ):
                self.written += chunk
                self._draw(chunk)
                if not select([self._master], [], [], _PAUSE)[0]:
                    self._keep_frame()
        self._stream.feed(self._held)
        self._keep_frame()
        os.close(self._master)

    def _draw(self, chunk: bytes) -> None:
        """Draw what was written, and keep each frame, however soon the next one follows."""
        *frames, rest = (self._held + chunk).split(_REDRAWN)
        for frame in frames:
            self._stream.feed(frame)
            self._keep_frame()
            self._stream.feed(_REDRAWN)
        held = max(size for size in range(len(_REDRAWN)) if rest.endswith(_REDRAWN[:size]))
        self._stream.feed(rest[: len(rest) - held])
        self._held = rest[len(rest) - held :]

    def _keep_frame(self) -> None:
        frame = _text(self._screen.display)
        if frame and frame != (self.frames[-1] if self.frames else ""):
            self.frames.append(frame)


def _text(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).rstrip()
