"""The entry point of `diptych` and of `python -m diptych`."""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C during imports prints one line and exits with code 130."""
    # The threads of numpy would wait actively for 0.1 s, and the matrices here are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from diptych.commands import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    command_line()


if __name__ == "__main__":
    main()
