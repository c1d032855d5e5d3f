"""Train the URL language model: labels, vocabulary, epochs, fact weights and calibration.

The constants were chosen on a fifth of the domains, which is excluded from all benchmark figures;
see docs/models/url_lang.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.kernels.url_lang import MAX_LABELS, Learning, Packed, Tables, count_domains, epoch
from diptych.kernels.url_lang import probabilities as kernel_probabilities
from diptych.learn.url.data import UNKNOWN, LabelledUrl, split_by_domain
from diptych.learn.url.language_facts import Fact, derive_facts
from diptych.learn.url.language_text import pack

MIN_DOMAINS = 8  # minimum for a language to be a label; other languages count as unknown
FEATURE_DOMAINS = 3  # minimum for a feature; a rarer one characterises a domain, not a language
ROWS = 160_000  # features in the table
WIDTH = 40
EPOCHS = 6
RATES = (0.1, 0.005)  # learning rates of the first and the last step
DROP = 0.1
DROP_HOST = 0.3
BALANCE = 0.2  # rows of a label are weighted by its frequency to the power of -BALANCE
TUNE_EPOCHS = 10  # for retraining the weights of facts
TUNE_RATES = (0.3, 0.01)
HELD_OUT = 0.2  # share of the domains for calibration
_SPLIT = 1_000_003  # seed offset, to differ from the split that produced these rows
# Collections of parallel text contain English pages of shops with Greek or Cyrillic slugs, and few
# other URLs in such letters; on the web in general, the letters determine the language.
MIN_WEIGHTS = {"script of one": 6.0, "script of few": 5.0, "script of many": 4.0}
LIGHT = 0.25  # rows of less weight are too unreliable to be held out
_FEW = 20.0  # minimum total weight of a label's rows for balancing
_GATES_SEEN = 100.0  # initial Adagrad sum of gates, which makes them change slowly at first
_INIT = 0.05
_FIRST_WEIGHT = 0.5  # initial weight of a kind of fact
_TEMPERATURES = np.arange(0.5, 2.55, 0.05)


class _Examples(NamedTuple):
    urls: Packed
    truth: NDArray[np.int32]
    weight: NDArray[np.float32]
    domain: NDArray[np.int32]


def fit(rows: Sequence[LabelledUrl], *, seed: int = 0) -> tuple[tuple[str, ...], Tables]:
    """Train a model on labelled URLs, and return its labels and tables.

    The weights of facts and the temperature are determined on held-out domains.
    """
    if not rows:
        raise ConfigError("no rows to train on; use labelled URLs from several domains")
    labels = _labels(rows)
    facts = derive_facts(labels)
    tables = _fit(_examples(rows, labels), labels, facts, seed)
    if not len(tables.table):
        raise ConfigError(
            "too few domains to learn from: a word counts only if it occurs"
            " in at least three domains"
        )
    learned, held_out = split_by_domain(rows, HELD_OUT, _SPLIT + seed)
    learned += [row for row in held_out if row.weight < LIGHT]
    held_out = [row for row in held_out if row.weight >= LIGHT]
    if not learned or not held_out:
        return labels, tables
    unseen = _examples(held_out, labels)
    tuned = _tuned(_fit(_examples(learned, labels), labels, facts, seed), unseen, seed)
    tables = replace(tables, kinds=_at_least(tuned.kinds, facts), gates=tuned.gates)
    return labels, _cooled(tables, _temperature(tuned, unseen))


def _at_least(kinds: NDArray[np.float32], facts: Sequence[Fact]) -> NDArray[np.float32]:
    """Raise the weight of each kind of fact to the minimum for this kind, if there is one.

    `kinds` holds the weights, in the alphabetical order of the kinds that occur in `facts`.
    """
    names = sorted({fact.kind for fact in facts})
    return np.maximum(kinds, [MIN_WEIGHTS.get(name, -np.inf) for name in names]).astype(np.float32)


def _labels(rows: Sequence[LabelledUrl]) -> tuple[str, ...]:
    """The labels of a model: the unknown language, then each language with enough domains."""
    domains = Counter(lang for lang, _ in {(row.lang, row.domain) for row in rows})
    known = sorted(lang for lang, number in domains.items() if number >= MIN_DOMAINS)
    labels = (UNKNOWN, *(lang for lang in known if lang != UNKNOWN))
    if len(labels) > MAX_LABELS:
        raise ConfigError(f"{len(labels)} languages are too many; the maximum is {MAX_LABELS}")
    return labels


def _examples(rows: Sequence[LabelledUrl], labels: Sequence[str]) -> _Examples:
    """Convert rows to weighted examples; URLs of large domains and common languages count less."""
    number = {label: place for place, label in enumerate(labels)}
    rows = sorted(rows, key=lambda row: row.domain)
    domains = {domain: place for place, domain in enumerate(sorted({row.domain for row in rows}))}
    domain = np.array([domains[row.domain] for row in rows], np.int32)
    truth = np.array([number.get(row.lang, 0) for row in rows], np.int32)
    size = np.bincount(domain)[domain]
    weight = np.array([row.weight for row in rows]) / np.sqrt(size)
    total = np.bincount(truth, weight, len(labels))
    weight *= np.maximum(total, _FEW)[truth] ** -BALANCE
    urls = pack([row.url for row in rows])
    return _Examples(urls, truth, (weight / weight.mean()).astype(np.float32), domain)


def _fit(examples: _Examples, labels: Sequence[str], facts: Sequence[Fact], seed: int) -> Tables:
    """Train the tables of a model on examples."""
    chance = np.random.default_rng(seed)
    features = _vocabulary(examples)
    tables = _fresh(features, labels, facts, chance)
    rows = chance.uniform(-_INIT, _INIT, tables.table.shape).astype(np.float32)
    learning = Learning(
        rows,
        np.zeros(len(rows), np.float32),
        np.full(len(labels), 0.01, np.float32),
        np.ones(len(tables.kinds), np.float32),
        np.full(len(tables.kinds), _GATES_SEEN, np.float32),
        state=88172645463325252 + seed,
        drop=DROP,
        drop_host=DROP_HOST,
    )
    _run_epochs(tables, learning, examples, chance, np.linspace(*RATES, EPOCHS + 1))
    return _rounded(tables, learning.rows)


def _run_epochs(
    tables: Tables, learning: Learning, examples: _Examples, chance: np.random.Generator,
    rates: NDArray[np.float64],
) -> None:  # fmt: skip
    """Train with decreasing learning rates, using a new random order for each epoch."""
    for step in pairwise(rates.tolist()):
        order = chance.permutation(len(examples.truth)).astype(np.int32)
        epoch(tables, learning, examples.urls, order, examples.truth, examples.weight, step)


def _vocabulary(examples: _Examples) -> NDArray[np.uint32]:
    """The features that occur in the most domains, the most frequent first."""
    features, domains = count_domains(examples.urls, examples.domain)
    often = np.flatnonzero(domains >= FEATURE_DOMAINS)
    best = often[np.argsort(-domains[often].astype(np.int64), kind="stable")][:ROWS]
    return features[best]


def _fresh(
    features: NDArray[np.uint32], labels: Sequence[str], facts: Sequence[Fact],
    chance: np.random.Generator,
) -> Tables:  # fmt: skip
    """Create untrained tables for the given features, labels and facts.

    Each of `features` gets a trainable row.  Other features that occur in facts follow them and get
    no row.
    """
    number = {label: place for place, label in enumerate(labels)}
    kinds = {kind: place for place, kind in enumerate(sorted({fact.kind for fact in facts}))}
    of_facts = np.array(sorted({fact.feature for fact in facts}), np.uint32)
    keys = np.concatenate([features, np.setdiff1d(of_facts, features)])
    entries = {key: entry for entry, key in enumerate(keys.tolist())}
    ordered = sorted(facts, key=lambda fact: (entries[fact.feature], fact))
    owners = [entries[fact.feature] for fact in ordered]
    slot_key, slot_entry = _slots(keys)
    return Tables(
        out=chance.normal(0, _INIT, (len(labels), WIDTH)).astype(np.float32),
        bias=np.zeros(len(labels), np.float32),
        table=np.zeros((len(features), WIDTH), np.int8),
        scale=np.ones(len(features), np.float32),
        slot_key=slot_key,
        slot_entry=slot_entry,
        entry_from=np.searchsorted(owners, np.arange(len(keys) + 1)).astype(np.int32),
        fact_label=np.array([number[fact.label] for fact in ordered], np.uint16),
        fact_kind=np.array([kinds[fact.kind] for fact in ordered], np.uint16),
        fact_value=np.array([fact.value for fact in ordered], np.float32),
        kinds=np.full(len(kinds), _FIRST_WEIGHT, np.float32),
        gates=np.zeros(len(kinds), np.float32),
    )


def _slots(keys: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Create a hash table of keys that is at most half full; key 0 marks an empty slot."""
    size = 1 << max(4, (2 * len(keys)).bit_length())
    slots: dict[int, int] = {}
    for entry, key in enumerate(keys.tolist()):
        slot = key & (size - 1)
        while slot in slots:
            slot = (slot + 1) & (size - 1)
        slots[slot] = entry
    slot_key, slot_entry = np.zeros(size, np.uint32), np.zeros(size, np.int32)
    places, found = list(slots), list(slots.values())
    slot_key[places], slot_entry[places] = keys[found], found
    return slot_key, slot_entry


