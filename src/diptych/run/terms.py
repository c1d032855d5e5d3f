"""The terms of a run (languages, seeds, recipe), stored in `run.toml`.

A run can only be resumed with the same terms.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tomli_w

from diptych._version import VERSION
from diptych.errors import StoreError, option_name
from diptych.files import is_special, read_file, reading, refuse_links, replace_file, writing
from diptych.registry import make, signature
from diptych.run.store import SCHEMA_VERSION, Store

_MAX_BYTES = 1 << 28  # maximum size of `run.toml`, which lists all seeds of a run
_SHOWN = 3  # number of seeds, archives etc. listed in a message
_RUN_FILES = (
    "run.toml", "run.sqlite", "run.sqlite-*", "warc/diptych-*.warc.gz", "corpus.tsv",
    "corpus.tmx", "n-way.tsv", "pairs.tsv", "sites.tsv", "report.html", "profile.toml",
)  # fmt: skip
"""patterns of the files that may be in the folder of a run that fetched nothing"""
_RESCALED = ("quality", "quality_encoder")  # filters whose scores had another scale
_RESCALED_IN, _EARLIER_THRESHOLD = 9, 0.95  # since this schema version; default threshold before
LIBRARIES = ("aiohttp", "fastwarc", "icu4py", "protego", "py3langid", "selectolax", "sentencex")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a run: everything that determines its corpus."""

    langs: tuple[str, ...]
    seeds: tuple[str, ...]
    scope: str
    recipe: Mapping[str, Any]
    archives: tuple[str, ...] = ()
    lexicons: tuple[str, ...] = ()
    """languages and digest of each lexicon"""
    taught: tuple[str, ...] = ()
    """languages taught to the identifier, each with a digest"""
    schema: int = SCHEMA_VERSION
    """schema version of the run"""

    @property
    def threshold(self) -> float:
        """The minimum score of the segments in the corpus of the run.

        Runs of earlier versions have the default threshold of that time, as their scores had
        another scale.
        """
        settings = self.recipe["filter"]
        is_default = settings["use"] in _RESCALED and "threshold" not in settings
        if self.schema < _RESCALED_IN and is_default:
            return _EARLIER_THRESHOLD
        return float(make("filter", settings).threshold)

    def to_toml(self) -> dict[str, Any]:
        """Return the content of `run.toml` as a dictionary."""
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
    """The default run folder; the same arguments always give the same folder.

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
    """Read the terms of an existing run."""
    path = folder / "run.toml"
    if not folder.is_dir():
        advice = f"to create it, mine a site with {option_name('out')} {folder}"
        raise StoreError(f"there is no folder {folder}; {advice}")
    if not path.exists():
        raise StoreError(f"{folder} holds no run (no run.toml); mine a site into it first")
    if is_special(path):  # reading a pipe may never end
        raise StoreError(f"{path} is not a regular file, so it is not read")
    advice = f"to mine its archives again, use {option_name('warc')} {folder}/warc"
    with reading(path, "readable description of a run", advice, error=StoreError):
        raw = tomllib.loads(read_file(path, _MAX_BYTES, error=StoreError).decode("utf-8"))
        return _checked(raw)


def _checked(raw: Mapping[str, Any]) -> Terms:
    """The terms in a parsed `run.toml`; raise ValueError if one is missing or of another type."""
    lists = {name: raw[name] for name in ("langs", "seeds", "archives", "lexicons")}
    lists["taught"] = raw.get("taught", [])
    for name, texts in lists.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{name!r} is not a list of texts")
    recipe, scope, schema = raw["recipe"], raw["scope"], raw["schema"]
    if not isinstance(scope, str) or type(schema) is not int:
        raise ValueError("its scope or its schema has the wrong type")
    if not all(
        isinstance(each, dict) and isinstance(each.get("use"), str) for each in recipe.values()
    ):
        raise ValueError("a stage of its recipe has no strategy")
    if not {"filter", "detect"} & set(recipe):
        raise ValueError("its recipe has no filter")
    return Terms(
        tuple(lists["langs"]), tuple(lists["seeds"]), scope, dict(recipe),
        tuple(lists["archives"]), tuple(lists["lexicons"]), tuple(lists["taught"]), schema,
    )  # fmt: skip


def open_run(folder: Path, terms: Terms, *, agent: str) -> Store:
    """Start a run in a folder, or resume the run in that folder if it has the same terms.

    If the terms differ but the old run has fetched no page, it is replaced by a new run.  This
    happens, for example, after a seed was mistyped.
    """
    with writing(folder, f"choose another folder with {option_name('out')}", error=StoreError):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_links(folder, is_deep=False, error=StoreError)
        is_new = not (folder / "run.toml").exists()
        strangers = [entry.name for entry in folder.iterdir() if not _is_ours(entry.name)]
    if is_new and strangers:
        raise StoreError(
            f"{folder} holds other files ({min(strangers)}) but no run;"
            f" choose another folder with {option_name('out')}"
        )
    if not is_new and (difference := _difference(read_terms(folder), terms)):
        if _has_pages(folder):
            raise StoreError(
                f"{folder} holds a run that {difference};"
                f" choose another folder with {option_name('out')}"
            )
        discard_run(folder)
        is_new = True
    data = tomli_w.dumps(terms.to_toml()).encode()
    if is_new:
        replace_file(folder / "run.toml", data, error=StoreError)
    with writing(folder, f"choose another folder with {option_name('out')}", error=StoreError):
        store = Store(folder, agent=agent)  # upgrades a run of an earlier version
    if read_terms(folder).schema != terms.schema:
        replace_file(folder / "run.toml", data, error=StoreError)
    return store


def open_to_read(folder: Path) -> Store:
    """Open an existing run for reading."""
    read_terms(folder)
    return Store(folder, write=False)


@contextmanager
def opened_run(
    folder: Path, terms: Terms, *, agent: str, keep_empty: bool = False
) -> Iterator[Store]:
    """Open a run with `open_run`; on exit, remove a new folder if no server has answered.

    If `keep_empty` is True, the folder is always kept.
    """
    is_new = not folder.exists() and not keep_empty
    is_answered = True
    try:
        with open_run(folder, terms, agent=agent) as store:
            try:
                yield store
            finally:
                is_answered = store.is_answered()
    finally:
        if is_new and not is_answered:
            with suppress(StoreError):  # in use: the user has interrupted the closing of the store
                discard_run(folder)
            (folder / "run.lock").unlink(missing_ok=True)
            with suppress(OSError):  # the folder contains other files
                folder.rmdir()


def discard_run(folder: Path) -> None:
    """Delete a run that fetched nothing; other files in its folder are kept."""
    Store(folder).close()  # an error if another process uses it
    with writing(folder, error=StoreError):
        for pattern in _RUN_FILES:
            for path in folder.glob(pattern):
                path.unlink()
        with suppress(OSError):
            (folder / "warc").rmdir()


def _has_pages(folder: Path) -> bool:
    """True if a run has fetched or copied a page, or if it cannot be read."""
    if not (folder / "run.sqlite").exists():
        return False
    try:
        with Store(folder, write=False) as store:
            return store.has_pages() or store.has_copies()
    except StoreError:
        return True


def _difference(old: Terms, new: Terms) -> str:
    """Describe how the terms of a run differ from the requested terms; empty if they do not.

    >>> from dataclasses import replace
    >>> old = Terms(("en", "fr"), ("http://a.org/",), "site", {"crawl": {"use": "bfs"}})
    >>> _difference(old, replace(old, seeds=("http://b.org/",)))
    'mines http://a.org/ in en,fr; you requested http://b.org/ in en,fr'
    >>> _difference(old, replace(old, recipe={"crawl": {"use": "smart"}}))
    'has crawl=bfs; you requested crawl=smart'
    """
    if (old.langs, old.seeds) != (new.langs, new.seeds):
        was, now = (
            f"{_some(_others_first(one.seeds, other.seeds))} in {','.join(one.langs)}"
            for one, other in ((old, new), (new, old))
        )
        return f"mines {was}; you requested {now}"
    for name in ("scope", "archives", "lexicons", "taught"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            return f"has {name}={_some(was)}; you requested {name}={_some(now)}"
    stages = [
        stage
        for stage in sorted({*old.recipe, *new.recipe})
        if old.recipe.get(stage) != new.recipe.get(stage)
    ]
    if not stages:
        return ""
    was, now = (_spelled(each.recipe, stages) for each in (old, new))
    return f"has {was}; you requested {now}"


def _spelled(recipe: Mapping[str, Any], stages: Sequence[str]) -> str:
    """Format the given stages of a recipe for a message, such as `crawl=bfs`."""
    chosen = {stage: recipe[stage] for stage in stages if stage in recipe}
    spelled = signature(chosen, []).partition("|langs:")[0].split("|")
    return " ".join(each.replace(":", "=", 1) for each in spelled)


def _others_first(seeds: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Sort the seeds so that those not in `known` come first."""
    return tuple(sorted(seeds, key=frozenset(known).__contains__))


def _some(value: str | tuple[str, ...]) -> str:
    """Format one or more values for a message; only the first few are listed.

    >>> _some(("a", "b")), _some(("a", "b", "c", "d", "e")), _some(())
    ('a, b', 'a, b, c and 2 more', 'none')
    """
    names = (value,) if isinstance(value, str) else value
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (", ".join(names[:_SHOWN]) or "none") + rest


def _is_ours(name: str) -> bool:
    """True if a run that is killed before it writes `run.toml` may leave a file of this name."""
    return name == "run.lock" or name.endswith(".part")
