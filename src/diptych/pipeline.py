"""The whole of Diptych in order: from a site to a corpus.

Each stage reads the store and writes the store, site by site, and can be run again at any time:
what is done is not done twice, and what an interrupted run left half done is done over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from diptych.crawl.machine import Crawl
from diptych.crawl.politeness import Limits, Politeness
from diptych.crawl.scope import Scope
from diptych.registry import Strategies, exporter
from diptych.store import Store
from diptych.text.html import read_page
from diptych.text.sentences import split_sentences
from diptych.types import (
    Block,
    Decision,
    NodePair,
    Page,
    PagePair,
    SegmentPair,
    Site,
    Url,
)
from diptych.view import StoreView

__all__ = ["STAGES", "Engine", "Plan", "Watcher", "run"]

STAGES = ("crawl", "pair", "verify", "align_dom", "align_sentences", "filter", "export")
CORPUS_FORMATS = ("tsv", "tmx")
PAIRS_HEADER = "left_url\tright_url\tleft_lang\tright_lang\tscore\tevidence\n"


class Engine(Protocol):
    """Answers what a crawl asks for: the live web, or archives."""

    def run(self, crawl: Crawl, *, tick: Callable[[], None], stopped: Callable[[], bool]) -> None:
        """Crawl until nothing is left or `stopped` says so."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What to mine, and within which limits."""

    sites: Sequence[Site]
    scope: Scope
    langs: Sequence[str]
    politeness: Politeness
    limits: Limits


@dataclass(slots=True)
class Watcher:
    """Told how a run gets on, and asked whether it should stop crawling; does nothing by itself."""

    stage: str = ""
    crawl: Crawl | None = None
    pairs: int = 0
    segments: int = 0
    notes: list[str] = field(default_factory=list)

    def tick(self) -> None:
        """Called many times a second."""

    def stopped(self) -> bool:
        """Whether to leave off crawling and finish with what is there."""
        return False


def run(
    plan: Plan, strategies: Strategies, store: Store, engine: Engine, watcher: Watcher, now: float
) -> None:
    """Mine: crawl, pair, verify, align, filter, export."""
    watcher.stage = "crawling"
    crawl = Crawl(
        store, plan.sites, plan.scope, strategies.crawl, plan.langs,
        politeness=plan.politeness, limits=plan.limits, now=now,
    )  # fmt: skip
    watcher.crawl = crawl
    engine.run(crawl, tick=watcher.tick, stopped=watcher.stopped)
    watcher.notes.extend(crawl.hosts.notes)
    for id, name in store.db.execute("SELECT id, name FROM sites ORDER BY name").fetchall():
        view = StoreView(store, Site(name, ()), id, plan.langs)
        _pair(store, id, view, strategies, watcher)
        _verify_and_align(store, id, strategies, watcher)
    watcher.stage = "removing duplicates"
    _mark_duplicates(store)
    watcher.stage = "exporting"
    export(store)


def _pair(
    store: Store, site: int, view: StoreView, strategies: Strategies, watcher: Watcher
) -> None:
    watcher.stage = "pairing"
    watcher.tick()
    store.replace_pairs(site, strategies.pair.pair(view))


def _verify_and_align(store: Store, site: int, strategies: Strategies, watcher: Watcher) -> None:
    """Decide on each pair that is not decided yet, and align it; one transaction per pair."""
    watcher.stage = "aligning"
    watcher.pairs += store.count(
        "SELECT count(*) FROM pairs JOIN decisions ON pair = pairs.id WHERE site = ? AND aligned"
        " AND decisions.accept", site,
    )  # fmt: skip
    watcher.segments = store.count("SELECT count(*) FROM segments WHERE accept")
    for id, pair in store.pairs(site, where="(decisions.pair IS NULL OR NOT aligned)"):
        left, right = _open(store, pair.left), _open(store, pair.right)
        if left is None or right is None:
            decision = Decision(False, 0.0, "unreadable")
        else:
            decision = strategies.verify.verify(left, right)
        segments: list[tuple[SegmentPair, Decision]] = []
        if decision.accept and left is not None and right is not None:
            segments = [
                (seg, strategies.filter.judge(seg)) for seg in align(pair, left, right, strategies)
            ]
            watcher.pairs += 1
            watcher.segments += sum(judged.accept for _, judged in segments)
        store.begin()
        store.save_decision(id, decision)
        store.save_segments(id, segments)
        store.commit()
        watcher.tick()


