"""Sentence splitters in many languages: F1 of boundaries, agreement of counts, and speed.

    python -m bench.tasks.splitter --download --cache DIR
    python -m bench.tasks.splitter --cache DIR --out bench/results/splitter.json

The splitter of Diptych is compared with sentencex, with ICU without and with the suppressions of
CLDR (`ss`), and with pysbd, if installed.  `support/splitter_texts.py` says how the texts are made:
messages that are joined, and messages and paragraphs whose number of sentences is that of their
English original.  Joined messages make boundaries easy, because nearly all begin with a capital
letter; counts do not say whether the boundaries are in the right places.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bench.support.processes import give_up
from bench.support.splitter_texts import (
    LANGUAGES,
    CountedText,
    JoinedText,
    counted_messages,
    counted_paragraphs,
    download,
    joined_texts,
    unpacked_folder,
)  # fmt: skip
from bench.support.tables import Tables, show_and_keep
from diptych.text.sentences import split_sentences

Splitter = Callable[[str], list[str]]
SYSTEMS = ("diptych", "sentencex", "ICU", "ICU, suppressions", "pysbd")
_MIN_TEXTS = 3  # fewer are not shown


class Texts(NamedTuple):
    """The texts of a language."""

    joined: list[JoinedText]
    messages: list[CountedText]
    paragraphs: list[CountedText]


def splitter(system: str, lang: str) -> Splitter | None:
    """A system's splitter of a language; None if it has none, or is not installed."""
    if system == "diptych":
        return lambda text: split_sentences(text, lang)
    if system == "sentencex":
        import sentencex

        return lambda text: list(sentencex.segment(lang, text))
    if system == "pysbd":
        return _pysbd(lang)
    from icu4py.breakers import SentenceBreaker

    locale = f"{lang}@ss=standard" if "," in system else lang
    return lambda text: list(SentenceBreaker(text, locale))


def _pysbd(lang: str) -> Splitter | None:
    if find_spec("pysbd") is None:
        return None
    if lang not in import_module("pysbd.languages").LANGUAGE_CODES:
        return None
    segmenter: Any = import_module("pysbd").Segmenter(language=lang, clean=False)
    return lambda text: list(segmenter.segment(text))


def boundary_f1(split: Splitter, texts: Sequence[JoinedText]) -> float:
    """F1 of the boundaries inside texts; blanks do not count."""
    right = found = gold = 0
    for text in texts:
        places, letters = set(), 0
        for sentence in split(text.text)[:-1]:
            letters += len("".join(sentence.split()))
            places.add(letters)
        right += len(places & text.boundaries)
        found += len(places)
        gold += len(text.boundaries)
    return 2 * right / (found + gold) if found + gold else 0.0


def agreement(split: Splitter, texts: Sequence[CountedText]) -> float:
    """Share of the texts that are split into the right number of sentences."""
    hits = sum(
        len([part for part in split(text.text) if part.strip()]) == text.sentences for text in texts
    )
    return hits / len(texts)


def measure(texts: dict[str, Texts]) -> Tables:
    """All tables: languages are rows, systems are columns."""
    kinds: dict[str, list[dict[str, object]]] = {"joined": [], "messages": [], "paragraphs": []}
    for lang, own in texts.items():
        for kind, rows in kinds.items():
            samples = getattr(own, kind)
            if len(samples) >= _MIN_TEXTS:
                score = boundary_f1 if kind == "joined" else agreement
                rows.append(
                    {"language": lang, "texts": len(samples)} | _scores(score, lang, samples)
                )
    return {
        "F1 of boundaries between joined messages": _with_means(kinds["joined"]),
        "Messages of several sentences with the right number of sentences": _with_means(
            kinds["messages"]
        ),
        "Paragraphs of the installation guide with the right number of sentences": _with_means(
            kinds["paragraphs"]
        ),
        "Speed in millions of characters per second": [_speeds(texts)],
    }


def _scores(
    score: Callable[..., float], lang: str, samples: Sequence[JoinedText | CountedText]
) -> dict[str, object]:
    found = {system: splitter(system, lang) for system in SYSTEMS}
    return {
        system: f"{score(split, samples):.3f}" if split else "" for system, split in found.items()
    }


def _with_means(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """The rows, and means over all languages and over those that all systems know."""
    means: list[dict[str, object]] = []
    whole = [row for row in rows if all(row[system] for system in SYSTEMS)]
    for name, own in (("mean of all", rows), ("mean of those that pysbd knows", whole)):
        cells = {
            system: f"{sum(float(str(row[system])) for row in own) / len(own):.3f}"
            if own and all(row[system] for row in own) else ""
            for system in SYSTEMS
        }  # fmt: skip
        means.append(
            {"language": name, "texts": sum(int(str(row["texts"])) for row in own)} | cells
        )
    return [*rows, *means]


def _speeds(texts: dict[str, Texts]) -> dict[str, object]:
    """Characters per second of each system over the texts of the languages that it knows."""
    row: dict[str, object] = {}
    for system in SYSTEMS:
        characters, seconds = 0, 0.0
        for lang, own in texts.items():
            split = splitter(system, lang)
            samples = [one.text for one in own.joined]
            samples += [one.text for one in (*own.messages, *own.paragraphs)]
            if split is None:
                continue
            started = time.process_time()
            for text in samples:
                split(text)
            seconds += time.process_time() - started
            characters += sum(map(len, samples))
        row[system] = f"{characters / seconds / 1e6:.2f}" if seconds else ""
    return row


def _default_cache() -> Path:
    base = os.environ.get("SITES_DIR") or Path.home() / ".cache" / "diptych-sites"
    return Path(base) / "splitter"


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--cache", type=Path, default=_default_cache(), metavar="DIR")
    parser.add_argument("--download", action="store_true", help="packages of Debian to the cache")
    parser.add_argument("--langs", default=",".join(LANGUAGES), help="separated by commas")
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.download:
        download(options.cache)
    if not unpacked_folder(options.cache).is_dir():
        give_up(f"no unpacked packages in {options.cache}: download them with --download")
    texts = {
        lang: Texts(
            joined_texts(options.cache, lang),
            counted_messages(options.cache, lang),
            counted_paragraphs(options.cache, lang),
        )
        for lang in options.langs.split(",")
    }
    show_and_keep(measure(texts), options.out)


if __name__ == "__main__":
    main()
