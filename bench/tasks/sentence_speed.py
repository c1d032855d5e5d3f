"""Time and memory of sentence alignment as texts grow, compared with two baselines.

Texts are those of `sentence_sets.py` in English and French, one after another.  Each size runs in a
separate process, so that its memory is measured separately.

    python -m bench.tasks.sentence_speed --sizes 500,5000,50000
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.baselines.hunalign_like import HunalignLike
from bench.sites.built import built_folder, built_sites
from bench.support.ladder import score
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.sentence_sets import sentence_sets
from bench.support.tables import Tables, show
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_sentences.gale_church import GaleChurch
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.stages.align_sentences.shared import passes
from diptych.types import Bead

RESULT = RESULTS / "sentence_speed.json"
BASELINES = 5_000  # sentences up to which they are run: in Python, they take minutes beyond


def text_of(built: Path, size: int) -> tuple[list[str], list[str], list[Bead]]:
    """A generated text with a number of beads, from several seeds if necessary."""
    left: list[str] = []
    right: list[str] = []
    gold: list[Bead] = []
    for seed in range(1, 200):
        for one in sentence_sets(built, seed, pairs=[("en", "fr")]):
            for bead in one.gold_beads:
                gold.append(
                    Bead(
                        tuple(len(left) + index for index in bead.left),
                        tuple(len(right) + index for index in bead.right),
                        1.0,
                    )
                )
            left += one.left
            right += one.right
            if len(left) >= size:
                return left, right, gold
    return left, right, gold


def measure(built: Path, size: int) -> list[dict[str, Any]]:
    """A row for each aligner on a text of a given size."""
    left, right, gold = text_of(built, size)
    lexicon = Lexicon.empty("en", "fr")
    LengthLexicon().align(left[:30], right[:30], lexicon)  # libraries are loaded
    rows = []
    aligners: dict[str, Any] = {"length_lexicon, three passes": LengthLexicon()}
    if size <= BASELINES:
        aligners |= {"hunalign-like (Python)": HunalignLike(), "gale_church (Python)": GaleChurch()}
    for name, aligner in aligners.items():
        later = _timed_passes() if name.startswith("length_lexicon") else []
        started = time.process_time()
        beads = aligner.align(left, right, lexicon)
        seconds = time.process_time() - started
        row = {"sentences": f"{len(left):,} x {len(right):,}", "aligner": name}
        row |= {"F1": f"{score(beads, gold).f1:.3f}", "CPU seconds": f"{seconds:.2f}"}
        row["sentences/s in all"] = f"{len(left) / seconds:,.0f}"
        row["sentences/s, a later pass"] = f"{len(left) * 2 / sum(later):,.0f}" if later else ""
        row["peak MB"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}"
        rows.append(row)
    return rows


def _timed_passes() -> list[float]:
    """The seconds for learning and aligning in the passes after the first."""
    seconds: list[float] = []

    def timed(function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            started = time.process_time()
            found = function(*arguments)
            seconds.append(time.process_time() - started)
            return found

        return run

    passes.__dict__["_with_learned_words"] = timed(passes._with_learned_words)
    passes.__dict__["align_near"] = timed(passes.align_near)
    return seconds


def main() -> None:
    """Measure each size in a separate process, print the table, and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--built", type=Path, default=built_folder(), metavar="DIR")
    parser.add_argument("--sizes", default="500,5000,50000", metavar="N,N")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.built, options.one)))
        return
    built_sites(options.built)
    rows = []
    for size in options.sizes.split(","):
        command = [sys.executable, "-m", "bench.tasks.sentence_speed"]
        command += ["--built", str(options.built), "--one", size]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows += json.loads(done.stdout)
    shown: Tables = {"Sentence alignment, English and French, one core": rows}
    show(shown)
    result = {"tables": shown, "machine": machine(["numpy"])}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
