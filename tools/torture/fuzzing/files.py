"""Targets: files of all formats that Diptych reads, other than models and crawls."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

from conformance import test_damaged_files as formats
from conformance.test_damaged_files import FORMATS, answer, written
from support.exported import Given, numbered
from support.exported import written as exported

from diptych.errors import DiptychError
from diptych.learn.lexicon.dictionaries import read_dictionaries
from diptych.registry import strategies
from diptych.run import integrity
from diptych.run.warc import compose, read_at
from diptych.sources.archives import local_archives
from diptych.sources.site_list import named_sites
from diptych.types import Url
from diptych.units import Side, Unit
from tools.torture.fuzzing.target import Made, Maker, Target, of_file, zipped

_LANGS = ("en", "fr")
_COMPRESSED = {
    "standoff.jsonl.gz": "gzip", "dictd": "gzip", "table of URLs": "gzip", "lines of URLs": "gzip",
}  # fmt: skip
"""formats of the tests whose bytes are changed before they are compressed"""
_ELSEWHERE = {
    "corpus.jsonl.gz",
    "lexicon",
    "page pair model",
    "quality model",
    "taught language",
    "run.toml",
}
"""formats of the tests with targets of their own, or like others"""


def _dictionary(name: str, content: bytes) -> Callable[[Path], Made]:
    def make(folder: Path) -> Made:
        path = written(folder, name, content)
        return path, lambda: read_dictionaries([path], "de", "fr")

    return make


def _dictd_index(folder: Path) -> Made:
    written(folder, "a.dict.dz", gzip.compress(b"Boot\nbateau, barque\nHaus\nmaison\n"))
    index = written(folder, "a.index", b"00databaseinfo\tA\tA\nBoot\tA\tb\nHaus\tb\tL\n")
    return index, lambda: read_dictionaries([index], "de", "fr")


def _site_list(folder: Path) -> Made:
    text = "# sites\nexample.org\thttp://x\nhttps://www.a.example/fr/\n\ufeffbücher.example:8080\n"
    path = written(folder, "sites.txt", text.encode())
    return path, lambda: named_sites([], [], [path])


def _wacz(folder: Path) -> Made:
    contents = [(f"archive/{n}.warc.gz", compose(answer(n))) for n in range(2)]
    path = written(folder, "a.wacz", zipped([*contents, ("datapackage.json", b"{}")]))

    def read() -> None:
        local_archives([path])
        list(formats.scan(path))

    return path, read


def _own_archive(folder: Path) -> Made:
    """The archive of a run, each of whose records has a digest."""
    path = written(folder, "a.warc.gz", b"".join(compose(answer(n)) for n in range(3)))

    def read() -> None:
        list(integrity.records(path, path.stat().st_size))
        with path.open("rb") as stream:
            for offset in (0, 100):
                stream.seek(0)
                read_at(stream, offset)

    return path, read


def _list_of_archives(folder: Path) -> Made:
    written(folder, "0.warc", gzip.decompress(compose(answer(0))))
    path = written(folder, "warc.paths", b"0.warc\ncrawl-data/0.warc\n")
    packed = folder / "warc.paths.gz"

    def read() -> None:
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        for found in local_archives([str(packed)]):
            assert "\0" not in str(found)

    return path, read


def exports(folder: Path) -> Target:
    """All exports of any texts: each is what the reader of its format expects."""
    import xml.etree.ElementTree as xml

    makers = {name: cls() for name, cls in strategies("export").items() if name != "docs"}

    def read(data: bytes) -> None:
        texts = data.decode("utf-8", "surrogateescape").split("\x1e")
        texts += [""] * (8 - len(texts))
        sides = tuple(
            Side(lang, texts[n], Url(texts[n + 2]), texts[n + 4], "0", 1.7e9, "", texts[6], n)
            for n, lang in enumerate(_LANGS)
        )  # fmt: skip
        unit = Unit((sides[0], sides[1]), 0.5, 0.25, 0.75, texts[7], ("noai",), 3, "v:1")
        corpus = Given([unit, *numbered(1)], _LANGS)
        found = {name: exported(each, corpus) for name, each in makers.items()}
        assert len(xml.fromstring(b"".join(found["tmx"].values())).findall(".//tu")) == 2
        (table,) = found["tsv"].values()
        rows = table.decode().removesuffix("\n").split("\n")
        assert len(rows) == 3, table
        assert len({row.count("\t") for row in rows}) == 1, table
        for side in found["moses"].values():
            assert side.decode().count("\n") in (0, 2, 3), side
        jsonl = folder / "a.jsonl"
        jsonl.write_bytes(b"".join(found["jsonl"].values()))

    seed = "A cat\x1eUn chat\x1ehttp://a.org/\x1ehttp://a.org/fr\x1e/p\x1e/p\x1ew\x1ee"
    odd = "=1\t+\x1e\x00\ud800\u202e\x0b\x1e<a&\"'>\x1e]]>\u2028\r\n\x85\ufffe"
    return Target(read, [seed.encode(), odd.encode("utf-8", "surrogatepass")], (DiptychError,))


TARGETS: dict[str, Maker] = {
    **{
        name: of_file(made, _COMPRESSED.get(name, ""))
        for name, (made, _) in FORMATS.items()
        if name not in _ELSEWHERE
    },
    "hunalign dictionary": of_file(
        _dictionary("a.dic", "maison @ Haus\nété [1] @ Sommer\n".encode())
    ),
    "table of words": of_file(_dictionary("a.tsv", b"Haus\tmaison\t0.5\nBaum\tarbre\n")),
    "dictd index": of_file(_dictd_index),
    "list of sites": of_file(_site_list),
    "WACZ": of_file(_wacz),
    "archive of a run": of_file(_own_archive),
    "warc.paths": of_file(_list_of_archives),
    "exports": exports,
}
