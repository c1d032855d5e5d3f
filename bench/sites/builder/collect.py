"""All pages of a family with what is known of them, read once and kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.sites.builder.documents import Facts, facts_of, resolve
from bench.sites.builder.doubts import length_outliers, suspects
from bench.sites.builder.families import Family
from bench.sites.builder.languages import code_of, detected_as
from bench.sites.builder.packages import page_files
from bench.sites.builder.pages import Pages, SitePage, find_page, home_of, pivot_of
from bench.support.processes import give_up

__all__ = ["JOBS", "VERSION", "collect", "facts_file"]

JOBS = 2
SHORTEST = 80  # characters of a page that can be a pair
LEAST_SHARE = 50  # percent of a page's text that is in its language
_UNMARKED = "en"  # language of paths that name none
VERSION = 1  # of the kept facts: raised when pages are read in another way


def collect(family: Family, work: Path) -> Pages:
    """The pages of a family, each in its state."""
    found = _named_pages(family, page_files(family, work))
    if not found:
        give_up(f"the packages of {family.name} have no pages where they are expected")
    facts = _read(facts_file(family, work), {path: file for path, (file, _, _) in found.items()})
    pages = {
        path: SitePage(path, file, lang, key, facts[path])
        for path, (file, lang, key) in found.items()
    }
    _keep_keys_apart(pages)
    if family.by_contents:
        _key_by_contents(family, pages)
    _judge(pages)
    return pages


def facts_file(family: Family, work: Path) -> Path:
    """Where the facts of a family's pages are kept."""
    return work / "facts" / f"{family.name}.json"


def _named_pages(family: Family, files: Mapping[str, Path]) -> dict[str, tuple[Path, str, str]]:
    """Path -> file, language and key of the pages whose paths fit."""
    skip = re.compile(family.skip or "(?!)")
    patterns = [re.compile(pattern) for pattern in family.patterns]
    found = {}
    for path, file in files.items():
        match = next((m for pattern in patterns if (m := pattern.match(path))), None)
        if match is None or skip.search(path):
            continue
        named = match.groupdict("")
        lang = code_of(named.get("lang") or _UNMARKED)
        if not family.langs or lang in family.langs:
            found[path] = (file, lang, _key(named))
    return found


def _key(named: Mapping[str, str]) -> str:
    if named.get("key"):
        return named["key"]
    joined = f"{named.get('key1', '')}/{named.get('key2', '')}"
    return joined.replace("/.", ".").replace("//", "/").lstrip("/")


def _read(cache: Path, files: Mapping[str, Path]) -> dict[str, Facts]:
    """What is known of each page; what was read before is taken from a file."""
    known: dict[str, Facts] = {}
    if cache.is_file():
        kept = json.loads(cache.read_text("utf-8"))
        if kept["version"] == VERSION:
            known = {path: Facts(*row) for path, row in kept["pages"].items()}
    missing = [path for path in files if path not in known]
    if missing:
        with ProcessPoolExecutor(JOBS) as readers:
            read = readers.map(facts_of, [files[path] for path in missing], chunksize=40)
            known.update(zip(missing, read, strict=True))
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps({"version": VERSION, "pages": known}), "utf-8")
    return known


def _keep_keys_apart(pages: Pages) -> None:
    """Give a page another key if a page with a shorter path has its language and key."""
    seen = set()
    for path in sorted(pages, key=lambda path: (len(path), path)):
        page = pages[path]
        if (page.lang, page.key) in seen:
            page.key += f"#dup{len(path)}"
        seen.add((page.lang, page.key))


def _key_by_contents(family: Family, pages: Pages) -> None:
    """Key pages by their place in the table of contents, if it is as long as that of the pivot."""
    contents: dict[str, list[str]] = {}
    langs = sorted({page.lang for page in pages.values()})
    homes = {lang: home_of(family, pages, lang) for lang in langs}
    for lang, home in homes.items():
        leads = (resolve(home, link) for link in pages[home].facts.links)
        found = (find_page(pages, lead[0], family.endings) for lead in leads if lead is not None)
        contents[lang] = list(dict.fromkeys(path for path in found if path is not None))
    length = len(contents[pivot_of(pages)])
    for lang, order in contents.items():
        for place, path in enumerate(order):
            pages[path].key = f"n{place:04}" if len(order) == length else f"{lang}/{path}"
        pages[homes[lang]].key = "index.html"


def _judge(pages: Pages) -> None:
    """Set the state of each page."""
    english = {page.facts.digest for page in pages.values() if page.lang == "en"}
    for page in pages.values():
        facts, codes = page.facts, detected_as(page.lang)
        share = sum(percent for code, percent in facts.shares.items() if code in codes)
        is_copy = page.lang != "en" and facts.digest in english
        if facts.length < SHORTEST:
            page.state = "short"
        elif facts.lang not in codes or share < LEAST_SHARE or is_copy:
            page.state = "otherlang"
    for page in suspects(pages):
        page.state = "suspect"
    for page in length_outliers(pages):
        page.state = "length"
