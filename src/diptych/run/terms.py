"""`run.toml`: the terms of a run (languages, seeds, recipe); a resumed run must have the same."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tomli_w

from diptych._version import VERSION
from diptych.errors import StoreError
from diptych.files import read_file, reading, replace_file, writing
from diptych.registry import signature
from diptych.run.store import SCHEMA_VERSION, Store

_MAX_BYTES = 1 << 28  # of `run.toml`, which names all seeds of a run
LIBRARIES = ("aiohttp", "fastwarc", "protego", "py3langid", "selectolax", "sentencex")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a run: with other terms the corpus would be another."""

    langs: tuple[str, ...]
    seeds: tuple[str, ...]
    scope: str
    recipe: Mapping[str, Any]
    archives: tuple[str, ...] = ()
    lexicons: tuple[str, ...] = ()
    """languages and digest of each"""
    taught: tuple[str, ...] = ()
    """languages that were taught, and a digest of each"""

    def to_toml(self) -> dict[str, Any]:
        """As in `run.toml`."""
        return {
            "signature": signature(self.recipe, self.langs),
            "schema": SCHEMA_VERSION,
            "langs": list(self.langs),
            "seeds": list(self.seeds),
            "scope": self.scope,
            "archives": list(self.archives),
            "lexicons": list(self.lexicons),
            "taught": list(self.taught),
            "versions": {
                "diptych": VERSION,
                "python": ".".join(map(str, sys.version_info[:3])),
                **{name: version(name) for name in LIBRARIES},
            },
            "recipe": dict(self.recipe),
        }


def default_folder(seeds: Sequence[str], archives: Sequence[str], langs: Sequence[str]) -> Path:
    """The default run folder: the same command has the same folder.

    >>> default_folder(["http://example.org/"], [], ["en", "fr"]).name
    'diptych-example.org-en-fr'
    """
    first = (seeds or archives or ["run"])[0]
    name = (
        re.sub(r"^https?://(?:www\.)?|/.*$", "", first)
        if seeds
        else Path(first).name.partition(".")[0]
    )
    rest = f"+{len(seeds or archives) - 1}" if len(seeds or archives) > 1 else ""
    safe = re.sub(r"[^\w.-]", "_", name) + rest
    return Path(f"diptych-{safe}-{'-'.join(langs)}")


def read_terms(folder: Path) -> Terms:
    """The terms of an existing run."""
    path = folder / "run.toml"
    if not folder.is_dir():
        raise StoreError(
            f"there is no folder {folder}; make one with: diptych mine SITE --out {folder}"
        )
    if not path.exists():
        raise StoreError(
            f"{folder} holds no run (no run.toml); make one with: diptych mine SITE --out {folder}"
        )
    advice = f"mine what it fetched again with: --warc {folder}/warc --out NEW"
    with reading(path, "readable description of a run", advice, error=StoreError):
        raw = tomllib.loads(read_file(path, _MAX_BYTES, error=StoreError).decode("utf-8"))
        return Terms(
            tuple(raw["langs"]), tuple(raw["seeds"]), raw["scope"], dict(raw["recipe"]),
            tuple(raw["archives"]), tuple(raw["lexicons"]), tuple(raw.get("taught", ())),
        )  # fmt: skip


def open_run(folder: Path, terms: Terms, *, agent: str) -> Store:
    """Begin a run in a folder, or go on with the one that is there on the same terms."""
    with writing(folder, "choose another --out", error=StoreError):
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not (folder / "run.toml").exists()
        strangers = [entry.name for entry in folder.iterdir() if not _is_ours(entry.name)]
    if is_new and strangers:
        raise StoreError(
            f"{folder} holds no run but other files ({min(strangers)}); choose another --out"
        )
    if not is_new:
        _check_same(folder, read_terms(folder), terms)
    if is_new:
        data = tomli_w.dumps(terms.to_toml()).encode()
        replace_file(folder / "run.toml", data, error=StoreError)
    with writing(folder, "choose another --out", error=StoreError):
        return Store(folder, agent=agent)


def _check_same(folder: Path, old: Terms, new: Terms) -> None:
    for name in ("langs", "seeds", "scope", "archives", "lexicons", "taught", "recipe"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            raise StoreError(
                f"{folder} holds a run with other {name}: {_short(was)}, not {_short(now)}; "
                "choose another --out, or ask for the same"
            )


def _is_ours(name: str) -> bool:
    """True for files that a kill may leave before there is a run."""
    return name == "run.lock" or name.endswith(".part")


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(signature(value, []).partition("|langs:")[0].replace(":", "=").split("|"))
    return ", ".join(value) if isinstance(value, tuple) else str(value)
