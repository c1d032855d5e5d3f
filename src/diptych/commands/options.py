"""What the user asked for on the command line, checked and understood."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from diptych._version import VERSION
from diptych.commands.train.langid import teach_from
from diptych.engine.fetch import FetchSettings
from diptych.engine.live import LiveEngine
from diptych.errors import ConfigError
from diptych.language import identify as langid
from diptych.language.codes import parse_langs
from diptych.text.urls import normalise
from diptych.types import Url

__all__ = [
    "AGENT",
    "agent_of",
    "languages",
    "listed",
    "live_engine",
    "seed",
    "taught_names",
    "untold",
]

AGENT = f"DiptychBot/{VERSION} (+https://github.com/diptych-corpus/diptych)"
_OTHER_SCHEMES = ("mailto", "data", "javascript", "ftp", "file")


def languages(text: str, taught: Sequence[Path] = ()) -> tuple[str, ...]:
    """The languages of `--langs`, once those of `--langid` are taught."""
    if taught or langid.taught():
        teach_from(taught)
    try:
        return parse_langs(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def taught_names() -> tuple[str, ...]:
    """The languages that were taught, as the terms of a run know them."""
    return tuple(
        f"{each.lang}:{blake2b(each.to_bytes(), digest_size=8).hexdigest()}"
        for each in langid.taught()
    )


def untold(langs: Sequence[str]) -> list[str]:
    """Notes on languages that cannot be told by their text."""
    return [
        f"{lang} cannot be told by its text: pages that declare it are taken; teach it with:"
        f" diptych train langid {lang} FILE --out MODEL, and mine with --langid MODEL"
        for lang in langs
        if not langid.knows(lang)
    ]


def seed(text: str) -> Url:
    """A site as people write it: with or without its scheme."""
    if "://" not in text and text.partition(":")[0] not in _OTHER_SCHEMES:
        text = "https://" + text
    url = normalise(text)
    if url is None:
        raise ConfigError(f"'{text}' is no http or https URL; give one such as https://example.org")
    return url


def listed(sites: Sequence[str], lines: Iterable[str]) -> list[str]:
    r"""Sites as they were named, with those of a list in the place of `-`.

    Of a line only what stands before a tab counts; empty lines and comments are left out.

    >>> listed(["a.org", "-"], ["b.org\t0.9", "", "# more", "c.org"])
    ['a.org', 'b.org', 'c.org']
    """
    if "-" not in sites:
        return list(sites)
    named = (line.partition("\t")[0].strip("\ufeff \r\n") for line in lines)
    found = [name for name in named if name and not name.startswith("#")]
    place = list(sites).index("-")
    return [*sites[:place], *found, *(site for site in sites[place + 1 :] if site != "-")]


def agent_of(text: str | None) -> str:
    """How Diptych presents itself."""
    if text is not None and (not text.isprintable() or not text.strip()):
        raise ConfigError("--user-agent must be one line of text, such as 'MyBot/1.0 (+URL)'")
    return text or AGENT


def live_engine(options: dict[str, Any], agent: str, *, stall: float = 20.0) -> LiveEngine:
    """The web, as the user wants it to be asked."""
    settings = FetchSettings(
        agent=agent, proxy=_proxy(options["proxy"]), allow_private=options["allow_private"],
        concurrency=max(64, options.get("connections") or 1), stall=stall,
    )  # fmt: skip
    return LiveEngine(settings, workers=max(1, os.cpu_count() or 1))


def _proxy(text: str | None) -> str | None:
    """A proxy that can be, or none."""
    if text is None:
        return None
    scheme, _, rest = text.partition("://")
    # A proxy may be named with a user and a password, a site may not.
    if normalise(f"{scheme}://{rest.rpartition('@')[2]}") is None:
        raise ConfigError(f"'{text}' is no HTTP proxy; give one such as http://proxy.example:8080")
    return text
