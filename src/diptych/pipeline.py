"""The whole pipeline of Diptych, from a site to a corpus.

Each step reads and writes the store, site by site, and can be run again at any time: finished work
is not repeated, and work that an interrupted run left unfinished is redone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from diptych.corpus.from_run import Choice, RunCorpus
from diptych.engine.engine import Engine
from diptych.engine.workers import Workers
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.retries import RETRIED
from diptych.frontier.scope import Scope
from diptych.learn.lexicon.lexicon import Lexicon, lexicon_of
from diptych.protocols import Watcher
from diptych.reason import Reason
from diptych.registry import Strategies
from diptych.run.store import Store
from diptych.run.updates import Updates
from diptych.steps.align_pairs import align_pairs
from diptych.steps.check_declarations import check_declarations
from diptych.steps.crawl_sites import crawl_sites
from diptych.steps.learn_lexicon import SURE_PAIR, learn_lexicons, sure_texts, uses_words
from diptych.steps.pair_pages import pair_pages
from diptych.steps.score_segments import score_segments
from diptych.steps.sketch_pages import sketch_pages
from diptych.steps.tasks import TaskContext
from diptych.steps.write_corpus import write_run_corpus
from diptych.types import LangPair, Site, lang_pairs

__all__ = [
    "STAGES", "Plan", "pair_and_learn", "run", "run_until_words", "run_with_words",
]  # fmt: skip

STAGES = ("crawl", "pair", "align_dom", "align_sentences", "verify", "filter", "export")
ROUNDS = 3  # maximum number of rounds to learn words and pair again
GROWTH = 1.05  # factor by which sure pairs must grow to make another round worthwhile
CERTAIN, DOUBT = 0.95, 0.05  # maximum number of pages without a certain partner per sure pair


@dataclass(frozen=True, slots=True)
class Plan:
    """The sites to mine, the languages, and the limits."""

    sites: Sequence[Site]
    scope: Scope
    langs: Sequence[str]
    politeness: Politeness
    limits: Limits
    lexicons: Sequence[Lexicon] = ()
    """lexicons given by the user, which are used from the start"""
    signature: str = ""
    """one line that states strategies, parameters, languages and version"""
    keep_templates: bool = False
    """True to keep all examples of each template"""
    is_update: bool = False
    """True to visit the pages that were mined before, and mine those that have changed"""


def run(
    plan: Plan, strategies: Strategies, store: Store, engine: Engine, workers: Workers,
    watcher: Watcher, now: float,
) -> None:  # fmt: skip
    """Run all steps: crawl, sketch, pair, learn words, pair again, align, verify, score, write."""
    context = _crawl(plan, strategies, store, engine, workers, watcher, now)
    if store.has_pages():
        context = pair_and_learn(store, context, workers, watcher)
    _align(plan, context, store, workers, watcher)


def run_until_words(
    plan: Plan, strategies: Strategies, store: Store, engine: Engine, workers: Workers,
    watcher: Watcher, now: float, *, max_letters: int,
) -> dict[LangPair, list[tuple[str, str]]]:  # fmt: skip
    """Run the steps before words are learned; returns segments to learn them from.

    Of a part of many sites, words are learned elsewhere, from the segments of all parts; then
    `run_with_words` goes on.  The segments are from about `max_letters` letters of text.
    """
    context = _crawl(plan, strategies, store, engine, workers, watcher, now)
    if not store.has_pages():
        return {}
    store.save_lexicons({}, is_whole=False)  # what was paired with words is now replaced
    check_declarations(store, context, workers, watcher)
    pair_pages(store, context, workers, watcher)
    return {
        langs: sure_texts(store, context, langs, workers, watcher, max_letters=max_letters).texts
        for langs in (store.lang_pairs() if uses_words(strategies) else ())
    }


def run_with_words(
    plan: Plan, strategies: Strategies, store: Store, workers: Workers, watcher: Watcher,
    lexicons: Mapping[LangPair, Lexicon],
) -> None:  # fmt: skip
    """Run the steps after words are learned: pair again where they may decide, and all others."""
    context = TaskContext(store.folder, strategies, plan.langs, lexicons)
    if store.has_pages():
        found = {langs: each.to_bytes() for langs, each in lexicons.items()}
        if store.lexicons() != found:
            store.save_lexicons({}, is_whole=False)
        if store.begin_learning():
            sites = store.doubtful_sites(CERTAIN, SURE_PAIR, DOUBT) if found else ()
            is_whole = pair_pages(store, context, workers, watcher, sites)
            store.save_lexicons(found, is_whole=is_whole)
    _align(plan, context, store, workers, watcher)


def _crawl(
    plan: Plan, strategies: Strategies, store: Store, engine: Engine, workers: Workers,
    watcher: Watcher, now: float,
) -> TaskContext:  # fmt: skip
    """Crawl all sites, and sketch their pages; returns the context of the steps that follow."""
    given = {langs: lexicon_of(langs, plan.lexicons) for langs in lang_pairs(plan.langs)}
    lexicons = {langs: lexicon for langs, lexicon in given.items() if lexicon}
    context = TaskContext(store.folder, strategies, plan.langs, lexicons)
    if plan.is_update:
        Updates(store).begin(now, forbidden=Reason.ROBOTS, retried=RETRIED)
    crawl_sites(
        store, context, plan.sites, plan.scope, engine, workers, watcher,
        politeness=plan.politeness, limits=plan.limits, now=now,
    )  # fmt: skip
    if store.has_pages():
        sketch_pages(store, context, workers, watcher)
    return context


def _align(
    plan: Plan, context: TaskContext, store: Store, workers: Workers, watcher: Watcher
) -> None:
    """Align, verify and score all pairs, and write the corpus."""
    strategies = context.strategies
    if store.has_pages():
        align_pairs(store, context, workers, watcher)
        watcher.begin("scoring")
        workers.close()  # scoring needs memory, and no workers
        score_segments(store, strategies.filter, watcher, keep_templates=plan.keep_templates)
    if plan.is_update:
        Updates(store).settle(is_whole=not watcher.stopped())
    choice = Choice(strategies.filter.threshold)
    write_run_corpus(store, RunCorpus(store, tuple(plan.langs), plan.signature, choice), watcher)


def pair_and_learn(
    store: Store,
    context: TaskContext,
    workers: Workers,
    watcher: Watcher,
    *,
    pair: Callable[[Store, TaskContext, Workers, Watcher, Collection[int] | None], bool] = (
        pair_pages
    ),
) -> TaskContext:
    """Pair all pages, learn words from reliable pairs, and repeat while more pairs are found.

    Only those sites are paired again on which words may decide: others have hardly a page without a
    certain partner.  Return the context with all learned lexicons.  If no pages have been added
    since the last call, the lexicons of that call are used again, unless it failed to pair a site
    or to learn from a page pair.
    """
    if store.begin_learning():
        given = context.lexicons
        check_declarations(store, context, workers, watcher)
        is_paired = is_whole = pair(store, context, workers, watcher, None)
        for _ in range(ROUNDS if uses_words(context.strategies) else 0):
            before = store.sure_pairs(SURE_PAIR)
            learned = learn_lexicons(store, context, given, workers, watcher)
            context = replace(context, lexicons=learned.lexicons)
            is_whole = is_whole and learned.is_whole
            sites = store.doubtful_sites(CERTAIN, SURE_PAIR, DOUBT)
            if not sites:
                break
            # If a site could not be paired, all are paired again.
            is_paired = pair(store, context, workers, watcher, sites if is_paired else None)
            is_whole = is_whole and is_paired
            if store.sure_pairs(SURE_PAIR) <= GROWTH * before:
                break
        found = {langs: each.to_bytes() for langs, each in context.lexicons.items()}
        store.save_lexicons(found, is_whole=is_whole)
    return replace(context, lexicons=store.learned_lexicons())
