"""Pairs of pages to be verified, aligned as in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.steps.align_pages import align_pages
from diptych.types import Candidate, Page, PagePair, Response
from support.fakes import at, make_page

ENGLISH = (
    "The harbour of the town is old.",
    "In 1956 the first ships came here from the north, with wood and iron, and left with wool.",
    "Today the harbour has a museum, which is open from 9 to 17 in summer.",
)
FRENCH = (
    "Le port de la ville est ancien.",
    "En 1956 les premiers navires vinrent du nord avec du bois et du fer, et partirent chargés.",
    "Aujourd'hui le port a un musée, qui est ouvert de 9 à 17 heures en été.",
)


def candidate(left: Page, right: Page, lexicon: Lexicon | None = None) -> Candidate:
    """Two pages, aligned with the default strategies."""
    pair = PagePair(left.url, right.url, left.lang or "en", right.lang or "fr", 1.0, "test")
    known = lexicon or Lexicon.empty(pair.left_lang, pair.right_lang)
    segments = tuple(align_pages(pair, left, right, DomTree(), LengthLexicon(), known))
    return Candidate(pair, left, right, segments, known)


def of_texts(left: Sequence[str], right: Sequence[str]) -> Candidate:
    """An English and a French page of paragraphs."""
    return candidate(make_page("/en", "en", *left), make_page("/fr", "fr", *right))


def read_html(path: str, markup: str, langs: Sequence[str] = ("en", "fr")) -> Page:
    """A page as it is read in a run."""
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at(path), 200, headers, markup.encode(), 0.0)
    return read_page(response, langs=langs, with_blocks=True, with_tree=True, with_sketch=True)


def halves(page: Page, left: int) -> Candidate:
    """A page in both languages, its first blocks English and the rest French."""
    one, other = (
        replace(page, blocks=page.blocks[:left], tree=None),
        replace(page, blocks=page.blocks[left:], tree=None),
    )
    pair = PagePair(page.url, page.url, "en", "fr", 1.0, "test")
    known = Lexicon.empty("en", "fr")
    segments = tuple(align_pages(pair, one, other, DomTree(), LengthLexicon(), known))
    return Candidate(pair, one, other, segments, known)
