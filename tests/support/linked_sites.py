"""Bilingual and other sites on loopback, a page that links to them, and a source of back links."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from support.serving import Reply, Request, Server, serve

TEXTS = {
    "en": (
        "The town museum is open every day of the week, and the children of the village visit it"
        " gladly with their teachers. In summer there are concerts in the garden behind the house."
    ),
    "es": (
        "El museo de la ciudad está abierto todos los días de la semana, y los niños del pueblo lo"
        " visitan con sus maestros. En verano hay conciertos en el jardín detrás de la casa."
    ),
    "de": (
        "Das Museum der Stadt ist an allen Tagen der Woche geöffnet, und die Kinder des Dorfes"
        " besuchen es gern mit ihren Lehrern. Im Sommer gibt es Konzerte im Garten hinter dem Haus."
    ),
}


def page(lang: str, body: str = "") -> Reply:
    return Reply(f"<html><body><p>{TEXTS[lang]}</p>{body}</body></html>")


def link(text: str, target: str) -> str:
    return f'<p><a href="{target}">{text}</a></p>'


BILINGUAL = {
    "/": page("en", link("Español", "/es/")),
    "/es/": page("es", link("English", "/")),
}
ENGLISH = {"/": page("en", link("Opening hours", "/hours")), "/hours": page("en")}


@dataclass
class Web:
    """Some sites, a page that links to them, and a service that knows who links to whom."""

    good: list[Server]
    plain: list[Server]
    hub: Server
    service: Server
    source: Path

    def asked(self) -> Counter[str]:
        """All that was asked of the sites, as URLs."""
        servers = [*self.good, *self.plain, self.hub]
        return Counter(server.url + path[1:] for server in servers for path in server.paths)


@contextmanager
def linked_sites(folder: Path) -> Iterator[Web]:
    """Serve the sites."""
    with ExitStack() as stack:
        good = [stack.enter_context(serve(BILINGUAL, latency=0.02)) for _ in range(4)]
        plain = [stack.enter_context(serve(ENGLISH, latency=0.02)) for _ in range(3)]
        body = "".join(link(f"site {n}", each.url) for n, each in enumerate([*good, *plain]))
        hub = stack.enter_context(serve({"/links.html": page("en", body)}))

        def answer(request: Request) -> Reply:
            target = unquote(request.path.partition("target=")[2])
            linking = [hub.url + "links.html"] if target in [each.url for each in good] else []
            found = {"links": [{"url": url, "anchor": "museums"} for url in linking]}
            return Reply(json.dumps(found), type="application/json")

        service = stack.enter_context(serve(answer))
        source = folder / "service.toml"
        source.write_text(
            f'url = "{service.url}back?target={{url}}"\nlinks = "links"\nsource = "url"\n'
            'anchor = "anchor"\ndelay = 0\n'
        )
        yield Web(good, plain, hub, service, source)
