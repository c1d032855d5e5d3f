"""SQL queries for the page pairs of a run: decisions, segments and learned lexicons."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from diptych.reason import Reason
from diptych.run.database import Database
from diptych.run.encoding import read_evidence, valid_text, write_scores
from diptych.run.queries import SQL
from diptych.run.vanished import set_aside
from diptych.text.near_duplicates import keys_of_segments, text_key
from diptych.text.urls import url_key
from diptych.types import Decision, LangPair, PagePair, SegmentPair

_LEARNING_INPUT = ("pages", "redirects", "announced")
"""the data that pairing depends on; `learning_pages` is the query for `pages`, and so on"""
_PAIRS = 256  # pairs that are read by one query
_TEXTS = 8192  # rows of texts that are cached, because a site repeats most segments on many pages

_Texts = tuple[str, str, str, str]
"""Left and right text of a segment, and its languages."""
_known_rows: dict[_Texts, tuple[Any, ...]] = {}


class SegmentRows(NamedTuple):
    """The rows of a pair's segments, which contain only plain values."""

    occurrences: list[tuple[Any, ...]]
    """in order; the first value is `accept`, and pair and position are missing"""
    texts: list[tuple[Any, ...]]
    """rows of distinct segments"""


class UnalignedPair(NamedTuple):
    """A pair that is not aligned yet."""

    id: int
    site: int
    length: int
    """text length of both pages"""
    pair: PagePair


