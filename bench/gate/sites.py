"""Sites that need no packages and no network: the demo site, and others made of its pages."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable
from html import escape
from pathlib import Path
from random import Random

from selectolax.lexbor import LexborHTMLParser

from bench.sites.archive import site_url
from bench.sites.small_sites import ROBOTS, small_site
from diptych.demo import GOLD, SITE
from diptych.engine.file_server import TEMPLATED

__all__ = ["DEMO", "LANGS", "OPAQUE", "SMALL", "build"]

DEMO = "demo"
OPAQUE = "opaque"
"""the first paragraphs of the demo's pages, under numbers, without links and declared languages"""
LANGS = ("en", "fr")
SMALL = tuple(f"small-{number}" for number in range(12))
"""enough for all five URL schemes, with and without switchers, alternates and sitemaps"""

_ORIGIN = site_url("/").rstrip("/")
_PARAGRAPHS = 2  # of a page of which nothing else is left: with more, all pairs are found


def build(built: Path) -> None:
    """Write all of them in the form of built sites."""
    _build_demo(built / DEMO)
    _build_opaque(built / OPAQUE)
    for number, name in enumerate(SMALL):
        _build_small(built / name, number)


def _gold_pairs() -> list[tuple[str, str]]:
    """The paths of the true pairs of the demo site."""
    with GOLD.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, dialect="excel-tab")
        return [(row["left_path"], row["right_path"]) for row in rows]


def _build_demo(site: Path) -> None:
    shutil.copytree(SITE, site / "htdocs")
    for name in TEMPLATED:
        file = site / "htdocs" / name
        file.write_text(file.read_text("utf-8").replace("{{ORIGIN}}", _ORIGIN), "utf-8")
    _describe(site, _gold_pairs())


def _build_opaque(site: Path) -> None:
    files = sorted(SITE.rglob("*.html"))
    Random(OPAQUE).shuffle(files)
    names = {}
    for number, file in enumerate(files):
        path = "/" + file.relative_to(SITE).as_posix().removesuffix("index.html")
        names[path] = f"/doc/{number}.html"
        _write(site / "htdocs" / names[path].lstrip("/"), _short(file.read_bytes()))
    _describe(site, [(names[left], names[right]) for left, right in _gold_pairs()])


def _short(page: bytes) -> bytes:
    texts = [node.text() for node in LexborHTMLParser(page).css("p")][:_PARAGRAPHS]
    head = '<!DOCTYPE html><html><head><meta charset="utf-8"></head>'
    return (
        f"{head}<body>{''.join(f'<p>{escape(text)}</p>' for text in texts)}</body></html>".encode()
    )


def _build_small(site: Path, number: int) -> None:
    made = small_site(number)
    routes = {}
    for place, (target, answer) in enumerate({"/robots.txt": ROBOTS, **made.pages}.items()):
        body = answer.partition(b"\r\n\r\n")[2] or answer  # a sitemap has no head yet
        file = target.lstrip("/") + ("index.html" if target.endswith("/") else "")
        if "?" in target:
            file = routes[target] = f"_q/{place}.html"
        origin = f"http://{made.address}:PORT".encode()
        _write(site / "htdocs" / file, body.replace(origin, _ORIGIN.encode()))
    _write(site / "routes.json", _json({"routes": routes, "redirects": {}}))
    _describe(site, made.pairs)


def _describe(site: Path, pairs: Iterable[tuple[str, str]]) -> None:
    rows = (
        f"{key}\t{lang}\t{path}\t1\tok\n"
        for key, pair in enumerate(pairs)
        for lang, path in zip(LANGS, pair, strict=True)
    )
    _write(site / "groups.tsv", "".join(rows).encode())
    meta = {"site": site.name, "family": site.name, "scheme": "native", "home": "/",
            "pivot": LANGS[0], "languages": LANGS, "hosts": None}  # fmt: skip
    _write(site / "meta.json", _json(meta))


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1).encode()


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
