"""The registry of strategies by stage and name, and the construction of strategies from a recipe.

Each strategy has a file in `stages/` and a line in this module.  Classes are imported on first use,
so that the command line starts quickly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from diptych._version import VERSION
from diptych.errors import ConfigError, option_name
from diptych.protocols import (
    CrawlPolicy,
    Exporter,
    Filter,
    GuidedPolicy,
    Pairer,
    SentenceAligner,
    TreeAligner,
    Verifier,
)

__all__ = [
    "DISCOVERY_STAGES",
    "STRATEGIES",
    "Strategies",
    "build",
    "exporter",
    "make",
    "signature",
    "strategies",
]

STRATEGIES: Mapping[str, Mapping[str, str]] = {
    "crawl": {
        "bfs": "diptych.stages.crawl.bfs:Bfs",
        "bfs+langs": "diptych.stages.crawl.bfs_langs:BfsLangs",
        "hybrid": "diptych.stages.crawl.hybrid.strategy:Hybrid",
        "parallel_links": "diptych.stages.crawl.parallel_links:ParallelLinks",
        "pplocator": "diptych.stages.crawl.pplocator:PPLocatorCrawl",
        "smart": "diptych.stages.crawl.smart:Smart",
    },
    "pair": {
        "content": "diptych.stages.pair.content:Content",
        "keys": "diptych.stages.pair.keys.strategy:Keys",
        "langstrip": "diptych.stages.pair.langstrip:LangStrip",
        "links": "diptych.stages.pair.links:Links",
        "pplocator": "diptych.stages.pair.pplocator:PPLocator",
        "pti": "diptych.stages.pair.pti:Pti",
        "union": "diptych.stages.pair.union.strategy:Union",
        "url_model": "diptych.stages.pair.url_model:UrlModel",
        "url_rules": "diptych.stages.pair.url_rules:UrlRules",
    },
    "verify": {
        "classify": "diptych.stages.verify.classify:Classify",
        "decision_tree": "diptych.stages.verify.decision_tree:DecisionTree",
        "maxent": "diptych.stages.verify.maxent:MaxEnt",
        "size_ratio": "diptych.stages.verify.size_ratio:SizeRatio",
    },
    "align_dom": {
        "domtree": "diptych.stages.align_dom.domtree.strategy:DomTree",
        "flat": "diptych.stages.align_dom.flat:Flat",
    },
    "align_sentences": {
        "embedding": "diptych.stages.align_sentences.embedding:Embedding",
        "gale_church": "diptych.stages.align_sentences.gale_church:GaleChurch",
        "ibm1": "diptych.stages.align_sentences.ibm1:Ibm1",
        "length_lexicon": "diptych.stages.align_sentences.length_lexicon:LengthLexicon",
    },
    "filter": {
        "quality": "diptych.stages.filter.quality.strategy:Quality",
        "quality_encoder": "diptych.stages.filter.quality.strategy:QualityEncoder",
        "rules": "diptych.stages.filter.rules:Rules",
    },
    "discover": {
        "cobfc": "diptych.stages.discover.backforth:Cobfc",
        "fc": "diptych.stages.discover.forward:Forward",
        "focc": "diptych.stages.discover.focused:Focused",
        "obfc": "diptych.stages.discover.backforth:Obfc",
    },
    "detect": {
        "bits": "diptych.stages.detect.bits:Bits",
        "predictor": "diptych.stages.detect.predictor.strategy:Detect",
        "triggers": "diptych.stages.detect.triggers:Triggers",
    },
    "export": {
        "docs": "diptych.stages.export.docs:Docs",
        "jsonl": "diptych.stages.export.jsonl:Jsonl",
        "moses": "diptych.stages.export.moses:Moses",
        "parquet": "diptych.stages.export.parquet:Parquet",
        "standoff": "diptych.stages.export.standoff:Standoff",
        "tmx": "diptych.stages.export.tmx:Tmx",
        "tsv": "diptych.stages.export.tsv:Tsv",
    },
}
"""stage -> strategy name -> `module:class`"""

DISCOVERY_STAGES = ("discover", "detect")
"""the stages of a recipe that finds sites"""
RECIPE_STAGES = tuple(stage for stage in STRATEGIES if stage not in (*DISCOVERY_STAGES, "export"))
"""the stages of a recipe for mining; the export format is chosen at export"""


@dataclass(frozen=True, slots=True)
class Strategies:
    """One strategy object per stage."""

    crawl: CrawlPolicy | GuidedPolicy
    pair: Pairer
    verify: Verifier
    align_dom: TreeAligner
    align_sentences: SentenceAligner
    filter: Filter


@cache
def _load(path: str) -> type:
    module, _, name = path.partition(":")
    loaded: type = getattr(import_module(module), name)
    return loaded


def strategies(stage: str) -> dict[str, type]:
    """The classes of all strategies for a stage, by name."""
    return {name: _load(path) for name, path in STRATEGIES[stage].items()}


def _class_of(stage: str, name: str) -> type:
    known = STRATEGIES[stage]
    if name not in known:
        raise ConfigError(f"unknown {stage} strategy '{name}'; available: {_names(stage)}")
    return _load(known[name])


def make(stage: str, settings: Mapping[str, Any]) -> Any:
    """Build a strategy from its table in a recipe: `use` is its name, the rest its parameters.

    A nested strategy belongs to the stage that its parameter is named after.  Any other nested
    strategy belongs to the same stage.

    >>> make("pair", {"use": "union", "pairers": [{"use": "links"}]}).pairers
    (Links(),)
    """
    if not isinstance(settings, Mapping) or not isinstance(settings.get("use"), str):
        raise ConfigError(f'[{stage}] requires use = "NAME"; available: {_names(stage)}')
    cls = _class_of(stage, settings["use"])
    fields = {field.name for field in dataclasses.fields(cls)}
    parameters: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "use":
            continue
        if name not in fields:
            raise ConfigError(
                f"{stage} strategy '{settings['use']}' has no parameter '{name}'; "
                f"it has: {', '.join(sorted(fields)) or 'none'}"
            )
        parameters[name] = _value(name if name in STRATEGIES else stage, value)
    return cls(**parameters)


def _value(stage: str, value: Any) -> Any:
    """The value of a parameter: a table with `use` becomes a strategy, a list becomes a tuple."""
    if isinstance(value, Mapping) and "use" in value:
        return make(stage, value)
    if isinstance(value, list):
        return tuple(_value(stage, item) for item in value)
    return value


def _names(stage: str) -> str:
    return ", ".join(sorted(STRATEGIES[stage]))


def build(recipe: Mapping[str, Any]) -> Strategies:
    """Build one strategy per stage from a complete recipe (see `recipes.load`).

    If a strategy has a parameter named after another stage and the recipe does not set it, the
    parameter is set to the strategy of that stage, so that stages need not import each other.
    """
    made = {stage: make(stage, recipe[stage]) for stage in RECIPE_STAGES}
    return Strategies(
        **{stage: _joined(strategy, recipe[stage], made) for stage, strategy in made.items()}
    )


def _joined(strategy: Any, settings: Mapping[str, Any], made: Mapping[str, Any]) -> Any:
    """Set the parameters that are named after stages to the strategies of those stages.

    `made` maps stages to strategies.  Parameters that are set in `settings`, the recipe's table for
    `strategy`, stay unchanged.
    """
    names = {field.name for field in dataclasses.fields(strategy)}
    given = {stage: made[stage] for stage in made if stage in names and stage not in settings}
    return dataclasses.replace(strategy, **given) if given else strategy


def exporter(
    name: str, *, n_way: bool = False, markdown: bool = False, safe_cells: bool = False
) -> Exporter:
    """The exporter for a format.

    With `n_way`, it writes rows of more than two languages; with `markdown`, the texts of pages;
    with `safe_cells`, no cell that a spreadsheet takes for a formula.
    """
    fields = {field.name for field in dataclasses.fields(_class_of("export", name))}
    if n_way and "n_way" not in fields:
        raise ConfigError(
            f"{name} cannot store rows with three or more languages; use tsv, moses, tmx or jsonl"
        )
    if markdown and "markdown" not in fields:
        raise ConfigError(f"{name} cannot store the texts of whole pages; use docs")
    if safe_cells and "safe_cells" not in fields:
        raise ConfigError(
            f"{name} is not for spreadsheets; use {option_name('safe_cells')} with tsv"
        )
    asked = {"n_way": n_way, "markdown": markdown, "safe_cells": safe_cells}
    made: Exporter = make("export", {"use": name, **{key: True for key in asked if asked[key]}})
    return made


def signature(recipe: Mapping[str, Any], langs: Sequence[str]) -> str:
    """One line that states how the results of a run were produced.

    >>> signature({"crawl": {"use": "bfs"}}, ["en", "fr"]).rpartition("|")[0]
    'crawl:bfs|langs:en-fr'
    """
    parts = [f"{stage}:{_spell(recipe[stage])}" for stage in STRATEGIES if stage in recipe]
    return "|".join([*parts, f"langs:{'-'.join(langs)}", f"v:{VERSION}"])


def _spell(value: Any) -> str:
    if isinstance(value, Mapping):
        rest = ",".join(f"{k}={_spell(v)}" for k, v in sorted(value.items()) if k != "use")
        return f"{value['use']}({rest})" if rest else str(value["use"])
    if isinstance(value, list | tuple):
        return "+".join(_spell(item) for item in value)
    return str(value)