def _tuned(tables: Tables, examples: _Examples, seed: int) -> Tables:
    """Retrain the fact weights on examples from held-out domains, where words are less reliable."""
    chance = np.random.default_rng(seed)
    tables = replace(tables, kinds=tables.kinds.copy(), gates=tables.gates.copy())
    number = len(tables.kinds)
    rows = tables.table * tables.scale[:, None]
    learning = Learning(
        rows, tables.scale, tables.bias, np.ones(number, np.float32),
        np.full(number, _GATES_SEEN, np.float32), 1, 0.0, 0.0, facts_only=True,
    )  # fmt: skip
    _run_epochs(tables, learning, examples, chance, np.linspace(*TUNE_RATES, TUNE_EPOCHS + 1))
    return tables


def _rounded(tables: Tables, rows: NDArray[np.float32]) -> Tables:
    """Replace the features' rows with `rows`, quantised to 8-bit integers with a scale per row."""
    scale = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-12) / 127
    table = np.round(rows / scale[:, None]).astype(np.int8)
    return replace(tables, table=table, scale=scale.astype(np.float32))


def _temperature(tables: Tables, examples: _Examples) -> float:
    """The temperature that calibrates the probabilities (Guo et al. 2017)."""
    rows = kernel_probabilities(tables, examples.urls)
    logits = np.log(np.maximum(rows, 1e-30))

    def loss(temperature: float) -> float:
        cooled = logits / temperature
        log_sum = np.logaddexp.reduce(cooled, axis=1)
        true = cooled[np.arange(len(cooled)), examples.truth]
        return float(((log_sum - true) * examples.weight).sum())

    return float(min(_TEMPERATURES, key=loss))


def _cooled(tables: Tables, temperature: float) -> Tables:
    factor = np.float32(1 / temperature)
    return replace(
        tables, out=tables.out * factor, bias=tables.bias * factor, kinds=tables.kinds * factor
    )
