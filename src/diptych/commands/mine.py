"""`diptych mine`: from what the user asked to a finished run, and what is said about it."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import click
import orjson

from diptych import recipes
from diptych.commands.options import (
    AGENT,
    agent_of,
    languages,
    listed,
    live_engine,
    seed,
    taught_names,
    untold,
)
from diptych.engine.replay import ReplayEngine, archive_files, archived_pages, index_archives
from diptych.errors import ConfigError
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.learn.lexicon.file import read_lexicon
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.pipeline import Engine, Plan, run
from diptych.registry import Strategies, build, signature
from diptych.reports.funnel import tell
from diptych.reports.progress import Progress, watching
from diptych.reports.run_page import write_report
from diptych.reports.summary import Summary, summarise
from diptych.run.store import Store
from diptych.run.terms import Terms, default_folder, open_run
from diptych.stages.crawl.bfs import Bfs
from diptych.steps.learn_lexicon import lexicon_of
from diptych.types import Site, Url, lang_pairs

__all__ = ["AGENT", "DEFAULTS", "mine", "to_json"]

DEFAULTS: Mapping[str, Any] = {
    "archives": (), "strategy": None, "lexicons": (), "taught": (), "also": (), "scope": "site",
    "out": None, "max_pages": None, "max_minutes": None, "max_megabytes": None, "patience": 30.0,
    "delay": 1.0, "connections": 1, "jobs": 1, "user_agent": None, "proxy": None,
    "allow_private": False, "as_json": False, "quiet": False,
    "crawl": None, "pair": None, "verify": None, "align_dom": None, "align_sentences": None,
    "filter": None,
}  # fmt: skip
"""what `diptych mine` does unless it is told otherwise"""
STAGE_OPTIONS = ("crawl", "pair", "verify", "align_dom", "align_sentences", "filter")


def mine(sites: Sequence[str], **options: Any) -> int:
    """Mine what the user asked for and return the exit code."""
    started = time.monotonic()
    langs = languages(options["langs"], options["taught"])
    archives = archive_files(options["archives"])
    seeds = _seeds(listed(sites, sys.stdin), options["also"], archives=bool(archives))
    overrides = {stage: options[stage] for stage in STAGE_OPTIONS if options[stage]}
    recipe = recipes.load(options["strategy"] or recipes.DEFAULT, overrides)
    strategies = _strategies(recipe, is_complete=bool(archives and not seeds))
    names = tuple(str(file.resolve()) for file in archives)
    lexicons = [read_lexicon(path) for path in options["lexicons"]]
    known = tuple(_named(lexicon, langs) for lexicon in lexicons)
    terms = Terms(langs, tuple(seeds), options["scope"], recipe, names, known, taught_names())
    folder = options["out"] or default_folder(
        seeds, [str(path) for path in options["archives"]], langs
    )
    agent = agent_of(options["user_agent"])
    engine = _engine(options, agent, archives)
    with open_run(folder, terms, agent=agent) as store:
        damaged = index_archives(store, archives)
        plan = _plan(store, terms, lexicons, options, agent)
        now = 0.0 if archives else time.time()  # a replay has its own clock
        with watching(Progress(), quiet=options["quiet"] or options["as_json"]) as progress:
            progress.notes.extend(untold(langs))
            run(plan, strategies, store, engine, progress, now)
        summary = summarise(store, langs)
        write_report(store, terms, summary, progress.notes)
        seconds = time.monotonic() - started
    notes = [
        *progress.notes,
        *(["interrupted: the same command goes on"] if progress.interrupted else []),
    ]
    if options["as_json"]:
        times = {"seconds": seconds, "crawl_seconds": progress.crawl_seconds}
        times = {name: round(value, 3) for name, value in times.items()}
        click.echo(to_json(summary, **times, out=str(folder), notes=notes))
    else:
        tell(summary, folder, notes)
    return _exit_code(summary, damaged)


def _strategies(recipe: Mapping[str, Any], *, is_complete: bool) -> Strategies:
    """The strategies of a recipe; where all pages are there, none needs to be looked for."""
    strategies = build(recipe)
    return replace(strategies, crawl=Bfs()) if is_complete else strategies


def _named(lexicon: Lexicon, langs: Sequence[str]) -> str:
    """A lexicon as the terms of a run know it; a mistake if it is of other languages."""
    own = lexicon.left_lang, lexicon.right_lang
    if not any(lexicon_of(pair, [lexicon]) for pair in lang_pairs(langs)):
        raise ConfigError(
            f"a lexicon of {','.join(own)} is of no use for --langs {','.join(langs)}"
        )
    return f"{'-'.join(own)}:{blake2b(lexicon.to_bytes(), digest_size=8).hexdigest()}"


def _exit_code(summary: Summary, damaged: Sequence[str]) -> int:
    for error in damaged:
        click.echo(
            f"error: {error}; what stands before was used: run again with the whole file", err=True
        )
    if damaged:
        return 2 if summary.segments else 1
    return 0 if summary.segments else 1


def _seeds(sites: Sequence[str], also: Sequence[str], *, archives: bool) -> list[Url]:
    if not sites and not archives:
        raise ConfigError("name a site, such as https://example.org, or archives with --warc FILE")
    if also and len(sites) != 1:
        raise ConfigError("--also adds hosts to one site: name exactly one SITE with it")
    return [seed(text) for text in (*sites, *also)]


def _plan(
    store: Store, terms: Terms, lexicons: Sequence[Lexicon], options: dict[str, Any], agent: str
) -> Plan:
    kind, replay = terms.scope, bool(terms.archives)
    seeds = [Url(url) for url in terms.seeds]
    found = group(seeds or archived_pages(store), kind=kind)
    if options["also"]:
        found = [Site(found[0].name, tuple(seeds))]
    politeness = Politeness(
        agent=agent,
        delay=0.0 if replay else options["delay"],
        connections=1 if replay else options["connections"],
        obey_robots=not replay,
    )
    minutes, megabytes = options["max_minutes"], options["max_megabytes"]
    limits = Limits(
        max_pages=options["max_pages"],
        max_seconds=minutes * 60 if minutes and not replay else None,
        max_bytes=int(megabytes * 1_000_000) if megabytes else None,
        patience=options["patience"] or None,
    )
    return Plan(
        found, Scope.of(found, kind=kind), terms.langs, politeness, limits, lexicons,
        options["jobs"], signature(terms.recipe, terms.langs),
    )  # fmt: skip


def _engine(options: dict[str, Any], agent: str, archives: Sequence[Path]) -> Engine:
    if archives:
        return ReplayEngine(sketches=options["jobs"] == 1)
    return live_engine(options, agent)


def to_json(summary: Summary, **more: Any) -> str:
    """The result as one JSON object."""
    found: dict[str, Any] = {
        "downloads": summary.downloads,
        "pages": summary.pages,
        "pairs": summary.pairs,
        "segments": summary.segments,
        "downloads_per_pair": summary.downloads_per_pair,
        "queued": summary.queued,
        "probably_missing": None if summary.missing is None else round(summary.missing, 4),
        "curve": summary.curve.tenths,
        "funnel": [
            {"step": step.name, "count": step.count, "lost": dict(step.lost)}
            for step in summary.steps
        ],
        "stopped_hosts": dict(summary.hosts),
        "marks": dict(summary.marks),
        "flags": dict(summary.flags),
        "personal_data": dict(summary.personal),
        "lang_pairs": [
            {"left": left, "right": right, "pairs": pairs, "segments": segments}
            for left, right, pairs, segments in summary.lang_pairs
        ],
        "n_way_rows": summary.rows,
        **more,
    }
    return orjson.dumps(found).decode()
