"""Lexicon training from sentence pairs by IBM Model 1, in both directions (Brown et al. 1993)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import numpy as np

from diptych.kernels.ibm1 import MAX_ENTRIES, Bags, Prior, Trained, bags
from diptych.kernels.ibm1 import train as train_one_way
from diptych.kernels.tables import Table, table_of
from diptych.learn.lexicon.lexicon import Lexicon, word_ids

Pair = tuple[Sequence[str], Sequence[str]]

MAX_WORDS = 250  # per sentence; in longer ones, each word has too many links to learn from
_UNCOUNTED = 2.0  # assumed count of a dictionary word: reliable, but text may overrule it


def train(
    pairs: Iterable[Pair],
    left_lang: str,
    right_lang: str,
    *,
    iterations: int = 5,
    prior: Lexicon | None = None,
    prior_weight: float = 1.0,
    min_probability: float = 1e-3,
    max_translations: int = 100,
    max_entries: int = MAX_ENTRIES,
) -> Lexicon:
    """Train a lexicon on tokenised sentence pairs; the result does not depend on their order.

    A prior lexicon counts as additional training text.  The count that it adds to a word pair is
    the probability of the translation, times the count of the translated word, times
    `prior_weight`.  Pruning does not renormalise the remaining probabilities.

    >>> pairs = [(["das", "haus"], ["the", "house"]), (["das", "buch"], ["the", "book"])]
    >>> train(pairs, "de", "en").best("haus", n=1)[0][0]
    'house'
    """
    known = Lexicon.empty(left_lang, right_lang) if prior is None else prior
    if (known.left_lang, known.right_lang) != (left_lang, right_lang):
        raise ValueError(
            f"the prior is a lexicon for {known.left_lang}-{known.right_lang},"
            f" not for {left_lang}-{right_lang}"
        )
    # DEVIATION(brown): longer sentences are left out, as their links grow with the square.
    short = [pair for pair in pairs if max(map(len, pair)) <= MAX_WORDS]
    left_words = _vocabulary((left for left, _ in short), known.left_words)
    right_words = _vocabulary((right for _, right in short), known.right_words)
    left, right = _as_bags(short, left_words, right_words)

    def one_way(given: Bags, other: Bags, prior: Prior | None) -> Trained:
        return train_one_way(
            given, other, iterations=iterations, prior=prior, least=min_probability,
            most=max_translations, max_entries=max_entries,
        )  # fmt: skip

    there = one_way(left, right, _counts(known, left_words, right_words, prior_weight))
    back = one_way(right, left, _counts(known.reversed(), right_words, left_words, prior_weight))
    return Lexicon(
        left_lang, right_lang, left_words, right_words,
        _without_empty_word(there.table), _without_empty_word(back.table),
        there.totals[:-1].astype(np.float32), back.totals[:-1].astype(np.float32),
    )  # fmt: skip


def _vocabulary(sentences: Iterable[Sequence[str]], known: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*known, *chain.from_iterable(sentences)}))


def _as_bags(
    pairs: Sequence[Pair], left_words: Sequence[str], right_words: Sequence[str]
) -> tuple[Bags, Bags]:
    """Sort sentence pairs, to make rounding reproducible, and convert both sides to bags."""
    left = _rows([left for left, _ in pairs], left_words)
    right = _rows([right for _, right in pairs], right_words)
    order = sorted(range(len(pairs)), key=lambda place: (left[place], right[place]))
    return (
        _packed([left[place] for place in order], len(left_words)),
        _packed([right[place] for place in order], len(right_words)),
    )


def _rows(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> list[bytes]:
    """Convert each sentence to its word ids, packed into bytes so that sentences sort quickly."""
    flat = word_ids(list(chain.from_iterable(sentences)), words).astype(np.int32).tobytes()
    ends = np.cumsum([0, *(4 * len(sentence) for sentence in sentences)]).tolist()
    return [flat[start:end] for start, end in pairwise(ends)]


def _packed(rows: Sequence[bytes], size: int) -> Bags:
    offsets = np.cumsum([0, *(len(row) // 4 for row in rows)], dtype=np.int64)
    return bags(np.frombuffer(b"".join(rows), np.int32), offsets, size)


def _counts(
    known: Lexicon, left_words: Sequence[str], right_words: Sequence[str], weight: float
) -> Prior | None:
    """Convert a lexicon to prior counts for training, or return None if it is empty.

    The vocabularies `left_words` and `right_words` include those of the lexicon.  All counts are
    multiplied by `weight`.
    """
    if not len(known):
        return None
    seen = known.counts("left", _UNCOUNTED).astype(np.float64) * weight
    rows, columns = word_ids(known.left_words, left_words), word_ids(known.right_words, right_words)
    own = np.repeat(np.arange(len(rows)), np.diff(known.forward.offsets))
    values = known.forward.values * seen[own]
    table = table_of(rows[own], columns[known.forward.columns], values, len(left_words))
    totals = np.zeros(len(left_words))
    totals[rows] = seen
    return Prior(*table, totals)


def _without_empty_word(table: Table) -> Table:
    """Return a table without its last row, which belongs to the empty word."""
    end = int(table.offsets[-2])
    return Table(table.offsets[:-1], table.columns[:end], table.values[:end])
