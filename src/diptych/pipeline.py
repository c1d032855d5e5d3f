"""The whole of Diptych in order: from a site to a corpus.

Each stage reads the store and writes the store, site by site, and can be run again at any time:
what is done is not done twice, and what an interrupted run left half done is done over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from diptych.corpus.from_run import Choice, NWayCorpus, RunCorpus, write_corpus
from diptych.engine.answers import Answers
from diptych.engine.task_workers import run_tasks
from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope
from diptych.protocols import Watcher
from diptych.registry import Strategies, exporter
from diptych.run.files import replace_file
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.steps.align_pairs import verify_and_align
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.learn_lexicon import learn_words, lexicon_of
from diptych.steps.score_segments import settle
from diptych.steps.tasks import SketchTask, Work
from diptych.types import LangPair, Site, Sketch, lang_pairs

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

__all__ = ["STAGES", "Engine", "Plan", "run"]

STAGES = ("crawl", "pair", "align_dom", "align_sentences", "verify", "filter", "export")
CORPUS_FORMATS = ("tsv", "tmx")
PAIRS_HEADER = "left_url\tright_url\tleft_lang\tright_lang\tscore\tevidence\n"


class Engine(Protocol):
    """Answers what a crawl asks for: the live web, or archives."""

    def run(
        self,
        crawl: Crawl,
        answers: Answers,
        *,
        tick: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> None:
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
    lexicons: Sequence[Lexicon] = ()
    """what the user has: used from the beginning"""
    jobs: int = 1
    """processes that pages are read and aligned in"""
    signature: str = ""
    """how the result was made"""


def run(
    plan: Plan, strategies: Strategies, store: Store, engine: Engine, watcher: Watcher, now: float
) -> None:
    """Mine: crawl, pair, align, verify, filter, export."""
    watcher.stage = "crawling"
    crawl = Crawl(
        store, plan.sites, plan.scope, strategies.crawl, plan.langs,
        politeness=plan.politeness, limits=plan.limits, now=now,
    )  # fmt: skip
    watcher.crawl = crawl
    known = {langs: lexicon_of(langs, plan.lexicons) for langs in lang_pairs(plan.langs)}
    given = {langs: lexicon for langs, lexicon in known.items() if lexicon}
    work = Work(store.folder, strategies, plan.langs)
    answers = GuideAnswers(crawl, replace(work, lexicons=given))
    engine.run(crawl, answers, tick=watcher.tick, stopped=watcher.stopped)
    crawl.save_outlook()
    watcher.notes.extend(crawl.hosts.notes)
    _sketch_pages(store, work, watcher, plan.jobs)

    def pair_pages(lexicons: Mapping[LangPair, Lexicon]) -> None:
        for id, name in store.sites():
            watcher.stage = "pairing"
            watcher.tick()
            view = StoreView(store, Site(name, ()), id, plan.langs, lexicons)
            store.replace_pairs(id, strategies.pair.pair(view))

    lexicons = learn_words(store, work, given, pair_pages, watcher, jobs=plan.jobs)
    verify_and_align(store, replace(work, lexicons=lexicons), watcher, jobs=plan.jobs)
    watcher.stage = "removing duplicates"
    settle(store, strategies.filter)
    watcher.stage = "exporting"
    choice = Choice(strategies.filter.threshold)
    export(store, RunCorpus(store, tuple(plan.langs), plan.signature, choice))


def _sketch_pages(store: Store, work: Work, watcher: Watcher, jobs: int) -> None:
    """Sketch the pages that were read without: a crawl of the live web is as fast as it reads."""
    urls = store.without_sketch(work.langs)
    watcher.stage = "reading"
    results = run_tasks([SketchTask(url) for url in urls], work, work.of(store), jobs=jobs)
    for count, (url, sketch) in enumerate(zip(urls, results, strict=True)):
        store.begin()
        store.save_sketch(url, sketch if isinstance(sketch, Sketch) else Sketch("", 0, {}))
        if count % 64 == 0:
            store.commit()
        watcher.tick()
    store.commit()


def export(store: Store, corpus: RunCorpus) -> None:
    """Write the corpus and the list of pairs into the run folder."""
    for name in CORPUS_FORMATS:
        write_corpus(corpus, exporter(name), store.folder / f"corpus.{name}")
    if len(corpus.langs) > 2:
        table = exporter("tsv", n_way=True)
        write_corpus(NWayCorpus(corpus), table, store.folder / "n-way.tsv")
    lines = [PAIRS_HEADER]
    for site, _ in store.sites():
        for _, pair in store.pairs(site, where="decisions.accept"):
            lines.append(
                f"{pair.left}\t{pair.right}\t{pair.left_lang}\t{pair.right_lang}"
                f"\t{pair.score:.3f}\t{pair.evidence}\n"
            )
    replace_file(store.folder / "pairs.tsv", "".join(lines).encode())
