"""Reads snapshots of guides and validates every value."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, State
from diptych.stages.crawl.hybrid.language_guess import OTHER
from diptych.stages.crawl.hybrid.memory import MAX_BLOCKS, Memory
from diptych.stages.crawl.hybrid.page_chance import PageChances
from diptych.stages.crawl.hybrid.rates import Rates
from diptych.stages.crawl.hybrid.snapshot import FOUND_BY, VERSION
from diptych.stages.crawl.hybrid.value import PRIOR_RIGHT, evidence_name
from diptych.stages.crawl.shared.snapshots import (
    checked,
    columns,
    flags,
    items,
    links,
    numbers,
    parts,
    texts,
    whole_numbers,
)
from diptych.text.url_edits import Edit, EditRules, Rule, UrlPair
from diptych.types import Url

_STATES = tuple(State)
_PARTS = ("", "begin", "end")  # parts of a URL that an edit replaces


def read_snapshot(data: Any, langs: Sequence[str], weight: float) -> Memory:
    """Restore the memory of a guide from a snapshot.

    `langs` are the requested languages, and `weight` is the weight of prior rates, as a number of
    trials.  Raise a parser error, such as ValueError or KeyError, if the data is not a valid
    snapshot.
    """
    checked(type(data) is dict and data["version"] == VERSION)
    memory = Memory(langs, weight)
    memory.edit_rules = EditRules(tuple(_read_rule(row) for row in items(data["rules"])))
    _read_languages(memory, data)
    kinds = [_read_kinds(each) for each in items(data["kinds"])]
    checked(len(kinds) > 0 and kinds[0] == ())
    known = _read_urls(memory, data["urls"], kinds)
    (listed,) = whole_numbers([data["listed"]], len(known) + 1)
    for each in known[:listed]:
        memory.urls.add(each)
    checked(len(memory.urls.by_url) == listed)
    sources, targets = columns(data["same"], 2)
    memory.urls.same.update(zip(texts(sources), texts(targets), strict=True))
    _read_relations(known, data["relations"], kinds)
    _read_orders(memory, known, data["orders"])
    memory.overflow.extend(links(data["overflow"]))
    _read_measured_rates(memory, data)
    _read_totals(memory, data)
    _read_learned(memory, data["learned"])
    return memory


def _read_measured_rates(memory: Memory, data: dict[str, Any]) -> None:
    """Read the rates of evidence and translations, and those on which trust is based."""
    values = memory.values
    measured = (values.evidence_rates, values.translation_rates, values.proofs)
    for rates, rows in zip(measured, items(data["rates"]), strict=True):
        _read_rates(rates, rows)


def _read_totals(memory: Memory, data: dict[str, Any]) -> None:
    unpaired, counts = columns(data["unpaired"], 2)
    memory.values.unpaired.update(dict(zip(texts(unpaired), _counts(counts), strict=True)))
    *names, scores = columns(data["pairs"], 6)[:5]
    key = texts(data["pairs"][5])
    memory.pairs.extend(
        UrlPair(*row) for row in zip(*map(texts, names), numbers(scores), key, strict=True)
    )
    memory.next_rules, memory.guesses, memory.next_pairing, *totals = _counts(data["totals"])
    memory.matches.count, memory.pending_value = totals
    memory.values.has_pairs = memory.matches.count > 0
    (memory.is_pairing,) = flags([data["is_pairing"]])


def _read_learned(memory: Memory, data: dict[str, Any]) -> None:
    """Read the learned counts, except evidence and translation rates."""
    values = memory.values
    langs, counts = columns(data["pages"], 2)
    values.languages.total.update(zip(texts(langs), whole_numbers(counts), strict=True))
    for chances, rows in zip((values.pages, values.texts), items(data["chances"]), strict=True):
        _read_chances(chances, rows, len(values.languages.counts))
    yields = values.yields
    for rates, rows in zip((yields.worth, yields.links), items(data["yields"]), strict=True):
        _read_rates(rates, rows)
    found, expected = items(data["contexts"])
    for table, rows in ((values.contexts.found, found), (values.contexts.expected, expected)):
        names, sums = columns(rows, 2)
        table.update(zip(texts(names), _sums(sums), strict=True))
    yields.seen, yields.foreseen, values.best = _sums(data["numbers"])
    blocks = array("I", b64decode(texts([data["blocks"]])[0], validate=True))
    checked(len(blocks) <= 2 * MAX_BLOCKS)
    memory.blocks.update(blocks)


def _read_chances(chances: PageChances, rows: object, features: int) -> None:
    counts, totals = items(rows)
    ids, trials, pages = columns(counts, 3)
    chances.trials.update(
        zip(whole_numbers(ids, features), whole_numbers(trials, least=1), strict=True)
    )
    chances.pages.update(zip(ids, _sums(pages), strict=True))
    chances.all_trials, chances.all_pages = whole_numbers(totals[:1])[0], *_sums(totals[1:])
    checked(all(chances.pages[id] <= chances.trials[id] for id in ids))
    checked(chances.all_pages <= chances.all_trials)


def _sums(column: object) -> list[float]:
    """Return `column` as floats if it is a list of non-negative numbers; else raise an error."""
    found = numbers(column)
    checked(not found or min(found) >= 0.0)
    return found


def _counts(column: object) -> list[int]:
    """Return `column` if it is a list of integers, possibly negative; otherwise raise an error."""
    return whole_numbers(column, least=-(1 << 40))


def _read_languages(memory: Memory, data: dict[str, Any]) -> None:
    languages = memory.values.languages
    names = texts(data["features"])
    languages.features.update((name, number) for number, name in enumerate(names))
    checked(len(languages.features) == len(names))
    languages.counts.extend({} for _ in names)
    for number, counted in items(data["counts"]):
        langs, counts = columns(counted, 2)
        (place,) = whole_numbers([number], len(names))
        found = dict(zip(texts(langs), whole_numbers(counts, least=1), strict=True))
        languages.counts[place] = found


def _read_urls(memory: Memory, data: dict[str, Any], kinds: list[Kinds]) -> list[KnownUrl]:
    """Read all URLs except their references to other URLs."""
    urls, langs = texts(data["url"]), texts(data["langs"])
    guesses = [_read_guess(memory, guess) for guess in items(data["guesses"])]
    features = _read_features(memory, data)
    guess = whole_numbers(data["guess"], len(guesses))
    # A URL with features needs a first guess, because the guesser starts from it.
    checked(all(guesses[place] or not own for place, own in zip(guess, features, strict=True)))
    rules = {True: memory.edit_rules, False: None}
    rows = zip(
        urls,
        [None] * len(urls),
        [FOUND_BY[place] for place in whole_numbers(data["found_by"], len(FOUND_BY))],
        features,
        [guesses[place] for place in guess],
        [_STATES[place] for place in whole_numbers(data["state"], len(_STATES))],
        [langs[place] for place in whole_numbers(data["lang"], len(langs))],
        [kinds[place] for place in whole_numbers(data["kinds"], len(kinds))],
        [{} for _ in urls],
        [{} for _ in urls],
        flags(data["is_aligned"]),
        flags(data["is_counted"]),
        flags(data["has_unlinked"]),
        numbers(data["value"]),
        flags(data["is_ranked"]),
        numbers(data["own_value"]),
        [{} for _ in urls],
        [rules[is_current] for is_current in flags(data["is_current"])],
        strict=True,
    )
    known = [KnownUrl(*row) for row in rows]
    _read_expected(known, data, langs)
    return known


def _read_expected(known: list[KnownUrl], data: dict[str, Any], langs: list[str]) -> None:
    urls: list[Url] = [*data["url"], *texts(data["predicted"])]
    owners, by_lang, places = columns(data["expected"], 3)
    for owner, lang, place in zip(
        whole_numbers(owners, len(known)),
        whole_numbers(by_lang, len(langs)),
        whole_numbers(places, len(urls)),
        strict=True,
    ):
        known[owner].expected[langs[lang]] = urls[place]


def _read_guess(memory: Memory, guess: object) -> dict[str, float]:
    """Read a first guess; URLs with equal guesses share one object."""
    values = numbers(guess)
    if not values:
        return {}
    found = dict(zip((*memory.values.langs, OTHER), values, strict=True))
    return memory.values.languages.guesses.setdefault(tuple(values), found)


def _read_features(memory: Memory, data: dict[str, Any]) -> list[tuple[int, ...]]:
    features = whole_numbers(data["features"], len(memory.values.languages.counts))
    sizes = whole_numbers(data["feature_counts"], len(features) + 1)
    return list(map(tuple, parts(features, sizes)))


def _read_relations(known: list[KnownUrl], data: dict[str, Any], kinds: list[Kinds]) -> None:
    count = len(known)
    for each, source in zip(known, whole_numbers(data["sources"], count, least=-1), strict=True):
        each.source = None if source < 0 else known[source]
    evidence = _read_evidence(data, kinds)
    others, evidence_of = columns(data["candidates"], 2)
    pairs = zip(
        [known[place] for place in whole_numbers(others, count)],
        [evidence[place] for place in whole_numbers(evidence_of, len(evidence))],
        strict=True,
    )
    counts = whole_numbers(data["counts"], len(others) + 1)
    checked(len(counts) == count and sum(counts) == len(others))
    for each, size in zip(known, counts, strict=True):
        each.candidates.update(next(pairs) for _ in range(size))
    for each in known:  # two URLs are candidates of each other, with the same evidence
        for other, found in each.candidates.items():
            checked(other is not each and other.candidates.get(each) is found)
    owners, langs, partners = columns(data["partners"], 3)
    for owner, lang, partner in zip(
        whole_numbers(owners, count), texts(langs), whole_numbers(partners, count), strict=True
    ):
        known[owner].partners[lang] = known[partner]


def _read_evidence(data: dict[str, Any], kinds: list[Kinds]) -> list[list[Kinds]]:
    """Read the lists of evidence, each of which is shared by the two URLs of a candidate pair."""
    named = [bool(each) and evidence_name(each) in PRIOR_RIGHT for each in kinds]
    places = whole_numbers(data["evidence"], len(kinds))
    checked(all(named[place] for place in places))
    sizes = whole_numbers(data["evidence_counts"], len(places) + 1, least=1)
    return [[kinds[place] for place in part] for part in parts(places, sizes)]


def _read_orders(memory: Memory, known: list[KnownUrl], data: dict[str, Any]) -> None:
    count, matches = len(known), memory.matches
    for order, name in (
        (memory.to_refresh, "refresh"),
        (matches.open_pages, "open"),
        (matches.changed, "changed"),
    ):
        order.update((known[place], None) for place in whole_numbers(data[name], count))
    halves = (whole_numbers(column, count) for column in columns(data["requested"], 2))
    pairs = [frozenset((known[one], known[other])) for one, other in zip(*halves, strict=True)]
    checked(all(len(pair) == 2 for pair in pairs))
    matches.requested.update(pairs)
    for table, name in ((matches.tries, "tries"), (memory.name_links, "name_links")):
        places, totals = columns(data[name], 2)
        owners = [known[place] for place in whole_numbers(places, count)]
        table.update(dict(zip(owners, whole_numbers(totals), strict=True)))
    for number, unread in items(data["unread"]):
        (place,) = whole_numbers([number], count)
        memory.add_unread(known[place], links(unread))
    digests, places = columns(data["digests"], 2)
    pages = [known[place] for place in whole_numbers(places, count)]
    memory.digests.update(zip(texts(digests), pages, strict=True))


def _read_kinds(kinds: object) -> Kinds:
    """Read kinds, each given as a list of strings and integers."""
    for kind in items(kinds):
        checked({type(part) for part in items(kind)} <= {str, int} and len(kind) > 0)
        whole_numbers([part for part in kind if type(part) is int])
    return tuple(tuple(kind) for kind in items(kinds))


def _read_rates(rates: Rates, rows: object) -> None:
    kinds, trials, successes = columns(rows, 3)
    known = _read_kinds(kinds)
    trials, successes = whole_numbers(trials), numbers(successes)
    checked(not successes or min(successes) >= 0)
    rates.trials.update((kind, n) for kind, n in zip(known, trials, strict=True) if n)
    rates.successes.update((kind, n) for kind, n in zip(known, successes, strict=True))


def _read_rule(row: object) -> Rule:
    left, right, edits, key, held, tried = items(row)
    texts([left, right, key])
    found = tuple(_read_edit(edit) for edit in items(edits))
    return Rule(left, right, found, key, *whole_numbers([held, tried]))


def _read_edit(row: object) -> Edit:
    old, new, at, part = items(row)
    checked(part in _PARTS and (not part or len(old) == len(new) == 1))
    (at,) = _counts([at])
    return Edit(tuple(texts(old)), tuple(texts(new)), at, part)
