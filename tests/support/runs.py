"""Runs that were crawled already, for tests of what comes after."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych import recipes
from diptych.protocols import Watcher
from diptych.registry import Strategies, build
from diptych.run.store import Store
from diptych.steps.tasks import TaskContext
from diptych.types import LangPair, PagePair, SegmentPair

LANGS = LangPair("en", "fr")
BASELINES = {"align_dom": "flat", "align_sentences": "gale_church"}
_SEGMENTS = (
    "SELECT l.url, r.url, position, s.left, s.right, left_path, right_path, s.score, s.accept,"
    " s.reason FROM segments s JOIN pairs ON pairs.id = s.pair JOIN urls l ON l.key = pairs.left"
    " JOIN urls r ON r.key = pairs.right ORDER BY l.url, r.url, position"
)
_DECISIONS = (
    "SELECT l.url, r.url, pairs.score, evidence, scores, aligned, accept, decisions.score,"
    " decisions.reason, marks FROM pairs JOIN urls l ON l.key = pairs.left"
    " JOIN urls r ON r.key = pairs.right"
    " LEFT JOIN decisions ON pair = pairs.id ORDER BY l.url, r.url"
)


def strategies(**stages: str) -> Strategies:
    """Those of the default recipe, some replaced."""
    return build(recipes.load(recipes.DEFAULT, stages))


def context(store: Store, **stages: str) -> TaskContext:
    """What tasks on a run need."""
    return TaskContext(store.folder, strategies(**stages), LANGS)


def crawled(recorded: Path, folder: Path, pairs: Sequence[PagePair] = ()) -> Store:
    """A copy of a run, open, of which nothing but the pages is known, and some pairs."""
    shutil.copytree(recorded, folder)
    store = Store(folder)
    for table in ("occurrences", "decisions", "lexicons", "learning", "pairs"):
        store.db.execute(f"DELETE FROM {table}")
    store.replace_pairs(1, pairs)
    return store


def state(store: Store) -> tuple[list[tuple], ...]:
    """All that was found, in an order of its own."""
    return (
        store.db.execute(_SEGMENTS).fetchall(),
        store.db.execute(_DECISIONS).fetchall(),
        sorted(store.lexicons().items()),
    )


def kept(store: Store) -> list[SegmentPair]:
    """The segments that were kept, in an order of their own."""
    rows = store.db.execute(
        "SELECT s.left, s.right, left_lang, right_lang, l.url, r.url, left_path, right_path,"
        " s.score, left_at, right_at FROM segments s JOIN pairs ON pairs.id = s.pair"
        " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
        " WHERE s.accept ORDER BY l.url, r.url, position"
    )
    return [SegmentPair(*row) for row in rows]


@dataclass(slots=True)
class Counting(Watcher):
    """Counts how often it was told, and which stages there were."""

    ticks: int = 0
    stages: tuple[str, ...] = ()

    def tick(self) -> None:
        self.ticks += 1
        if self.stages[-1:] != (self.stage,):
            self.stages += (self.stage,)


class Killed(Exception):
    """The end of a run that is not its own."""


@dataclass(slots=True)
class Killing(Watcher):
    """Ends a run after so many ticks."""

    left: int = 0

    def tick(self) -> None:
        if not self.left:
            raise Killed
        self.left -= 1
