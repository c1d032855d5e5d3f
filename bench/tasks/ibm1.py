"""IBM Model 1: time and memory for 100,000 sentence pairs, and the kernel against its definition.

    python -m bench.tasks.ibm1 [--pairs 100000] [--small 10000]

There are two sets.  The generated set has words with Zipf frequencies in random order, so that all
words co-occur, which is the worst case.  The real set has blocks and sentences of page pairs of the
built sites, English with other languages until there are enough.  Each row is measured in a
separate process on one core.  Exits with 1 if a floor is missed on the real set.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from bench.sites.built import built_folder, built_sites
from bench.support.machine import machine
from bench.support.paths import RESULTS
from bench.support.processes import give_up
from bench.support.tables import Tables, show
from diptych._version import VERSION
from diptych.kernels import ibm1
from diptych.learn.lexicon.ibm1 import train
from diptych.page.blocks import Walk
from diptych.page.charset import decode
from diptych.text.sentences import split_sentences
from diptych.text.tokens import tokens

RESULT = RESULTS / "ibm1.json"
SECONDS, MEGABYTES = 8.0, 1000.0  # at most, for both directions of 100,000 pairs
LANGS = ("fr", "ja", "de", "es", "it", "ru", "ca", "pt", "pl", "nl", "cs", "zh-cn", "ko", "da")
VOCABULARY = 60_000
LENGTHS = (8, 38)  # words of a made sentence
SHORTEST = 10  # words of a real one, so that the mean is above 20
LONGEST = 80
ITERATIONS = 5

Pair = tuple[list[str], list[str]]


def zipfian(count: int) -> list[Pair]:
    """Sentences in two artificial languages; one word in five is replaced by another."""
    chance = np.random.default_rng(1)
    shares = 1 / (np.arange(VOCABULARY) + 2.7)
    shares /= shares.sum()
    sizes = chance.integers(*LENGTHS, count)
    left = chance.choice(VOCABULARY, sizes.sum(), p=shares)
    right = np.where(
        chance.random(len(left)) < 0.2, chance.choice(VOCABULARY, len(left), p=shares), left
    )
    ends = np.cumsum(sizes)
    return [
        ([f"a{n}" for n in ours], [f"b{n}" for n in theirs])
        for ours, theirs in zip(np.split(left, ends[:-1]), np.split(right, ends[:-1]), strict=True)
    ]


def real(count: int) -> list[Pair]:
    """Sentence pairs from built sites, English with one language after another."""
    found: list[Pair] = []
    for lang in LANGS:
        seen: set[tuple[str, str]] = set()
        for folder in built_sites(built_folder()):
            if not folder.name.startswith(("dev-", "held-", "bench-")):
                found += _of_site(folder, lang, seen)
            if len(found) >= count:
                return found[:count]
    return found


def _of_site(folder: Path, lang: str, seen: set[tuple[str, str]]) -> Iterator[Pair]:
    groups: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for line in (folder / "groups.tsv").read_text("utf-8").splitlines():
        key, code, url, ok, *_ = line.split("\t")
        if ok == "1":
            groups[key][code] = url
    for _, urls in sorted(groups.items()):
        if not urls.keys() >= {"en", lang}:
            continue
        sides = [_blocks(folder, urls[code]) for code in ("en", lang)]
        if not sides[0] or len(sides[0]) != len(sides[1]):
            continue
        for ours, theirs in zip(*sides, strict=True):
            if ours != theirs and (ours, theirs) not in seen:
                seen.add((ours, theirs))
                yield from _sentences(ours, theirs, lang)


def _sentences(ours: str, theirs: str, lang: str) -> Iterator[Pair]:
    """The sentences of two blocks if their numbers are equal, otherwise the blocks."""
    left, right = split_sentences(ours, "en"), split_sentences(theirs, lang)
    both = zip(left, right, strict=True) if len(left) == len(right) else [(ours, theirs)]
    for one, other in both:
        pair = tokens(one, "en"), tokens(other, lang)
        if all(SHORTEST <= len(words) <= LONGEST for words in pair):
            yield pair


def _blocks(folder: Path, url: str) -> list[str]:
    path = folder / "htdocs" / unquote(url).lstrip("/")
    if not path.is_file():
        return []
    markup = decode(path.read_bytes()[:2_000_000], "text/html")[0]
    walk = Walk(LexborHTMLParser(markup), "http://localhost/")
    return [block.text for block in walk.blocks]


def peak_megabytes() -> float:
    """The peak memory of this program; `getrusage` would include that of its parent."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(found[1]) / 1024 if found else 0.0


