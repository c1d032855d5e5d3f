"""Run all long tests of reliability: python -m tools.torture [NAME...]."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

from tools.torture import __path__ as folder


def names() -> list[str]:
    """The modules of this package that are tests: those with a function `main`."""
    found = sorted(each.name for each in iter_modules(folder) if each.name != "__main__")
    return [name for name in found if hasattr(import_module(f"tools.torture.{name}"), "main")]


def main() -> None:
    """Run each test in a process of its own, and exit with code 1 if one has failed."""
    failed = []
    for name in sys.argv[1:] or names():
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"tools.torture.{name}"], check=False).returncode:
            failed.append(name)
    raise SystemExit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
