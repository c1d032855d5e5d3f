"""`diptych backlinks`: indexes and queries sources of backlinks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diptych.api.declare import REQUIRED, argument, count_option, option
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING, Group, as_lines
from diptych.errors import ConfigError, SourceError, in_one_line

if TYPE_CHECKING:
    from diptych.types import Link

INTERVAL = 5.0  # seconds between two progress lines
PATIENCE = 10.0  # seconds after which a failed request to a service is not repeated


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """Options of `diptych backlinks graph`."""

    vertices: tuple[str, ...] = option(
        "Vertices (id TAB reversed.host): plain text, gzip, or a *.paths.gz list (repeatable).",
        default=REQUIRED, metavar="FILE",
    )  # fmt: skip
    edges: tuple[str, ...] = option(
        "Edges (from TAB to), in the same file types as the vertices (repeatable).",
        default=REQUIRED,
        metavar="FILE",
    )
    out: Path = option("Folder for the index.", default=REQUIRED, metavar="FOLDER")
    level: str = option(
        'Level of the vertices; "auto" infers it from their names.',
        default="auto", choices=("auto", "host", "domain"),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WatOptions:
    """Options of `diptych backlinks wat`."""

    files: tuple[str, ...] = argument("FILE...")
    out: Path = option("Index file to create or extend.", default=REQUIRED, metavar="FILE.sqlite")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of `diptych backlinks show`."""

    source: str = argument()
    site: str = argument("HOST_OR_URL")
    limit: int = count_option("Maximum number of backlinks.", 100)
    as_json: bool = as_lines()


@click.group(cls=Group)
def backlinks() -> None:
    """Index and query sources of backlinks (links from other sites to a site)."""


@command(GraphOptions, group=backlinks)
def graph(asked: GraphOptions) -> int:
    """Index a Common Crawl web graph of hosts or domains.

    FILE may be a URL (https://, s3://) if fsspec is installed.
    """
    from diptych.sources.graph_index import index_graph

    facts = index_graph(asked.vertices, asked.edges, asked.out, level=asked.level, tick=_progress())
    _tell_notes(facts.notes)
    click.echo(
        f"{facts.edges:,} links between {facts.vertices:,} {facts.level}s -> {asked.out}", err=True
    )
    return FOUND if facts.edges else NOTHING


@command(WatOptions, group=backlinks)
def wat(asked: WatOptions) -> int:
    """Index the links in WAT files, or add more files to an index.

    Files that are already in the index are skipped.
    """
    from diptych.sources.wat import index_wat

    facts = index_wat(asked.files, asked.out, tick=_progress())
    _tell_notes(facts.notes)
    known = f" ({facts.skipped:,} already indexed)" if facts.skipped else ""
    click.echo(
        f"{facts.links:,} links from {facts.pages:,} pages to other sites, "
        f"in {facts.files:,} files{known} -> {asked.out}",
        err=True,
    )
    return FOUND if facts.links or facts.skipped else NOTHING


@command(ShowOptions, group=backlinks)
def show(asked: ShowOptions) -> int:
    """Print the pages that link to a host or page.

    SOURCE is the folder of a web graph or of a run, a .sqlite index of WAT files, or a .toml file
    that describes an HTTP service.

    Each output line has the URL of a linking page, a tab, and the text of the link.
    """
    from diptych.sources.open import open_source
    from diptych.text.urls import normalise
    from diptych.types import Failure

    url = normalise(asked.site if "://" in asked.site else f"https://{asked.site}")
    if url is None:
        raise ConfigError(f"{asked.site!r} is not a host or URL; specify one, such as example.org")
    found = open_source(asked.source, patience=PATIENCE).back_links(url, asked.limit)
    if isinstance(found, Failure):
        raise SourceError(in_one_line(f"{asked.source}: {found.reason}: {found.detail}"))
    for link in found:
        click.echo(_spelled(link, as_json=asked.as_json))
    if not found:
        click.echo(
            in_one_line(f"{asked.source} has no links to {asked.site} from other sites"), err=True
        )
    return FOUND if found else NOTHING


def _spelled(link: Link, *, as_json: bool) -> str:
    texts = {"url": link.url, "anchor": link.anchor, "around": link.around, "alt": link.alt}
    shown = {name: in_one_line(text) for name, text in texts.items()}
    if as_json:
        import orjson

        return orjson.dumps(shown).decode()
    text = shown["anchor"] or shown["alt"] or shown["around"]
    return f"{shown['url']}\t{text}" if text else shown["url"]


def _progress() -> Callable[[str, int], None]:
    """A function that prints progress to standard error every few seconds."""
    shown = time.monotonic()

    def tick(what: str, count: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= INTERVAL:
            shown = time.monotonic()
            click.echo(f"{count:,} {what}", err=True)

    return tick


def _tell_notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"note: {in_one_line(note)}", err=True)