def measure(pairs: list[Pair], method: str) -> dict[str, Any]:
    """The CPU seconds and memory of both directions, from words to a pruned lexicon."""
    before = peak_megabytes()
    started = time.process_time()
    spent: list[float] = []
    one_way = ibm1.train

    def timed(*arguments: Any, **options: Any) -> ibm1.Trained:
        begun = time.process_time()
        trained = one_way(*arguments, **options)
        spent.append(time.process_time() - begun)
        return trained

    with patch("diptych.learn.lexicon.ibm1.train_one_way", timed):
        if method == "NumPy":
            with patch("diptych.kernels.ibm1.native", lambda: None):
                lexicon = train(pairs, "en", "xx", iterations=ITERATIONS)
        else:
            lexicon = train(pairs, "en", "xx", iterations=ITERATIONS)
    whole = time.process_time() - started
    peak = peak_megabytes()
    sizes = [sum(len(pair[side]) for pair in pairs) / len(pairs) for side in (0, 1)]
    return {
        "pairs": len(pairs),
        "words a side": " / ".join(f"{size:.1f}" for size in sizes),
        "vocabulary": f"{len(lexicon.left_words):,} / {len(lexicon.right_words):,}",
        "EM one way, CPU s": round(sum(spent) / 2, 2),
        "EM both ways, CPU s": round(sum(spent), 2),
        "from words to lexicon, CPU s": round(whole, 2),
        "memory at most, MB": round(peak),
        "of it the sentences, MB": round(before),
    }


def child(name: str, method: str, pairs: int, text: Path | None) -> dict[str, Any]:
    """Run `measure` in a separate process, so that memory is measured separately."""
    command = [sys.executable, "-m", "bench.tasks.ibm1"]
    command += ["--measure", name, method, "--pairs", str(pairs)]
    if text is not None:
        command += ["--text", str(text)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(pairs: int, small: int, text: Path) -> Tables:
    """Both tables."""
    large, beside = [], []
    for name in ("made by Zipf's law", "real text"):
        large.append({"set": name, **child(name, "C", pairs, text)})
        rows = {method: child(name, method, small, text) for method in ("C", "NumPy")}
        ours, theirs = (rows[method]["EM both ways, CPU s"] for method in ("C", "NumPy"))
        beside.append({
            "set": name,
            "pairs": rows["C"]["pairs"],
            "C, CPU s": ours,
            "NumPy, CPU s": theirs,
            "ratio": round(theirs / max(ours, 0.01), 1),
            "C, MB": rows["C"]["memory at most, MB"],
            "NumPy, MB": rows["NumPy"]["memory at most, MB"],
        })  # fmt: skip
    return {
        f"IBM Model 1, {ITERATIONS} iterations, one core": large,
        "IBM Model 1: kernel and definition, both directions": beside,
    }


def main() -> int:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--small", type=int, default=10_000, help="pairs for the definition")
    parser.add_argument("--measure", nargs=2, metavar=("SET", "METHOD"), help=argparse.SUPPRESS)
    parser.add_argument("--text", type=Path, help="file the real sentences are kept in")
    options = parser.parse_args()
    text: Path = options.text or RESULT.with_name("ibm1-text.json.tmp")
    if options.measure:
        name, method = options.measure
        is_real = name == "real text"
        pairs = json.loads(text.read_text("utf-8")) if is_real else zipfian(options.pairs)
        print(json.dumps(measure(pairs[: options.pairs], method)))
        return 0
    try:
        found = real(options.pairs)
        if not found:
            give_up("no built site has pages in these languages")
        text.write_text(json.dumps(found), "utf-8")
        tables = measured(options.pairs, options.small, text)
    finally:
        text.unlink(missing_ok=True)
    show(tables)
    signature = f"ibm1|pairs:{options.pairs}|iterations:{ITERATIONS}|v:{VERSION}"
    kept = {"signature": signature, "tables": tables, "machine": machine(["numpy"])}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    row = next(iter(tables.values()))[1]
    is_slow = row["from words to lexicon, CPU s"] > SECONDS
    return int(is_slow or row["memory at most, MB"] > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
