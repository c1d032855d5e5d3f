"""Texts with known beads, generated from page pairs of real sites.

If the pages of a pair have the same sequence of elements, their blocks are translations by
position.  Blocks with equal numbers of sentences of similar lengths become beads of one sentence;
blocks with one sentence on one side and several on the other become one bead; other blocks are left
out.  A text is generated from these beads: some are joined on one side (1-2, 2-1, 1-3, 3-1), some
are joined crosswise (2-2), and series of beads lose one side, as when authors cut a text.  The
result depends only on the sites and the seed.

    python -m bench.support.sentence_sets --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bench.sites.built import built_folder, built_sites
from bench.support.ladder import mean, score
from bench.support.processes import give_up
from diptych.language.identify import identify
from diptych.page.read import read_page
from diptych.text.lengths import text_length
from diptych.text.sentences import split_sentences
from diptych.types import Bead, Block, Response, Url

PAIRS = (
    ("en", "fr"), ("en", "de"), ("en", "es"), ("en", "ru"), ("en", "ja"), ("en", "zh"),
    ("en", "tr"), ("en", "fi"), ("de", "fr"),
)  # fmt: skip
MOST = 450  # beads of a text, before some are joined or taken out
LEAST = 200
_INDEX = re.compile(r"\[\d+\]")
_CODE = re.compile(r"/(?:pre|code|tt|kbd|samp)\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MIN_LENGTH = 10.0  # letters of a sentence: shorter ones are labels
_ADDED = 15.0  # letters added to both lengths: short sentences vary more
_MAX_RATIO = 2.0
_MOST_TO_ONE = 4  # sentences of a bead that has one on the other side
_UNSPACED = ("ja", "zh", "th", "km", "lo", "my")


class Pieces(NamedTuple):
    """The sentences of a bead on both sides."""

    left: tuple[str, ...]
    right: tuple[str, ...]


class Noise(NamedTuple):
    """The rates of changes to beads."""

    join: float
    drop: float


# Heavy is about as far from 1-1 as the hand-aligned articles of Text+Berg (58%), light as news.
NOISES = {"light": Noise(0.04, 0.02), "heavy": Noise(0.28, 0.05)}
_JOINS = ("1-2", "2-1", "1-3", "3-1", "2-2")
_JOIN_WEIGHTS = (8, 8, 2, 2, 2)
_DROPPED_RUNS = (1, 1, 1, 1, 2, 2, 3, 6)


@dataclass(frozen=True, slots=True)
class SentenceSet:
    """Two texts and their beads."""

    name: str
    left_lang: str
    right_lang: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    gold_beads: tuple[Bead, ...]


def sentence_sets(
    sites_dir: Path, seed: int, *, families: int = 4, pairs: Sequence[tuple[str, str]] = PAIRS
) -> Iterator[SentenceSet]:
    """For each language pair, texts of each kind of noise from some families of sites."""
    sites = _sites(sites_dir)
    for left_lang, right_lang in pairs:
        made: set[str] = set()
        # In an order of their own for each pair, or the families that begin with a would be all.
        order = random.Random(f"{left_lang}-{right_lang}").sample(range(len(sites)), len(sites))
        for family, folder in sorted(sites, key=lambda site: order[sites.index(site)]):
            if family in made or len(made) == families:
                continue
            name = f"{family}/{left_lang}-{right_lang}"
            pieces = _pieces(folder, left_lang, right_lang, random.Random(f"{seed} {name}"))
            if len(pieces) < LEAST:
                continue
            made.add(family)
            for level, noise in NOISES.items():
                chance = random.Random(f"{seed} {name} {level}")
                beads = disturb(pieces, left_lang, right_lang, noise, chance)
                yield _as_set(f"{name}/{level}", left_lang, right_lang, beads)


def _sites(folder: Path) -> list[tuple[str, Path]]:
    """The families and folders of sites: those with original URLs first, then others."""
    found = []
    for site in built_sites(folder):
        meta = json.loads((site / "meta.json").read_text("utf-8"))
        is_variant = meta["scheme"] != "native"
        if not site.name.startswith("held-"):
            found.append((is_variant, meta["family"], site))
    return [(family, path) for _, family, path in sorted(found)]


def _page_pairs(site: Path, left_lang: str, right_lang: str) -> list[tuple[Path, Path]]:
    """The files of the page pairs whose pages are both in their language."""
    groups: defaultdict[str, dict[str, Path]] = defaultdict(dict)
    for line in (site / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, url, is_fine, _ = line.split("\t")
        path = site / "htdocs" / unquote(url).lstrip("/")
        if is_fine == "1" and path.is_file():
            groups[key].setdefault(lang.partition("-")[0], path)
    return [
        (group[left_lang], group[right_lang])
        for _, group in sorted(groups.items())
        if left_lang in group and right_lang in group
    ]


def _pieces(site: Path, left_lang: str, right_lang: str, chance: random.Random) -> list[Pieces]:
    """The beads of a site in page order, from a random page on, without repeated sentences."""
    pages = _page_pairs(site, left_lang, right_lang)
    if not pages:
        return []
    start = chance.randrange(len(pages))
    seen: set[str] = set()
    found: list[Pieces] = []
    for left, right in pages[start:] + pages[:start]:
        for pieces in _of_pages(left, right, left_lang, right_lang):
            if not seen.intersection(pieces.left + pieces.right):
                found.append(pieces)
                seen.update(pieces.left + pieces.right)
        if len(found) >= MOST:
            break
    return found[:MOST]


def _of_pages(left: Path, right: Path, left_lang: str, right_lang: str) -> Iterator[Pieces]:
    ours, theirs = _blocks(left), _blocks(right)
    if [_INDEX.sub("", block.path) for block in ours] != [
        _INDEX.sub("", block.path) for block in theirs
    ]:
        return
    for block, other in zip(ours, theirs, strict=True):
        if _is_translated(block, other, left_lang, right_lang):
            yield from beads_of(
                split_sentences(block.text, left_lang), split_sentences(other.text, right_lang)
            )


def _blocks(file: Path) -> tuple[Block, ...]:
    response = Response(
        Url("http://site.test/"), 200, (("Content-Type", "text/html"),), file.read_bytes(), 0.0
    )
    return read_page(response, with_blocks=True).blocks


def _is_translated(block: Block, other: Block, left_lang: str, right_lang: str) -> bool:
    if block.text == other.text or _CODE.search(block.path):
        return False
    langs = [left_lang, right_lang]
    return all(
        not (found := identify(text, langs)) or found[0].lang.partition("-")[0] == lang
        for text, lang in ((block.text, left_lang), (other.text, right_lang))
    )


def beads_of(left: Sequence[str], right: Sequence[str]) -> list[Pieces]:
    """The beads of two blocks that are translations; none if the alignment is doubtful.

    >>> [len(beads_of(["A first cat."] * n, ["Un premier chat."] * m)) for n, m in [(2, 2), (2, 3)]]
    [2, 0]
    """
    if len(left) == len(right):
        made = [Pieces((one,), (other,)) for one, other in zip(left, right, strict=True)]
    elif min(len(left), len(right)) == 1 and max(len(left), len(right)) <= _MOST_TO_ONE:
        made = [Pieces(tuple(left), tuple(right))]
    else:
        return []
    return made if all(map(_is_likely, made)) else []


def _is_likely(pieces: Pieces) -> bool:
    sentences = pieces.left + pieces.right
    if any(text_length(text) < _MIN_LENGTH or not _WORD.search(text) for text in sentences):
        return False
    ours, theirs = (_ADDED + sum(map(text_length, side)) for side in pieces)
    return 1 / _MAX_RATIO <= ours / theirs <= _MAX_RATIO and pieces.left != pieces.right


def disturb(
    pieces: Sequence[Pieces], left_lang: str, right_lang: str, noise: Noise, chance: random.Random
) -> list[Pieces]:
    """The beads after some are joined on one side and some have lost a side."""
    done: list[Pieces] = []
    at = 0
    while at < len(pieces):
        dice = chance.random()
        if dice < noise.drop:
            run = pieces[at : at + chance.choice(_DROPPED_RUNS)]
            done.extend(_dropped(run, is_left=chance.random() < 0.5))
            at += len(run)
            continue
        kind = chance.choices(_JOINS, _JOIN_WEIGHTS)[0] if dice < noise.drop + noise.join else ""
        run = pieces[at : at + (int(max(kind[0], kind[2])) + (kind == "2-2") if kind else 1)]
        joins = kind and len(run) > 1 and all(len(one.left) == len(one.right) == 1 for one in run)
        if joins:
            done.append(_joined(run, kind, left_lang, right_lang))
        else:
            run = run[:1]
            done.append(run[0])
        at += len(run)
    return done


def _dropped(run: Sequence[Pieces], *, is_left: bool) -> Iterator[Pieces]:
    """One-sided beads, one for each sentence of the side that is kept."""
    for one in run:
        yield from (Pieces((text,), ()) for text in ([] if is_left else one.left))
        yield from (Pieces((), (text,)) for text in (one.right if is_left else []))


def _joined(run: Sequence[Pieces], kind: str, left_lang: str, right_lang: str) -> Pieces:
    """Several one-sentence beads joined into one bead.

    >>> run = [Pieces(("a",), ("A",)), Pieces(("b",), ("B",)), Pieces(("c",), ("C",))]
    >>> _joined(run, "1-3", "en", "fr")
    Pieces(left=('a b c',), right=('A', 'B', 'C'))
    >>> _joined(run, "2-2", "en", "ja")
    Pieces(left=('a b', 'c'), right=('A', 'BC'))
    """
    left = [one.left[0] for one in run]
    right = [one.right[0] for one in run]
    between, other = ("" if lang in _UNSPACED else " " for lang in (left_lang, right_lang))
    if kind == "2-2" and len(run) == 3:
        return Pieces((between.join(left[:2]), left[2]), (right[0], other.join(right[1:])))
    if kind.startswith("1"):
        return Pieces((between.join(left),), tuple(right))
    return Pieces(tuple(left), (other.join(right),))


def _as_set(name: str, left_lang: str, right_lang: str, beads: Sequence[Pieces]) -> SentenceSet:
    left: list[str] = []
    right: list[str] = []
    gold: list[Bead] = []
    for pieces in beads:
        ours = tuple(range(len(left), len(left) + len(pieces.left)))
        theirs = tuple(range(len(right), len(right) + len(pieces.right)))
        gold.append(Bead(ours, theirs, 1.0))
        left.extend(pieces.left)
        right.extend(pieces.right)
    return SentenceSet(name, left_lang, right_lang, tuple(left), tuple(right), tuple(gold))


def main() -> None:
    """Print the sets, with the F1 of Gale & Church."""
    from bench.tasks.sentences import align_with
    from diptych.stages.align_sentences.gale_church import GaleChurch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--built", type=Path, default=built_folder())
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| set | left | right | beads | 1-1 | Gale-Church F1 |\n|---|---:|---:|---:|---:|---:|")
    scores = []
    for made in sentence_sets(options.built, options.seed):
        kinds = Counter((len(bead.left), len(bead.right)) for bead in made.gold_beads)
        found = score(align_with(GaleChurch(), made), made.gold_beads)
        scores.append(found)
        print(
            f"| {made.name} | {len(made.left)} | {len(made.right)} | {len(made.gold_beads)}"
            f" | {kinds[1, 1] / len(made.gold_beads):.2f} | {found.f1:.3f} |",
            flush=True,
        )
    if not scores:
        give_up(f"no site in {options.built} has pages in these languages")
    print(f"| mean | | | | | {mean(scores).f1:.3f} |")


if __name__ == "__main__":
    main()
