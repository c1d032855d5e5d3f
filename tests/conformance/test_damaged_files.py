"""A damaged file of each format that Diptych reads: one error of ours, or it goes unnoticed.

Bytes are changed in fixed places all over a small file, so that every run tests the same damage.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from support.damage import check_damage, damaged, fault
from support.exported import Given, numbered

from diptych import recipes
from diptych.api.languages import use_language_files
from diptych.commands._url_lines import read_lines
from diptych.commands.train.verify import read_labels
from diptych.corpus.files import OutFiles
from diptych.corpus.from_file import read_units
from diptych.corpus.rebuild import open_rebuild
from diptych.engine.link_service import read_description
from diptych.errors import DiptychError
from diptych.language.learned import LearnedLanguage
from diptych.learn.arrays import save_arrays
from diptych.learn.lexicon.dictionaries import read_dictionaries
from diptych.learn.lexicon.lexicon import Lexicon, read_lexicon
from diptych.learn.url import data
from diptych.page.body import decompress
from diptych.registry import exporter
from diptych.run.scan import scan
from diptych.run.terms import Terms, read_terms
from diptych.run.warc import compose, read_at
from diptych.sources.graph_index import index_graph
from diptych.sources.link_index import LinkIndex
from diptych.sources.wat import index_wat
from diptych.sources.web_graph import WebGraph
from diptych.stages.detect.predictor import model as link_predictor
from diptych.stages.filter.quality import model as quality
from diptych.stages.pair.union import model as page_pair
from diptych.stages.verify.shared import model as verifier
from diptych.types import Response, Url

Made = tuple[Path, Callable[[], object]]
"""a file that is whole, and a reader of it"""
FOREST = {
    "roots": np.array([0], np.int32), "features": np.array([0, -1, -1], np.int16),
    "thresholds": np.array([0.5, 0, 0], np.float32), "lefts": np.array([1, 0, 0], np.int32),
    "rights": np.array([2, 0, 0], np.int32), "values": np.array([0, -1, 1], np.float32),
    "base": np.array(0.5), "format": np.array(1), "names": np.array(["a", "b"]),
}  # fmt: skip
TABLE = "a.org\thttp://a.org/été\ten\nb.org\thttp://b.org/\tfr\n".encode()


def answer(number: int) -> Response:
    url = Url(f"http://a.org/{number}")
    headers = (("content-type", "text/html"), ("x-name", "é"))
    return Response(url, 200, headers, b"<p>word " * number, 1.7e9)


def export(folder: Path, name: str, format: str) -> Path:
    made = exporter(format)
    with OutFiles(folder / name, made.suffix) as files:
        made.write(Given(list(numbered(2))), files)
    return folder / name


def written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def corpus(name: str, format: str) -> Callable[[Path], Made]:
    def make(folder: Path) -> Made:
        path = export(folder, name, format)
        return path, lambda: list(read_units(path))

    return make


def standoff(folder: Path) -> Made:
    path = export(folder, "a.standoff.jsonl.gz", "standoff")
    archive = written(folder, "a.warc.gz", compose(answer(1)))
    return path, lambda: list(open_rebuild([path], [archive]).units())


def warc(name: str, pack: Callable[[bytes], bytes]) -> Callable[[Path], Made]:
    def make(folder: Path) -> Made:
        path = written(folder, name, pack(b"".join(map(compose, map(answer, range(3))))))

        def read() -> None:
            with path.open("rb") as stream:
                read_at(stream, 0)
            list(scan(path))

        return path, read

    return make


def lexicon(folder: Path) -> Made:
    links = [("haus", "maison", 1.0), ("heim", "maison", 1.0), ("baum", "arbre", 1.0)]
    path = written(folder, "a.npz", Lexicon.of_links("de", "fr", links).to_bytes())
    return path, lambda: read_lexicon(path)


def dictd(folder: Path) -> Made:
    path = written(folder, "a.dict.dz", gzip.compress(b"Boot\nbateau, barque\nHaus\nmaison\n"))
    written(folder, "a.index", b"Boot\tA\tb\nHaus\tb\tL\n")
    return path, lambda: read_dictionaries([path], "de", "fr")


def table(folder: Path) -> Made:
    path = written(folder, "a.tsv.gz", gzip.compress(TABLE))
    return path, lambda: list(data.read_urls(path))


def lines(folder: Path) -> Made:
    path = written(folder, "a.txt.gz", gzip.compress(TABLE))
    return path, lambda: list(read_lines(path))


def labels(folder: Path) -> Made:
    rows = (f"é{number}.html\tb.html\t{number % 2}\n" for number in range(20))
    path = written(folder, "labels.tsv", "".join(rows).encode())
    return path, lambda: read_labels(path)


def page_pair_model(folder: Path) -> Made:
    save_arrays(folder / "model.npz", FOREST)
    return folder / "model.npz", lambda: page_pair.load(("a", "b"), str(folder))


def quality_model(folder: Path) -> Made:
    names = {"format", "names"}
    arrays = {name if name in names else f"forest_{name}": FOREST[name] for name in FOREST}
    arrays |= {"curve": np.array([1.0, 0.0]), "format": np.array(2)}
    save_arrays(folder / "a.npz", arrays)
    return folder / "a.npz", lambda: quality.load(folder / "a.npz", ("a", "b"))


def link_model(folder: Path) -> Made:
    model = link_predictor.LinkPredictor(-1.0, {"a": 2.0, "é": 1.0}, 3.0)
    path = written(folder, "model.json", link_predictor.to_json(model).encode())
    return path, lambda: link_predictor.load(str(folder))


def verifier_model(folder: Path) -> Made:
    nodes = (verifier.Node(0, 0.5, 1, 2, 0.0), *[verifier.Node(-1, 0, 0, 0, 1.0)] * 2)
    model = verifier.Trees(("a", "b"), 0.0, (nodes,))
    path = written(folder, "classify.json", verifier.to_json(model).encode())
    return path, lambda: verifier.load(str(folder), "classify", ("a", "b"))


def taught(folder: Path) -> Made:
    column = np.linspace(-9, -1, 50).astype("<f2").tobytes()
    path = written(folder, "a.json", LearnedLanguage("tet", column, 5.0, ("Latn",), "x").to_bytes())

    def read() -> None:
        with pytest.raises(DiptychError) as caught:  # it is of no model that there is
            use_language_files([path])
        if str(path) in str(caught.value):
            raise caught.value

    return path, read


def recipe(folder: Path) -> Made:
    path = written(folder, "a.toml", b"[crawl]\nuse = 'bfs'\n\n[filter]\nuse = 'rules'\n")
    return path, lambda: recipes.load(str(path), {})


def service(folder: Path) -> Made:
    text = 'url = "http://a.org/?u={url}"\nlinks = "a.b"\nsource = "é"\ndelay = 1.5\n'
    path = written(folder, "a.toml", text.encode())
    return path, lambda: read_description(path)


def terms(folder: Path) -> Made:
    known = Terms(("en", "fr"), ("http://a.org/é",), "site", recipes.load("bfs", {}))
    path = written(folder, "run.toml", tomli_w.dumps(known.to_toml()).encode())
    return path, lambda: read_terms(folder)


def wat(folder: Path) -> bytes:
    links = [{"path": "A@/href", "url": "http://aim.com/", "text": "x"}]
    html = {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": links}}}
    records = []
    for number in range(3):
        head = {"WARC-Target-URI": f"http://s{number}.org/"}
        envelope = {"WARC-Header-Metadata": head, "Payload-Metadata": html}
        text = json.dumps({"Envelope": envelope}).encode()
        start = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: %d\r\n\r\n" % len(text)
        records.append(gzip.compress(start + text + b"\r\n\r\n"))
    return b"".join(records)


def wat_file(folder: Path) -> Made:
    path = written(folder, "a.wat.gz", wat(folder))

    def read() -> None:
        (folder / "i.sqlite").unlink(missing_ok=True)
        index_wat([str(path)], folder / "i.sqlite")

    return path, read


def link_index(folder: Path) -> Made:
    index_wat([str(written(folder, "a.wat.gz", wat(folder)))], folder / "i.sqlite")

    def read() -> None:
        index = LinkIndex.open(folder / "i.sqlite")
        try:
            index.back_links(Url("http://aim.com/"), 5)
            index.notes()
        finally:
            index.close()

    return folder / "i.sqlite", read


def graph(name: str) -> Callable[[Path], Made]:
    def make(folder: Path) -> Made:
        vertices = written(folder, "v", b"".join(b"%d\torg.s%d\n" % (n, n) for n in range(9)))
        edges = written(folder, "e", b"".join(b"%d\t%d\n" % (n, n * 2 % 9) for n in range(1, 9)))
        index_graph([str(vertices)], [str(edges)], folder / "graph")

        def read() -> None:
            found = WebGraph.open(folder / "graph")
            for number in range(9):
                found.back_links(Url(f"http://s{number}.org/"), 5)

        return folder / "graph" / name, read

    return make


FORMATS: dict[str, tuple[Callable[[Path], Made], int]] = {
    "corpus.jsonl": (corpus("a.jsonl", "jsonl"), 80),
    "corpus.jsonl.gz": (corpus("a.jsonl.gz", "jsonl"), 80),
    "corpus.jsonl.zst": (corpus("a.jsonl.zst", "jsonl"), 80),
    "corpus.parquet": (corpus("a.parquet", "parquet"), 25),
    "standoff.jsonl.gz": (standoff, 40),
    "warc.gz": (warc("a.warc.gz", bytes), 80),
    "warc": (warc("a.warc", gzip.decompress), 80),
    "lexicon": (lexicon, 40),
    "dictd": (dictd, 80),
    "table of URLs": (table, 80),
    "lines of URLs": (lines, 80),
    "labels of verify": (labels, 80),
    "page pair model": (page_pair_model, 60),
    "quality model": (quality_model, 60),
    "link predictor": (link_model, 80),
    "verifier": (verifier_model, 80),
    "taught language": (taught, 20),
    "recipe": (recipe, 80),
    "service": (service, 80),
    "run.toml": (terms, 60),
    "WAT": (wat_file, 12),
    "link index": (link_index, 80),
    "graph.json": (graph("graph.json"), 80),
    "graph lists": (graph("back"), 80),
    "graph offsets": (graph("back.offsets"), 80),
    "graph names": (graph("names.offsets"), 80),
}
UNNOTICED = {"WAT"}  # damaged records are skipped, counted, and told in a note


@pytest.mark.parametrize("format", FORMATS)
def test_damage_is_one_error_of_ours_or_goes_unnoticed(format: str, tmp_path: Path) -> None:
    make, count = FORMATS[format]
    path, read = make(tmp_path)
    refused = check_damage(path, read, count)
    assert refused or format in UNNOTICED


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"WAT", "dictd"}))
def test_a_file_of_another_format_is_named(format: str, tmp_path: Path) -> None:
    path, read = FORMATS[format][0](tmp_path)
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff" * 9)
    assert path.name in fault(read) or format.startswith("graph")


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_a_damaged_body_is_a_value_and_never_an_error(encoding: str) -> None:
    import zlib

    import brotli
    import zstandard

    packers = {
        "gzip": gzip.compress, "br": brotli.compress, "zstd": zstandard.compress,
        "deflate": zlib.compress,
    }  # fmt: skip
    packed = packers[encoding](b"<p>word number 1, word number 2 " * 20)
    for body in damaged(packed, len(packed)):
        decompress(body, encoding)


@pytest.mark.parametrize("format", ["recipe", "service", "run.toml"])
def test_toml_that_is_nested_too_deeply_is_an_error_of_ours(format: str, tmp_path: Path) -> None:
    path, read = FORMATS[format][0](tmp_path)
    path.write_text("a = " + "[" * 5_000)
    assert str(path) in fault(read)


@pytest.mark.parametrize("format", ["link predictor", "verifier", "graph.json"])
def test_json_that_is_nested_too_deeply_is_an_error_of_ours(format: str, tmp_path: Path) -> None:
    path, read = FORMATS[format][0](tmp_path)
    path.write_text("[" * 100_000)
    assert str(path) in fault(read)