def _open(store: Store, url: Url) -> Page | None:
    response = store.response(url)
    return read_page(response, with_blocks=True) if response is not None else None


def align(pair: PagePair, left: Page, right: Page, strategies: Strategies) -> Iterator[SegmentPair]:
    """Two pages down to segments: pieces of the trees, then sentences inside each."""
    for nodes in strategies.align_dom.align(left, right):
        if nodes.left and nodes.right:
            yield from _align_sentences(pair, nodes, strategies)


def _align_sentences(
    pair: PagePair, nodes: NodePair, strategies: Strategies
) -> Iterator[SegmentPair]:
    left, right = _sentences(nodes.left, pair.left_lang), _sentences(nodes.right, pair.right_lang)
    beads = strategies.align_sentences.align(
        [text for text, _ in left], [text for text, _ in right]
    )
    for bead in beads:
        if not bead.left or not bead.right:
            continue
        yield SegmentPair(
            left=" ".join(left[index][0] for index in bead.left),
            right=" ".join(right[index][0] for index in bead.right),
            left_lang=pair.left_lang,
            right_lang=pair.right_lang,
            left_url=pair.left,
            right_url=pair.right,
            left_path=left[bead.left[0]][1],
            right_path=right[bead.right[0]][1],
            score=bead.score * nodes.score,
        )


def _sentences(blocks: Iterable[Block], lang: str) -> list[tuple[str, str]]:
    """Sentences of some blocks, each with the DOM path of its block."""
    return [(text, block.path) for block in blocks for text in split_sentences(block.text, lang)]


def _mark_duplicates(store: Store) -> None:
    """Keep the first of equal segments, in an order that does not depend on the crawl."""
    store.begin()
    store.db.execute("UPDATE segments SET accept = 1, reason = '' WHERE reason = 'duplicate'")
    store.db.execute(
        "UPDATE segments SET accept = 0, reason = 'duplicate' WHERE id IN ("
        " SELECT id FROM (SELECT s.id, row_number() OVER ("
        "  PARTITION BY s.left, s.right, left_lang, right_lang"
        "  ORDER BY l.url, r.url, position) AS n"
        " FROM segments s JOIN pairs ON pairs.id = s.pair JOIN urls l ON l.key = pairs.left"
        " JOIN urls r ON r.key = pairs.right WHERE s.accept) WHERE n > 1)"
    )
    store.commit()


def export(store: Store) -> None:
    """Write the corpus and the list of pairs into the run folder."""
    for name in CORPUS_FORMATS:
        export_to(store, name, store.folder / f"corpus.{name}")
    lines = [PAIRS_HEADER]
    for (site,) in store.db.execute("SELECT id FROM sites ORDER BY name").fetchall():
        for _, pair in store.pairs(site, where="decisions.accept"):
            lines.append(
                f"{pair.left}\t{pair.right}\t{pair.left_lang}\t{pair.right_lang}"
                f"\t{pair.score:.3f}\t{pair.evidence}\n"
            )
    replace_file(store.folder / "pairs.tsv", "".join(lines).encode())


def export_to(store: Store, format: str, path: Path) -> None:
    """Write the corpus in a format; the file is there whole or not at all."""
    made = exporter(format)
    part = path.with_name(path.name + ".part")
    with part.open("wb") as out:
        made.write(store.segments(), out)
    os.replace(part, path)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)
