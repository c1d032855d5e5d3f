"""`diptych backlinks`: sources of back links are indexed and asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import orjson

from diptych.cli_parts import FOUND, NOTHING
from diptych.errors import ConfigError, SourceError
from diptych.sources.open import open_source
from diptych.text.printable import in_one_line
from diptych.text.urls import normalise
from diptych.types import Failure, Link

__all__ = ["make_graph", "make_wat", "show_links"]

INTERVAL = 5.0  # seconds between two lines of progress
PATIENCE = 10.0  # seconds after which a service is not asked again while someone waits


def make_graph(vertices: Sequence[str], edges: Sequence[str], out: Path, level: str) -> int:
    """Index a web graph; the exit code."""
    from diptych.sources.graph_index import index_graph

    facts = index_graph(vertices, edges, out, level=level, tick=_progress())
    _tell_notes(facts.notes)
    click.echo(
        f"{facts.edges:,} links between {facts.vertices:,} {facts.level}s -> {out}", err=True
    )
    return FOUND if facts.edges else NOTHING


def make_wat(files: Sequence[str], out: Path) -> int:
    """Index WAT files; the exit code."""
    from diptych.sources.wat import index_wat

    facts = index_wat(files, out, tick=_progress())
    _tell_notes(facts.notes)
    known = f" ({facts.skipped:,} were there already)" if facts.skipped else ""
    click.echo(
        f"{facts.links:,} links of {facts.pages:,} pages to other sites, "
        f"from {facts.files:,} files{known} -> {out}",
        err=True,
    )
    return FOUND if facts.links or facts.skipped else NOTHING


def show_links(source: str, site: str, limit: int, *, as_json: bool) -> int:
    """Print who links to a host or page; the exit code."""
    url = normalise(site if "://" in site else f"https://{site}")
    if url is None:
        raise ConfigError(f"{site!r} is no host or URL; say for example: example.org")
    found = open_source(source, patience=PATIENCE).back_links(url, limit)
    if isinstance(found, Failure):
        raise SourceError(in_one_line(f"{source}: {found.reason}: {found.detail}"))
    for link in found:
        click.echo(_spelled(link, as_json=as_json))
    if not found:
        click.echo(in_one_line(f"{source} knows no links to {site} from other sites"), err=True)
    return FOUND if found else NOTHING


def _spelled(link: Link, *, as_json: bool) -> str:
    texts = {"url": link.url, "anchor": link.anchor, "around": link.around, "alt": link.alt}
    shown = {name: in_one_line(text) for name, text in texts.items()}
    if as_json:
        return orjson.dumps(shown).decode()
    text = shown["anchor"] or shown["alt"] or shown["around"]
    return f"{shown['url']}\t{text}" if text else shown["url"]


def _progress() -> Callable[[str, int], None]:
    """Says on standard error how far it is, now and then."""
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
