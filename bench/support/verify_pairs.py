"""Labelled candidates for verification: true pairs of built sites, and hard wrong pairs.

The candidates for a page are its true counterpart and, as if that did not exist, the page in the
other language with the most similar content, the one with the most similar URL, and a random one.
Some true pairs are cut: half to four fifths of the blocks of one side are removed.  Each candidate
is aligned without a lexicon, and with a lexicon learned from other pages of the site.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import orjson
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.sites.archive import pages, site_url
from bench.sites.built import built_site
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import discounted
from diptych.page.charset import decode
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.stages.verify.classify import Classify
from diptych.stages.verify.shared.features import Features, features
from diptych.stages.verify.shared.obstacles import obstacle
from diptych.steps.align_pages import align_pages
from diptych.text.tokens import tokens
from diptych.types import Candidate, Page, PagePair, Response

MEASURED = {
    "gimp-enfr": "gimp-help", "mplayer": "mplayer", "gnucash": "gnucash", "lilypond": "lilypond",
    "debian-install-guide": "debian-install-guide", "scilab": "scilab", "debian-faq": "debian-faq",
    "linux-doc": "linux-doc", "apache2-manual": "apache2-manual", "aptitude": "aptitude",
}  # fmt: skip
"""sites that were not used for training, with their families"""
TRAINING = (
    "amc", "apt-doc", "bibletime", "brltty", "debian-history", "developers-reference", "dia",
    "eviacam", "eyes17", "freedombox", "genius", "gfxboot", "glpeces", "kicad", "liferea",
    "live-manual", "maint-guide", "nagvis", "nted", "sgt-puzzles", "solfege", "step-objinfo",
    "svn-buildpackage", "transcriber", "tupi", "webissues", "xfig",
)  # fmt: skip
RIGHT, WORN, WRONG, PARTIAL = "right", "worn", "wrong", "partial"
INLINE = ["a", "b", "i", "u", "em", "strong", "span", "code", "tt", "font", "kbd", "samp", "var"]
_PAGES = 400  # of a language that are read
_LARGE = 100_000  # bytes of a page that is left out, for time
_SURE = 0.7  # score of a segment that teaches, as in a run
_TEACHING = 40  # pairs that teach a lexicon
_LEAST_TEXTS = 20  # segments, as in a run
_CLOSEST = 3  # pages alike in content of which the one alike in structure is taken
_SAME = 0.6  # share of its blocks by which a page is another edition of the true one


class Labelled(NamedTuple):
    """A candidate and its label."""

    site: str
    langs: tuple[str, str]
    kind: str
    """`right`; `worn`, which is right too; `partial`; `content`, `address` and `any` are wrong"""
    candidate: Candidate

    @property
    def label(self) -> str:
        """The label: `right`, `wrong` or `partial`."""
        return {RIGHT: RIGHT, WORN: RIGHT, PARTIAL: PARTIAL}.get(self.kind, WRONG)


class _Doc(NamedTuple):
    key: str
    page: Page
    file: Path


class _Side(NamedTuple):
    """The pages of a language, and the rarity of the words and files of the site."""

    docs: Mapping[str, _Doc]
    rarity: Mapping[str, float]


def labelled(site: str, *, most: int, lang_pairs: int, seed: int) -> Iterator[Labelled]:
    """The candidates of a site, at most a number of true pairs for each of some language pairs."""
    folder = built_site(site)
    groups = _groups(folder)
    files = {unquote(path): file for path, file in pages(folder)}
    langs = sorted({lang for group in groups.values() for lang in group})
    for pair in _lang_pairs(groups, langs, lang_pairs, f"{seed} {site}"):
        rng = random.Random(f"{seed} {site} {pair}")
        sides = [_read(groups, files, lang, langs, rng) for lang in pair]
        yield from _of_languages(site, pair, (sides[0], sides[1]), most, rng)


def _groups(folder: Path) -> dict[str, dict[str, str]]:
    groups: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for line in (folder / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, is_fine, _ = line.split("\t")
        if is_fine == "1":
            groups[key][lang] = path
    return groups


def _lang_pairs(
    groups: Mapping[str, Mapping[str, str]], langs: Sequence[str], most: int, seed: str
) -> list[tuple[str, str]]:
    """Some language pairs that share pages, a third of them without English."""
    counts = Counter(
        pair for group in groups.values() for pair in combinations(sorted(group), 2)
    )  # fmt: skip
    usual = [pair for pair in combinations(langs, 2) if counts[pair] >= 4]
    random.Random(seed).shuffle(usual)
    english = [pair for pair in usual if "en" in pair]
    others = [pair for pair in usual if "en" not in pair]
    share = most - min(len(others), most // 3)
    return [*english[:share], *others[: most - len(english[:share])]]


def _read(
    groups: Mapping[str, Mapping[str, str]],
    files: Mapping[str, Path],
    lang: str,
    langs: Sequence[str],
    rng: random.Random,
) -> _Side:
    keys = sorted(key for key, group in groups.items() if lang in group)
    # The same pages in all languages, so that true pairs stay together.
    keys = sorted(keys, key=lambda key: random.Random(key).random())[:_PAGES]
    docs = {}
    for key in keys:
        path = groups[key][lang]
        file = files.get(unquote(path))
        if file is not None and file.stat().st_size <= _LARGE:
            page = _page(file.read_bytes(), path, langs)
            if page.sketch is not None:
                docs[key] = _Doc(key, page, file)
    counts = Counter(word for doc in docs.values() for word in _words(doc.page))
    return _Side(docs, {word: math.log(1 + len(docs) / n) for word, n in counts.items()})


def _page(body: bytes, path: str, langs: Sequence[str]) -> Page:
    response = Response(site_url(path), 200, (("Content-Type", "text/html"),), body, 0.0)
    return read_page(response, langs=langs, with_blocks=True, with_tree=True, with_sketch=True)


def _words(page: Page) -> set[str]:
    assert page.sketch is not None
    return {*page.sketch.bag, *page.sketch.files}


def _of_languages(
    site: str, langs: tuple[str, str], sides: tuple[_Side, _Side], most: int, rng: random.Random
) -> Iterator[Labelled]:
    """The candidates of both halves of the documents, each with the lexicon of the other half.

    Then all candidates as in a run, whose lexicon is learned from the same pairs, right or wrong.
    """
    common = sorted({*sides[0].docs} & {*sides[1].docs})
    rng.shuffle(common)
    taught = {
        key: _texts(aligned(sides[0].docs[key].page, sides[1].docs[key].page, langs, None))
        for key in common[: 2 * _TEACHING]
    }
    misled: list[Labelled] = []
    halves = common[::2], common[1::2]
    for own, other in (halves, halves[::-1]):
        lexicon = _learned(langs, [taught.get(key, []) for key in other])
        for number, key in enumerate(own[: max(1, most // 2)]):
            for kind, left, right in _pairs(sides, key, number, own, rng):
                first = Labelled(site, langs, kind, aligned(left, right, langs, None))
                yield first
                if lexicon is not None:
                    yield Labelled(site, langs, kind, aligned(left, right, langs, lexicon))
                if kind == ("content" if number % 4 == 3 else RIGHT):
                    misled.append(first)
                    taught[key] = _texts(first.candidate)
    lexicon = _learned(langs, list(taught.values()))
    for each in misled if lexicon is not None else ():
        again = aligned(each.candidate.left, each.candidate.right, langs, lexicon)
        yield each._replace(candidate=again)


def aligned(left: Page, right: Page, langs: tuple[str, str], lexicon: Lexicon | None) -> Candidate:
    """A candidate aligned with the default strategies."""
    known = lexicon or Lexicon.empty(*langs)
    pair = PagePair(left.url, right.url, *langs, 1.0, "bench")
    segments = tuple(align_pages(pair, left, right, DomTree(), LengthLexicon(), known))
    return Candidate(pair, left, right, segments, known)


_Texts = list[tuple[list[str], list[str]]]


def _texts(candidate: Candidate) -> _Texts:
    """The texts from which a run would learn words of a pair."""
    pair = candidate.pair
    return [
        (tokens(segment.left, pair.left_lang), tokens(segment.right, pair.right_lang))
        for segment in candidate.segments
        if segment.left and segment.right and segment.score >= _SURE
    ]


def _learned(langs: tuple[str, str], taught: Sequence[_Texts]) -> Lexicon | None:
    """The lexicon that a run would learn from these pairs; empty if there are too few."""
    texts = [text for some in taught for text in some]
    return discounted(train(texts, *langs)) if len(texts) >= _LEAST_TEXTS else None


def _pairs(
    sides: tuple[_Side, _Side], key: str, number: int, own: Sequence[str], rng: random.Random
) -> Iterator[tuple[str, Page, Page]]:
    """The pairs of a document by kind; wrong pages are from the same half, which taught nothing."""
    docs = sides[0].docs[key], sides[1].docs[key]
    yield RIGHT, docs[0].page, docs[1].page
    if number % 2 and (worn := _worn(docs[number // 2 % 2], rng)) is not None:
        yield WORN, *((worn, docs[1].page) if number // 2 % 2 == 0 else (docs[0].page, worn))
    from_left = bool(number % 2)
    one, truth = docs if from_left else docs[::-1]
    side = sides[1 if from_left else 0]
    others = [side.docs[k] for k in own if k != key and not _is_copy(side.docs[k], truth)]
    for kind, other in _wrong(one, others, side, sides[0 if from_left else 1], rng):
        yield kind, *((one.page, other.page) if from_left else (other.page, one.page))
    if number % 2 == 0 and (cut := _cut(truth, rng)) is not None:
        yield PARTIAL, *((one.page, cut) if from_left else (cut, one.page))


def _is_copy(doc: _Doc, truth: _Doc) -> bool:
    """True if a page is another edition of the true one, or nearly equal to it."""
    ours, theirs = ({block.text for block in each.page.blocks} for each in (doc, truth))
    return len(ours & theirs) >= _SAME * min(len(ours), len(theirs))


def _wrong(
    one: _Doc, others: Sequence[_Doc], side: _Side, own: _Side, rng: random.Random
) -> Iterator[tuple[str, _Doc]]:
    if not others:
        return
    words = _words(one.page)
    near = sorted(others, key=lambda doc: (-_likeness(words, doc, side, own), doc.key))[:_CLOSEST]
    content = max(near, key=lambda doc: _alike(one.page, doc.page))
    yield "content", content
    address = max(others, key=lambda doc: (fuzz.ratio(one.page.url, doc.page.url), doc.key))
    if address is not content:
        yield "address", address
    any_other = rng.choice(others)
    if any_other is not content and any_other is not address and rng.random() < 0.5:
        yield "any", any_other


def _likeness(words: set[str], doc: _Doc, side: _Side, own: _Side) -> float:
    """The similarity of two pages: shared items weighted by their rarity."""
    theirs = _words(doc.page)
    shared = sum(side.rarity[word] * own.rarity[word] for word in words & theirs)
    return shared / math.sqrt(sum(side.rarity[word] ** 2 for word in theirs) or 1.0)


def _alike(left: Page, right: Page) -> float:
    assert left.sketch is not None
    assert right.sketch is not None
    return float(Levenshtein.normalized_similarity(left.sketch.tags, right.sketch.tags))


def _cut(doc: _Doc, rng: random.Random) -> Page | None:
    """The page without a contiguous half to four fifths of its blocks."""
    total = len(doc.page.blocks)
    count = round(total * rng.uniform(0.5, 0.8))
    start = rng.randrange(total - count + 1)
    page, kept = _without(doc, range(start, start + count))
    return page if page.sketch is not None and 0.1 < kept < 0.6 else None


def _worn(doc: _Doc, rng: random.Random) -> Page | None:
    """The page with simpler markup and without up to a sixth of its blocks, as found on the web."""
    total = len(doc.page.blocks)
    gone = rng.sample(range(total), round(total * rng.uniform(0, 0.16)))
    page, kept = _without(doc, sorted(gone), simplify=True)
    return page if page.sketch is not None and kept > 0.8 else None


def _without(doc: _Doc, places: Sequence[int], *, simplify: bool = False) -> tuple[Page, float]:
    """The page without some of its blocks, and the share of its text that is left."""
    parser = LexborHTMLParser(decode(doc.file.read_bytes(), "text/html")[0])
    for place in reversed(places):
        node = _resolve(parser, doc.page.blocks[place].path)
        if node is not None and node.tag not in ("body", "html"):
            node.decompose()
    if simplify:
        parser.unwrap_tags(INLINE)
    path = doc.page.url.removeprefix("http://www.site.test")
    page = _page((parser.html or "").encode(), path, [doc.page.lang])
    before, after = (sum(len(block.text) for block in p.blocks) for p in (doc.page, page))
    return page, after / max(before, 1)


def _resolve(parser: LexborHTMLParser, path: str) -> LexborNode | None:
    node = parser.body
    if not path.startswith("/html/body/"):
        return None
    for part in path.split("/")[3:]:
        tag, _, number = part.rstrip("]").partition("[")
        if node is None or not number.isdigit():
            return None
        same = [child for child in node.iter() if child.tag == tag]
        node = same[int(number) - 1] if int(number) <= len(same) else None
    return node


class Row(NamedTuple):
    """The measures of a labelled candidate."""

    site: str
    langs: str
    kind: str
    label: str
    has_lexicon: bool
    obstacle: str
    features: Features


def rows(
    sites: Iterable[str], *, most: int, lang_pairs: int, seed: int, cache: Path | None = None
) -> list[Row]:
    """The candidates of some sites, cached in a folder if one is given."""
    found: list[Row] = []
    for site in sites:
        file = cache / f"{site}-{most}-{lang_pairs}-{seed}.jsonl" if cache else None
        if file is None or not file.is_file():
            made = [
                _row(each) for each in labelled(site, most=most, lang_pairs=lang_pairs, seed=seed)
            ]
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(
                    b"".join(orjson.dumps([*row[:-1], [*row[-1]]]) + b"\n" for row in made)
                )
        else:
            lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
            made = [Row._make([*line[:-1], Features._make(line[-1])]) for line in lines]
        print(site, len(made), file=sys.stderr, flush=True)
        found += made
    return found


def _row(each: Labelled) -> Row:
    candidate = each.candidate
    known = candidate.lexicon is not None and len(candidate.lexicon) > 0
    strategy = Classify()
    reason = obstacle(candidate, min_letters=strategy.min_letters, max_copied=strategy.max_copied)
    return Row(
        each.site, ",".join(each.langs), each.kind, each.label, known, reason, features(candidate)
    )
