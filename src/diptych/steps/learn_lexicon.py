"""What a run learns of words before it pairs for good: from its surest pairs, and from more.

Pages are paired by what needs no words.  The surest pairs are aligned and teach a lexicon, with
which pages are paired again.  While that finds many more sure pairs, these teach in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from diptych.engine.task_workers import Failed, run_tasks
from diptych.language.codes import same_language
from diptych.protocols import Watcher
from diptych.run.store import Store
from diptych.steps.tasks import TeachTask, Work
from diptych.types import LangPair, PagePair

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

__all__ = ["learn_words", "lexicon_of"]

Lexicons = Mapping[LangPair, "Lexicon"]
_ROUNDS = 3
_GROWTH = 1.05  # times as many sure pairs as before, for which it is worth to learn again
_SURE = 0.8  # score of a pair that teaches
_CERTAIN, _DOUBT = 0.95, 0.05  # few pages without a certain partner, for each sure pair
_LETTERS = 500_000  # of text that teach enough
_LEAST = 20  # segments: fewer teach nothing


def learn_words(
    store: Store,
    work: Work,
    known: Lexicons,
    pair_pages: Callable[[Lexicons], None],
    watcher: Watcher,
    *,
    jobs: int,
) -> dict[LangPair, Lexicon]:
    """Pair all pages, learn, and pair them again; what was learned, for all that follows.

    What was learned of the same pages before is not learned again.
    """
    from diptych.learn.lexicon.lexicon import Lexicon

    if store.begin_learning():
        pair_pages(known)
        lexicons = dict(known)
        for _ in range(_ROUNDS if _learns(work) else 0):
            before = store.sure_pairs(_SURE)
            watcher.stage = "learning words"
            watcher.tick()
            lexicons = _taught(store, replace(work, lexicons=lexicons), known, watcher, jobs)
            if store.doubts(_CERTAIN) <= _DOUBT * before:
                break  # words could not tell much that is not known
            pair_pages(lexicons)
            if store.sure_pairs(_SURE) <= _GROWTH * before:
                break
        store.save_lexicons({langs: each.to_bytes() for langs, each in lexicons.items()})
    return {langs: Lexicon.from_bytes(data) for langs, data in store.lexicons().items()}


def _learns(work: Work) -> bool:
    return work.strategies.align_dom.uses_lexicon or work.strategies.align_sentences.uses_lexicon


def _taught(
    store: Store, work: Work, known: Lexicons, watcher: Watcher, jobs: int
) -> dict[LangPair, Lexicon]:
    """A lexicon for each two languages, of what their surest pairs teach and what was known."""
    lexicons = dict(known)
    for langs in store.lang_pairs():
        tasks = [TeachTask(pair) for pair in _teachers(store, langs)]
        texts: set[tuple[str, str]] = set()
        for found in run_tasks(tasks, work, work.of(store), jobs=jobs):
            texts.update(() if isinstance(found, Failed) else found)
            watcher.tick()
        if learned := _lexicon(sorted(texts), langs, known.get(langs)):
            lexicons[langs] = learned
    return lexicons


def _teachers(store: Store, langs: LangPair) -> list[PagePair]:
    """The sure pairs, some from all over where there are more than it takes."""
    rows = store.teachers(langs, _SURE)
    rows.sort(key=lambda row: _shuffled(row[0]))
    chosen: list[PagePair] = []
    letters = 0
    for pair, length in rows:
        if letters >= _LETTERS:
            break
        chosen.append(pair)
        letters += length
    return chosen


def _shuffled(pair: PagePair) -> bytes:
    """An order that has nothing to do with names, and is always the same."""
    return blake2b(f"{pair.left}\n{pair.right}".encode(), digest_size=8).digest()


def _lexicon(
    texts: list[tuple[str, str]], langs: LangPair, known: Lexicon | None
) -> Lexicon | None:
    """What translated segments teach, beside what was known before."""
    from diptych.learn.lexicon.ibm1 import train
    from diptych.learn.lexicon.word_links import discounted
    from diptych.text.tokens import tokens

    if len(texts) < _LEAST:
        return known
    pairs = [(tokens(left, langs.left), tokens(right, langs.right)) for left, right in texts]
    learned = discounted(train(pairs, *langs))
    return learned.merged(known) if known else learned


def lexicon_of(langs: LangPair, lexicons: Iterable[Lexicon]) -> Lexicon | None:
    """What lexicons of two languages say together, turned if need be; regions do not count."""
    found: Lexicon | None = None
    for lexicon in lexicons:
        own = LangPair(lexicon.left_lang, lexicon.right_lang)
        if not _are_same(own, langs) and _are_same(LangPair(own.right, own.left), langs):
            lexicon = lexicon.reversed()
        elif not _are_same(own, langs):
            continue
        if (lexicon.left_lang, lexicon.right_lang) != langs:
            lexicon = replace(lexicon, left_lang=langs.left, right_lang=langs.right)
        found = lexicon if found is None else found.merged(lexicon)
    return found


def _are_same(left: LangPair, right: LangPair) -> bool:
    return same_language(left.left, right.left) and same_language(left.right, right.right)
