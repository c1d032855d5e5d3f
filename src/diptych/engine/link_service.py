"""A link source that gets back links from an HTTP service with JSON responses.

The service is described by a TOML file:

url = "https://api.example.org/links?target={host}&limit={limit}&offset={offset}"
links = "data.items"            # path of the list in the response; "" if the response is the list
source = "page.url"             # path in each item: the URL of the linking page
anchor = "anchor"               # the anchor text of its link
text = "snippet"                # the text around the link
headers = { Authorization = "$API_TOKEN" }      # $NAME is taken from the environment
delay = 1.0                     # seconds between two requests
timeout = 30.0                  # seconds for a whole response
retries = 2

Only the first three keys are required.
"""

from __future__ import annotations

import base64
import http.client
import io
import os
import re
import string
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import orjson

from diptych._version import VERSION
from diptych.errors import SourceError, in_one_line
from diptych.files import read_file, reading
from diptych.page.robots import retry_after
from diptych.reason import Reason, http_status
from diptych.text.urls import host_of, normalise, origin_of, site_name
from diptych.types import Failure, Link, Response, Url

MAX_BODY = 10_000_000
_MAX_TOML = 1_000_000  # bytes of a description
MAX_WAIT = 120.0  # seconds that a service may ask to wait; if it asks for more, there is no retry
MAX_REQUESTS = 20  # per lookup, if results are paged
_READ = 1 << 16
_ENDLESS = float("inf")
_PLACEHOLDERS = frozenset({"url", "host", "limit", "offset"})
_AGAIN = frozenset({429, 500, 502, 503, 504})
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a service in its TOML file."""

    url: str
    links: str
    source: str
    anchor: str = ""
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 1.0
    timeout: float = 30.0
    retries: int = 2


def read_description(path: Path, environment: Mapping[str, str] = os.environ) -> Description:
    """Read the TOML file of a service; raise a `SourceError` if a key is invalid."""
    with reading(path, advice="see docs/discover.md", error=SourceError):
        raw = tomllib.loads(read_file(path, _MAX_TOML, error=SourceError).decode("utf-8"))
    known = {item.name: item for item in fields(Description)}
    for key in raw:
        if key not in known:
            raise SourceError(f"{path}: unknown key {key!r}; known keys: {', '.join(known)}")
    for key in ("url", "links", "source"):
        if key not in raw:
            raise SourceError(f"{path}: the key {key!r} is missing")
    values = {key: _checked(path, key, value) for key, value in raw.items()}
    if "headers" in values:
        values["headers"] = _headers(path, values["headers"], environment)
    _check_template(path, values["url"])
    if not values["source"]:
        raise SourceError(f"{path}: 'source' must be the path of the linking page")
    return Description(**values)


def _checked(path: Path, key: str, value: Any) -> Any:
    """Check a value in the TOML file, and return it; numbers are converted to int or float."""
    if key == "headers":
        if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
            return value
        raise SourceError(f"{path}: 'headers' must be a table of strings")
    if key in ("delay", "timeout", "retries"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 3600:
            raise SourceError(f"{path}: {key!r} must be a number from 0 to 3600, not {value!r}")
        return int(value) if key == "retries" else float(value)
    if not isinstance(value, str):
        raise SourceError(f"{path}: {key!r} must be a string, not {value!r}")
    return value


def _headers(path: Path, raw: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Replace `$NAME` in headers with environment variables; raise an error if one is missing."""
    headers = {}
    for name, text in raw.items():
        for variable in _VARIABLE.findall(text):
            if variable not in environment:
                raise SourceError(
                    f"{path}: {'headers.' + name!r} requires the environment variable {variable}"
                )
        value = _VARIABLE.sub(lambda found: environment[found[1]], text)
        if not re.fullmatch(r"[!-~]+", name) or ":" in name or re.search(r"[\r\n\0]", value):
            raise SourceError(f"{path}: {'headers.' + name!r} is not a valid HTTP header")
        headers[name] = value
    return headers


def _check_template(path: Path, template: str) -> None:
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise SourceError(f"{path}: 'url' is not a valid template: {error}") from error
    names = [name for _, name, _, _ in parsed if name is not None]
    is_plain = all(not spec and not turn for _, name, spec, turn in parsed if name is not None)
    if not is_plain or not set(names) <= _PLACEHOLDERS or not {"url", "host"} & set(names):
        raise SourceError(
            f"{path}: 'url' must have {{url}} or {{host}}, and may have {{limit}} and {{offset}}"
        )
    if urlsplit(template).scheme not in ("http", "https") or "{" in origin_of(template):
        raise SourceError(f"{path}: 'url' must begin with http:// or https:// and a host")


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to HTTP and HTTPS only, and never sends secret headers to other origins."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in ("http", "https"):
            raise urllib.error.URLError(f"redirected to {newurl[:100]}, which is not HTTP")
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and origin_of(newurl) != origin_of(req.full_url):
            following.headers = {}
        return following


