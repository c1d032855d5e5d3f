"""Fail if a figure has dropped below its floor.

    python -m bench.gate [--only NAME...]
    python -m bench.gate --update [--allow-drop]

Everything is measured on the bundled demo site, on small sites made of its texts, and on the texts
in `bench/gate/texts`: no package, no download and no network is needed.  The floors are in
`bench/floors.json`.  `--update` raises them to what is measured; it lowers none unless
`--allow-drop` is given.  Exits with 1 when a figure is below its floor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.gate.floors import Figure, Floors, drops, holds, raised
from bench.gate.sites import build
from bench.support.paths import ROOT

FLOORS = ROOT / "bench" / "floors.json"


def measure(names: Sequence[str]) -> list[Figure]:
    """The figures of some measures, each named after its measure."""
    from bench.gate.measures import MEASURES

    with tempfile.TemporaryDirectory() as folder:
        os.environ["SITES_DIR"] = folder  # where all benchmarks look for sites
        build(Path(folder) / "built")
        return [
            figure._replace(name=f"{name}: {figure.name}")
            for name in names
            for figure in MEASURES[name]()
        ]


def show(figures: Sequence[Figure], floors: Floors) -> None:
    """Print all figures beside their floors."""
    print("| figure | measured | floor | |\n|---|--:|--:|---|")
    for figure in figures:
        floor = floors.get(figure.name, {})
        bound = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in floor.items())
        verdict = "" if holds(figure, floors) else "DROPPED"
        print(f"| {figure.name} | {figure.value:.4g} | {bound or 'none'} | {verdict} |")


def cpu_seconds() -> float:
    """The processor time of this process and of those it started."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def update(file: Path, figures: Sequence[Figure], floors: Floors, *, allow_drop: bool) -> int:
    """Raise the floors, or lower them too if that is allowed."""
    if (dropped := drops(figures, floors)) and not allow_drop:
        print("\n".join(dropped), file=sys.stderr)
        print("no floor was changed: --allow-drop lowers them", file=sys.stderr)
        return 1
    known = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    kept = {name: floor for name, floor in known.items() if name not in floors}
    kept |= raised(figures, {} if allow_drop else floors)
    lines = (f" {json.dumps(name)}: {json.dumps(floor)}" for name, floor in sorted(kept.items()))
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return 0


def main() -> int:
    """Measure, compare, and raise the floors if asked to."""
    from bench.gate.measures import MEASURES

    parser = argparse.ArgumentParser(
        prog="python -m bench.gate", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--update", action="store_true", help="raise the floors")
    parser.add_argument("--allow-drop", action="store_true", help="with --update: lower them too")
    parser.add_argument("--floors", type=Path, default=FLOORS, metavar="FILE")
    options = parser.parse_args()
    every: Floors = (
        json.loads(options.floors.read_text("utf-8")) if options.floors.is_file() else {}
    )
    floors = {name: floor for name, floor in every.items() if name.split(": ")[0] in options.only}
    figures = measure(options.only)
    show(figures, floors)
    print(f"\n{len(figures)} figures, {cpu_seconds():.1f} s of CPU")
    if options.update:
        return update(options.floors, figures, floors, allow_drop=options.allow_drop)
    dropped = drops(figures, floors)
    print("\n".join(dropped) or "no figure has dropped", file=sys.stderr)
    return 1 if dropped else 0


if __name__ == "__main__":
    raise SystemExit(main())
