"""Candidates from the columnar index, with small files in its real schema."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.filenames import file_name

from bench.support import columnar_files as files
from diptych.errors import ConfigError, SourceError
from diptych.sources import common_crawl as columnar
from diptych.sources.common_crawl import SiteCandidate, candidates, codes_of

Rows = list[dict[str, Any]]


def pages(host: str, code: str | None, count: int, **other: Any) -> Rows:
    """This many different pages of a host, in one language."""
    kind = (code or "none").replace(",", "-")
    return [files.row(f"https://{host}/{kind}/{n:04}.html", code, other) for n in range(count)]


def bilingual(host: str, count: int = 6) -> Rows:
    return pages(host, "eng", count) + pages(host, "fra", count)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "crawl=CC-MAIN-2026-30" / "subset=warc"


def asked(
    where: Path, rows: Iterable[dict[str, Any]], langs: Sequence[str] = ("en", "fr"), **options: Any
) -> list[SiteCandidate]:
    files.write(where / "part-00000.gz.parquet", rows)
    return list(candidates([str(where)], langs, **options))


def names(found: Iterable[SiteCandidate]) -> list[str]:
    return [each.site for each in found]


# -- what is counted -----------------------------------------------------------------------------


def test_a_site_with_enough_pages_in_both_languages_is_found(index: Path) -> None:
    rows = pages("www.a.org", "eng", 16) + pages("www.a.org", "fra", 4)
    rows += pages("www.a.org", "deu", 5) + pages("b.org", "eng", 9)
    (found,) = asked(index, rows, at_least=4)
    assert found.site == "a.org"
    assert found.pages == (("en", 16), ("fr", 4))
    assert found.total == 25
    assert found.share == pytest.approx(20 / 25)
    assert found.score == pytest.approx(4 * (4 / 16) ** 0.5)


@pytest.mark.parametrize(("at_least", "count"), [(6, 1), (7, 0)])
def test_each_language_needs_so_many_pages(index: Path, at_least: int, count: int) -> None:
    rows = pages("a.org", "eng", 50) + pages("a.org", "fra", 6)
    assert len(asked(index, rows, at_least=at_least)) == count


@pytest.mark.parametrize(
    "french",
    [
        pages("a.org", "fra", 9, fetch_status=404),
        pages("a.org", "fra", 9, fetch_status=301),
        pages("a.org", "fra", 9, content_mime_detected="application/pdf"),
        pages("a.org", "fra", 9, content_mime_detected=None, content_mime_type="text/plain"),
        pages("a.org", "fra", 9, content_mime_detected="text/plain", content_mime_type="text/html"),
        pages("a.org", "fra", 9, content_digest="SAME"),
        pages("a.org", "eng,fra", 9),
        pages("a.org", "deu,fra", 9),
        pages("a.org", None, 9),
        pages("b.org", "fra", 9),
    ],
    ids=[
        "gone", "moved", "pdf", "text", "said to be html", "copies", "second language",
        "second of a third", "no language", "another site",
    ],
)  # fmt: skip
def test_other_responses_and_languages_do_not_count(index: Path, french: Rows) -> None:
    assert asked(index, pages("a.org", "eng", 9) + french) == []


@pytest.mark.parametrize(
    "french",
    [
        pages("a.org", "fra", 9, content_mime_detected="application/xhtml+xml"),
        pages("a.org", "fra", 9, content_mime_detected=None),
        pages("a.org", "fra,eng,deu", 9),
        pages("a.org", "fra", 9, content_digest=None),
    ],
    ids=["xhtml", "not detected", "several languages", "no digest"],
)
def test_what_is_a_page_in_that_language_counts(index: Path, french: Rows) -> None:
    (found,) = asked(index, pages("a.org", "eng", 9) + french)
    assert found.pages == (("en", 9), ("fr", 9))


def test_copies_count_once(index: Path) -> None:
    rows = bilingual("a.org", 7)
    rows += [
        files.row(f"https://a.org/copy{n}", "fra", {"content_digest": "SAME"}) for n in range(50)
    ]
    (found,) = asked(index, rows)
    assert found.pages == (("en", 7), ("fr", 8))
    assert found.total == 15


def test_a_page_that_was_fetched_several_times_counts_once(tmp_path: Path) -> None:
    for crawl in range(3):
        rows = bilingual("a.org")
        new = [{**row, "content_digest": f"{crawl}{row['url']}"} for row in rows]
        old = [{**row, "url": row["url"].replace("https:", "http:")} for row in new]
        files.write(tmp_path / f"crawl={crawl}" / "subset=warc" / "part.parquet", new + old)
    (found,) = candidates([str(tmp_path)], ("en", "fr"))
    assert found.pages == (("en", 6), ("fr", 6))
    assert found.total == 12


def test_two_of_three_languages_are_enough(index: Path) -> None:
    rows = bilingual("a.org") + pages("b.org", "eng", 9) + pages("b.org", "deu", 8)
    rows += pages("c.org", "eng", 9) + pages("c.org", "spa", 9) + pages("b.org", "fra", 2)
    found = asked(index, rows, ("en", "fr", "de"))
    assert [(each.site, each.pages) for each in found] == [
        ("b.org", (("en", 9), ("fr", 2), ("de", 8))),
        ("a.org", (("en", 6), ("fr", 6), ("de", 0))),
    ]
    assert found[0].score == pytest.approx(8 * (8 / 9) ** 0.5)


@pytest.mark.parametrize(
    ("langs", "codes"),
    [
        (("nb", "en"), ("nor", "eng")),
        (("no", "nn"), ("nor", "nno")),
        (("pt-BR", "zh-Hant"), ("por", "zho")),
        (("sr", "hr"), ("srp", "hrv")),
        (("bs", "hr"), ("bos", "hrv")),
        (("tl", "eng"), ("tgl", "eng")),
        (("iw", "ar"), ("heb", "ara")),
        (("hmn", "id"), ("blu", "ind")),
    ],
)
def test_languages_are_read_as_the_index_writes_them(
    index: Path, langs: tuple[str, str], codes: tuple[str, str]
) -> None:
    rows = [row for code in codes for row in pages("a.org", code, 6)]
    (found,) = asked(index, rows, langs)
    assert found.pages == ((langs[0], 6), (langs[1], 6))


def test_close_languages_are_not_taken_for_each_other(index: Path) -> None:
    rows = pages("a.org", "eng", 6) + pages("a.org", "srp", 6) + pages("a.org", "bos", 6)
    assert asked(index, rows, ("en", "hr")) == []


def test_every_code_of_the_index_is_that_of_a_language() -> None:
    known = columnar._CLD2.split()
    assert len(set(known)) == len(known) == 171
    assert all(code in codes_of(columnar._ALIASES.get(code, code)) for code in known)


# -- sites ---------------------------------------------------------------------------------------


def test_hosts_of_a_domain_are_one_site_if_not_asked_by_host(index: Path) -> None:
    rows = pages("en.a.co.uk", "eng", 6) + pages("fr.a.co.uk", "fra", 6) + bilingual("www.b.co.uk")
    assert names(asked(index, rows)) == ["a.co.uk", "b.co.uk"]
    assert names(asked(index, rows, level="host")) == ["www.b.co.uk"]


def test_blogs_of_a_platform_are_sites_of_their_own(index: Path) -> None:
    rows = pages("en.blogspot.com", "eng", 6) + pages("fr.blogspot.com", "fra", 6)
    rows += bilingual("both.blogspot.com")
    assert names(asked(index, rows)) == ["both.blogspot.com"]


def test_a_domain_with_very_many_hosts_is_a_platform(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row for n in range(4) for row in pages(f"b{n}.wordpress.com", ("eng", "fra")[n % 2], 6)]
    rows += bilingual("both.wordpress.com")
    monkeypatch.setattr(columnar, "_MANY_HOSTS", 6)
    assert names(asked(index, rows)) == ["wordpress.com"]
    monkeypatch.setattr(columnar, "_MANY_HOSTS", 5)
    assert names(asked(index, rows)) == ["both.wordpress.com"]


def test_addresses_and_public_suffixes_are_sites_too(index: Path) -> None:
    rows = bilingual("192.0.2.7", 7) + bilingual("blogspot.com", 6)
    assert names(asked(index, rows)) == ["192.0.2.7", "blogspot.com"]


def test_hosts_in_punycode_are_as_they_are(index: Path) -> None:
    (found,) = asked(index, bilingual("www.xn--bcher-kva.xn--p1ai"), suffixes=["рф"])
    assert found.site == "xn--bcher-kva.xn--p1ai"
    assert found.start == "https://www.xn--bcher-kva.xn--p1ai/eng/0000.html"


@pytest.mark.parametrize(
    ("urls", "start"),
    [
        (["https://a.org/x", "https://www.a.org/"], "https://www.a.org/"),
        (["https://a.org/x", "https://www.a.org/xyz"], "https://a.org/x"),
        (["https://www.a.org/", "https://a.org/", "http://a.org/"], "https://a.org/"),
        (["https://a.org/?l", "https://blog.a.org/"], "https://blog.a.org/"),
        (["https://a.org/b", "https://a.org/a"], "https://a.org/a"),
    ],
)
def test_the_start_is_the_home_page_or_the_shortest(
    index: Path, urls: list[str], start: str
) -> None:
    rows = bilingual("a.org") + [files.row(url, "deu") for url in urls]
    for each in (rows, rows[::-1]):
        (found,) = asked(index, each)
        assert found.start == start


def test_a_home_page_that_is_not_there_is_no_start(index: Path) -> None:
    rows = [*bilingual("a.org"), files.row("https://a.org/", "eng", {"fetch_status": 503})]
    (found,) = asked(index, rows)
    assert found.start == "https://a.org/eng/0000.html"


@pytest.mark.parametrize(
    ("suffixes", "expected"),
    [
        (["fr"], ["a.fr", "b.fr"]),
        ([".FR", "de"], ["a.fr", "b.fr", "c.de"]),
        (["a.fr"], ["a.fr"]),
        (["a.fr", "co.uk"], ["a.fr", "d.co.uk"]),
        (["www.a.fr", "c.de"], ["c.de"]),
        (["r"], []),
        (["*.uk"], ["d.co.uk"]),
    ],
)
def test_suffixes_are_ends_of_hosts(index: Path, suffixes: list[str], expected: list[str]) -> None:
    hosts = ("a.fr", "b.fr", "c.de", "d.co.uk", "fr.example.org", "za.fr.org")
    rows = [row for host in hosts for row in bilingual(host)]
    assert names(asked(index, rows, suffixes=suffixes)) == expected


@pytest.mark.parametrize("suffix", ["", "a b", "x.a.b.c.d.e", "http://a.org", "fr:80", "192.0.2.1"])
def test_invalid_suffixes_are_reported(index: Path, suffix: str) -> None:
    with pytest.raises(ConfigError, match="not a host name suffix"):
        asked(index, bilingual("a.org"), suffixes=[suffix])


# -- order ---------------------------------------------------------------------------------------


def test_order_is_by_score_and_then_by_name(index: Path) -> None:
    rows = bilingual("c.org", 8) + bilingual("b.org", 8) + bilingual("a.org", 7)
    rows += bilingual("d.org", 9) + pages("d.org", "eng,deu", 900)
    assert names(asked(index, rows)) == ["b.org", "c.org", "a.org", "d.org"]
    assert names(asked(index, rows, limit=2)) == ["b.org", "c.org"]


def test_the_same_is_found_in_any_order_of_files(tmp_path: Path) -> None:
    rows = [row for n in range(40) for row in bilingual(f"s{n}.org", 5 + n % 7)]
    paths = [
        str(files.write(tmp_path / f"{number}.parquet", rows[number::3])) for number in range(3)
    ]
    found = list(candidates(paths, ("en", "fr")))
    assert len(found) == 40
    assert list(candidates(paths[::-1], ("en", "fr"))) == found
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


# -- files ---------------------------------------------------------------------------------------


def test_only_pages_are_read_of_a_whole_table(tmp_path: Path) -> None:
    for subset, code in (("warc", "eng"), ("robotstxt", "fra"), ("crawldiagnostics", "fra")):
        where = tmp_path / "crawl=CC-MAIN-2026-30" / f"subset={subset}"
        files.write(where / "part-0.gz.parquet", pages("a.org", code, 6))
    assert list(candidates([str(tmp_path)], ("en", "fr"))) == []


def test_several_crawls_and_single_files_may_be_mixed(tmp_path: Path) -> None:
    first = tmp_path / "crawl=CC-MAIN-2017-04" / "subset=warc" / "part-0.gz.parquet"
    files.write(first, pages("a.org", None, 6), without=("content_languages", "warc_record_id"))
    second = tmp_path / "crawl=CC-MAIN-2026-30" / "subset=warc" / "part-0.gz.parquet"
    files.write(second, pages("a.org", "eng", 6))
    third = files.write(tmp_path / "one.parquet", pages("a.org", "fra", 6))
    found = list(candidates([str(first), str(second), str(third)], ("en", "fr")))
    assert [(each.site, each.total) for each in found] == [("a.org", 12)]
    assert list(candidates([str(tmp_path)], ("en", "fr"))) == found


@pytest.mark.parametrize(
    "name", ["it's", 'a "b"', "a;b--", "a[b]", "a{b}", "$paths", "ä ö", "a*b?"]
)
def test_names_of_folders_and_files_may_hold_anything(tmp_path: Path, name: str) -> None:
    name = file_name(name)
    path = files.write(tmp_path / name / f"{name}.parquet", bilingual("a.org"))
    assert names(candidates([str(path)], ("en", "fr"))) == ["a.org"]
    assert names(candidates([str(path.parent)], ("en", "fr"))) == ["a.org"]


def test_a_pattern_names_files(tmp_path: Path) -> None:
    files.write(tmp_path / "part-1.parquet", pages("a.org", "eng", 6))
    files.write(tmp_path / "part-2.parquet", pages("a.org", "fra", 6))
    files.write(tmp_path / "other.parquet", bilingual("b.org"))
    assert names(candidates([str(tmp_path / "part-*.parquet")], ("en", "fr"))) == ["a.org"]


def test_nothing_is_left_behind(index: Path, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    rows = bilingual("a.org") + bilingual("b.org")
    assert len(asked(index, rows, folder=str(room))) == 2
    running = candidates([str(index)], ("en", "fr"), folder=str(room))
    assert next(running)
    assert os.listdir(room)
    running.close()
    assert os.listdir(room) == []


# -- errors --------------------------------------------------------------------------------------


def refusal(paths: Sequence[Path | str], langs: Sequence[str] = ("en", "fr")) -> str:
    with pytest.raises(SourceError) as caught:
        list(candidates([str(path) for path in paths], langs))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_files_that_are_not_there_are_named(index: Path, tmp_path: Path) -> None:
    good = files.write(index / "part.parquet", bilingual("a.org"))
    missing = tmp_path / "it's" / "*.parquet"
    assert refusal([good, missing]) == f"no Parquet file at {missing}"
    (tmp_path / "empty").mkdir()
    assert "no Parquet file at" in refusal([tmp_path / "empty"])
    assert "no Parquet file" in refusal([])


def test_a_file_that_is_not_parquet_is_named(index: Path, tmp_path: Path) -> None:
    good = files.write(index / "part.parquet", bilingual("a.org"))
    for content in (b"<html>Not found</html>" * 10, b"", b"PAR1"):
        bad = tmp_path / "it's.parquet"
        bad.write_bytes(content)
        assert (
            refusal([good, bad])
            == f"{bad} is not a Parquet file, or is truncated; download it again"
        )


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_named(index: Path, share: float) -> None:
    path = files.write(index / "part.parquet", bilingual("a.org", 300))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert refusal([path]) == f"{path} is not a Parquet file, or is truncated; download it again"


def spoilt(path: Path) -> Path:
    """A file with an intact footer and damaged data."""
    whole = bytearray(path.read_bytes())
    for at in range(4, len(whole) * 3 // 4):
        whole[at] ^= 0x5A
    path.write_bytes(whole)
    return path


def test_a_file_damaged_inside_is_an_error_in_one_line(index: Path) -> None:
    path = spoilt(files.write(index / "part.parquet", bilingual("a.org", 300)))
    assert refusal([path])


def test_nothing_is_read_of_parts_without_such_hosts(index: Path) -> None:
    good = files.write(index / "part-0.parquet", bilingual("a.de") + bilingual("b.co.uk"))
    bad = spoilt(files.write(index / "part-1.parquet", bilingual("b.fr", 300)))
    assert refusal([good, bad])
    for suffixes, expected in ((["de"], ["a.de"]), (["co.uk", "de"], ["a.de", "b.co.uk"])):
        found = candidates([str(good), str(bad)], ("en", "fr"), suffixes=suffixes)
        assert names(found) == expected


def test_columns_that_are_missing_are_named(index: Path) -> None:
    path = index / "part.parquet"
    files.write(path, bilingual("a.org"), without=("content_digest", "fetch_status"))
    assert refusal([path]).endswith("they lack fetch_status, content_digest")
    files.write(path, bilingual("a.org"), without=("content_languages",))
    assert "CC-MAIN-2018-39" in refusal([path])


def test_files_without_any_language_are_reported(index: Path) -> None:
    path = files.write(index / "part.parquet", pages("a.org", None, 9))
    assert "no page in the Parquet files has a language" in refusal([path])


def test_languages_that_cld2_does_not_know_are_named(index: Path) -> None:
    path = files.write(index / "part.parquet", bilingual("a.org"))
    assert "pages in tet:" in refusal([path], ("en", "tet"))
    found = list(candidates([str(path)], ("en", "tet", "fr")))
    assert [each.pages for each in found] == [(("en", 6), ("tet", 0), ("fr", 6))]


@pytest.mark.parametrize("langs", [("en", "en-GB"), ("en",), ()])
def test_one_language_is_not_enough(index: Path, langs: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="two different languages"):
        asked(index, bilingual("a.org"), langs)


def test_without_duckdb_the_error_says_what_to_install(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "requires duckdb: pip install 'duckdb>=" in refusal([index])


@pytest.mark.parametrize(
    ("message", "raised"), [("Query interrupted", KeyboardInterrupt), ("other", SourceError)]
)
def test_an_interrupted_query_is_an_interrupt(message: str, raised: type[BaseException]) -> None:
    with pytest.raises(raised), columnar.connected(100, None):
        raise RuntimeError(message)


def test_an_interrupt_of_duckdb_is_an_interrupt() -> None:
    import duckdb

    with pytest.raises(KeyboardInterrupt), columnar.connected(100, None):
        raise duckdb.InterruptException("")


def test_errors_of_duckdb_on_a_damaged_file_are_one_line() -> None:
    import duckdb

    with pytest.raises(SourceError) as caught, columnar.connected(100, None):
        raise duckdb.Error("don't know what type: \x0f")
    assert str(caught.value) == (
        "the index cannot be read: don't know what type:; download its files again"
    )


def test_too_little_memory_is_reported(index: Path) -> None:
    path = files.write(index / "part.parquet", bilingual("a.org"))
    with pytest.raises(SourceError, match="1 MB of memory is not enough"):
        list(candidates([str(path)], ("en", "fr"), memory=1))


def test_the_folder_for_temporary_files_must_exist(index: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        asked(index, bilingual("a.org"), folder=str(index / "none"))


def test_the_files_have_all_columns_of_the_index(index: Path) -> None:
    import pyarrow.parquet as pq

    path = files.write(index / "part.parquet", bilingual("a.org"))
    found = pq.read_schema(path)
    assert len(found.names) == 31
    assert [str(found.field(name).type) for name in ("fetch_status", "url_port", "fetch_time")] == [
        "int16", "int32", "timestamp[ms, tz=UTC]",
    ]  # fmt: skip
    assert set(columnar._COLUMNS) | set(columnar._LABELS) <= set(found.names)
