"""Strategies of a recipe, and the names of lexicons in the terms of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon
    from diptych.registry import Strategies

STAGES = ("crawl", "pair", "verify", "align_dom", "align_sentences", "filter")
"""stages whose strategies can be set by options"""


def strategies_of(recipe: Mapping[str, Any], *, is_complete: bool) -> Strategies:
    """Build the strategies of a recipe.

    `is_complete` is True if whole archives are mined, without seeds; `Bfs` then replaces the crawl
    strategy of the recipe.
    """
    from diptych.learn.libraries import require_libraries_of
    from diptych.registry import build
    from diptych.stages.crawl.bfs import Bfs

    strategies = build(recipe)
    for stage in STAGES:
        name = recipe[stage]["use"]
        require_libraries_of(getattr(strategies, stage), f"{stage} strategy '{name}'")
    return replace(strategies, crawl=Bfs()) if is_complete else strategies


def lexicon_name(lexicon: Lexicon, langs: Sequence[str]) -> str:
    """The name under which `run.toml` lists a lexicon: its two languages and a digest.

    Raises `ConfigError` unless both languages of the lexicon are among `langs`.
    """
    from hashlib import blake2b

    from diptych.learn.lexicon.lexicon import lexicon_of
    from diptych.types import lang_pairs

    own = lexicon.left_lang, lexicon.right_lang
    if not any(lexicon_of(pair, [lexicon]) for pair in lang_pairs(langs)):
        raise ConfigError(
            f"a lexicon for {','.join(own)} cannot be used with"
            f" {option_name('langs')} {','.join(langs)}"
        )
    return f"{'-'.join(own)}:{blake2b(lexicon.to_bytes(), digest_size=8).hexdigest()}"
