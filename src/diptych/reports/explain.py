"""`diptych explain`: everything a run knows of a URL or of a pair of URLs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from diptych.errors import ConfigError
from diptych.frontier.queue import State
from diptych.reason import Reason
from diptych.reports.reasons import EVIDENCE, in_words
from diptych.run.encoding import read_evidence
from diptych.run.store import Store
from diptych.text.urls import normalise, url_key
from diptych.types import Evidence, PagePair, Site, Url


def explain(store: Store, urls: Sequence[str]) -> str:
    """Explain one URL, two URLs as a pair, or all rejected pairs."""
    if len(urls) > 2:
        raise ConfigError("explain takes one URL, or two URLs of a pair")
    if not urls:
        return _rejects(store)
    normal = [_known(store, url) for url in urls]
    if len(normal) == 1:
        return "\n".join(_of_url(store, normal[0]))
    return "\n".join(_of_pair(store, *normal))


def _known(store: Store, text: str) -> Url:
    url = normalise(text)
    if url is None:
        raise ConfigError(f"'{text}' is no http or https URL")
    if not store.count("SELECT count(*) FROM urls WHERE key = ?", url_key(url)):
        raise ConfigError(f"{url} is not known in this run: no page links to it")
    return url


def _of_url(store: Store, url: Url) -> list[str]:
    key = url_key(url)
    state, depth, status, reason, redirect, attempts, priority = store.db.execute(
        "SELECT state, depth, status, reason, redirect, attempts, priority FROM urls WHERE key = ?",
        (key,),
    ).fetchone()
    lines = [url, f"  state      {State(state).name.lower()}, {depth} links from the start"]
    if state == State.QUEUED:
        lines.append(f"  priority   {priority:.3g}")
    if reason:
        lines.append(f"  reason     {in_words(reason)}")
    if status:
        lines.append(f"  answer     HTTP {status}, {attempts} attempts")
    if redirect is not None:
        target = store.db.execute("SELECT url FROM urls WHERE key = ?", (redirect,)).fetchone()
        lines.append(f"  leads to   {target[0] if target else '?'}")
    lines.extend(_of_page(store, key))
    query = "SELECT count(*), min(source) FROM links WHERE target = ?"
    count, source = store.db.execute(query, (url,)).fetchone()
    if count:
        lines.append(f"  linked     {count} times, first from {source}")
    for row in _pair_rows(store, "pairs.left = ? OR pairs.right = ?", key, key):
        lines.append("  pair       " + _pair_line(row))
    return lines


def _of_page(store: Store, key: int) -> list[str]:
    row = store.db.execute(
        "SELECT lang, langs, title, pages.size, text_length, html_lang, content_language,"
        " canonical, fetched_at, path, offset, digest, flags"
        " FROM pages JOIN warcs ON warcs.id = pages.warc WHERE url = ?",
        (key,),
    ).fetchone()
    if row is None:
        return []
    *row, flags = row
    lang, langs, title, size, length, html_lang, header, canonical, at, path, offset, digest = row
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    lines = [
        f"  title      {title}",
        f"  language   {lang or 'unknown'} ({langs or 'too little text'}); declared"
        f" html lang={html_lang or '-'}, Content-Language={header or '-'}",
        f"  text       {length:,} characters in {size:,} bytes, {digest}",
        f"  fetched    {when}, {path} at byte {offset}",
    ]
    lines += [f"  canonical  {canonical}"] if canonical else []
    return [*lines, f"  flags      {flags}"] if flags else lines


def _of_pair(store: Store, left: Url, right: Url) -> list[str]:
    keys = (url_key(left), url_key(right))
    rows = _pair_rows(
        store, "(pairs.left = ? AND pairs.right = ?) OR (pairs.right = ? AND pairs.left = ?)",
        *keys, *keys,
    )  # fmt: skip
    if rows:
        head = [line for row in rows for line in (_pair_line(row), *_evidence_lines(row.scores))]
        head += _segment_lines(store, keys)
    else:
        head = _no_pair_lines(store, left, right)
    return [*head, "", *_of_url(store, left), "", *_of_url(store, right)]


def _segment_lines(store: Store, keys: tuple[int, int]) -> list[str]:
    """Counts and mean scores of the segments of a pair, by reason."""
    rows = store.db.execute(
        "SELECT segments.reason, count(*), avg(segments.score) FROM segments"
        " JOIN pairs ON pairs.id = segments.pair"
        " WHERE (pairs.left, pairs.right) IN ((?1, ?2), (?2, ?1))"
        " GROUP BY segments.reason ORDER BY count(*) DESC, segments.reason",
        keys,
    )
    return [
        f"  segments     {count:6,}  {in_words(reason) if reason else 'kept'}"
        + ("" if reason == Reason.UNALIGNED else f", mean score {score:.2f}")
        for reason, count, score in rows
    ]


def _no_pair_lines(store: Store, left: Url, right: Url) -> list[str]:
    """Evidence for two pages that are no pair, computed anew."""
    both = {left, right}
    found = next((pair for pair in _candidates(store) if {pair.left, pair.right} == both), None)
    if found is None:
        return ["not a pair: nothing says that these are translations of each other"]
    return [
        f"not a pair: {found.evidence} {found.score:.2f}, and that is too little, or one of them"
        " has a better partner",
        *_evidence_lines(found.scores),
    ]


def _candidates(store: Store) -> list[PagePair]:
    """All candidates of a run, if its recipe weighs them."""
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


class _PairRow(NamedTuple):
    left: str
    right: str
    score: float
    evidence: str
    scores: str
    accept: int | None
    verified: float
    reason: str
    marks: str
    segments: int


def _pair_rows(store: Store, where: str, *values: int) -> list[_PairRow]:
    rows = store.db.execute(
        "SELECT l.url, r.url, pairs.score, evidence, scores,"
        " decisions.accept, decisions.score, decisions.reason, decisions.marks,"
        " (SELECT count(*) FROM segments WHERE segments.pair = pairs.id AND segments.accept)"
        " FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
        f" LEFT JOIN decisions ON decisions.pair = pairs.id WHERE {where} ORDER BY l.url, r.url",
        values,
    )
    return [_PairRow(*row) for row in rows]


def _pair_line(row: _PairRow) -> str:
    verdict = "not verified yet"
    if row.accept is not None:
        verdict = (
            f"verified {row.verified:.2f}, {row.segments} segments"
            if row.accept
            else f"rejected ({in_words(row.reason)}, {row.verified:.2f})"
        )
    marks = "".join(f", {in_words(mark)}" for mark in row.marks.split()) if row.marks else ""
    return f"{row.left} ~ {row.right}: {row.evidence} {row.score:.2f}, {verdict}{marks}"


def _evidence_lines(scores: str | Sequence[Evidence]) -> list[str]:
    """Each piece of evidence and what it measured, a line each."""
    known = read_evidence(scores) if isinstance(scores, str) else scores
    return [
        f"  {name:<12} {score:6.3f}  {EVIDENCE.get(name, '')}".rstrip() for name, score in known
    ]


def _rejects(store: Store) -> str:
    rows = _pair_rows(store, "decisions.accept = 0")
    if not rows:
        return "no pair was rejected; give a URL to see what is known of it"
    return "\n".join(["rejected pairs:", *(_pair_line(row) for row in rows)])
