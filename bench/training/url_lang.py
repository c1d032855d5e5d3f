"""Train the URL language model that comes with the package.

    python -m bench.training.url_lang_lists --lists FOLDER --out derived.tsv.gz
    python -m bench.training.url_lang --derived derived.tsv.gz [--data FOLDER] [--out FOLDER]

The first line downloads public word lists; the second needs a few minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bench.support.paths import SOURCE
from bench.support.url_lang_rows import DEFAULT, read, read_derived
from diptych.learn.url.language import train

SHIPPED = SOURCE / "learn" / "url" / "weights" / "url_lang"


def main() -> None:
    """Read, train, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT)
    parser.add_argument("--derived", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    options = parser.parse_args()
    rows = read(options.data)
    real = [*rows.main, *rows.conflict, *rows.pairs]
    derived = read_derived(options.derived, real)
    started = time.perf_counter()
    model = train([*real, *derived])
    model.save(str(options.out))
    print(
        f"{len(real):,} URLs and {len(derived):,} derived ones, {len(model.labels)} labels, "
        f"{time.perf_counter() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