class _DeadlineStream(io.RawIOBase):
    """A byte stream with a fixed deadline, which is not extended when bytes arrive."""

    def __init__(self, sock: Any, until: float) -> None:
        self._sock, self._until = sock, until
        self._inner = sock.makefile("rb", buffering=0)
        self._left = MAX_BODY + _READ * 2  # including headers and bodies of redirects

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        rest = self._until - time.monotonic()
        if rest <= 0:
            raise TimeoutError
        if self._left <= 0:
            raise OSError(f"the response is longer than {MAX_BODY:,} bytes")
        self._sock.settimeout(rest)
        count: int | None = self._inner.readinto(buffer)
        self._left -= count or 0
        return count

    def close(self) -> None:
        self._inner.close()
        super().close()


def _with_deadline(kind: type[http.client.HTTPConnection], until: float) -> Any:
    """Create a connection class whose responses time out at the time `until`."""

    class Answer(http.client.HTTPResponse):
        def __init__(self, sock: Any, level: int = 0, method: Any = None, url: Any = None) -> None:
            super().__init__(sock, level, method, url)
            self.fp.close()
            self.fp = io.BufferedReader(_DeadlineStream(sock, until))

    return type("Timed", (kind,), {"response_class": Answer})


class _DeadlineHandler(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Opens HTTP and HTTPS requests with a single deadline that also covers redirects."""

    def __init__(self, until: float, answers: ExitStack) -> None:
        super().__init__()
        self._until, self._answers = until, answers

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        kind = http.client.HTTPSConnection if req.type == "https" else http.client.HTTPConnection
        req.timeout = max(self._until - time.monotonic(), 0.001)  # for connecting and sending
        return self._answers.enter_context(self.do_open(_with_deadline(kind, self._until), req))

    https_open = http_open


class _OneProxy(urllib.request.BaseHandler):
    """Uses one proxy for all hosts, even for those that the environment excludes from proxying."""

    handler_order = 100  # before the headers are created

    def __init__(self, proxy: str) -> None:
        self._proxy = urlsplit(proxy)

    def http_request(self, req: urllib.request.Request) -> urllib.request.Request:
        user, _, address = self._proxy.netloc.rpartition("@")
        if user:
            secret = base64.b64encode(unquote(user).encode()).decode("ascii")
            req.add_unredirected_header("Proxy-authorization", f"Basic {secret}")
        req.set_proxy(address, self._proxy.scheme)
        return req

    https_request = http_request


@dataclass(slots=True)
class LinkService:
    """A `LinkSource` that requests back links from a service."""

    description: Description
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    proxy: str | None = None
    patience: float = _ENDLESS
    """seconds after which a request is no longer retried"""
    _last: float = -_ENDLESS
    """time of the last response"""

    @classmethod
    def open(cls, path: Path, proxy: str | None = None, patience: float = _ENDLESS) -> LinkService:
        """Open the service described by a TOML file; retry for at most `patience` seconds."""
        if proxy is not None and not re.fullmatch(r"https?://[!-~]+", proxy):
            raise SourceError("the proxy is not a valid URL, such as http://proxy.org:8080")
        return cls(read_description(path), proxy=proxy, patience=patience)

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | None:
        """Return None: the service provides no out links, so the page must be fetched."""
        return None

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        """The links to a URL from pages on other sites, in the order returned by the service.

        If results are spread over several responses, those received before a failure are kept.
        """
        found: dict[Url, Link] = {}
        offset = 0
        for _ in range(MAX_REQUESTS):
            items = self._items(url, limit, offset)
            if isinstance(items, Failure):
                return list(found.values()) if found else items
            before = len(found)
            for item in items:
                link = self._link(item)
                if link is not None and site_name(link.url) != site_name(url):
                    found.setdefault(link.url, link)
            offset += len(items)
            is_all = "{offset}" not in self.description.url or not items or len(found) == before
            if is_all or len(found) >= limit:
                break
        return list(found.values())[: max(limit, 0)]

    def _link(self, item: object) -> Link | None:
        about = self.description
        url = _value_at(item, about.source)
        normal = normalise(url) if isinstance(url, str) else None
        if normal is None:
            return None
        anchor, text = (
            _value_at(item, path) if path else "" for path in (about.anchor, about.text)
        )
        return Link(
            normal, "back",
            anchor=anchor if isinstance(anchor, str) else "",
            around=text if isinstance(text, str) else "",
        )  # fmt: skip

    def _items(self, url: Url, limit: int, offset: int) -> list[object] | Failure:
        """Request the items from `offset` on, and return the list in the response."""
        values = {"url": url, "host": host_of(url), "limit": limit, "offset": offset}
        body = self._fetch_body(
            url, self.description.url.format(**{k: quote(str(v), "") for k, v in values.items()})
        )
        if isinstance(body, Failure):
            return body
        try:
            answer = orjson.loads(body)
        except ValueError:
            start = body[:60].decode("utf-8", "replace").strip()
            return Failure(url, Reason.NOT_JSON, f"the response is not JSON: {start!r}")
        items = _value_at(answer, self.description.links)
        if not isinstance(items, list):
            where = self.description.links
            return Failure(url, Reason.WRONG_SHAPE, f"the response has no list at {where!r}")
        return items

    def _fetch_body(self, url: Url, address: str) -> bytes | Failure:
        """Request `address`, with retries; return the body, or a `Failure` that refers to `url`."""
        failure, begun = Failure(url, Reason.NOT_ASKED), self.clock()
        for attempt in range(self.description.retries + 1):
            wait = self._last + self.description.delay - self.clock()
            if attempt:
                wait = max(wait, failure.retry_after or 2.0 ** (attempt - 1))
                if self.clock() + wait - begun > self.patience:
                    return self._without_retry(failure)
            if wait > 0:
                self.sleep(wait)
            answer = self._request(url, address)
            self._last = self.clock()
            if isinstance(answer, bytes):
                return answer
            failure = answer
            if not _may_succeed(failure) or (failure.retry_after or 0.0) > MAX_WAIT:
                break
        return failure

    def _without_retry(self, failure: Failure) -> Failure:
        """Extend a failure with the reason why the request was not retried."""
        why = f" (requested: {failure.retry_after:g} s)" if failure.retry_after else ""
        return replace(
            failure, detail=f"{failure.detail}; no retry within {self.patience:g} s{why}"
        )

    def _request(self, url: Url, address: str) -> bytes | Failure:
        headers = {"User-Agent": f"diptych/{VERSION}", "Accept": "application/json"}
        request = urllib.request.Request(address, headers=headers | dict(self.description.headers))
        until = time.monotonic() + max(self.description.timeout, 0.1)
        # If no proxy is given, those of the environment are used.
        through = (urllib.request.ProxyHandler({}), _OneProxy(self.proxy)) if self.proxy else ()
        try:
            with ExitStack() as answers:  # including those of redirects, which nothing else closes
                opener = urllib.request.build_opener(
                    _WebRedirects(), _DeadlineHandler(until, answers), *through
                )
                return self._body(url, opener.open(request))
        except urllib.error.HTTPError as error:
            return self._refusal(url, error)
        except TimeoutError:
            return self._too_slow(url)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, TimeoutError):
                return self._too_slow(url)
            return Failure(
                url, Reason.NO_CONNECTION, f"{origin_of(address)}: {in_one_line(reason)[:300]}"
            )

    def _too_slow(self, url: Url) -> Failure:
        seconds = self.description.timeout
        return Failure(url, Reason.TIMEOUT, f"no complete response within {seconds:g} s")

    def _refusal(self, url: Url, error: urllib.error.HTTPError) -> Failure:
        response = Response(url, error.code, tuple(error.headers.items()), b"", time.time())
        detail = f"the service returned {error.code} {in_one_line(error.reason)[:300]}"
        if error.code in (401, 403):
            detail += "; is the key in 'headers' correct?"
        return Failure(url, f"http_{error.code}", detail, retry_after(response))

    def _body(self, url: Url, answer: Any) -> bytes | Failure:
        """Read the body of a response; return a `Failure` if it is too long or incomplete."""
        body = bytearray()
        while piece := answer.read1(_READ):
            body += piece
            if len(body) > MAX_BODY:
                too_long = f"the response is longer than {MAX_BODY:,} bytes"
                return Failure(url, Reason.TOO_LARGE, too_long)
        if answer.length:  # bytes that are missing
            return Failure(url, Reason.CUT_OFF, "the response is incomplete")
        return bytes(body)


def _may_succeed(failure: Failure) -> bool:
    """True if the same request may succeed when it is repeated after this failure."""
    no_answer = (Reason.NO_CONNECTION, Reason.TIMEOUT, Reason.CUT_OFF)
    return failure.reason in no_answer or http_status(failure.reason) in _AGAIN


def _value_at(content: object, path: str) -> object:
    """The value at a dotted path, such as `data.items`; None if there is none.

    >>> content = {"data": {"items": [1]}}
    >>> _value_at(content, "data.items"), _value_at([], "data"), _value_at([2], "")
    ([1], None, [2])
    """
    for key in path.split(".") if path else ():
        if isinstance(content, list) and key.isdecimal() and int(key) < len(content):
            content = content[int(key)]
        else:
            content = content.get(key) if isinstance(content, dict) else None
    return content
