"""The entry point of `diptych` and of `python -m diptych`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C during imports prints one line and exits with code 130."""
    try:
        from diptych.commands import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    command_line()


if __name__ == "__main__":
    main()
