"""Aligned segments of real sites, labelled as translations or errors.

If two pages of a built site have the same sequence of elements, their blocks are translations by
position.  The pages are aligned as in a run: unchanged, with a fifth of the blocks of one side
removed, or with boilerplate added, so that scores and errors are those of the aligners.  A segment
is correct if its blocks and sentences correspond, and an error if they do not; if this is unknown,
the segment keeps its place but is not judged.  Noise is added to some correct segments
(`filter_noise`).

The lexicon is the one that a run would have learned from the site, from a few pages, or none.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench.sites.built import built_site
from bench.support.block_pairs import Sample, degraded, pairs_of
from bench.support.filter_noise import NOISES, Around
from bench.support.sentence_sets import SentenceSet, beads_of
from diptych.language.codes import primary, same_language
from diptych.language.identify import identify
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import discounted
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.steps.align_pages import AlignedSentences, align_sentences
from diptych.text.lengths import text_length
from diptych.text.sentences import split_sentences
from diptych.text.tokens import tokens
from diptych.types import Block, LangPair, Page, SegmentPair, Url

HELD = (
    "gimp-enfr", "mplayer", "gnucash", "lilypond", "debian-install-guide", "scilab", "debian-faq",
    "linux-doc", "apache2-manual", "aptitude",
)  # fmt: skip
"""families that were not used for training or choosing anything in the filter"""
TRAINING = (
    "apt-doc", "bibletime", "brltty", "debian-history", "developers-reference", "dia", "eviacam",
    "eyes17", "freedombox", "genius", "gfxboot", "glpeces", "kicad", "liferea", "live-manual",
    "maint-guide", "nagvis", "nted", "sgt-puzzles", "solfege", "step-objinfo", "svn-buildpackage",
    "transcriber", "tupi", "webissues", "xfig",
)  # fmt: skip
KINDS = ("none", "20% deleted", "20% deleted, 5% swapped", "and boilerplate added")
GOOD, ERROR = "right", "aligner"
LEXICONS = ("whole", "whole", "whole", "few pages", "none")
"""sources from which the lexicons of sites are learned, in turn"""
_RATES = (0.15, 0.35, 0.55, 0.75)  # of the right segments of a page that are made worse
_MOST = 120  # segments of a page
_LEAST_LENGTH = 10.0  # letters: shorter ones are labels, and may be anything
_SURE, _LEAST_TAUGHT = 0.7, 20  # as in a run
_LABEL = 25  # characters: numbered headings are the same on many pages
_CONTRADICTED = 0.125  # share of the judged segments of a page
_CLEAR = 0.6  # share of a language that a text is said to be in
_SHIFTED = 0.02  # share of the numbered headings of a page
_SECTION = re.compile(r"[0-9A-Z](?:\.[0-9]+)+")
_CODE = re.compile(r"/(?:pre|code|tt|kbd|samp)\b")


class Case(NamedTuple):
    """The segments of two pages in order, and their labels."""

    family: str
    langs: tuple[str, str]
    known: str
    """what the lexicon was learned from"""
    lexicon: Lexicon
    segs: tuple[SegmentPair, ...]
    labels: tuple[str, ...]
    """`right`, a kind of noise, or nothing where it is not judged"""


def cases(families: Iterable[str], *, most: int, lang_pairs: int, seed: int) -> Iterator[Case]:
    """Cases from some families, at most a number of pages for each of some language pairs."""
    for number, family in enumerate(families):
        langs = _languages(built_site(family))
        for turn, pair in enumerate(_lang_pairs(langs, lang_pairs, f"{seed} {family}")):
            known = LEXICONS[(number + turn) % len(LEXICONS)]
            third = _third(langs, pair, random.Random(f"{seed} {family} {pair}"))
            yield from _of_languages(family, pair, third, known, most, seed)
        print(family, file=sys.stderr, flush=True)


def _languages(folder: Path) -> Counter[str]:
    lines = (folder / "groups.tsv").read_text("utf-8").splitlines()
    return Counter(lang for _, lang, _, is_fine, _ in (line.split("\t") for line in lines)
                   if is_fine == "1")  # fmt: skip


def _lang_pairs(langs: Mapping[str, int], most: int, seed: str) -> list[tuple[str, str]]:
    """Some language pairs with enough pages, a third of them without English."""
    usual = [
        pair for pair in combinations(sorted(langs), 2) if min(map(langs.__getitem__, pair)) > 2
    ]
    usual = [pair for pair in usual if primary(pair[0]) != primary(pair[1])]
    rng = random.Random(seed)
    rng.shuffle(usual)
    english = [pair for pair in usual if "en" in pair]
    others = [pair for pair in usual if "en" not in pair]
    share = most - min(len(others), most // 3)
    chosen = [*english[:share], *others[: most - len(english[:share])]]
    return [pair if rng.random() < 0.7 or "en" not in pair else pair[::-1] for pair in chosen]


def _third(langs: Mapping[str, int], pair: tuple[str, str], rng: random.Random) -> str:
    rest = [
        lang for lang in sorted(langs)
        if langs[lang] > 2 and primary(lang) not in map(primary, pair)
    ]  # fmt: skip
    return rng.choice(rest) if rest else ""


def _of_languages(
    family: str, langs: tuple[str, str], third: str, known: str, most: int, seed: int
) -> Iterator[Case]:
    pairs = [
        pair._replace(scored=_translated(pair.sources[0].page, pair.sources[1].page, langs))
        for pair in pairs_of(family, langs, most, seed)
        if not _are_shifted(*(source.page for source in pair.sources))
    ]
    lexicon = _lexicon(known, langs, [(p.sources[0].page, p.sources[1].page) for p in pairs])
    in_third, others = _texts_of_third(family, langs, third, most, seed)
    for number, pair in enumerate(pairs):
        kind = KINDS[number % len(KINDS)]
        rest = [other for other in pairs if other is not pair] or [pair]
        sample = degraded(pair, kind, rest, seed) or degraded(pair, "none", rest, seed)
        if sample is None:
            continue
        found = _labelled(sample, lexicon)
        if _is_doubted(label for _, label in found):
            continue
        rng = random.Random(f"{seed} {family} {langs} {number}")
        start = rng.randrange(max(1, len(found) - _MOST + 1))
        found = found[start : start + _MOST]
        segs, labels = _made_worse(found, in_third, others, lexicon, rng)
        if any(labels):
            yield Case(family, langs, known, lexicon, segs, labels)


def _are_shifted(left: Page, right: Page) -> bool:
    """True if blocks at the same position have different section numbers: two editions."""
    numbers = [
        (ours[0], theirs[0])
        for block, other in zip(left.blocks, right.blocks, strict=True)
        if (ours := _SECTION.match(block.text)) and (theirs := _SECTION.match(other.text))
    ]
    return sum(ours != theirs for ours, theirs in numbers) > _SHIFTED * len(numbers)


def _translated(left: Page, right: Page, langs: tuple[str, str]) -> frozenset[int]:
    """The positions of blocks that are really translated."""
    return frozenset(
        number
        for number, blocks in enumerate(zip(left.blocks, right.blocks, strict=True))
        if _is_translated(*blocks, langs)
    )


def _is_translated(left: Block, right: Block, langs: tuple[str, str]) -> bool:
    if left.text == right.text or _CODE.search(left.path) or _CODE.search(right.path):
        return False
    if min(text_length(left.text), text_length(right.text)) < _LEAST_LENGTH:
        return False
    return all(
        _is_in(block.text, lang, langs) for block, lang in ((left, langs[0]), (right, langs[1]))
    )


def _is_in(text: str, lang: str, langs: tuple[str, str]) -> bool:
    """True if a text may be in its language: not in the other, and not clearly in a third.

    Untranslated text is in English on sites in any language.
    """
    found, third = identify(text, langs), identify(text, langs, closed=False)
    is_other = bool(found) and not same_language(found[0].lang, lang)
    is_third = bool(third) and not same_language(third[0].lang, lang) and third[0].score > _CLEAR
    return not is_other and not is_third


def _texts_of_third(
    family: str, langs: tuple[str, str], third: str, most: int, seed: int
) -> tuple[dict[str, str], list[str]]:
    """The translations of left blocks into a third language, and all texts in that language."""
    if not third:
        return {}, []
    in_third: dict[str, str] = {}
    for pair in pairs_of(family, (langs[0], third), most, seed):
        left, right = (source.page for source in pair.sources)
        for ours, theirs in zip(left.blocks, right.blocks, strict=True):
            if _is_translated(ours, theirs, (langs[0], third)):
                in_third |= {
                    piece.left[0]: piece.right[0]
                    for piece in beads_of(
                        split_sentences(ours.text, langs[0]), split_sentences(theirs.text, third)
                    )
                    if len(piece.left) == len(piece.right) == 1
                }
    return in_third, sorted(set(in_third.values()))


def _lexicon(known: str, langs: tuple[str, str], pages: Sequence[tuple[Page, Page]]) -> Lexicon:
    """The lexicon that a run would learn from these pages."""
    empty = Lexicon.empty(*langs)
    taught: list[tuple[list[str], list[str]]] = []
    for left, right in {"whole": pages, "few pages": pages[:1], "none": ()}[known]:
        for found in _aligned(left, right, langs, empty):
            if found.left and found.right and found.score >= _SURE:
                seg = _segment(found, langs, left, right)
                taught.append((tokens(seg.left, langs[0]), tokens(seg.right, langs[1])))
    return discounted(train(taught, *langs)) if len(taught) >= _LEAST_TAUGHT else empty


def _aligned(
    left: Page, right: Page, langs: tuple[str, str], lexicon: Lexicon
) -> list[AlignedSentences]:
    return list(align_sentences(left, right, LangPair(*langs), DomTree(), LengthLexicon(), lexicon))


def _segment(
    found: AlignedSentences, langs: tuple[str, str], left: Page, right: Page
) -> SegmentPair:
    return SegmentPair(
        " ".join(sentence.text for sentence in found.left),
        " ".join(sentence.text for sentence in found.right),
        *langs, left.url, right.url, "", "", found.score,
    )  # fmt: skip


def _labelled(sample: Sample, lexicon: Lexicon) -> list[tuple[SegmentPair, str]]:
    """The two-sided segments of two pages in order, with their labels."""
    truth = _Truth(sample)
    kept = []
    for found in _aligned(sample.left, sample.right, sample.langs, lexicon):
        if found.left and found.right:
            label = truth.label(
                [sentence.place for sentence in found.left],
                [sentence.place for sentence in found.right],
            )
            kept.append((_segment(found, sample.langs, sample.left, sample.right), label))
    right = {(seg.left, seg.right) for seg, label in kept if label == GOOD}
    return [
        (seg, "" if label == ERROR and _is_doubtful(seg, right) else label) for seg, label in kept
    ]


def _is_doubted(labels: Iterable[str]) -> bool:
    """True if the aligners contradict the positions of blocks too often to trust them.

    Pages of two editions may have the same elements, but additional sections in some places.
    """
    counts = Counter(labels)
    return counts[ERROR] > _CONTRADICTED * (counts[ERROR] + counts[GOOD])


def _is_doubtful(seg: SegmentPair, right: set[tuple[str, str]]) -> bool:
    """True if an error may be correct: the texts are correct elsewhere, or are only labels."""
    is_short = max(len(seg.left), len(seg.right)) < _LABEL
    return is_short or (seg.left, seg.right) in right


class _Truth:
    """The true correspondences of sentences of two pages."""

    def __init__(self, sample: Sample) -> None:
        self.blocks = sample.truth
        self.scored = sample.scored
        sides = []
        for page, lang in ((sample.left, sample.langs[0]), (sample.right, sample.langs[1])):
            sides.append([split_sentences(block.text, lang) for block in page.blocks])
        self.sentences = sides
        self.places = [
            [(block, at) for block, some in enumerate(side) for at in range(len(some))]
            for side in sides
        ]

    def label(self, left: Sequence[int], right: Sequence[int]) -> str:
        """The label of a bead of sentences at these positions."""
        ours = [self.places[0][place] for place in left]
        theirs = [self.places[1][place] for place in right]
        blocks, others = {block for block, _ in ours}, {block for block, _ in theirs}
        partners = {self.blocks[block] for block in blocks if block in self.blocks}
        judged = blocks <= self.scored[0] or others <= self.scored[1]
        if judged and not partners & others:
            return ERROR
        if len(blocks) > 1 or len(others) > 1 or not partners:
            return ""
        beads = beads_of(
            self.sentences[0][next(iter(blocks))], self.sentences[1][next(iter(others))]
        )
        return _bead_label(len(beads), {at for _, at in ours}, {at for _, at in theirs})


def _bead_label(beads: int, left: set[int], right: set[int]) -> str:
    """The label of a bead in two corresponding blocks; it must lie within a single true bead."""
    if not beads:
        return ""
    if beads == 1:
        return GOOD if len(left) == 1 == len(right) else ""
    return GOOD if left == right else ERROR


def _made_worse(
    found: Sequence[tuple[SegmentPair, str]], third: Mapping[str, str], others: Sequence[str],
    lexicon: Lexicon, rng: random.Random,
) -> tuple[tuple[SegmentPair, ...], tuple[str, ...]]:  # fmt: skip
    """The segments of a page with noise in some correct ones; all kinds are equally frequent."""
    right = [seg for seg, label in found if label == GOOD]
    places = {id(seg): place for place, seg in enumerate(right)}
    rate = rng.choice(_RATES)
    segs, labels = [], []
    used: defaultdict[str, int] = defaultdict(int)
    for seg, label in found:
        if label == GOOD and rng.random() < rate:
            around = Around(right, places[id(seg)], third, others, lexicon)
            # The kind that is rarest so far, if it can be made of this segment.
            for kind in sorted(NOISES, key=lambda name: (used[name], rng.random())):
                made = NOISES[kind](around, rng)
                if made is not None and (made.left, made.right) != (seg.left, seg.right):
                    used[kind] += 1
                    seg, label = made, kind
                    break
        segs.append(seg)
        labels.append(label)
    return tuple(segs), tuple(labels)


def textberg_case(text: SentenceSet, known: str, seed: int) -> Case:
    """An article with manually aligned beads, aligned as in a run."""
    langs = (text.left_lang, text.right_lang)
    empty = Lexicon.empty(*langs)
    gold = {(bead.left, bead.right) for bead in text.gold_beads}
    found = []
    for bead in LengthLexicon().align(text.left, text.right, empty):
        if bead.left and bead.right:
            left = " ".join(text.left[place] for place in bead.left)
            right = " ".join(text.right[place] for place in bead.right)
            url = Url("http://textberg.test/")
            seg = SegmentPair(left, right, *langs, url, url, "", "", bead.score)
            found.append((seg, GOOD if (bead.left, bead.right) in gold else ERROR))
    taught = [
        (tokens(seg.left, langs[0]), tokens(seg.right, langs[1]))
        for seg, _ in found if seg.score >= _SURE
    ]  # fmt: skip
    lexicon = discounted(train(taught, *langs)) if known == "whole" else empty
    rng = random.Random(f"{seed} {known}")
    return Case("textberg", langs, known, lexicon, *_made_worse(found, {}, (), lexicon, rng))
