"""A built site as one WARC file, so that a benchmark reads pages and waits for no server.

    python -m bench.sites.archive SITE [--sites DIR] [--out FILE]

SITE is the folder of a built site, or the name of one in the builder's folder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from bench.sites.built import built_folder
from bench.support.processes import give_up
from diptych.run.warc import compose, compose_info
from diptych.text.urls import normalise
from diptych.types import Response, Url

HOST = "site.test"
_INDEXES = ("index.html", "index.htm", "index.en.html", "Overview.en.html")
_PAGES = (".html", ".htm", ".xhtml")


def site_url(path: str) -> Url:
    """The URL of a path of a built site; `//fr/x.html` is a path on the host of French.

    >>> site_url("/fr/x.html"), site_url("//fr/x.html")
    ('http://www.site.test/fr/x.html', 'http://fr.site.test/x.html')
    """
    host, rest = "www", path
    if path.startswith("//"):
        host, _, rest = path[2:].partition("/")
        rest = f"/{rest}"
    url = normalise(f"http://{host}.{HOST}{rest}")
    if url is None:
        give_up(f"a built site has a page with an impossible address: {path}")
    return url


def pages(site: Path) -> Iterator[tuple[str, Path]]:
    """Each page of a built site as its path on the server and its file."""
    docs = site / "htdocs"
    routes_file = site / "routes.json"
    routes = json.loads(routes_file.read_text("utf-8"))["routes"] if routes_file.exists() else {}
    yield from ((path, docs / file) for path, file in sorted(routes.items()))
    routed = set(routes.values())
    meta = json.loads((site / "meta.json").read_text("utf-8"))
    prefix = "//" if meta.get("hosts") else "/"
    for file in sorted(docs.rglob("*")):
        name = file.relative_to(docs).as_posix()
        if file.suffix not in _PAGES or name in routed or not file.is_file():
            continue
        path = prefix + quote(name, safe="/~!$&'()*+,;=:@")
        yield path, file
        if file.name in _INDEXES:
            yield path.removesuffix(quote(file.name)), file


def write_archive(site: Path, out: Path) -> int:
    """Write the pages of a built site to a WARC file, and say how many they are."""
    listed = [line.split("\t")[2] for line in (site / "groups.tsv").open(encoding="utf-8")]
    as_listed = {unquote(path): path for path in listed}
    seen: set[str] = set()
    files = {file for path, file in pages(site) if unquote(path) in as_listed}
    with out.open("wb") as stream:
        stream.write(compose_info(agent="bench", name=out.name, now=0.0))
        for path, file in pages(site):
            is_listed = unquote(path) in as_listed
            is_copy = not is_listed and (file in files or (file.name in _INDEXES and path != "/"))
            url = site_url(as_listed.get(unquote(path), path))
            if is_copy or url in seen:
                continue
            seen.add(url)
            headers = (("Content-Type", "text/html"),)
            stream.write(compose(Response(url, 200, headers, file.read_bytes(), 0.0)))
    return len(seen)


def main() -> None:
    """Write one archive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    site = arguments.site if arguments.site.is_dir() else built_folder() / arguments.site
    if not (site / "groups.tsv").is_file():
        give_up(f"{site} is no built site")
    out = arguments.out or Path(f"{site.name}.warc.gz")
    print(f"{write_archive(site, out):,} pages -> {out}")


if __name__ == "__main__":
    main()
