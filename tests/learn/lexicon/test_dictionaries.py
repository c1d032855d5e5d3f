"""Import of dictionaries in their real formats."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.errors import ConfigError
from diptych.learn.lexicon import dictionaries
from diptych.learn.lexicon.dictionaries import (
    format_of,
    is_reversed,
    read_dictionaries,
    read_entry,
)
from diptych.learn.lexicon.lexicon import Lexicon

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
INFO = "00-database-info\nEnglish-nonsense FreeDict dictionary\n"
# The shapes of entries of FreeDict: from Wiktionary, from Ding, from JMdict, plain lists.
ENTRIES = {
    "Haus /haʊ̯s/ <n, neut>\n1. maison 2.\nein Gebäude\n 3.\nBewohner, Leute\n2. chambre\n": (
        ["Haus"], ["maison", "chambre"],
    ),
    "und /ʊnt/\net 2.\nGrammatik: verbindet\n 3.\naufzählend, beiordnend\n": (["und"], ["et"]),
    "Aalst /aːlst/ /aːlst/ <n>\nAlost\nStadt in Belgien\n": (["Aalst"], ["Alost"]),
    "Aaskrähe /ˈɑːsk/ <fem, n, sg>\n [zool.] carrion crow <n>\n see: {Aaskrähen}\n": (
        ["Aaskrähe"], ["carrion crow"],
    ),
    'gehen /ɡˈeːən/ <v>\nleave <v>, go <v>\n      "Ich muss."  - Must.\n   Synonym: {weg}\n': (
        ["gehen"], ["leave", "go"],
    ),
    "gehen /x/ <v>\n         Note: with sth.\nfare <v>; do\n": (["gehen"], ["fare", "do"]),
    " [g]  サンプラー /sä/, サンプラ /sä/\n1. (n. (common))\n (suru)\nsampler\n2. (x)\nfake\n": (
        ["サンプラー", "サンプラ"], ["sampler", "fake"],
    ),
    "Bantu /bæntuː/\n1. bantou\n2. Bantou\n": (["Bantu"], ["bantou", "Bantou"]),
    "either/or /x/\nou bien/ou bien\n": (["either/or"], ["ou bien/ou bien"]),
    "Ain /ɛ̃/ <pn>\n 2.\nDépartement français\n": (["Ain"], []),
    "alone": (["alone"], []),
    "": ([], []),
}  # fmt: skip


def number(value: int) -> str:
    text = DIGITS[value % 64]
    while value := value // 64:
        text = DIGITS[value % 64] + text
    return text


def dictd(folder: Path, name: str, entries: list[str], *, pack: bool = True) -> Path:
    body, lines = b"", []
    for entry in [INFO, *entries]:
        raw = entry.encode()
        head = entry.split("\n")[0].split(" /")[0].lower()
        lines.append(f"{head}\t{number(len(body))}\t{number(len(raw))}")
        body += raw
    (folder / f"{name}.index").write_text("\n".join([*lines, lines[-1], ""]), "utf-8")
    text = folder / f"{name}.dict{'.dz' if pack else ''}"
    text.write_bytes(gzip.compress(body) if pack else body)
    return folder / f"{name}.index"


def links(lexicon: Lexicon) -> dict[tuple[str, str], float]:
    return {
        (left, right): round(value, 4)
        for left in lexicon.left_words
        for right, value in lexicon.best(left, n=99)
    }


@pytest.mark.parametrize(("text", "expected"), ENTRIES.items())
def test_entries(text: str, expected: tuple[list[str], list[str]]) -> None:
    assert read_entry(text) == expected


@pytest.mark.parametrize("pack", [True, False])
def test_dictd(tmp_path: Path, pack: bool) -> None:
    index = dictd(tmp_path, "freedict-deu-fra", list(ENTRIES)[:3], pack=pack)
    expected = {
        ("haus", "maison"): 0.5, ("haus", "chambre"): 0.5, ("und", "et"): 1, ("aalst", "alost"): 1,
    }  # fmt: skip
    for path in (index, next(tmp_path.glob("*.dict*"))):
        lexicon = read_dictionaries([path], "de", "fr")
        assert links(lexicon) == expected
        assert lexicon.best("maison", "right") == [("haus", 1.0)]
        turned = read_dictionaries([path], "fr", "de", reverse=True)
        assert links(turned.reversed()) == expected


def test_wrong_index_entries_are_skipped(tmp_path: Path) -> None:
    index = dictd(tmp_path, "x", ["a\nb\n"])
    lines = ["a\t?\tA", "no", "a\t//////////\t//////////", "a\tA\t", "\t\t", "a\tA\t/////////////"]
    index.write_text(index.read_text("utf-8") + "\n".join(lines), "utf-8")
    assert ("a", "b") in links(read_dictionaries([index], "de", "fr"))


def test_words_of_an_entry_share_its_weight(tmp_path: Path) -> None:
    table = tmp_path / "x.tsv"
    table.write_text("säure\tacide fort\nsäure\tacide\nlang\tun deux trois quatre cinq\n", "utf-8")
    lexicon = read_dictionaries([table], "de", "fr")
    assert links(lexicon) == {("säure", "acide"): 0.8, ("säure", "fort"): 0.2}


def test_english_infinitives_have_no_to(tmp_path: Path) -> None:
    table = tmp_path / "x.tsv"
    table.write_text("to go\tgehen\nto\tzu\nto\tto sein\n", "utf-8")
    assert links(read_dictionaries([table], "en", "de")) == {
        ("go", "gehen"): 1, ("to", "zu"): 0.6667, ("to", "to"): 0.1667, ("to", "sein"): 0.1667,
    }  # fmt: skip


def test_tsv(tmp_path: Path) -> None:
    table = tmp_path / "x.tsv.gz"
    text = "\ufeffHaus\tmaison\t0.75\r\nHaus\tchambre\t0.25\tmore\nalone\n\n\t\n"
    text += "Neu\tneuf\tmany\nX\tY\t-1\n"
    table.write_bytes(gzip.compress(text.encode() + b"Br\xff\tx\xfe y\n"))
    assert links(read_dictionaries([table], "de", "fr")) == {
        ("haus", "maison"): 0.75, ("haus", "chambre"): 0.25, ("neu", "neuf"): 1,
        ("br", "x"): 0.5, ("br", "y"): 0.5,
    }  # fmt: skip


def test_hunalign_writes_the_target_language_first(tmp_path: Path) -> None:
    file = tmp_path / "hu-en.stem.dic"
    file.write_text("house @ ház\nbig house @ nagy ház\nno separator\n", "utf-8")
    lexicon = read_dictionaries([file], "hu", "en")
    assert lexicon.best("ház", n=1)[0][0] == "house"
    assert lexicon.best("big", "right")[0][0] in ("nagy", "ház")
    turned = read_dictionaries([file], "en", "hu", reverse=True)
    assert turned.best("house", n=1)[0][0] == "ház"


def test_both_directions_become_one(tmp_path: Path) -> None:
    one = dictd(tmp_path, "freedict-deu-fra", ["Haus\nmaison\n", "Heim\nmaison\n"])
    other = dictd(tmp_path, "freedict-fra-deu", ["maison\nHaus\n", "chambre\nZimmer\n"])
    lexicon = read_dictionaries([one, other], "de", "fr")
    assert links(lexicon) == {
        ("haus", "maison"): 1, ("heim", "maison"): 1, ("zimmer", "chambre"): 1,
    }  # fmt: skip
    assert dict(lexicon.best("maison", "right")) == {"haus": 0.5, "heim": 0.5}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("freedict-fra-deu.index", True), ("freedict-deu-fra.index", False), ("fr_de.tsv", True),
        ("FR-DE.tsv", True), ("de.dic", False), ("eng-fra.tsv", False), ("x-y.tsv", False),
    ],
)  # fmt: skip
def test_file_names_show_the_direction(name: str, expected: bool) -> None:
    assert is_reversed(Path(name), "de", "fr") == expected


def test_file_names_show_the_format() -> None:
    names = ["a.index", "a.dict", "a.dict.dz", "a.dic", "a.dic.gz", "a.tsv", "a.TXT"]
    found = [format_of(Path(name)) for name in names]
    assert found == ["dictd"] * 3 + ["dic"] * 2 + ["tsv"] * 2


def test_unreadable_dictionaries_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="add format dictd"):
        read_dictionaries([tmp_path / "x"], "de", "fr")
    with pytest.raises(
        ConfigError, match="unknown dictionary format 'xml'; available: dictd, dic, tsv"
    ):
        read_dictionaries([tmp_path / "x"], "de", "fr", format="xml")
    with pytest.raises(ConfigError, match=r"cannot read .*x\.tsv: No such file"):
        read_dictionaries([tmp_path / "x.tsv"], "de", "fr")
    (tmp_path / "x.index").write_text("", "utf-8")
    with pytest.raises(ConfigError, match=r"two files, NAME\.index and NAME\.dict\.dz"):
        read_dictionaries([tmp_path / "x.index"], "de", "fr")
    (tmp_path / "x.dict.dz").write_bytes(gzip.compress(b"a" * 1000)[:20])
    with pytest.raises(ConfigError, match="cannot read"):
        read_dictionaries([tmp_path / "x.index"], "de", "fr")
    monkeypatch.setattr(dictionaries, "MAX_BYTES", 1 << 20)
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(b"a" * (1 << 21)))
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        read_dictionaries([tmp_path / "x.tsv.gz"], "de", "fr")


def test_links_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.tsv").write_text("".join(f"a{n}\tb\n" for n in range(50)), "utf-8")
    monkeypatch.setattr(dictionaries, "MAX_LINKS", 7)
    assert len(read_dictionaries([tmp_path / "x.tsv"], "de", "fr")) == 7


@given(st.text(max_size=200))
def test_any_entry_can_be_parsed(text: str) -> None:
    heads, translations = read_entry(text)
    assert all(part.strip() for part in heads + translations)


@pytest.mark.parametrize("text", ["(" * 100_000, "/ " * 100_000, "[{<(" * 50_000, "1. " * 50_000])
def test_hostile_entries_are_parsed_quickly(text: str) -> None:
    read_entry(f"x {text}\n{text}\n")
