from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tomli_w
from selectolax.lexbor import LexborHTMLParser
from support.policies import CLOSED, policy_of
from support.stores import begin, commit

from diptych import recipes
from diptych.errors import for_command_line
from diptych.frontier.queue import Entry, Frontier
from diptych.registry import signature
from diptych.reports.closing import closing_of, threshold_lines
from diptych.reports.funnel import funnel_rows
from diptych.reports.run_page import SHOWN_PAIRS, SHOWN_SEGMENTS, write_report
from diptych.reports.summary import summarise
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.types import Decision, Outlook, PagePair, SegmentPair, Url

TERMS = Terms(("en", "fr"), ("http://example.org/",), "site", recipes.load(recipes.DEFAULT, {}))
HOSTILE = "<script>alert('x')</script>\"&'"


class Reader(HTMLParser):
    """The content of a page for a browser: tags with their attributes, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def url(name: object) -> Url:
    return Url(f"http://example.org/{name}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        opened.site_id("example.org")
        yield opened


def fill(
    store: Store, pairs: int, segments: int = 1, *, text: str = "lamp", accept: bool = True
) -> None:
    begin(store)
    names = [f"{side}{number:04d}" for number in range(pairs) for side in ("en", "fr")]
    Frontier(store.db).add([Entry(url(name), 1, 0.0) for name in names])
    found = [
        PagePair(url(f"en{n:04d}"), url(f"fr{n:04d}"), "en", "fr", 0.876, "hreflang")
        for n in range(pairs)
    ]
    store.replace_pairs(1, found)
    begin(store)
    for id, pair in store.pairs(1):
        store.save_decision(id, Decision(accept, 0.9, "" if accept else "length_ratio"))
        if accept:
            store.save_segments(
                id,
                [
                    (
                        SegmentPair(
                            f"{text} {n}",
                            f"{text} fr {n}",
                            "en",
                            "fr",
                            pair.left,
                            pair.right,
                            "",
                            "",
                            0.5,
                        ),
                        Decision(True, 0.5),
                    )
                    for n in range(segments)
                ],
            )
    commit(store)


def report(store: Store, terms: Terms = TERMS, notes: tuple[str, ...] = ()) -> Reader:
    write_report(store, terms, summarise(store, terms.langs), notes)
    reader = Reader()
    reader.feed((store.folder / "report.html").read_text("utf-8"))
    return reader


def test_report_says_what_was_found_and_how(store: Store) -> None:
    fill(store, 3, 4)
    seen = report(store, notes=("gave up on a host", "gave up on a host"))
    assert "http://example.org/" in seen.text
    assert "en - fr" in seen.text
    assert signature(TERMS.recipe, TERMS.langs) in seen.text
    assert seen.text.count("gave up on a host") == 1
    assert "hreflang" in seen.text
    assert "0.88" in seen.text
    links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
    pages = [url(f"{side}000{n}") for n in range(3) for side in ("en", "fr")]
    assert links[-6:] == pages, "the list of pairs"
    assert sorted(links[:-6]) == sorted(4 * pages), "each segment leads to both of its pages"
    assert "lamp fr 3" in seen.text


def test_sample_comes_first_and_the_signature_last(store: Store) -> None:
    fill(store, 3, 4)
    text = report(store).text
    places = [text.index(part) for part in ("Sample of the corpus", "4 more", "From pages", "v:")]
    assert places == sorted(places)


def test_report_of_nothing_is_still_a_page(store: Store) -> None:
    seen = report(store)
    assert "page pairs" in seen.text
    assert "-" in seen.text


def test_report_loads_no_external_resources(store: Store) -> None:
    fill(store, 2)
    seen = report(store)
    tags = {tag for tag, _ in seen.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form"}
    sources = [
        value for _, attributes in seen.tags for name, value in attributes.items() if name == "src"
    ]
    assert sources == []
    assert "@import" not in seen.text
    assert "url(" not in seen.text


def test_text_of_pages_is_shown_and_never_run(store: Store) -> None:
    fill(store, 1, 2, text=HOSTILE)
    terms = Terms(("en", "fr"), (HOSTILE,), "site", TERMS.recipe)
    seen = report(store, terms, notes=(HOSTILE,))
    assert "script" not in {tag for tag, _ in seen.tags}
    assert seen.text.count(HOSTILE) >= 5  # title, heading, note and both sides of a segment


def test_title_names_archives_if_there_are_no_seeds(store: Store) -> None:
    terms = Terms(("en", "fr"), (), "site", TERMS.recipe, ("/data/crawl.warc.gz",))
    assert "/data/crawl.warc.gz" in report(store, terms).text


def test_rejected_pairs_are_shown_with_their_reason_in_words(store: Store) -> None:
    fill(store, 2, accept=False)
    seen = report(store)
    assert "Rejected page pairs" in seen.text
    assert seen.text.count("too different in length") == 2 + 1  # and once in the funnel


def test_long_list_of_pairs_is_truncated_with_a_note(store: Store) -> None:
    fill(store, SHOWN_PAIRS + 7)
    seen = report(store)
    samples = sum(tag == "td" and attributes.get("class") == "seg" for tag, attributes in seen.tags)
    assert sum(tag == "a" for tag, _ in seen.tags) == 2 * SHOWN_PAIRS + samples
    assert "and 7 more in pairs.tsv" in seen.text


@pytest.mark.parametrize("total", [1, 59, 60, 61, 119, 600, 1000])
def test_segments_are_shown_from_all_over_the_corpus(store: Store, total: int) -> None:
    fill(store, 1, total)
    seen = report(store)
    shown = [n for n in range(total) if f"lamp fr {n}" in seen.texts]
    assert len(shown) <= SHOWN_SEGMENTS
    assert len(shown) >= min(total, SHOWN_SEGMENTS // 2)
    assert shown[0] == 0
    assert shown[-1] >= 0.9 * (total - 1)


def test_bars_are_no_wider_than_the_funnel(store: Store) -> None:
    fill(store, 5, 30)
    styles = [attributes.get("style") or "" for tag, attributes in report(store).tags if tag == "i"]
    widths = [
        float(found[1]) for style in styles if (found := re.search(r"width.*?([\d.]+)%", style))
    ]
    assert widths == [0.0, 0.0, 0.0, 100.0, 100.0, 100.0, 100.0]  # no page, 5 pairs, 150 segments


def test_each_step_of_the_funnel_has_a_bar_and_the_last_stands_out(store: Store) -> None:
    fill(store, 5, 30)
    classes = [given.get("class") or "" for tag, given in report(store).tags if tag == "div"]
    bars = [each.split() for each in classes if "bar" in each]
    assert len(bars) > 1
    assert bars == [*([["bar"]] * (len(bars) - 1)), ["bar", "last"]]


def test_report_is_replaced_atomically(store: Store) -> None:
    report(store)
    fill(store, 1)
    report(store)
    assert [path.name for path in store.folder.glob("report*")] == ["report.html"]


def test_report_has_the_lines_of_the_terminal(store: Store) -> None:
    fill(store, 2, 3)
    download(store, "en0000", "fr0000", "robots.txt")
    store.db.execute("UPDATE pairs SET evidence = 'keys+langstrip'")
    store.db.execute("UPDATE occurrences SET accept = 0, reason = 'low_score' WHERE id = 1")
    terms = replace(TERMS, seeds=())
    (store.folder / "run.toml").write_bytes(tomli_w.dumps(terms.to_toml()).encode())
    text = " ".join(report(store).text.split())
    summary = summarise(store, TERMS.langs)
    for row in funnel_rows(summary):
        assert f"{row.name} {row.total:,} {row.note}".strip() in text
    assert "left out: 1 below the threshold" in text
    assert "URL pattern, language code in the URL" in text
    assert "langstrip" not in text.partition(signature(TERMS.recipe, TERMS.langs))[2]
    for line in (*closing_of(summary), *threshold_lines(summary.threshold, store.folder)):
        assert for_command_line(line) in text
    assert "are still queued" in text
    assert "--min-score 0.4" in text


def test_report_of_a_run_without_a_page_says_why(store: Store) -> None:
    assert "no page was fetched" in report(store).text


# -- the curve -----------------------------------------------------------------------------------


def download(store: Store, *names: str) -> None:
    begin(store)
    for name in names:
        store.save_fetch(1, url(name), 0.0, status=200, size=1, reason="", pointer=None)
    commit(store)


def drawn(seen: Reader) -> dict[str, str]:
    """The SVG paths of a report, by class."""
    return {
        attributes["class"] or "": attributes["d"] or ""
        for tag, attributes in seen.tags
        if tag == "path"
    }


def test_report_draws_pairs_against_downloads(store: Store) -> None:
    fill(store, 3)
    download(store, "robots.txt", "en0000", "fr0000", "x", "en0001", "en0002", "fr0002", "fr0001")
    seen = report(store)
    text = " ".join(seen.text.split())
    assert "95% of the pairs were found after 8 downloads (2.67 per pair)." in text
    assert "two downloads per pair" in text
    assert "not found yet" not in text
    lines = drawn(seen)
    assert set(lines) == {"area", "limit", "line"}
    assert lines["line"] == "M0 1000H375V667H875V333H1000V0H1000"
    assert lines["limit"] == "M0 1000L750 0"


def test_outlook_is_shown_below_the_curve(store: Store) -> None:
    fill(store, 2)
    download(store, "en0000", "fr0000", "en0001", "fr0001")
    store.save_outlook(1, Outlook(2, 0.5))  # what was filled in is queued
    text = " ".join(report(store).text.split())
    assert (
        "(2.00 per pair). About 20% of the pairs have probably not been found yet (at most 38%)."
        in text
    )


def test_run_without_pairs_has_no_curve(store: Store) -> None:
    fill(store, 2, accept=False)
    download(store, "en0000", "fr0000")
    seen = report(store)
    assert drawn(seen) == {}
    assert "downloads (" not in seen.text


def test_pairs_without_a_known_download_are_not_drawn(store: Store) -> None:
    fill(store, 2)
    assert drawn(report(store)) == {}


@pytest.mark.parametrize(
    ("langs", "least"),
    [("en fr", "two downloads"), ("en fr de", "one download"), ("en fr de es it", "0.5 downloads")],
)
def test_several_languages_cost_less_than_two_downloads_per_pair(
    store: Store, langs: str, least: str
) -> None:
    fill(store, 1)
    download(store, "en0000", "fr0000")
    terms = Terms(tuple(langs.split()), TERMS.seeds, "site", TERMS.recipe)
    assert f"{least} per pair, the minimum possible" in report(store, terms).text


# -- scores, languages, flags ---------------------------------------------------------------------


def test_histogram_shows_kept_and_left_out_segments(store: Store) -> None:
    fill(store, 2, 30)
    store.db.execute("UPDATE occurrences SET score = 0.97")
    store.db.execute(
        "UPDATE occurrences SET score = 0.12, accept = 0, reason = 'low_score' WHERE position < 3"
    )
    bins = [
        (attributes.get("title") or "")
        for tag, attributes in report(store).tags
        if tag == "div" and " kept, " in (attributes.get("title") or "")
    ]
    assert len(bins) == 20
    assert bins[2] == "0.10: 0 kept, 6 left out"
    assert bins[19] == "0.95: 54 kept, 0 left out"
    assert all(title.endswith("0 kept, 0 left out") for title in bins[3:19])


def test_browsers_run_no_script(store: Store, tmp_path: Path) -> None:
    fill(store, 1, text=HOSTILE)
    write_report(store, TERMS, summarise(store, TERMS.langs), [HOSTILE])
    tree = LexborHTMLParser((tmp_path / "report.html").read_text("utf-8"))
    assert policy_of(tree) == {**CLOSED, "script-src": "'none'"}
    assert tree.css("script") == []
