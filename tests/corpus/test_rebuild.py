from __future__ import annotations

import gzip
import io
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from diptych.corpus import from_file as corpusfiles
from diptych.corpus import rebuild as rebuilding
from diptych.corpus.rebuild import Archives, Lost, Rebuild, open_rebuild, rebuilt
from diptych.errors import ArchiveError, ConfigError, CorpusError
from diptych.page.read import read_content, read_page
from diptych.run.warc import compose, compose_info
from diptych.stages.export.shared.columns import unit_id
from diptych.stages.export.standoff import Standoff
from diptych.types import Response, Url
from diptych.units import DocumentPair, Side, Unit

EN = """<!DOCTYPE html><title>Start</title><p>A <b>bold</b>&nbsp;<i>mar<u>mal</u>ade</i> &amp; soft\
&shy;ened   word. Another <a href=x>sen<em>tence</em></a>.<nav><a href=a>Home</a> / <a href=b>News\
</a> / Now</nav><p><span>01</span>Why<sup><a href=#n>1</a></sup> so <span class=sr-only>opens a \
window</span><p>Last &#x1F600; one<br>line"""
HE = "<html dir=rtl><p>שלום <b>עולם</b>, מה שלומך?<p dir=rtl>עברית‏ (English) סוף.<p>a‍b"
RU = "<meta charset=koi8-r><p>Привет, мир. Как дела?<p>Ещё&nbsp;строка"