class Pairs(Database):
    """The part of the store for the results of pairing and alignment."""

    # -- pairs -------------------------------------------------------------------------------

    def replace_pairs(self, site: int, pairs: Iterable[PagePair]) -> None:
        """Replace the pairs of a site; pairs found again keep their decisions and segments."""
        rows = [
            (
                site, url_key(p.left), url_key(p.right), p.left_lang, p.right_lang, p.score,
                p.evidence, write_scores(p.scores),
            )
            for p in pairs
        ]  # fmt: skip
        with self.transaction():
            self.begin_again()
            self.db.execute(SQL["make_current_pairs"])
            self.db.execute("DELETE FROM current_pairs")
            self.db.executemany(
                "INSERT INTO current_pairs VALUES (?,?,?,?)", [row[1:5] for row in rows]
            )
            set_aside(self, SQL["other_pairs"], (site,))
            self.db.execute(SQL["delete_other_pairs"], (site,))
            self.db.executemany(SQL["save_pairs"], rows)

    def save_pair(
        self,
        site: int,
        pair: PagePair,
        decision: Decision,
        segments: Sequence[tuple[SegmentPair, Decision]],
    ) -> None:
        """Save a pair that was verified during the crawl, with its decision and segments.

        Once the lexicons have been learned, decisions are final, so nothing is saved.
        """
        if self.count("SELECT is_done FROM learning"):
            return
        row = (
            site, url_key(pair.left), url_key(pair.right), pair.left_lang, pair.right_lang,
            pair.score, pair.evidence,
        )  # fmt: skip
        self.db.execute(SQL["add_pair"], row)
        id = self.count(SQL["pair_id"], *row[1:5])
        self.save_decision(id, decision)
        self.save_segments(id, segments)
        self.db.execute("UPDATE pairs SET aligned = 0 WHERE id = ?", (id,))

    def sites(self) -> list[tuple[int, str]]:
        """The id and name of each site, sorted by name."""
        return self.db.execute("SELECT id, name FROM sites ORDER BY name").fetchall()

    def lang_pairs(self) -> list[LangPair]:
        """All language pairs for which there are page pairs."""
        return [LangPair(*row) for row in self.db.execute(SQL["pair_langs"])]

    def pair_order(self) -> array[int]:
        """The ids of all pairs, in an order that does not depend on the crawl order."""
        return array("q", (id for (id,) in self.db.execute(SQL["pair_order"])))

    def pairs_to_align(self) -> Iterator[UnalignedPair]:
        """Yield the pairs that are not aligned yet, sorted by the name of their site and by URL.

        Pairs may be saved meanwhile; only their ids are held in memory.
        """
        todo = array("q", (id for (id,) in self.db.execute(SQL["pair_ids_to_align"])))
        for start in range(0, len(todo), _PAIRS):
            ids = orjson.dumps(todo[start : start + _PAIRS].tolist()).decode()
            rows = self.db.execute(SQL["pairs_by_id"], (ids,)).fetchall()
            for id, site, length, left, right, one, other, score, evidence, scores in rows:
                read = read_evidence(scores)
                pair = PagePair(left, right, one, other, score, evidence, read)
                yield UnalignedPair(id, site, length, pair)

    def verified_pairs(self, site: int) -> list[tuple[int, PagePair]]:
        """The accepted pairs of a site and their ids, sorted by URL."""
        return self._pairs(site, "decisions.accept")

    def pairs(self, site: int) -> list[tuple[int, PagePair]]:
        """The pairs of a site and their ids, sorted by URL."""
        return self._pairs(site, "1")

    def _pairs(self, site: int, where: str) -> list[tuple[int, PagePair]]:
        rows = self.db.execute(
            "SELECT pairs.id, l.url, r.url, left_lang, right_lang, pairs.score, evidence, scores"
            " FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
            " LEFT JOIN decisions ON decisions.pair = pairs.id"
            f" WHERE site = ? AND {where} ORDER BY l.url, r.url, left_lang, right_lang",
            (site,),
        )
        return [
            (id, PagePair(left, right, one, other, score, evidence, read_evidence(scores)))
            for id, left, right, one, other, score, evidence, scores in rows
        ]

    def verified_pair(self, id: int) -> tuple[Any, ...] | None:
        """The languages, evidence, score, marks and pages of a pair; None if it is not accepted.

        Each page has nine columns: URL, title, time, digest, archive path, offset, flags, archive
        id, and the last time when the page was seen.
        """
        row: tuple[Any, ...] | None = self.db.execute(SQL["verified_pair"], (id,)).fetchone()
        return row

    def verified_ends(self) -> dict[int, tuple[int, int]]:
        """Map the id of each accepted pair to the URL keys of its two pages."""
        return {id: (left, right) for id, left, right in self.db.execute(SQL["verified_ends"])}

    def save_decision(self, pair: int, decision: Decision) -> None:
        """Save the decision on a pair."""
        self.begin_again()
        self.db.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?,?,?,?,?)",
            (pair, decision.accept, decision.score, decision.reason, " ".join(decision.marks)),
        )

    def save_segments(
        self, pair: int, segments: Sequence[tuple[SegmentPair, Decision]]
    ) -> tuple[int, int]:
        """Replace the segments of a pair; return how many were kept before and how many are now."""
        return self.save_segment_rows(pair, segment_rows(segments))

    def save_segment_rows(self, pair: int, rows: SegmentRows) -> tuple[int, int]:
        """Do what `save_segments` does, with the rows that `segment_rows` returns.

        Texts that are no longer used are deleted at the end of the run.
        """
        self.begin_again()
        before = self.count("SELECT count(*) FROM kept_segments WHERE pair = ?", pair)
        if before:
            set_aside(self, "SELECT ?", (pair,))
        self.db.execute("DELETE FROM occurrences WHERE pair = ?", (pair,))
        self.db.executemany(SQL["save_segment_texts"], rows.texts)
        self.db.executemany(
            SQL["save_occurrences"],
            [(pair, position, *row) for position, row in enumerate(rows.occurrences)],
        )
        self.db.execute("UPDATE pairs SET aligned = 1 WHERE id = ?", (pair,))
        return before, sum(row[0] for row in rows.occurrences)

    # -- learned lexicons --------------------------------------------------------------------

    def begin_learning(self) -> bool:
        """Restart the learning of lexicons if it is unfinished or its input has changed.

        Return True if learning was restarted.
        """
        basis = self._learning_basis()
        known = self.db.execute("SELECT basis, is_done FROM learning").fetchone()
        if known == (basis, 1):
            return False
        with self.transaction():
            self.db.execute("UPDATE pairs SET aligned = 0")
            self.db.execute("DELETE FROM learning")
            self.db.execute("INSERT INTO learning VALUES (?, 0)", (basis,))
        return True

    def _learning_basis(self) -> str:
        """A digest of everything that learning and pairing depend on."""
        digest = blake2b(digest_size=16)
        for name in _LEARNING_INPUT:
            for row in self.db.execute(SQL[f"learning_{name}"]):
                digest.update("\0".join(row).encode() + b"\n")
            digest.update(b"\n")
        return digest.hexdigest()

    def save_lexicons(self, lexicons: Mapping[LangPair, bytes], *, is_whole: bool = True) -> None:
        """Save the learned lexicons; if `is_whole` (nothing failed), mark learning as done."""
        with self.transaction():
            self.db.execute("DELETE FROM lexicons")
            self.db.executemany(
                "INSERT INTO lexicons VALUES (?, ?, ?)",
                [(*langs, data) for langs, data in sorted(lexicons.items())],
            )
            self.db.execute("UPDATE learning SET is_done = ?", (is_whole,))

    def lexicons(self) -> dict[LangPair, bytes]:
        """The learned lexicons by language pair."""
        rows = self.db.execute("SELECT left_lang, right_lang, data FROM lexicons ORDER BY 1, 2")
        return {LangPair(left, right): data for left, right, data in rows}

    def sure_pairs(self, least: float) -> int:
        """The number of pairs with a score of at least `least`."""
        return self.count("SELECT count(*) FROM pairs WHERE score >= ?", least)

    def doubtful_sites(self, certain: float, sure: float, share: float) -> list[int]:
        """The ids of the sites with many pages that are in no certain pair.

        The score of a certain pair is at least `certain`, and that of a sure pair at least `sure`.
        Such pages are many if there are more than `share` of them for each sure pair of the site.
        """
        rows = self.db.execute(SQL["doubtful_sites"], (certain, sure, share))
        return [site for (site,) in rows]

    def pairs_to_learn_from(self, langs: LangPair, least: float) -> Iterator[tuple[PagePair, int]]:
        """Yield the pairs in two languages with a score of at least `least`.

        Each pair comes with the text length of its shorter page.
        """
        for row in self.db.execute(SQL["pairs_to_learn_from"], (*langs, least)):
            yield PagePair(*row[:6]), row[6]


