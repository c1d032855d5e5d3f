"""Real multilingual sites: built if they are missing, found, and served on loopback."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.support.processes import give_up, last_line, running

__all__ = ["Builder", "ServedSite", "add_sites_option", "build_native", "build_variant",
           "built_folder", "built_site", "built_sites", "serve", "site_builder",
           "work_folder"]  # fmt: skip

Builder = Sequence[str]
"""the command that builds sites"""


class ServedSite(NamedTuple):
    """A site that is being served: its home page, and the URL of each of its hosts."""

    home: str
    hosts: list[str]


def add_sites_option(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark the option to use another site builder."""
    parser.add_argument(
        "--sites", type=Path, metavar="DIR",
        help="folder with another site builder, build_sites.py (default: bench.sites.builder)",
    )  # fmt: skip


def site_builder(folder: Path | None) -> Builder:
    """The command of our site builder, or of the one in a folder."""
    if folder is None:
        return [sys.executable, "-m", "bench.sites.builder"]
    program = folder / "build_sites.py"
    if not program.is_file():
        give_up(f"there is no build_sites.py in {folder}")
    return [sys.executable, str(program)]


def work_folder() -> Path:
    """The folder of the site builder: $SITES_DIR, or its cache in the home folder."""
    return Path(os.environ.get("SITES_DIR") or Path.home() / ".cache" / "diptych-sites").resolve()


def built_folder() -> Path:
    """The folder with all built sites."""
    return work_folder() / "built"


def built_site(name: str) -> Path:
    """The folder of a site; ends the benchmark if it is not built."""
    site = built_folder() / name
    if not (site / "groups.tsv").is_file():
        give_up(
            f"there is no site {name} in {site.parent}: see bench/README.md for how to build it"
        )
    return site


def built_sites(built: Path) -> list[Path]:
    """The folders of all sites that are built; ends the benchmark if there is none."""
    sites = sorted(file.parent for file in built.glob("*/groups.tsv"))
    if not sites:
        give_up(f"there are no sites in {built}: python -m bench.sites.pair_sites builds some")
    return sites


def build_native(builder: Builder, family: str) -> Path:
    """Build a family of pages as its authors shipped it, unless that was done before."""
    return _build(builder, family, ["native", family])


def build_variant(builder: Builder, name: str, options: Sequence[str]) -> Path:
    """Build a family under another URL scheme or in fewer languages, unless done before."""
    return _build(builder, name, ["variant", name, *options])


def _build(builder: Builder, name: str, arguments: Sequence[str]) -> Path:
    site = built_folder() / name
    if (site / "meta.json").is_file():  # the builder writes it last
        return site
    print(f"building {name} (once) ...", file=sys.stderr)
    built = subprocess.run([*builder, *arguments], capture_output=True, text=True, check=False)
    if built.returncode or not (site / "meta.json").is_file():
        reason = last_line(built.stderr).removeprefix("error: ")
        give_up(f"{name} could not be built: {reason}")
    return site


@contextmanager
def serve(sites: Sequence[Path], *, logs: Path | None = None) -> Iterator[dict[str, ServedSite]]:
    """Serve built sites on loopback, one port for each host, while the block runs.

    logs: folder for the access logs.
    """
    command = [sys.executable, "-m", "bench.sites.serve", *map(str, sites)]
    command += ["--logs", str(logs)] if logs is not None else []
    with running(command, ready="{") as line:
        yield {name: ServedSite(*entry) for name, entry in json.loads(line).items()}
