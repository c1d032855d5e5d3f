"""Step: learn lexicons from the page pairs that are most likely to be translations."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.sure_segments import random_order
from diptych.steps.tasks import LexiconTask, TaskContext
from diptych.types import LangPair, PagePair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.registry import Strategies

Lexicons = Mapping[LangPair, "Lexicon"]
SURE_PAIR = 0.8  # minimum score of a pair to learn from
# On 21 real sites and a manual, as many segments that were judged good by reading are kept as with
# 500,000 letters of any text, in two thirds of the time.  With 150,000 letters, learning takes half
# of the time, but some sites lose up to 4% of their segments.
MAX_LETTERS = 250_000  # of text to learn from, not counting repetitions
_MIN_NEW = 0.3  # minimum share of a page's text that no page before it has
_MAX_READ = 2_000_000  # letters of the pages that are looked at
_MAX_PAIRS = 4_000  # that are looked at, to bound the memory
_MIN_SEGMENTS = 20  # fewer are not enough to learn from


class LearnedLexicons(NamedTuple):
    """The lexicons by language pair; `is_whole` is False if some page pairs could not be read."""

    lexicons: dict[LangPair, Lexicon]
    is_whole: bool


class SureTexts(NamedTuple):
    """Texts of segments; `is_whole` is False if some page pairs could not be read."""

    texts: list[tuple[str, str]]
    is_whole: bool


def uses_words(strategies: Strategies) -> bool:
    """True if any of the aligners uses a lexicon."""
    return strategies.align_dom.uses_lexicon or strategies.align_sentences.uses_lexicon


def learn_lexicons(
    store: Store, context: TaskContext, known: Lexicons, workers: Workers, watcher: Watcher
) -> LearnedLexicons:
    """For each language pair, learn a lexicon from reliable page pairs, and merge in `known`."""
    watcher.begin("learning words")
    watcher.tick()
    lexicons, is_whole = dict(known), True
    for langs in store.lang_pairs():
        sure = sure_texts(store, context, langs, workers, watcher)
        is_whole = is_whole and sure.is_whole
        if learned := train_lexicon(sure.texts, langs, known.get(langs)):
            lexicons[langs] = learned
    return LearnedLexicons(lexicons, is_whole)


def sure_texts(
    store: Store, context: TaskContext, langs: LangPair, workers: Workers, watcher: Watcher,
    *, max_letters: int | None = None,
) -> SureTexts:  # fmt: skip
    """Segments that are almost certainly translations, of so many letters of text, sorted."""
    pairs = _training_pairs(store, langs, max_letters or MAX_LETTERS)
    tasks = list(map(LexiconTask, pairs))
    watcher.begin("learning words", len(tasks), "page pairs")
    texts: set[tuple[str, str]] = set()
    is_whole = True
    for found in workers.run_tasks(tasks, context.shared(store), tick=watcher.tick):
        watcher.advance()
        if isinstance(found, Failed):
            is_whole = False
        else:
            texts.update(found)
    return SureTexts(sorted(texts), is_whole)


def _training_pairs(store: Store, langs: LangPair, max_letters: int) -> list[PagePair]:
    """A random sample of the page pairs with a high score, without pages that repeat others.

    Aligning a page costs as much for text that it shares with others, such as menus, as for text of
    its own, from which alone more words are learned.
    """
    rows = store.pairs_to_learn_from(langs, SURE_PAIR)
    chosen: list[PagePair] = []
    known: set[int] = set()
    learned = read = 0.0
    for pair, length in nsmallest(_MAX_PAIRS, rows, key=lambda row: random_order(row[0])):
        if learned >= max_letters or read >= _MAX_READ:
            break
        blocks = store.blocks_of(pair.left) or [(0, float(length))]
        new = sum(letters for text, letters in blocks if text not in known)
        read += length
        if new < _MIN_NEW * sum(letters for _, letters in blocks):
            continue
        known.update(text for text, _ in blocks)
        chosen.append(pair)
        learned += new
    return chosen


def train_lexicon(
    texts: list[tuple[str, str]], langs: LangPair, known: Lexicon | None
) -> Lexicon | None:
    """Train a lexicon on segments and merge it with `known`; with few segments, return `known`."""
    from diptych.learn.lexicon.ibm1 import train
    from diptych.learn.lexicon.word_links import discounted
    from diptych.text.tokens import tokens

    if len(texts) < _MIN_SEGMENTS:
        return known
    pairs = [(tokens(left, langs.left), tokens(right, langs.right)) for left, right in texts]
    learned = discounted(train(pairs, *langs))
    return learned.merged(known) if known else learned
