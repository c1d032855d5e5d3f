"""A small family built as it was shipped and under URL schemes, and read as a crawl reads it."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest

from bench.sites.archive import site_url
from bench.sites.builder import collect
from bench.sites.builder.documents import facts_of
from bench.sites.builder.families import Family
from bench.sites.builder.native import build_native
from bench.sites.builder.rewrite import Look
from bench.sites.builder.schemes import SCHEMES
from bench.sites.builder.variant import Variant, build_variant
from bench.sites.engine import BuiltSite
from diptych.page.read import read_page
from diptych.text.urls import resolve
from diptych.types import Url

FAMILY = Family(
    "boats", ("boats-doc",), "usr/share/boats/", (r"^(?P<lang>en|fr)/(?P<key>.*\.html)$",)
)
TOPICS = ("ropes", "knots", "sails", "tides", "winds", "boats")
OTHERS = [scheme for scheme in SCHEMES if scheme != "slug"]  # which needs another library


def text(topic: str, lang: str) -> str:
    said = {"en": f"All that a sailor has to know about {topic} is written here. ",
            "fr": f"Tout ce qu'un marin doit savoir sur « {topic} » est écrit ici. "}  # fmt: skip
    return said[lang] * 3


def detected(text: str) -> tuple[str | None, dict[str, int]]:
    """In place of CLD2: French is what begins in French."""
    lang = "fr" if "Tout ce" in text else "en"
    return lang, {lang: 99}


def html(topic: str, lang: str, links: tuple[str, ...], text: str) -> str:
    shown = "".join(f'<a href="{link}">{escape(link)}</a> ' for link in links)
    return (f'<html lang="{lang}"><head><title>{topic} {lang}</title></head>'
            f"<body><p>{text}</p>{shown}</body></html>")  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder with an unpacked package, all of whose pages have been read.

    Links lead from the index to two pages, from English ropes to French ones, and to other sites;
    `boats` is not translated, `winds` only in French, and no link leads to `tides`.
    """
    base = tmp_path / "raw" / "boats-doc" / FAMILY.folder
    pages = {}
    for lang in ("en", "fr"):
        for topic in TOPICS:
            links = ("index.html", "http://elsewhere.example/", "gone.html")
            if topic == "ropes":
                links += ("../fr/ropes.html", "sails.html#top")
            own = "en" if topic == "boats" else lang
            if (topic, lang) != ("winds", "en"):
                pages[f"{lang}/{topic}.html"] = html(topic, lang, links, text(topic, own))
        listed = ("ropes.html", "knots.html", "boats.html")
        pages[f"{lang}/index.html"] = html("index", lang, listed, text("everything", lang))
    known = {}
    for path, content in pages.items():
        file = base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
        known[path] = facts_of(file, detected)
    cache = collect.facts_file(FAMILY, tmp_path)
    cache.parent.mkdir()
    cache.write_text(json.dumps({"version": collect.VERSION, "pages": known}), "utf-8")
    return tmp_path


def crawled(site: BuiltSite, *starts: Url) -> set[Path]:
    """All files that links lead to from the home page, and from other pages."""
    seen: set[Url] = set()
    files: set[Path] = set()
    waiting = [site.home, *starts]
    while waiting:
        url = waiting.pop()
        if url in seen or (sent := site.respond(url, 0.0)) is None:
            continue
        seen.add(url)
        response, file = sent
        if file is not None:
            files.add(file)
            waiting += [link.url for link in read_page(response).links]
        elif response.header("Location"):
            moved = resolve(url, response.header("Location"))
            waiting += [moved] if moved else []
    return files


def groups(site: Path) -> dict[str, dict[str, tuple[str, str]]]:
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for line in (site / "groups.tsv").read_text("utf-8").splitlines():
        key, lang, path, is_fine, state = line.split("\t")
        assert (is_fine == "1") is (state == "ok")
        found.setdefault(key, {})[lang] = (path, state)
    return found


def truth(site: Path) -> set[tuple[str, str]]:
    rows = (line.split("\t") for line in (site / "truth.tsv").read_text("utf-8").splitlines())
    return {(left, right) for left, _, right, _ in rows}


def assert_all_is_reached(site: Path, *starts: Url) -> None:
    built = BuiltSite(site)
    files = crawled(built, *starts)
    for group in groups(site).values():
        for path, _ in group.values():
            answer = built.find(site_url(path))
            assert answer is not None
            assert answer.file in files, path


