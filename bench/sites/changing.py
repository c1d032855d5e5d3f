"""A site on loopback that changes: some pages get another text, some vanish, some are new.

Before the change, new pages are missing and changed pages lack a paragraph; after it, they have the
texts of the real site, and vanished pages are missing.  Which pages these are depends only on their
names.  The server counts the answers and bytes that it sends.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import quote

from bench.sites.archive import HOST
from bench.sites.engine import BuiltSite
from diptych.types import Url

CHANGED, VANISHED, NEW = 0.10, 0.02, 0.02  # shares of the pages
_DAY = 86_400
_LONG = 60  # characters of a paragraph that is worth taking away
_PARAGRAPH = re.compile(rb"<p[ >].*?</p>", re.I | re.S)
_HOME = "index.htm"


class ChangingSite:
    """A built site before and after a change.

    `validators` sends ETag and Last-Modified; `lastmod` adds a sitemap with dates of changes.
    """

    def __init__(self, folder: Path, *, validators: bool, lastmod: bool) -> None:
        self.site = BuiltSite(folder)
        self.validators, self.lastmod = validators, lastmod
        self.is_changed = False
        self.changed_at = self.began = time.time()
        self.answers = self.bytes = 0
        self.lock = Lock()
        docs = folder / "htdocs"
        pages = [file for file in sorted(docs.rglob("*")) if _is_page(file)]
        inner = [file for file in pages if not (file.parent == docs and _HOME in file.name)]
        self.changed, self.vanished, self.new = _drawn(inner, len(pages))
        self.pages = pages
        self.docs = docs

    def change(self) -> None:
        """Show the site as it is after the change, and count from here on."""
        self.is_changed, self.changed_at = True, time.time()
        self.count_anew()

    def count_anew(self) -> None:
        """Forget the answers sent so far."""
        self.answers = self.bytes = 0

    def answer(self, path: str, headers: Any, origin: str) -> tuple[int, dict[str, str], bytes]:
        """The status, headers and body of an answer."""
        if path == "/sitemap.xml" and self.lastmod:
            return 200, {"Content-Type": "application/xml"}, self._sitemap(origin)
        sent = self.site.respond(Url(f"http://www.{HOST}{path}"), 0.0)
        response, file = sent if sent else (None, None)
        if response is None or file in (self.vanished if self.is_changed else self.new):
            return 404, {"Content-Type": "text/html"}, b"<p>not here"
        body = response.body.replace(b"{{ORIGIN}}", origin.encode())
        if file in self.changed and not self.is_changed:
            body = without_paragraph(body)
        found = {name: value for name, value in response.headers if value}
        if response.status != 200 or not self.validators:
            found.pop("Last-Modified", None)
            return response.status, found, body
        found["ETag"] = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        found["Last-Modified"] = formatdate(self._modified(file), usegmt=True)
        is_same = headers.get("If-None-Match") == found["ETag"]
        return (304, found, b"") if is_same else (200, found, body)

    def _modified(self, file: Path | None) -> float:
        is_other = self.is_changed and (file in self.changed or file in self.new)
        return self.changed_at if is_other else self.began - 10 * _DAY

    def _sitemap(self, origin: str) -> bytes:
        gone = self.vanished if self.is_changed else self.new
        entries = []
        for file in self.pages:
            path = quote(str(file.relative_to(self.docs)))
            path = re.sub(r"(^|/)index\.html?$", r"\1", path)
            day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._modified(file)))
            if file not in gone:
                entries.append(f"<url><loc>{origin}/{path}</loc><lastmod>{day}</lastmod></url>")
        return f"<urlset>{''.join(entries)}</urlset>".encode()


def without_paragraph(body: bytes) -> bytes:
    """A page without its first long paragraph; without its first heading if there is none.

    >>> without_paragraph(b"<p>a</p><p>" + b"b" * 60 + b"</p>c")
    b'<p>a</p>c'
    """
    for found in _PARAGRAPH.finditer(body):
        if len(found[0]) >= _LONG:
            return body[: found.start()] + body[found.end() :]
    return re.sub(rb"<h[1-4][ >].*?</h[1-4]>", b"", body, count=1, flags=re.I | re.S)


def _is_page(file: Path) -> bool:
    return file.is_file() and file.suffix in (".html", ".htm")


def _drawn(pages: Sequence[Path], total: int) -> list[frozenset[Path]]:
    """The pages that change, vanish and are new."""
    order = sorted(pages, key=lambda file: blake2b(str(file.parts[-3:]).encode()).digest())
    sizes = [max(1, round(share * total)) for share in (CHANGED, VANISHED, NEW)]
    starts = [sum(sizes[:place]) for place in range(4)]
    return [frozenset(order[start:end]) for start, end in pairwise(starts)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    site: ChangingSite

    def do_GET(self) -> None:
        origin = f"http://{self.headers.get('Host')}"
        status, headers, body = self.site.answer(self.path, self.headers, origin)
        with self.site.lock:
            self.site.answers += 1
            self.site.bytes += len(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(site: ChangingSite) -> Iterator[str]:
    """Serve a site on loopback, and yield its URL."""
    handler = type("_Served", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
