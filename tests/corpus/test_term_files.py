"""Files of terms."""

from __future__ import annotations

import gzip
import re
from dataclasses import fields, replace
from pathlib import Path
from xml.etree import ElementTree

from diptych.corpus.term_files import as_tbx, as_tsv, write_terms
from diptych.corpus.terms import Term

TERM = Term(
    "R&D <plan>", "plan\tde R&D", "en", "sr-Latn", 12, 0.98765, "label", "Our R&D plan\ufffe.",
    "Notre plan.", "http://a.org/?a=1&b=2", "http://a.org/fr",
)  # fmt: skip
NAMESPACE = "{urn:iso:std:iso:30042:ed-2}"
# The children of each element that we write, as in the schema of TBX-Basic (ISO 30042:2019):
# TBXcoreStructV03_TBX-Basic_integrated.rng.
CHILDREN = {
    "tbx": "tbxHeader text ", "tbxHeader": "fileDesc ", "fileDesc": "sourceDesc ",
    "sourceDesc": "p ", "p": "", "text": "body ", "body": "(conceptEntry )+",
    "conceptEntry": "(note )*(langSec )+", "note": "", "langSec": "(termSec )+",
    "termSec": "term (descripGrp )*", "term": "", "descripGrp": "descrip (admin )*",
    "descrip": "", "admin": "",
}  # fmt: skip
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def test_tsv_has_a_header_and_a_line_for_each_term() -> None:
    header, line, end = as_tsv([TERM]).decode().split("\n")
    assert header.split("\t") == [field.name for field in fields(Term)]
    assert header == (
        "left\tright\tleft_lang\tright_lang\tcount\tconfidence\tkind\texample_left\texample_right"
        "\tleft_url\tright_url"
    )
    assert line.split("\t")[:7] == [
        "R&D <plan>", "plan de R&D", "en", "sr-Latn", "12", "0.9877", "label",
    ]  # fmt: skip
    assert end == ""


def test_tbx_is_what_the_standard_says() -> None:
    data = as_tbx([TERM, replace(TERM, left="other")])
    root = ElementTree.fromstring(data)
    assert root.attrib == {"type": "TBX-Basic", "style": "dca", XML_LANG: "en"}
    for element in root.iter():
        name = element.tag.removeprefix(NAMESPACE)
        children = "".join(f"{child.tag.removeprefix(NAMESPACE)} " for child in element)
        assert re.fullmatch(CHILDREN[name], children), (name, children)
    concepts = root.findall(f".//{NAMESPACE}conceptEntry")
    assert [concept.attrib for concept in concepts] == [{"id": "c1"}, {"id": "c2"}]
    sections = concepts[0].findall(f"{NAMESPACE}langSec")
    assert [section.get(XML_LANG) for section in sections] == ["en", "sr-Latn"]


def test_tbx_has_terms_examples_and_sources() -> None:
    root = ElementTree.fromstring(as_tbx([TERM]))

    def texts(name: str) -> list[str | None]:
        return [element.text for element in root.iter(NAMESPACE + name)]

    assert texts("term") == ["R&D <plan>", "plan de R&D"]
    assert texts("descrip") == ["Our R&D plan.", "Notre plan."]
    assert texts("admin") == ["http://a.org/?a=1&b=2", "http://a.org/fr"]
    assert texts("note") == ["label, count 12, confidence 0.9877"]
    types = {element.get("type") for element in root.iter() if "type" in element.attrib}
    assert types == {"TBX-Basic", "context", "source"}, "data categories of the dialect"


def test_file_is_compressed_if_its_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv.gz"
    assert write_terms([TERM], "tsv", path) == (path,)
    assert gzip.decompress(path.read_bytes()) == as_tsv([TERM])
