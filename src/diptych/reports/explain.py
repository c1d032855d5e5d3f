"""`diptych explain`: everything that a run knows about a URL or a pair of URLs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from diptych.errors import ConfigError
from diptych.frontier.aliases import scopes
from diptych.frontier.queue import State, Turn
from diptych.reason import Reason, alias_rules
from diptych.reports.reasons import EVIDENCE, counted, in_words, rules_in_words
from diptych.run.encoding import read_evidence
from diptych.run.facts import Facts, PairFacts, UrlFacts
from diptych.run.store import Store
from diptych.text.urls import normalise
from diptych.types import Evidence, PagePair, Site, Url


def explain(store: Store, urls: Sequence[str]) -> str:
    """Explain one URL, or two URLs as a pair; without URLs, list all rejected pairs.

    Control characters are removed, because the title of a page may contain escape sequences.
    """
    if len(urls) > 2:
        raise ConfigError("explain takes one URL, or the two URLs of a pair")
    text = "\n".join(_lines(store, [_url(url) for url in urls]))
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")


def _lines(store: Store, urls: Sequence[Url]) -> list[str]:
    if not urls:
        return [_rejects(store)]
    return _of_url(store, urls[0]) if len(urls) == 1 else _of_pair(store, urls[0], urls[1])


def _url(text: str) -> Url:
    url = normalise(text)
    if url is None:
        raise ConfigError(f"'{text}' is not an http or https URL")
    return url


def _of_url(store: Store, url: Url) -> list[str]:
    facts = Facts(store)
    known = facts.url(url)
    if known is None:
        raise ConfigError(f"this run has no record of {url}: no page links to it")
    state = State(known.state)
    lines = [
        url,
        f"  state      {state.name.lower()}, {counted(known.depth, 'link')} from the start",
    ]
    if state is State.QUEUED:
        turn = Turn.stored(known.turn)
        name = f"{known.priority:.3g}" if turn is Turn.PAGE else turn.name.lower().replace("_", " ")
        lines.append(f"  priority   {name}")
    if known.reason:
        is_alias = state is State.ALIAS and known.redirect is not None
        why = _alias_words(facts, url, known) if is_alias else in_words(known.reason)
        lines.append(f"  reason     {why}")
    if known.status:
        lines.append(f"  response   HTTP {known.status}, {counted(known.attempts, 'attempt')}")
    if known.redirect is not None and state is not State.ALIAS:
        lines.append(f"  leads to   {known.redirect}")
    lines.extend(_of_page(store, url))
    count, source = facts.links_to(url)
    if count:
        lines.append(f"  linked     {counted(count, 'time')}, first from {source}")
    lines.extend(f"  pair       {_pair_line(row)}" for row in facts.pairs_of(url))
    return lines


def _alias_words(facts: Facts, url: Url, known: UrlFacts) -> str:
    """Explain an alias: the page it leads to, and how often each rule used was correct.

    `known` contains what the run knows about the alias, `url`.
    """
    said = f"the same page as {known.redirect}"
    where = [*scopes(url), *scopes(Url(known.redirect or ""))]
    for rule in alias_rules(known.reason):
        said += f", by the rule '{rules_in_words([rule])}'"
        if counts := facts.alias_counts(rule, where):
            held, broken = max(counts, key=lambda each: (not each[1], each[0]))
            said += f", correct for {held:,} of {held + broken:,}"
    return said


def _of_page(store: Store, url: Url) -> list[str]:
    row = Facts(store).page(url)
    if row is None:
        return []
    lang, langs, title, size, length, html_lang, header, canonical, *rest = row
    at, path, offset, digest, flags, site = rest
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    lines = [
        f"  title      {title}",
        f"  language   {lang or 'unknown'} ({langs or 'too little text'}); declared"
        f" html lang={html_lang or '-'}, Content-Language={header or '-'}",
        f"  text       {length:,} characters in {size:,} bytes, {digest}",
        f"  fetched    {when}, {path} at byte {offset}",
    ]
    if canonical:
        lines.append(f"  canonical  {canonical}{_canonical_verdict(store, site, url)}")
    return [*lines, f"  flags      {flags}"] if flags else lines


def _canonical_verdict(store: Store, site: int, url: Url) -> str:
    """Text that says whether a page's canonical link leads to a page with the same text.

    It is empty if that page was not fetched.
    """
    from diptych.run.site_view import StoreView

    holds = StoreView(store, Site("", ()), site, ()).canonical_holds.get(url)
    if holds is None:
        return ""
    return " (the same text)" if holds else " (ignored: it has different text)"


def _of_pair(store: Store, left: Url, right: Url) -> list[str]:
    facts = Facts(store)
    told = ["", *_of_url(store, left), "", *_of_url(store, right)]
    rows = facts.pairs_between(left, right)
    if rows:
        head = [line for row in rows for line in (_pair_line(row), *_evidence_lines(row.scores))]
        head += _segment_lines(facts, left, right)
    else:
        head = _no_pair_lines(store, left, right)
    return head + told


def _segment_lines(facts: Facts, left: Url, right: Url) -> list[str]:
    """The number and mean score of a pair's segments, with one line per reason for exclusion.

    Kept segments have a line of their own; unaligned ones have no score.
    """
    return [
        f"  segments     {count:6,}  {in_words(reason, count) if reason else 'kept'}"
        + ("" if reason == Reason.UNALIGNED else f", mean score {score:.2f}")
        for reason, count, score in facts.segments_between(left, right)
    ]


def _no_pair_lines(store: Store, left: Url, right: Url) -> list[str]:
    """Explain in a few lines why two pages are not a pair; the evidence is recomputed."""
    both = {left, right}
    found = next((pair for pair in _candidates(store) if {pair.left, pair.right} == both), None)
    if found is None:
        return ["not a pair: there is no evidence that these pages are translations of each other"]
    return [
        f"not a pair: {found.evidence} {found.score:.2f}; the score is too low, or one of the pages"
        " has a better counterpart",
        *_evidence_lines(found.scores),
    ]


def _candidates(store: Store) -> list[PagePair]:
    """All candidate pairs of a run with their scores; empty if the pairer cannot list them."""
    from diptych.protocols import CandidatePairer
    from diptych.registry import build
    from diptych.run.site_view import StoreView
    from diptych.run.terms import read_terms

    terms = read_terms(store.folder)
    strategy = build(terms.recipe).pair
    if not isinstance(strategy, CandidatePairer):
        return []
    lexicons = store.learned_lexicons()
    return [
        pair
        for id, name in store.sites()
        for pair in strategy.all_candidates(
            StoreView(store, Site(name, ()), id, terms.langs, lexicons)
        )
    ]


def _pair_line(row: PairFacts) -> str:
    verdict = "not verified yet"
    if row.accept is not None:
        verdict = (
            f"verified {row.verified:.2f}, {counted(row.segments, 'segment')}"
            if row.accept
            else f"rejected ({in_words(row.reason)}, {row.verified:.2f})"
        )
    marks = "".join(f", {in_words(mark)}" for mark in row.marks.split()) if row.marks else ""
    return f"{row.left} ~ {row.right}: {row.evidence} {row.score:.2f}, {verdict}{marks}"


def _evidence_lines(scores: str | Sequence[Evidence]) -> list[str]:
    """One line per kind of evidence, with its score and the meaning of the score."""
    known = read_evidence(scores) if isinstance(scores, str) else scores
    return [
        f"  {name:<12} {score:6.3f}  {EVIDENCE[name][1] if name in EVIDENCE else ''}".rstrip()
        for name, score in known
    ]


def _rejects(store: Store) -> str:
    rows = Facts(store).decided_pairs(accept=False)
    if not rows:
        return "no pair was rejected; specify a URL to see what the run knows about it"
    return "\n".join(["rejected pairs:", *(_pair_line(row) for row in rows)])
