"""The commands `backlinks` of the command line."""

from __future__ import annotations

from pathlib import Path

import click

from diptych.cli_parts import AS_LINES, FILE, Group

__all__ = ["backlinks"]


@click.group(cls=Group)
def backlinks() -> None:
    """Index and ask sources of back links: who links to a site."""


@backlinks.command("graph")
@click.option("--vertices", multiple=True, required=True, metavar="FILE",
              help="Vertices: id TAB reversed.host; gzip, plain, or a *.paths.gz.")  # fmt: skip
@click.option("--edges", multiple=True, required=True, metavar="FILE",
              help="Edges: from TAB to; the same kinds of files.")  # fmt: skip
@click.option("--out", type=FILE, required=True, metavar="FOLDER", help="Folder of the index.")
@click.option("--level", type=click.Choice(["auto", "host", "domain"]), default="auto",
              show_default=True, help="What the vertices are; else their names tell.")  # fmt: skip
def graph(vertices: tuple[str, ...], edges: tuple[str, ...], out: Path, level: str) -> None:
    """Index a web graph of Common Crawl, of hosts or of domains.

    FILEs may be given several times, and may be addresses (https://, s3://) if fsspec is installed.
    """
    from diptych.commands.backlinks import make_graph

    raise SystemExit(make_graph(vertices, edges, out, level))


@backlinks.command("wat")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", type=FILE, required=True, metavar="FILE.sqlite", help="File of the index.")
def wat(files: tuple[str, ...], out: Path) -> None:
    """Index the links of WAT files, or add more files to an index.

    A FILE that the index has already is not read again.
    """
    from diptych.commands.backlinks import make_wat

    raise SystemExit(make_wat(files, out))


@backlinks.command("show")
@click.argument("source")
@click.argument("site", metavar="HOST_OR_URL")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, metavar="N",
              help="Back links, at most.")  # fmt: skip
@AS_LINES
def show(source: str, site: str, limit: int, as_json: bool) -> None:
    """Print who links to a host or page.

    SOURCE is the folder of a web graph or of a run, a .sqlite file of WAT files, or a .toml file
    that describes an HTTP service.

    Each line has the URL that links there and the text of its link, with a tab between them.
    """
    from diptych.commands.backlinks import show_links

    raise SystemExit(show_links(source, site, limit, as_json=as_json))
