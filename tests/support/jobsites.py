"""Small bilingual sites on loopback for jobs: each server is a site of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from support.bilingual import documents, html
from support.serving import Reply, Server, serve

DOCUMENTS = 3  # of a site, each in English and French


def pages(number: int) -> dict[str, Reply]:
    """The pages of a site; each site has other documents."""
    every = documents()
    chosen = [every[(number * DOCUMENTS + place) % len(every)] for place in range(DOCUMENTS)]
    found: dict[str, Reply] = {}
    menu = "".join(
        f'<a href="/{lang}/{document.name}">{lang} {document.name}</a> '
        for document in chosen
        for lang in ("en", "fr")
    )
    for document in chosen:
        for lang, other in (("en", "fr"), ("fr", "en")):
            head = f'<link rel="alternate" hreflang="{other}" href="/{other}/{document.name}">'
            body = html(document[lang], lang=lang, head=head, body=menu)
            found[f"/{lang}/{document.name}"] = Reply(body)
    return {"/": Reply(f"<html><body>{menu}</body></html>"), **found}


@contextmanager
def served_sites(count: int, *, latency: float = 0.0) -> Iterator[list[Server]]:
    """Serve some sites while the block runs."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(serve(pages(number), latency=latency)) for number in range(count)
        ]
