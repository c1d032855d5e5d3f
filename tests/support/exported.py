"""Corpora out of lists, files in memory, and texts that may be in them, for tests of exports."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from hypothesis import strategies as st

from diptych.protocols import Corpus, Exporter
from diptych.types import Url
from diptych.units import DocumentPair, Side, Unit

LANGS = ("en", "id", "he", "zh-Hant")
"""one that is written from right to left, one that is called like a column, one with a script"""
EN = Side(
    "en", "A cat", Url("http://a.org/?l=en&p=1"), "/html/body/p[1] /html/body/p[2]", "0-5 0-1",
    1_700_000_000.9, "sha1:" + "A" * 32, "warc/diptych-00001.warc.gz", 512,
)  # fmt: skip
FR = Side(
    "fr", "Un chat", Url("http://a.org/?l=fr&p=1"), "/html/body/p[3]", "0-7",
    1_700_000_060.0, "sha1:" + "B" * 32, "warc/diptych-00002.warc.gz", 1024,
)  # fmt: skip
DE = FR._replace(lang="de", text="Eine Katze", url=Url("http://a.org/?l=de&p=1"))
UNIT = Unit((EN, FR), 0.5, 0.25, 0.75, "hreflang+keys", ("noai", "licence:CC-BY-4.0"), 3, "v:1")


@dataclass
class Given:
    """A corpus out of a list."""

    given: Sequence[Unit] = ()
    langs: Sequence[str] = ("en", "fr")
    found: Sequence[DocumentPair] = ()

    def units(self) -> Iterator[Unit]:
        return iter(self.given)

    def documents(self) -> Iterator[DocumentPair]:
        return iter(self.found)


@dataclass
class Memory:
    """Files of a corpus that are kept in memory, by their endings."""

    opened: dict[str, io.BytesIO] = field(default_factory=dict)

    def __call__(self, ending: str) -> BinaryIO:
        assert ending not in self.opened, "each file is opened once"
        return self.opened.setdefault(ending, io.BytesIO())

    def size(self) -> int:
        return sum(len(file.getvalue()) for file in self.opened.values())


def written(exporter: Exporter, corpus: Corpus) -> dict[str, bytes]:
    """What the files of an export hold."""
    files = Memory()
    exporter.write(corpus, files)
    return {ending: file.getvalue() for ending, file in files.opened.items()}


def numbered(count: int) -> Iterator[Unit]:
    """Units that say which they are."""
    for number in range(count):
        left = EN._replace(text=f"left{number}x", url=Url(f"http://a.org/en/{number}"))
        right = FR._replace(text=f"right{number}x", url=Url(f"http://a.org/fr/{number}"))
        yield UNIT._replace(sides=(left, right))


PLANES = [chr(plane << 16 | 0x1234) for plane in range(17)]
HARD = [
    "שלום \u200fעולם\u200e (abc)", "\u200fمرحبا\u200e 1-2", "e\u0301 \u0301", "👩\u200d👩\u200d👧",
    "\ue000\U0010fffd", "\"quoted\" 'it' \\ \\n \\t", "a,b;c|d", "<seg>&amp;]]></seg>",
    "%s %d %b {0} {}", "},{\"left\":\"", "\u00a0\u3000\u200e", "=1+1", "#", "null", "1.5",
    "\ufffd", "\U0001fffe\U0001ffff", "\u00ad\u200b",
]  # fmt: skip
_CLEAN = st.characters(
    exclude_categories=["Cc", "Cs"],
    exclude_characters="\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    "\ufffe\uffff",
)
clean_texts = st.one_of(
    st.text(_CLEAN, min_size=1, max_size=20), st.sampled_from([*HARD, "".join(PLANES)])
)
"""what a page can give: every plane of Unicode, without what no line can hold"""
dirty_texts = st.text(
    st.one_of(
        st.characters(), st.sampled_from("\t\n\r\x00\x0b\x1f\x7f\x85\u2028\ufffe\ud800\udfff")
    ),
    min_size=1,
    max_size=20,
)
"""whatever a string can hold"""
_words = st.text(_CLEAN.filter(lambda letter: not letter.isspace()), min_size=1, max_size=8)
_times = st.integers(0, 4_000_000_000).map(float)
_scores = st.integers(0, 10_000).map(lambda number: number / 10_000)


def sides(lang: str, texts: st.SearchStrategy[str]) -> st.SearchStrategy[Side]:
    return st.builds(
        Side, st.just(lang), texts, texts.map(Url), texts, texts,
        _times, texts, texts, st.integers(0, 2**63 - 1),
    )  # fmt: skip


def units(
    texts: st.SearchStrategy[str] = clean_texts, langs: Sequence[str] = LANGS[:2], least: int = 2
) -> st.SearchStrategy[Unit]:
    """Units in some of the languages, at least so many, in order."""
    chosen = st.sets(st.sampled_from(langs), min_size=least).map(
        lambda found: [lang for lang in langs if lang in found]
    )
    return st.builds(
        Unit, chosen.flatmap(lambda some: st.tuples(*[sides(lang, texts) for lang in some])),
        _scores, _scores, _scores, texts, st.lists(_words, max_size=3).map(tuple),
        st.integers(1, 2**40), texts, _times, _times,
    )  # fmt: skip


def corpora(
    texts: st.SearchStrategy[str] = clean_texts, langs: Sequence[str] = LANGS[:2], least: int = 2
) -> st.SearchStrategy[Given]:
    """Corpora of a few units."""
    found = st.lists(units(texts, langs, least), max_size=3)
    return found.map(lambda given: Given(given, langs))