def response(name: str, body: bytes, **headers: str) -> Response:
    fields = {"Content-Type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return Response(Url(f"http://a.org/{name}"), 200, tuple(fields.items()), body, 1_700_000_000.0)


ENGLISH = response("en", EN.encode())
HEBREW = response("he", gzip.compress(HE.encode(), mtime=0), Content_Encoding="gzip")
RUSSIAN = response("ru", RU.encode("koi8-r"))


def write_archive(path: Path, responses: Sequence[Response], *, plain: bool = False) -> list[int]:
    """An archive, and the offsets of its records."""
    path.parent.mkdir(parents=True, exist_ok=True)
    info = compose_info(agent="test", name=path.name, now=0.0)
    data, offsets = gzip.decompress(info) if plain else info, []
    for one in responses:
        offsets.append(len(data))
        record = compose(one)
        data += gzip.decompress(record) if plain else record
    path.write_bytes(data)
    return offsets


def sides(lang: str, page: Response, warc: str, offset: int) -> list[Side]:
    """Every block of a page, then its first five characters, then its last two blocks together."""
    blocks = read_content(page)[0]
    record = read_page(page).record

    def side(text: str, path: str, at: str) -> Side:
        return Side(lang, text, page.url, path, at, page.fetched_at, record.digest, warc, offset)

    whole = [side(block.text, block.path, f"0-{len(block.text)}") for block in blocks]
    part = side(blocks[0].text[:5], blocks[0].path, "0-5")
    one, two = blocks[-2:]
    both = side(
        f"{one.text[2:]} {two.text}", f"{one.path} {two.path}",
        f"2-{len(one.text)} 0-{len(two.text)}",
    )  # fmt: skip
    return [*whole, part, both]


class Given:
    """A corpus from a list."""

    langs: Sequence[str] = ("en", "he", "ru")

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units

    def units(self) -> Iterator[Unit]:
        return iter(self._units)

    def documents(self) -> Iterator[DocumentPair]:
        raise AssertionError


def standoff(units: Sequence[Unit]) -> bytes:
    out = io.BytesIO()
    Standoff().write(Given(units), lambda _: out)
    return out.getvalue()


class Mined:
    """Pages in an archive, their units, and the stand-off corpus of these."""

    def __init__(self, folder: Path) -> None:
        self.warc = folder / "run" / "warc" / "diptych-00001.warc.gz"
        pages = {"en": ENGLISH, "he": HEBREW, "ru": RUSSIAN}
        offsets = write_archive(self.warc, list(pages.values()))
        found = [
            sides(lang, page, "warc/diptych-00001.warc.gz", offset)
            for (lang, page), offset in zip(pages.items(), offsets, strict=True)
        ]
        longest = max(map(len, found))
        columns = [one + one[-1:] * (longest - len(one)) for one in found]
        self.units = [
            Unit(tuple(row), 0.5, 0.25, 1.0, "links", ("noai",), 2, "v:1")
            for row in zip(*columns, strict=True)
        ]
        self.offsets = offsets
        self.file = folder / "corpus.standoff.jsonl"
        self.file.write_bytes(standoff(self.units))

    def rebuild(self, *archives: Path) -> tuple[list[Unit], dict[str, int]]:
        corpus = open_rebuild([self.file], archives or [self.warc])
        units = list(corpus.units())
        return units, dict(corpus.lost)


def texts(units: Sequence[Unit]) -> list[list[str]]:
    return [[side.text for side in unit.sides] for unit in units]


@pytest.fixture
def mined(tmp_path: Path) -> Mined:
    return Mined(tmp_path)


def test_soft_hyphens_entities_markup_scripts_gzip_and_charsets_come_back(mined: Mined) -> None:
    texts = {side.text for unit in mined.units for side in unit.sides}
    assert "A bold marmalade & softened word. Another sentence." in texts
    assert "Last \U0001f600 one line" in texts
    assert "שלום עולם, מה שלומך?" in texts
    assert "עברית\u200f (English) סוף." in texts
    assert "Привет, мир. Как дела?" in texts
    assert mined.rebuild() == (mined.units, {})


def test_ids_are_the_same(mined: Mined) -> None:
    ids = [json.loads(line)["id"] for line in mined.file.read_bytes().splitlines()[1:]]
    assert [unit_id(unit) for unit in mined.rebuild()[0]] == ids


def test_it_can_be_read_again_and_counts_anew(mined: Mined, tmp_path: Path) -> None:
    write_archive(tmp_path / "b" / mined.warc.name, [ENGLISH])
    corpus = open_rebuild([mined.file], [tmp_path / "b"])
    for _ in range(2):
        assert list(corpus.units()) == []
        assert corpus.lost == {"no_record": len(mined.units)}
    assert corpus.langs == ("en", "he", "ru")


def test_folders_are_searched_and_the_path_of_the_archive_does_not_matter(
    mined: Mined, tmp_path: Path
) -> None:
    assert mined.rebuild(tmp_path) == (mined.units, {})
    other = tmp_path / "elsewhere" / mined.warc.name
    other.parent.mkdir()
    mined.warc.rename(other)
    assert mined.rebuild(other) == (mined.units, {})


def test_nothing_is_scanned_where_all_is_in_its_place(
    mined: Mined, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> Iterator[Any]:
        raise AssertionError(path)

    monkeypatch.setattr(rebuilding, "scan", fail)
    assert mined.rebuild() == (mined.units, {})


def test_of_two_archives_of_one_name_the_right_one_is_taken(mined: Mined, tmp_path: Path) -> None:
    decoy = tmp_path / "a" / mined.warc.name
    write_archive(decoy, [response("en", b"<p>Other"), response("he", b"<p>pages")])
    assert mined.rebuild(decoy, mined.warc) == (mined.units, {})


@pytest.mark.parametrize("plain", [True, False])
def test_archives_that_were_rewritten_are_searched(
    mined: Mined, tmp_path: Path, plain: bool
) -> None:
    merged = tmp_path / "merged" / ("all.warc" if plain else "all.warc.gz")
    junk = response("junk", b"<p>Junk")
    offsets = write_archive(merged, [junk, RUSSIAN, ENGLISH, junk, HEBREW], plain=plain)
    units, lost = mined.rebuild(merged)
    assert lost == {}
    assert texts(units) == texts(mined.units)
    # It says where it was found now.
    assert {side.offset for unit in units for side in unit.sides} == {
        offsets[1], offsets[2], offsets[4],
    }  # fmt: skip
    assert {side.warc for unit in units for side in unit.sides} == {str(merged)}


def test_a_record_that_moved_within_its_file_is_found(mined: Mined) -> None:
    write_archive(mined.warc, [HEBREW, RUSSIAN, ENGLISH])
    units, lost = mined.rebuild()
    assert (len(units), lost) == (len(mined.units), {})


def test_the_same_content_under_another_address_will_do(mined: Mined, tmp_path: Path) -> None:
    moved = response("copy-of-en", EN.encode())
    write_archive(tmp_path / "m" / "m.warc.gz", [moved, HEBREW, RUSSIAN])
    units, lost = mined.rebuild(tmp_path / "m")
    assert (len(units), lost) == (len(mined.units), {})


def test_of_two_pages_that_say_the_same_the_one_of_that_address_is_taken(mined: Mined) -> None:
    copy = response("copy-of-en", EN.encode())
    offsets = write_archive(mined.warc, [copy, HEBREW, ENGLISH, RUSSIAN])
    edited(mined, 1, offset=offsets[0])
    (unit, *_), lost = mined.rebuild()
    assert (unit.sides[0].offset, lost) == (offsets[2], {})


def test_where_archives_differ_only_in_the_charset_that_a_server_said(
    mined: Mined, tmp_path: Path
) -> None:
    lying = response("ru", RUSSIAN.body, **{"Content-Type": "text/html; charset=iso-8859-5"})
    write_archive(tmp_path / "m" / "m.warc.gz", [lying, ENGLISH, HEBREW, RUSSIAN])
    assert len(mined.rebuild(tmp_path / "m")[0]) == len(mined.units)
    write_archive(tmp_path / "m" / "m.warc.gz", [lying, ENGLISH, HEBREW])
    assert mined.rebuild(tmp_path / "m")[1] == {"no_text": len(mined.units)}


@pytest.mark.parametrize(
    ("name", "pages", "reason"),
    [
        ("other.warc.gz", [HEBREW, RUSSIAN], "no_archive"),
        ("diptych-00001.warc.gz", [HEBREW, RUSSIAN], "no_record"),
        ("diptych-00001.warc.gz", [response("en", b"<p>New"), HEBREW, RUSSIAN], "other_content"),
        ("other.warc.gz", [response("en", b"<p>New"), HEBREW, RUSSIAN], "other_content"),
    ],
)
def test_units_that_cannot_be_rebuilt_are_counted_by_reason(
    mined: Mined, tmp_path: Path, name: str, pages: list[Response], reason: str
) -> None:
    write_archive(tmp_path / "b" / name, pages)
    assert mined.rebuild(tmp_path / "b") == ([], {reason: len(mined.units)})


def edited(mined: Mined, line: int, **changes: object) -> None:
    lines = mined.file.read_bytes().splitlines()
    row = json.loads(lines[line])
    row["sides"][0].update(changes)
    lines[line] = json.dumps(row).encode()
    mined.file.write_bytes(b"\n".join(lines) + b"\n")


@pytest.mark.parametrize(
    "changes",
    [
        {"hash": "0" * 32},
        {"length": 1},
        {"at": "1-3"},
        {"path": "/html/body/p[77]"},
        {"at": "0-999999999"},
        {"path": "", "at": ""},
    ],
)
def test_a_text_whose_hash_is_another_is_not_given(
    mined: Mined, changes: dict[str, object]
) -> None:
    edited(mined, 1, **changes)
    units, lost = mined.rebuild()
    assert (units, lost) == (mined.units[1:], {"no_text": 1})


def test_a_corpus_without_personal_data_is_rebuilt_without(
    mined: Mined, monkeypatch: pytest.MonkeyPatch
) -> None:
    def redacted(text: str) -> str:
        return text.replace("marmalade", "[EMAIL]")

    without = [
        unit._replace(sides=tuple(one._replace(text=redacted(one.text)) for one in unit.sides))
        for unit in mined.units
    ]
    assert without != mined.units
    mined.file.write_bytes(standoff(without))
    assert set(mined.rebuild()[1]) == {"no_text"}
    monkeypatch.setattr(rebuilding, "redacted", redacted)
    assert mined.rebuild() == (without, {})


@pytest.mark.parametrize("offset", [0, 1, 7, 10**6, (1 << 62) - 1])
def test_an_offset_that_is_wrong_does_not_matter(mined: Mined, offset: int) -> None:
    edited(mined, 1, offset=offset)
    units, lost = mined.rebuild()
    assert (texts(units), lost) == (texts(mined.units), {})


def test_lost_units_have_id_url_and_reason(mined: Mined) -> None:
    edited(mined, 2, hash="0" * 32)
    found = list(rebuilt(mined.file, Archives([mined.warc])))
    lost = [one for one in found if isinstance(one, Lost)]
    assert lost == [Lost(unit_id(mined.units[1]), ENGLISH.url, "no_text")]
    assert len(found) == len(mined.units)


def test_a_truncated_archive_gives_the_records_before(
    mined: Mined, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cut = tmp_path / "cut" / "cut.warc.gz"
    offsets = write_archive(cut, [RUSSIAN, ENGLISH, HEBREW])
    cut.write_bytes(cut.read_bytes()[: offsets[2] + 40])
    only = [unit._replace(sides=(unit.sides[0], unit.sides[2])) for unit in mined.units]
    mined.file.write_bytes(standoff(only))
    with caplog.at_level(logging.WARNING):
        units, lost = mined.rebuild(cut)
    assert (len(units), lost) == (len(only), {})
    assert "cut.warc.gz" in caplog.text


def test_number_of_cached_pages_is_bounded(mined: Mined) -> None:
    archives = Archives([mined.warc])
    list(rebuilt(mined.file, archives))
    info = archives._page.cache_info()
    assert (info.maxsize, info.misses) == (rebuilding.PAGES_KEPT, 3)


def test_several_corpora_are_one(mined: Mined, tmp_path: Path) -> None:
    other = tmp_path / "other.standoff.jsonl"
    lines = mined.file.read_bytes().splitlines(keepends=True)
    other.write_bytes(b'{"diptych":"standoff","version":1,"langs":["ru","uk"]}\n' + lines[1])
    corpus = open_rebuild([mined.file, other], [mined.warc])
    assert corpus.langs == ("en", "he", "ru", "uk")
    assert list(corpus.units()) == [*mined.units, mined.units[0]]


def test_it_has_no_documents(mined: Mined) -> None:
    with pytest.raises(ConfigError, match="export RUN --format docs"):
        open_rebuild([mined.file], [mined.warc]).documents()


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressed_or_not(mined: Mined, ending: str) -> None:
    import zstandard

    data = mined.file.read_bytes()
    packed = {"": data, ".gz": gzip.compress(data), ".zst": zstandard.compress(data)}[ending]
    file = mined.file.with_name(f"corpus.standoff.jsonl{ending}")
    file.write_bytes(packed)
    assert list(open_rebuild([file], [mined.warc]).units()) == mined.units
    if ending:
        file.write_bytes(packed[:-9])
        with pytest.raises(CorpusError, match=file.name):
            list(open_rebuild([file], [mined.warc]).units())
        file.write_bytes(data)
        with pytest.raises(CorpusError, match=file.name):
            open_rebuild([file], [mined.warc])


def open_text(folder: Path, data: bytes, warc: Path) -> Rebuild:
    file = folder / "bad.jsonl"
    file.write_bytes(data)
    return open_rebuild([file], [warc])


@pytest.mark.parametrize("data", [b"", b"\n", b"left\tright\n", b"\x1f\x8b\x08", b"{}\n", b"[]"])
def test_other_files_are_rejected_at_once(mined: Mined, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(CorpusError, match=r"bad\.jsonl, line 1: .*diptych export"):
        open_text(tmp_path, data, mined.warc)


def test_a_line_that_cannot_be_read_is_named(mined: Mined, tmp_path: Path) -> None:
    data = mined.file.read_bytes()
    corpus = open_text(tmp_path, data[:-10], mined.warc)
    last = data.count(b"\n")
    with pytest.raises(CorpusError, match=rf"line {last}: truncated"):
        list(corpus.units())
    lines = data.splitlines(keepends=True)
    corpus = open_text(tmp_path, b"".join([*lines[:2], b"{}\n", *lines[2:]]), mined.warc)
    with pytest.raises(CorpusError, match="line 3: there is no 'id'") as error:
        list(corpus.units())
    assert "\n" not in str(error.value)


def test_a_line_without_end_is_not_read_whole(
    mined: Mined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpusfiles, "MAX_LINE", 5_000)
    with pytest.raises(CorpusError, match="line 1 is longer"):
        open_text(tmp_path, b'{"a":"' + b"x" * 50_000, mined.warc)


def test_missing_archives_are_reported(mined: Mined, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="there is no file"):
        open_rebuild([mined.file], [tmp_path / "none.warc.gz"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArchiveError, match="contains no"):
        open_rebuild([mined.file], [tmp_path / "empty"])
    with pytest.raises(CorpusError, match=r"none\.jsonl"):
        open_rebuild([tmp_path / "none.jsonl"], [mined.warc])