def test_native_site_is_as_shipped_with_a_page_that_leads_to_all(work):
    meta = build_native(FAMILY, work)
    site = work / "built" / "boats"
    shipped = work / "raw" / "boats-doc" / FAMILY.folder / "en" / "ropes.html"
    assert (site / "htdocs" / "en" / "ropes.html").read_bytes() == shipped.read_bytes()
    assert meta["synthetic_home"]
    assert meta["orphans_listed"] == 3  # tides twice, and winds; sails is linked by ropes
    assert_all_is_reached(site)


def test_truth_has_pairs_that_are_translated(work):
    meta = build_native(FAMILY, work)
    site = work / "built" / "boats"
    keys = ("index", "ropes", "knots", "sails", "tides")
    assert truth(site) == {(f"/en/{key}.html", f"/fr/{key}.html") for key in keys}
    assert meta["truth_pairs"] == len(keys)
    assert groups(site)["boats.html"]["fr"][1] == "otherlang"
    assert groups(site)["winds.html"].keys() == {"fr"}
    assert meta["pages_without_counterpart"] == 1


@pytest.mark.parametrize("switcher", ["none", "home", "all"])
@pytest.mark.parametrize("scheme", OTHERS)
def test_every_page_of_a_variant_is_reached(work, scheme, switcher):
    look = Look(switcher, hreflang=switcher == "home", relative=switcher == "none")
    meta = build_variant(Variant("v", FAMILY, scheme, look=look), work)
    site = work / "built" / "v"
    assert meta["truth_pairs"] == len(truth(site)) == 5
    assert meta["orphans_listed"] == (2 if switcher == "all" else 3)
    # Without a switcher there may be nothing that leads from one language to another.
    homes = [site_url(path) for path, _ in groups(site)["index.html"].values()]
    assert_all_is_reached(site, *(homes if switcher == "none" else ()))


def test_links_to_other_languages_are_kept_only_if_asked_for(work):
    for crosslinks in ("strip", "keep"):
        look = Look("none", crosslinks=crosslinks)
        build_variant(Variant(crosslinks, FAMILY, "dir", look=look), work)
        page = (work / "built" / crosslinks / "htdocs" / "en" / "ropes.html").read_text("utf-8")
        assert ('href="/fr/ropes.html"' in page) is (crosslinks == "keep")
        assert 'href="/en/sails.html#top"' in page
        assert 'href="http://elsewhere.example/"' in page
        assert "gone.html" not in page.replace(">gone.html<", "")


def test_variant_shows_its_languages_as_asked(work):
    look = Look("all", "english", hreflang=True, strip_lang_attr=True)
    build_variant(Variant("v", FAMILY, "suffix", look=look), work)
    page = (work / "built" / "v" / "htdocs" / "ropes.html").read_text("utf-8")
    assert '<div class="langs"><a href="/ropes_fr.html">French</a></div>' in page
    assert '<link rel="alternate" hreflang="fr" href="/ropes_fr.html">' in page
    assert "lang=" not in page.replace("hreflang=", "")


def test_hosts_of_a_variant_are_filled_in_when_it_answers(work):
    build_variant(Variant("v", FAMILY, "subdomain", look=Look("all")), work)
    built = BuiltSite(work / "built" / "v")
    assert built.hosts == ["en", "fr"]
    sent = built.respond(site_url("//en/ropes.html"), 0.0)
    assert sent is not None
    assert b"http://fr.site.test/ropes.html" in sent[0].body


def test_share_of_a_language_is_dropped_and_its_home_stays(work):
    meta = build_variant(Variant("v", FAMILY, "dir", drop={"fr": 0.5}), work)
    assert meta["dropped"] == {"fr": 3}
    assert meta["pages"] == {"en": 6, "fr": 4}
    assert "fr" in groups(work / "built" / "v")["index.html"]


def test_pages_are_sampled_by_key_and_untranslated_ones_left_out(work):
    asked = Variant("v", FAMILY, "dir", only_ok=True, max_pages=2)
    build_variant(asked, work)
    found = groups(work / "built" / "v")
    assert "index.html" in found
    assert len(found) <= 3
    assert {state for group in found.values() for _, state in group.values()} == {"ok"}
