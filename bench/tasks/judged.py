"""Segments that were read and judged one by one: the share of each verdict that runs keep.

    python -m bench.tasks.judged --runs DIR [--verdicts FILE...]

DIR holds run folders named after the site and the languages, such as `maple-en-fr`.  A file of
verdicts has a header and the columns `run` (or `site`) and `verdict`, and either the texts (`left`,
`right`) or a hash of both texts (`key`), so that verdicts can be kept without the texts.  Verdicts
are g (good), p (partial), w (wrong) and u (useless).  A segment counts as kept if the corpus of its
run contains the same texts, ignoring case, spaces and punctuation.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.support.paths import SHARED
from bench.support.tables import percent, show
from diptych.text.digests import signed_hash

OWN = Path(__file__).parents[1] / "data/segment_verdicts.tsv"
"""verdicts on segments of the sites of `bench.tasks.real_sites`, without their texts"""
NAMES = {"g": "good", "p": "partial", "w": "wrong", "u": "useless"}
_NO_LETTER = re.compile(r"[\W_]+")

Verdicts = Mapping[str, Mapping[int, str]]


def text_key(left: str, right: str) -> int:
    """A hash of two texts that ignores case, spaces and punctuation.

    >>> text_key("Our team", "Notre équipe") == text_key("OUR TEAM:", "Notre équipe !")
    True
    """
    texts = (_NO_LETTER.sub("", text.lower()) for text in (left, right))
    return signed_hash("\n".join(texts).encode("utf-8", "surrogatepass"))


def read_verdicts(files: Sequence[Path]) -> Verdicts:
    """The verdict on each judged segment of each run, by `text_key`."""
    found: dict[str, dict[int, str]] = {}
    for path in files:
        for row in _rows(path):
            key = int(row["key"]) if row.get("key") else text_key(row["left"], row["right"])
            found.setdefault(row.get("run") or row["site"], {})[key] = row["verdict"]
    return found


def kept_keys(run: Path) -> set[int]:
    """The keys of all segments in the corpus of a run."""
    return {text_key(row["left"], row["right"]) for row in _rows(run / "corpus.tsv")}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def figures(runs: Sequence[Path], verdicts: Verdicts) -> list[dict[str, Any]]:
    """One row per verdict: the number of judged segments, and how many of them are kept."""
    judged: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for run in runs:
        own = verdicts.get(run.name, {})
        keys = kept_keys(run) if own else set()
        judged.update(own.values())
        kept.update(verdict for key, verdict in own.items() if key in keys)
    return [
        {"verdict": name, "segments": judged[verdict], "kept": kept[verdict],
         "kept, %": percent(kept[verdict] / max(judged[verdict], 1))}
        for verdict, name in NAMES.items()
    ]  # fmt: skip


def runs_and_verdicts(description: str) -> argparse.Namespace:
    """Parse the options `--runs` and `--verdicts` of a program."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=Path, required=True, help="folder of run folders")
    shared = SHARED / "data/segments-judged.tsv"
    default = [path for path in (OWN, shared) if path.is_file()]
    parser.add_argument("--verdicts", type=Path, nargs="+", default=default)
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    options = runs_and_verdicts(__doc__.partition("\n")[0])
    runs = sorted(path.parent for path in options.runs.glob("*/corpus.tsv"))
    for path in options.verdicts:
        show({f"Judged segments of {path.name}": figures(runs, read_verdicts([path]))})


if __name__ == "__main__":
    main()