def segment_rows(segments: Sequence[tuple[SegmentPair, Decision]]) -> SegmentRows:
    """Convert the segments of a pair to rows, in the column order of the queries that save them.

    Rows are sent between processes faster than segments.
    """
    texts = _text_rows(
        [(seg.left, seg.right, seg.left_lang, seg.right_lang) for seg, _ in segments]
    )
    return SegmentRows(
        [_row_of(*segment, text[0]) for segment, text in zip(segments, texts, strict=True)],
        list({text[0]: text for text in texts}.values()),
    )


def _row_of(seg: SegmentPair, decision: Decision, text: int) -> tuple[Any, ...]:
    """The row of an occurrence of the segment with the key `text`."""
    score, marks = round(decision.score, 4), decision.marks
    is_partial = bool(marks) and Reason.PARTIAL in marks
    flags = " ".join([mark for mark in marks if mark != Reason.PARTIAL]) if marks else ""
    return (
        decision.accept, text, decision.reason, score, score, round(seg.score, 4), is_partial,
        flags, seg.left_path, seg.right_path, seg.left_at, seg.right_at,
    )  # fmt: skip


def _text_rows(segments: Sequence[_Texts]) -> list[tuple[Any, ...]]:
    """The row of each segment's texts; the rows of new ones are computed in one call."""
    found = {segment: _known_rows.get(segment) for segment in segments}
    missing = [segment for segment, row in found.items() if row is None]
    if missing:
        new = dict(zip(missing, _new_text_rows(missing), strict=True))
        if len(_known_rows) + len(new) > _TEXTS:
            _known_rows.clear()
        _known_rows.update(new)
        found.update(new)
    return [found[segment] or () for segment in segments]


def _new_text_rows(segments: Sequence[_Texts]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each distinct segment; a segment without a counterpart has no keys."""
    valid = [(valid_text(left), valid_text(right), *langs) for left, right, *langs in segments]
    by_langs: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for left, right, *langs in valid:
        if left and right:
            by_langs.setdefault(tuple(langs), []).append((left, right))
    keys: dict[tuple[str, ...], tuple[int | None, ...]] = {}
    for own_langs, own in by_langs.items():
        made = keys_of_segments(own, *own_langs)
        keys.update({(*texts, *own_langs): key for texts, key in zip(own, made, strict=True)})
    for each in valid:
        left, right, *langs = each
        key = text_key("\0".join((*langs, left, right)))
        yield key, *keys.get(each, (None, None, None)), left, right
