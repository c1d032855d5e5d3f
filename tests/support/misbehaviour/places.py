"""Servers that lead elsewhere: redirects, refreshes, and addresses in private networks."""

from __future__ import annotations

import re

from support.misbehaviour.row import PUBLIC, Misbehaviour
from support.serving import MISSING, Answer, Fault, Reply, Request
from support.zoo import page, redirect

HOSTS = 25


def _next_host(request: Request) -> Answer:
    """A redirect to the next host of the site."""
    host, _, port = request.headers["host"].partition(":")
    first, _, site = host.partition(".")
    number = re.fullmatch(r"h(\d+)", first)
    if request.path in ("/robots.txt", "/sitemap.xml"):
        return MISSING
    if number is None:
        return Reply(page("Home", [f"http://h1.{host}:{port}/"]))
    return redirect(301, f"http://h{int(number[1]) + 1}.{site}:{port}/")


def _next_hop(request: Request) -> Answer:
    return redirect(302, f"/hop/{int(request.path.rpartition('/')[2]) + 1}")


def _endless_hops(request: Request) -> Answer:
    if request.path == "/":
        return Reply(page("Home", ["/hop/0", "/after"]))
    if request.path == "/after":
        return Reply(page("After"))
    return _next_hop(request) if request.path.startswith("/hop/") else MISSING


def _endless_refreshes(request: Request) -> Answer:
    if request.path == "/":
        return Reply(page("Home", ["/wait/0", "/after"]))
    if request.path == "/after":
        return Reply(page("After"))
    found = re.fullmatch(r"/wait/(\d+)", request.path)
    return _refresh(f"/wait/{int(found[1]) + 1}") if found else MISSING


def _refresh(target: str) -> Reply:
    return Reply(f'<title>Wait</title><meta http-equiv="refresh" content="0; url={target}">')


REDIRECTS = (
    Misbehaviour(
        "Redirect to itself", "redirects a page to itself",
        {"/bad": redirect(302, "/bad")}, {"/bad": "redirect"}, requests=5,
    ),
    Misbehaviour(
        "Redirect loop", "redirects two pages to each other",
        {"/tick": redirect(302, "/tock"), "/tock": redirect(302, "/tick")},
        {"/tick": "redirect", "/tock": "redirect"}, requests=6,
    ),
    Misbehaviour(
        "Cookie needed", "redirects each page to itself until a cookie comes back",
        {"/bad": lambda request: Reply(page("In")) if "cookie" in request.headers
         else Reply("", 302, (("Location", "/bad"), ("Set-Cookie", "in=1")))},
        {"/bad": "redirect"}, requests=5,
    ),
    Misbehaviour(
        "Endless redirects", "redirects each page to another, without end",
        _endless_hops, {"/hop/10": "too_many_redirects", "/after": "page"}, requests=16,
    ),
    Misbehaviour(
        "Chain over 25 hosts", "redirects from each host of the site to the next",
        _next_host, {"http://h11.chain-over-25-hosts.example:{port}/": "too_many_redirects"},
        requests=40,
    ),
    Misbehaviour(
        "Refresh to itself", "sends a page that reloads itself",
        {"/bad": _refresh("/bad")}, {"/bad": "page"}, requests=5,
    ),
    Misbehaviour(
        "Endless refreshes", "sends a page that loads another, without end",
        _endless_refreshes, {"/wait/10": "too_many_redirects", "/after": "page"}, requests=16,
    ),
    Misbehaviour(
        "Redirect to nowhere", "redirects without saying where",
        {"/bad": Reply("", 301)}, {"/bad": "bad_redirect"},
    ),
    Misbehaviour(
        "Redirect to a file", "redirects to a `file:` URL",
        {"/bad": redirect(302, "file:///etc/passwd")}, {"/bad": "bad_redirect"},
    ),
    Misbehaviour(
        "Redirect to a script", "redirects to a `javascript:` URL",
        {"/bad": redirect(302, "javascript:alert(1)")}, {"/bad": "bad_redirect"},
    ),
    Misbehaviour(
        "Redirect to data", "redirects to a `data:` URL",
        {"/bad": redirect(302, "data:text/html,<p>hello")}, {"/bad": "bad_redirect"},
    ),
    Misbehaviour(
        "Long redirect", "redirects to a URL of 7,000 characters",
        {"/bad": redirect(302, "/" + "x" * 7000)}, {"/bad": "bad_redirect"},
    ),
    Misbehaviour(
        "Redirect with a large body", "redirects, and sends a body without end",
        {"/bad": Fault(b"HTTP/1.1 302 Found\r\nLocation: /after\r\n\r\n", "flood")},
        {"/bad": "redirect"},
    ),
    Misbehaviour(
        "Redirect to another site", "redirects to another site",
        {"/bad": redirect(302, "http://elsewhere.example/")},
        {"/bad": "redirect", "http://elsewhere.example/": "outside"},
    ),
    Misbehaviour(
        "Redirect with a split header", "puts a line break into the target of a redirect",
        {"/bad": redirect(302, "/new%0d%0aSet-Cookie:%20a=1")}, {"/bad": "redirect"},
    ),
)  # fmt: skip


