"""`python -m diptych` is the same as `diptych`."""

from diptych.commands import main

if __name__ == "__main__":
    main()
