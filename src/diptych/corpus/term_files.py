"""Files of terms: tab-separated values, and TBX-Basic, which CAT tools import as a termbase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from diptych._version import VERSION
from diptych.corpus.files import OutFiles
from diptych.corpus.terms import Term
from diptych.stages.export.shared.columns import as_lines, xml_line

_COLUMNS = tuple(field.name for field in fields(Term))
_FORM = "\t".join("%.4f" if name == "confidence" else "%s" for name in _COLUMNS)
_SCHEMAS = "https://raw.githubusercontent.com/LTAC-Global/TBX-Basic_dialect/master/DCA/"
# ISO 30042:2019 (TBX version 3), dialect TBX-Basic, data categories as attributes (DCA style).
_HEADER = f"""<?xml version="1.0" encoding="UTF-8"?>
<?xml-model href="{_SCHEMAS}TBXcoreStructV03_TBX-Basic_integrated.rng" type="application/xml" \
schematypens="http://relaxng.org/ns/structure/1.0"?>
<?xml-model href="{_SCHEMAS}TBX-Basic_DCA.sch" type="application/xml" \
schematypens="http://purl.oclc.org/dsdl/schematron"?>
<tbx type="TBX-Basic" style="dca" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">
  <tbxHeader>
    <fileDesc>
      <sourceDesc>
        <p>Terms of websites, found by Diptych {VERSION}</p>
      </sourceDesc>
    </fileDesc>
  </tbxHeader>
  <text>
    <body>
"""
_FOOTER = """    </body>
  </text>
</tbx>
"""


def write_terms(
    terms: Sequence[Term], format: str, path: Path, standard: BinaryIO | None = None
) -> tuple[Path, ...]:
    """Write terms as `tsv` or `tbx`, and return the files; none if `standard` is written to."""
    with OutFiles(path, format, standard) as files:
        files(format).write(FORMATS[format](terms))
    return () if standard is not None else tuple(files.targets)


def as_tsv(terms: Iterable[Term]) -> bytes:
    """The terms as a table whose columns are the fields of `Term`."""
    header = as_lines([_COLUMNS], "\t".join(["%s"] * len(_COLUMNS)))
    rows = [astuple(term) for term in terms]
    return header + (as_lines(rows, _FORM) if rows else b"")


def as_tbx(terms: Iterable[Term]) -> bytes:
    """The terms as TBX-Basic; each pair is a concept.

    The dialect has no data categories for frequency and reliability, so a note states them.
    """
    concepts = [_concept(number, term) for number, term in enumerate(terms, 1)]
    return "".join([_HEADER, *concepts, _FOOTER]).encode()


def _concept(number: int, term: Term) -> str:
    note = f"{term.kind}, count {term.count}, confidence {term.confidence:.4f}"
    left = _language(term.left_lang, term.left, term.example_left, term.left_url)
    right = _language(term.right_lang, term.right, term.example_right, term.right_url)
    return (
        f'      <conceptEntry id="c{number}">\n        <note>{_text(note)}</note>\n'
        f"{left}{right}      </conceptEntry>\n"
    )


def _language(lang: str, term: str, example: str, url: str) -> str:
    """The section of one language: the term, and its example with the address of the page."""
    return f"""        <langSec xml:lang={quoteattr(xml_line(lang))}>
          <termSec>
            <term>{_text(term)}</term>
            <descripGrp>
              <descrip type="context">{_text(example)}</descrip>
              <admin type="source">{_text(url)}</admin>
            </descripGrp>
          </termSec>
        </langSec>
"""


def _text(text: str) -> str:
    return escape(xml_line(text))


FORMATS: dict[str, Callable[[Iterable[Term]], bytes]] = {"tsv": as_tsv, "tbx": as_tbx}
"""functions that encode terms, by the name of the format, which is also the suffix of a file"""