def _private(name: str, does: str, *addresses: str) -> Misbehaviour:
    """A site with a host whose name leads to other addresses."""
    host = "intranet.{host}"
    return Misbehaviour(
        name, does, {}, {f"http://{host}:{{port}}/robots.txt": "private_address",
                         f"http://{host}:{{port}}/": "queued"},
        addresses={host: addresses}, links=("http://intranet.{at}/",),
    )  # fmt: skip


def _robots_at(name: str, does: str, target: str) -> Misbehaviour:
    """A site whose robots.txt is said to be at a private address."""
    return Misbehaviour(
        name, does, {"/robots.txt": redirect(302, target)},
        {"/robots.txt": "private_address", "/": "queued"},
        stopped="private address, which is not allowed by default",
    )  # fmt: skip


def _no_robots(name: str, does: str, host: str) -> Misbehaviour:
    """A site whose robots.txt is said to be at an invalid host: no rules."""
    target = f"http://{host}/robots.txt"
    return Misbehaviour(
        name, does, {"/robots.txt": redirect(302, target)}, {"/robots.txt": "fetched"}
    )


ADDRESSES = (
    _private("Private IPv4 address", "has a host at 10.0.0.1", "10.0.0.1"),
    _private("Address of cloud metadata", "has a host at 169.254.169.254", "169.254.169.254"),
    _private("Loopback address", "has a host at 127.0.0.1", "127.0.0.1"),
    _private("Unspecified address", "has a host at 0.0.0.0", "0.0.0.0"),
    _private("IPv6 loopback", "has a host at ::1", "::1"),
    _private("Private IPv6 address", "has a host at fd00::1", "fd00::1"),
    _private("IPv4 address in IPv6", "has a host at ::ffff:127.0.0.1", "::ffff:127.0.0.1"),
    _private("NAT64 address", "has a host at 64:ff9b::7f00:1", "64:ff9b::7f00:1"),
    _private("6to4 address", "has a host at 2002:7f00:1::1", "2002:7f00:1::1"),
    _private("Several private addresses", "has a host at 10.0.0.1 and ::1", "10.0.0.1", "::1"),
    Misbehaviour(
        "Rebinding", "redirects its robots.txt to its own name, which is private by then",
        {"/robots.txt": redirect(302, "http://rebinding.example:1/robots.txt")},
        {"/robots.txt": "private_address", "/": "queued"},
        stopped="private address, which is not allowed by default",
        addresses={"{host}": (PUBLIC, "then", "127.0.0.1")},
    ),
    Misbehaviour(
        "Public and private", "has a host at a private and a public address",
        {}, {"http://intranet.{host}:{port}/": "page"},
        addresses={"intranet.{host}": ("10.0.0.1", PUBLIC)},
        links=("http://intranet.{at}/",),
    ),
    _robots_at("Robots.txt at a private address", "redirects its robots.txt to 10.0.0.1",
               "http://10.0.0.1/robots.txt"),
    _robots_at("Robots.txt at an IPv6 address", "redirects its robots.txt to [::ffff:10.0.0.1]",
               "http://[::ffff:10.0.0.1]/robots.txt"),
    _no_robots("Decimal address", "redirects its robots.txt to the host 2130706433", "2130706433"),
    _no_robots("Octal address", "redirects its robots.txt to the host 0177.0.0.1", "0177.0.0.1"),
    _no_robots("Hexadecimal address", "redirects its robots.txt to the host 0x7f000001",
               "0x7f000001"),
    Misbehaviour(
        "Redirect to a private address", "redirects a page to 10.0.0.1",
        {"/bad": redirect(302, "http://10.0.0.1/")},
        {"/bad": "redirect", "http://10.0.0.1/": "outside"},
    ),
    Misbehaviour(
        "Home at a private address", "redirects its home page to localhost",
        {"/": redirect(302, "http://localhost/")},
        {"/": "redirect", "http://localhost/": "outside", "/after": "unknown"},
    ),
)  # fmt: skip

ROWS = (*REDIRECTS, *ADDRESSES)
