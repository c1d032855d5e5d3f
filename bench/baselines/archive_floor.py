"""The least work on an archive: read it, decode and parse each page, and identify its language.

    python -m bench.baselines.archive_floor FILE...

Any program that mines pages has to do this much.  Nothing here is Diptych's own code, so that the
floor stays where it is: fastwarc reads the archive, selectolax parses pages and extracts texts, and
py3langid identifies the language of each text once, from its first 2,000 characters.  Prints one
JSON object: the number of pages and the CPU seconds, without those for loading the libraries.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from py3langid import langid
from selectolax.lexbor import LexborHTMLParser

_MAX_CHARACTERS = 2_000
_CHARSET = re.compile(r"charset=[\"']?([\w.-]+)", re.IGNORECASE)


def pages(files: Iterable[Path]) -> Iterator[str]:
    """The HTML pages in archives, decoded."""
    for file in files:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                head = record.http_headers
                if head is None or head.status_code != 200:
                    continue
                kind = record.http_content_type or ""
                if "html" in kind:
                    yield decoded(record.reader.read(), head.get("Content-Type") or "")


def decoded(body: bytes, content_type: str) -> str:
    r"""Decode a page by the charset in its header, or else as UTF-8.

    >>> decoded(b"caf\xe9", "text/html; charset=latin-1"), decoded(b"caf\xc3\xa9", "text/html")
    ('café', 'café')
    """
    named = _CHARSET.search(content_type)
    try:
        return body.decode(named[1] if named else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def work(files: Iterable[Path]) -> int:
    """Do the least work on archives, and return the number of pages."""
    count = 0
    for page in pages(files):
        body = LexborHTMLParser(page).body
        text = body.text(separator=" ") if body is not None else ""
        langid.classify(text[:_MAX_CHARACTERS])
        count += 1
    return count


def main() -> None:
    """Do the work and print its cost."""
    langid.classify("The model is loaded now.")
    started = time.process_time()
    count = work(map(Path, sys.argv[1:]))
    print(json.dumps({"pages": count, "seconds": time.process_time() - started}))


if __name__ == "__main__":
    main()
