"""A row of the table of misbehaviours, and what its server answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from support.serving import MISSING, Answer, Fault, Reply, Request
from support.zoo import page

USUAL, HASTY = "usual", "hasty"
"""how a site is crawled: with the usual time limits, or with short ones"""

Answers = Mapping[str, Answer | Callable[[Request], Answer]]
PUBLIC = "93.184.215.14"  # stands for the loopback address, which a crawl refuses


_USUAL = ("page", "queued", "unknown")


@dataclass(frozen=True)
class Misbehaviour:
    """One way in which a server misbehaves, and what must become of the URLs of its site.

    The site has a home page with links to all answers and then to `/after`, an ordinary page.
    """

    name: str
    does: str
    """what the server does"""
    answers: Answers | Callable[[Request], Answer]
    becomes: Mapping[str, str]
    """path, or URL of another host -> `page`, `redirect`, `queued`, or a reason"""
    stopped: str = ""
    """why no more requests are sent to the host; empty if it is asked for `/after` too"""
    requests: int = 8
    """the site is asked at most so often, in all"""
    crawled: str = USUAL
    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """name of a host -> its addresses, if they are not public; `{host}` is the host of the site"""
    links: tuple[str, ...] = ()
    """more links of the home page; `{at}` is the host of the site with its port"""
    origin: str = "http://{host}:{port}"
    """`{tls}`, `{plain}`, `{mute}`, `{closing}` and `{closed}` are ports of other servers"""

    @property
    def host(self) -> str:
        """The host of the site."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") + ".example"

    def answer(self, request: Request) -> Answer:
        """What the server answers to a request."""
        if callable(self.answers):
            return self.answers(request)
        usual = {
            "/": self._home(request.headers["host"].rpartition(":")[2]),
            "/after": Reply(page("After")),
        }
        found = self.answers.get(request.path) or usual.get(request.path, MISSING)
        return found if isinstance(found, Reply | Fault) else found(request)

    def _home(self, port: str) -> Reply:
        hidden = ("/", "/robots.txt", "/sitemap.xml")
        links = [link.format(at=f"{self.host}:{port}") for link in self.links]
        links += [path for path in self.answers if path not in hidden]
        return Reply(page(f"Home of {self.name}", [*links, "/after"]))

    @property
    def outcomes(self) -> dict[str, str]:
        """What becomes of each URL that the row says something about."""
        usual = {} if callable(self.answers) or self.stopped else {"/": "page", "/after": "page"}
        return {**usual, **self.becomes}

    @property
    def outcome(self) -> str:
        """The outcome in words: what becomes of the URLs that the row is about."""
        told = [value for value in dict.fromkeys(self.becomes.values()) if value not in _USUAL]
        told = told or ["queued" if self.stopped else "page"]
        return ", ".join(told) + (f"; host stopped: {self.stopped}" if self.stopped else "")


def raw(
    status: str, *headers: str, body: bytes | str = b"", then: str = "close", piece: bytes = b""
) -> Fault:
    """An answer byte by byte: status line, header lines and body."""
    head = "\r\n".join([status, *headers, "", ""]).encode("latin-1")
    return Fault(head + (body.encode() if isinstance(body, str) else body), then, piece)


OK = "HTTP/1.1 200 OK"
HTML = "Content-Type: text/html; charset=utf-8"
