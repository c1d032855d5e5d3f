"""Record the progress display of `diptych mine`: each frame in a terminal of a given size.

    python tools/record_display.py --columns 80 --rows 24

The demo site is served on loopback and mined in a pseudo-terminal; each frame that differs from the
previous one is printed as text.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.terminal import Terminal

from diptych.demo import SITE
from diptych.engine.file_server import serve


def main() -> int:
    """Print all frames; returns the exit code of the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds between requests")
    asked, more = parser.parse_known_args()
    with TemporaryDirectory() as folder, serve(SITE) as address:
        given = [address, "--langs", "en,fr", "--out", f"{folder}/run", "--allow-private"]
        command = ["mine", *given, "--delay", asked.delay, *more]
        terminal = Terminal(command, asked.columns, asked.rows)
        code = terminal.wait()
    for number, frame in enumerate(terminal.frames, 1):
        print(f"--- {number} ".ljust(asked.columns, "-"))
        print(frame)
    print("-" * asked.columns)
    return code


if __name__ == "__main__":
    sys.exit(main())
