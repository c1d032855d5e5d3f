"""Why: what a run knows of a URL or of a pair of URLs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from diptych.crawl.frontier import State
from diptych.errors import ConfigError
from diptych.store import Store
from diptych.summary import in_words
from diptych.text.urls import normalise, url_key
from diptych.types import Url

__all__ = ["explain"]


def explain(store: Store, urls: Sequence[str]) -> str:
    """What is known of one URL, of two URLs as a pair, or of all rejected pairs."""
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
    state, depth, status, reason, redirect, attempts = store.db.execute(
        "SELECT state, depth, status, reason, redirect, attempts FROM urls WHERE key = ?", (key,)
    ).fetchone()
    lines = [url, f"  state      {State(state).name.lower()}, {depth} links from the start"]
    if reason:
        lines.append(f"  reason     {in_words(reason)}")
    if status:
        lines.append(f"  answer     HTTP {status}, {attempts} attempts")
    if redirect is not None:
        target = store.db.execute("SELECT url FROM urls WHERE key = ?", (redirect,)).fetchone()
        lines.append(f"  leads to   {target[0] if target else '?'}")
    lines.extend(_of_page(store, key))
    sources = [
        source
        for (source,) in store.db.execute("SELECT source FROM links WHERE target = ?", (url,))
    ]
    if sources:
        lines.append(f"  linked     {len(sources)} times, first from {min(sources)}")
    for row in _pair_rows(store, "pairs.left = ? OR pairs.right = ?", key, key):
        lines.append("  pair       " + _pair_line(row))
    return lines


def _of_page(store: Store, key: int) -> list[str]:
    row = store.db.execute(
        "SELECT lang, langs, title, pages.size, text_length, html_lang, content_language,"
        " canonical, fetched_at, path, offset, digest"
        " FROM pages JOIN warcs ON warcs.id = pages.warc WHERE url = ?",
        (key,),
    ).fetchone()
    if row is None:
        return []
    lang, langs, title, size, length, html_lang, header, canonical, at, path, offset, digest = row
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    lines = [
        f"  title      {title}",
        f"  language   {lang or 'unknown'} ({langs or 'too little text'}); declared"
        f" html lang={html_lang or '-'}, Content-Language={header or '-'}",
        f"  text       {length:,} characters in {size:,} bytes, {digest}",
        f"  fetched    {when}, {path} at byte {offset}",
    ]
    return [*lines, f"  canonical  {canonical}"] if canonical else lines


def _of_pair(store: Store, left: Url, right: Url) -> list[str]:
    keys = (url_key(left), url_key(right))
    rows = _pair_rows(
        store, "(pairs.left = ? AND pairs.right = ?) OR (pairs.right = ? AND pairs.left = ?)",
        *keys, *keys,
    )  # fmt: skip
    if rows:
        head = _pair_line(rows[0])
    else:
        head = "not a pair: nothing says that these are translations, or they have better partners"
    return [head, "", *_of_url(store, left), "", *_of_url(store, right)]


def _pair_rows(
    store: Store, where: str, *values: int
) -> list[tuple[str, str, float, str, int | None, float, str, int]]:
    return store.db.execute(
        "SELECT l.url, r.url, pairs.score, evidence,"
        " decisions.accept, decisions.score, decisions.reason,"
        " (SELECT count(*) FROM segments WHERE segments.pair = pairs.id AND segments.accept)"
        " FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
        f" LEFT JOIN decisions ON decisions.pair = pairs.id WHERE {where} ORDER BY l.url, r.url",
        values,
    ).fetchall()


def _pair_line(row: tuple[str, str, float, str, int | None, float, str, int]) -> str:
    left, right, score, evidence, accept, verified, reason, segments = row
    verdict = "not verified yet"
    if accept is not None:
        verdict = (
            f"verified {verified:.2f}, {segments} segments"
            if accept
            else f"rejected ({reason}, {verified:.2f})"
        )
    return f"{left} ~ {right}: {evidence} {score:.2f}, {verdict}"


def _rejects(store: Store) -> str:
    rows = _pair_rows(store, "decisions.accept = 0")
    if not rows:
        return "no pair was rejected; give a URL to see what is known of it"
    return "\n".join(["rejected pairs:", *(_pair_line(row) for row in rows)])
