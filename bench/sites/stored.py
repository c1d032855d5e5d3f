"""Built sites read into stores, once, and what is true of their pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench.sites.archive import site_url, write_archive
from bench.sites.built import built_folder
from diptych import recipes
from diptych.engine.replay import ReplayEngine, index_archives
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.language import identify as langid
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page import blocks, sketch
from diptych.page import read as html
from diptych.protocols import Watcher
from diptych.registry import build
from diptych.run.archived import ArchiveIndex
from diptych.run.site_view import StoreView
from diptych.run.store import SCHEMA_VERSION, Store
from diptych.stages.crawl.bfs import Bfs
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.learn_lexicon import train_lexicon as lexicon_of_texts
from diptych.steps.tasks import LexiconTask, TaskContext
from diptych.text import tokens, words
from diptych.types import LangPair, PagePair, Site, Url, lang_pairs

Pair = frozenset[Url]


class Truth(NamedTuple):
    """Which pairs are right, and which are neither right nor wrong."""

    right: frozenset[Pair]
    neutral: frozenset[Pair]

    def judge(self, found: Iterable[Pair]) -> Counts:
        """How many pairs are right, how many wrong."""
        every = set(found)
        return Counts(
            len(every & self.right), len(every - self.right - self.neutral), len(self.right)
        )


class Counts(NamedTuple):
    """What was found of a site."""

    right: int
    wrong: int
    true: int

    @property
    def precision(self) -> float:
        """Of what was found and can be judged, the share that is right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of the true pairs, the share that was found."""
        return self.right / self.true if self.true else 1.0

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        return Counts(self.right + other.right, self.wrong + other.wrong, self.true + other.true)

    def __str__(self) -> str:
        return f"{self.precision:.3f} / {self.recall:.3f}"


def read_truth(site: Path) -> Truth:
    """The pairs of a built site; with a page that is not as it should be they are neutral."""
    groups: dict[str, list[tuple[Url, str, bool]]] = {}
    for line in (site / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, is_fine, _ = line.split("\t")
        groups.setdefault(key, []).append((site_url(path), lang, is_fine == "1"))
    right: set[Pair] = set()
    neutral: set[Pair] = set()
    for pages in groups.values():
        for (url, lang, fine), (other, other_lang, also) in combinations(pages, 2):
            if lang != other_lang:
                (right if fine and also else neutral).add(frozenset((url, other)))
    return Truth(frozenset(right), frozenset(neutral))


def languages(site: Path) -> list[str]:
    """The languages of a built site, its first one first."""
    meta = json.loads((site / "meta.json").read_text("utf-8"))
    return sorted(meta["languages"], key=lambda lang: (lang != meta["pivot"], lang))


def _reader() -> str:
    """What reads pages, as a digest: what another version has read is read again."""
    digest = blake2b(digest_size=4)
    for module in (blocks, html, langid, sketch, tokens, words):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def read_site(name: str, cache: Path) -> Path:
    """The folder of a store with all pages of a built site, read once and kept in a cache."""
    folder = cache / f"{name}.{SCHEMA_VERSION}.{_reader()}"
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site = built_folder() / name
    archive = folder / "site.warc.gz"
    write_archive(site, archive)
    with Store(folder, agent="bench") as store:
        index_archives(store, [archive])
        found = group(ArchiveIndex(store).pages(), kind="site")
        polite = Politeness(agent="bench", delay=0.0, connections=1, obey_robots=False)
        crawl = Crawl(
            store, found, Scope.of(found, kind="site"), Bfs(), languages(site),
            politeness=polite, limits=Limits(), now=0.0,
        )  # fmt: skip
        context = TaskContext(folder, build(recipes.load("bfs", {})), languages(site))
        here = Workers(0)
        ReplayEngine().run(crawl, GuideAnswers(crawl, context, here), here, Watcher())
    (folder / "done").touch()
    return folder


def view_of(
    store: Store, langs: list[str], lexicons: Mapping[LangPair, Lexicon] | None = None
) -> StoreView:
    """The site of a store that holds one."""
    ((id, name),) = store.sites()
    return StoreView(store, Site(name, ()), id, langs, lexicons or {})


def true_lexicons(
    store: Store, langs: list[str], truth: Truth, most: int = 60
) -> dict[LangPair, Lexicon]:
    """What true pairs teach: a run learns the same from its surest pairs."""
    context = TaskContext(store.folder, build(recipes.load(recipes.DEFAULT, {})), langs).of(store)
    lang_of = {
        record.url: record.lang for site, _ in store.sites() for record in store.records(site)
    }
    found: dict[LangPair, Lexicon] = {}
    for pair in lang_pairs(langs):
        some = [
            (one, other)
            for one, other in (sorted(each) for each in truth.right)
            for one, other in ((one, other), (other, one))
            if (lang_of.get(one), lang_of.get(other)) == pair
        ]
        some.sort()
        texts = {
            text
            for one, other in some[:: len(some) // most + 1]
            for text in LexiconTask(PagePair(one, other, *pair, 1.0, "")).run(context)
        }
        if learned := lexicon_of_texts(sorted(texts), pair, None):
            found[pair] = learned
    return found
