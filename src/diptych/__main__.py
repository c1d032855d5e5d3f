"""The program `diptych`; `python -m diptych` is the same."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is imported ends it with one line and exit code 130."""
    try:
        from diptych.commands import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    command_line()


if __name__ == "__main__":
    main()
