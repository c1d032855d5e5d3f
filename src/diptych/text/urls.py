"""Normalise URLs, resolve links, and determine the host, site and key of a URL.

`normalise` is idempotent and is the only function that creates a `Url`.  It changes only parts that
do not affect the page that a server returns: the letter case of scheme and host, default ports, dot
segments, escapes, the fragment, and parameters that only identify a session or a campaign.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from diptych.files import shipped_text
from diptych.text.caches import TextCache, TextMap
from diptych.text.digests import signed_hash
from diptych.types import Url

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_LENGTH = 2048  # limit of browsers and sitemaps; longer URLs are traps
NOT_HTML = frozenset(
    "7z aac apk asc avi avif bin bmp bz2 css csv deb dmg doc docx dwg dxf eot eps epub exe"
    " flac flv gif gpx gz heic ico ics indd ipynb iso jar jpeg jpg js json kml kmz m4a m4v mid"
    " midi mkv mobi mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv otf pdf pkg png ppt pptx ps"
    " psd rar rpm rtf sig sqlite svg swf tar tgz tif tiff torrent tsv ttf vcf wasm wav webm"
    " webp wma wmf wmv woff woff2 xcf xls xlsx xz zip".split()
)
"""extensions of files other than HTML pages"""
_DEFAULT_PORTS = {"http": 80, "https": 443}
# A path and a query that are normal already: no segment begins with a dot, and each escape is in
# upper case and stands for a character that is not unreserved.
_KEPT = r"%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_NORMAL = (
    rf"/(?:[A-Za-z0-9_~/!$&'()*+,=:@-]|(?<!/)\.|{_KEPT})*+"
    rf"(?:\?(?:[A-Za-z0-9._~/!$'()*+,=:@&-]|{_KEPT})++)?"
)
_NORMAL_URL = re.compile(rf"(https?://[a-z0-9.:-]++)({_NORMAL}|)(?:#|\Z)")
_NORMAL_PATH = re.compile(rf"{_NORMAL}(?:#|\Z)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/{2,}")
_MAX_CACHED = 512  # characters: a page may have thousands of long URLs, each only once
_MAX_TARGETS = 1_500_000  # bytes of resolved links, for each of 16 hosts and directories
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9._~/!$&'()*+,;=:@%-]")
_NOT_IN_QUERY = re.compile(r"[^A-Za-z0-9._~/!$&'()*+,;=:@%?\[\]-]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CONTROL = re.compile(r"[\x00-\x20\x7f]+")
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
_SESSION_NAME = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|sessionid|session_id|oscsid|zenid"
    r"|utm_\w+|gclid|fbclid|msclkid|mc_cid|mc_eid|_ga)\Z",
    re.IGNORECASE,
)
_SESSION_MAYBE = re.compile(r"(?:s|sid|session|sess)\Z", re.IGNORECASE)
_SESSION_VALUE = re.compile(r"(?=.*\d)[0-9A-Za-z]{16,}\Z")
_SESSION_HINT = re.compile(
    r"sess|sid=|cfid|cftoken|zenid|utm_|clid=|mc_|_ga=|[?&]s=", re.IGNORECASE
)


def normalise(url: str) -> Url | None:
    """The normal form of an absolute http(s) URL; None for anything else.

    >>> normalise("HTTP://Example.ORG:80/a/../b%7e/?q=é#top")
    'http://example.org/b~/?q=%C3%A9'
    >>> normalise("http://example.org/x;jsessionid=0123?sid=ab12cd34ef56ab78&lang=fr")
    'http://example.org/x?lang=fr'
    >>> normalise("mailto:a@example.org") is None
    True
    """
    if len(url) > 4 * MAX_LENGTH:
        return None
    return _normalise(url) if len(url) <= _MAX_CACHED else _normalise.__wrapped__(url)


@lru_cache(maxsize=65536)
def _normalise(url: str) -> Url | None:
    found = _NORMAL_URL.match(url)
    if found and not _SESSION_HINT.search(found[2]):
        origin = _normal_origin(found[1])
        normal = f"{origin}{found[2] or '/'}"
        return Url(normal) if origin and len(normal) <= MAX_LENGTH else None
    return _normalised(url)


@lru_cache(maxsize=4096)
def _normal_origin(origin: str) -> str:
    """The normal form of a scheme, host and port; empty if it is invalid.

    >>> _normal_origin("http://example.org.:80"), _normal_origin("http://1.2")
    ('http://example.org', '')
    """
    return (_normalised(origin) or "").removesuffix("/")


def _normalised(url: str) -> Url | None:
    url = _CONTROL.sub(lambda found: "%20" if " " in found[0] else "", url.strip())
    try:
        parts = urlsplit(url)
        scheme, port, host = parts.scheme.lower(), parts.port, parts.hostname or ""
    except ValueError:
        return None
    host = _normal_host(host)
    if scheme not in _DEFAULT_PORTS or not host or not _is_authority(parts.netloc):
        return None
    authority = host if port in (None, _DEFAULT_PORTS[scheme]) else f"{host}:{port}"
    path = _normal_path(parts.path)
    query = _normal_query(parts.query)
    normal = f"{scheme}://{authority}{path}{'?' + query if query else ''}"
    return Url(normal) if len(normal) <= MAX_LENGTH else None


def _is_authority(netloc: str) -> bool:
    """True if a netloc is a host with an optional port, without a user name or password."""
    return (
        "@" not in netloc
        and re.search(r"(?:^[^\[\]:]+|^\[[^\[\]]*:[^\[\]]*\])(?::\d*)?\Z", netloc) is not None
    )


_DOTTED_QUAD = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!\Z)|\Z)){4}\Z")
_NUMBER_LIKE = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\Z")


def _normal_host(host: str) -> str:
    """Convert a host to lower case and punycode; empty if it is invalid.

    >>> _normal_host("Bücher.example."), _normal_host("a b"), _normal_host("::1")
    ('xn--bcher-kva.example', '', '[::1]')
    """
    host = host.lower().removesuffix(".")
    if ":" in host:
        try:
            return f"[{ipaddress.IPv6Address(host)}]" if "%" not in host else ""
        except ValueError:
            return ""
    if not host.isascii() or "xn--" in host:
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return ""
    if not _HOST.match(host) or len(host) > 253:
        return ""
    # If the last label is a number, resolvers read the host as an address: allow only dotted quads.
    return "" if _NUMBER_LIKE.match(host) and not _DOTTED_QUAD.match(host) else host


_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\Z")


def _normal_path(path: str) -> str:
    """Normalise the escapes in a path, and remove dot segments and session parameters."""
    path = _escape(path, _NOT_IN_PATH)
    path = _SESSION_PATH.sub("", path) if ";" in path else path
    if "/." in path:
        path = _without_dots(path)
    return path if path.startswith("/") else "/" + path


def _without_dots(path: str) -> str:
    """Resolve the `.` and `..` segments of a path (RFC 3986, 5.2.4).

    >>> _without_dots("/a/./b/../c/..")
    '/a/'
    """
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept) or "/"


def _normal_query(query: str) -> str:
    """Normalise the escapes in a query, and remove session and campaign parameters."""
    query = _escape(query, _NOT_IN_QUERY)
    if not _SESSION_HINT.search("?" + query):
        return query
    return "&".join(part for part in query.split("&") if not _is_session(part))


def _is_session(part: str) -> bool:
    name, _, value = part.partition("=")
    return bool(
        _SESSION_NAME.match(name) or (_SESSION_MAYBE.match(name) and _SESSION_VALUE.match(value))
    )


def _escape(text: str, illegal: re.Pattern[str]) -> str:
    """Percent-encode only the characters that require it, using upper-case hex digits.

    `illegal` matches the characters that must be encoded.
    """
    if "%" in text:
        text = _ESCAPE.sub(_normal_escape, text)
    return illegal.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text
    )


def _normal_escape(found: re.Match[str]) -> str:
    if found[1] is None:
        return "%25"  # a lone percent sign
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else "%" + found[1].upper()


def resolve(base: str, href: str) -> Url | None:
    """The normalised target of a link on a page; None if it is not an http(s) URL.

    >>> resolve("http://example.org/fr/a.html", "../en/a.html#top")
    'http://example.org/en/a.html'
    """
    return resolver(base)(href)


@lru_cache(maxsize=4)
def resolver(base: str) -> Callable[[str], Url | None]:
    """Return a function that resolves links like `resolve`, for the links on one page."""
    page = base.partition("?")[0]
    # Relative links resolve alike on all pages of a directory, and the others on those of a host,
    # so they are resolved once.
    directory = page[: page.rfind("/") + 1] or base
    origin = origin_of(directory) + "/" if "://" in directory else directory
    of_host, of_directory = _targets(origin, "host"), _targets(directory, "directory")

    def resolve_one(href: str) -> Url | None:
        if href in of_host:
            return of_host[href]
        if href in of_directory:
            return of_directory[href]
        bare = href.strip()
        if len(bare) > 4 * MAX_LENGTH:
            return None
        before, mark, _ = bare.partition("#")
        # With white space or an empty query at its end, it would be read in another way alone.
        if mark and len(bare) <= _MAX_CACHED and (before[-1:] in "/" or before[-1].isalnum()):
            return resolve_one(before)
        if not bare or bare[0] in "#?":
            return _resolve(base, bare)
        is_of_host = bare.startswith(("/", "http://", "https://"))
        url = _resolve(origin if is_of_host else directory, bare)
        if len(href) > _MAX_CACHED:
            return url
        return (of_host if is_of_host else of_directory).keep(href, url)

    return resolve_one


@lru_cache(maxsize=16)
def _targets(base: str, of: str) -> TextMap[Url | None]:
    """The targets of links that were resolved against a base, by their addresses.

    The links of a host and those of its first directory have the same base, but are kept apart.
    """
    return TextMap(_MAX_TARGETS, per_character=3)


def _resolve(base: str, href: str) -> Url | None:
    if "\\" in href[:8]:
        href = href.replace("\\", "/")
    if href.startswith("//"):
        href = f"{base.partition(':')[0]}:{href}"
    if absolute := _ABSOLUTE.match(href):  # browsers ignore extra slashes
        return normalise(f"{absolute[1]}://{href[absolute.end() :]}")
    if _NORMAL_PATH.match(href):
        return normalise(origin_of(base) + href)
    # `urljoin` would drop empty segments, and treat an empty query as none.
    if href.startswith("?"):
        return normalise(base.partition("?")[0] + href)
    if href and href[0] not in "/#" and not _SCHEME.match(href):
        return normalise(_joined(base, href))
    try:
        return normalise(urljoin(base, href))
    except ValueError:
        return None


def _joined(base: str, href: str) -> str:
    """Append a link to a directory, without the `../` that the link begins with.

    The result is the same for links from different directories to one file, so it is cached.

    >>> _joined("http://a.org/fr/b/", "../../en/"), _joined("http://a.org/", "../en/")
    ('http://a.org/en/', 'http://a.org/en/')
    """
    is_plain = base.count("/") > 2 and not any(part in base for part in ("/.", "#", "%2e", "%2E"))
    while is_plain and href.startswith("../") and base.endswith("/"):
        above = base[: base.rfind("/", 0, -1) + 1]
        base, href = base if above.endswith("://") else above, href[3:]
    return base + href


def origin_of(url: str) -> str:
    """The scheme, host and port of a URL, to which a robots.txt file applies.

    >>> origin_of("http://example.org:8080/a?b")
    'http://example.org:8080'
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def host_of(url: str) -> str:
    """The host of a URL, without the port.

    >>> host_of("http://example.org:8080/a"), host_of("http://[::1]:80/")
    ('example.org', '::1')
    """
    authority = origin_of(url).partition("://")[2]
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def extension(url: str) -> str:
    """The file extension of a URL, in lower case, or an empty string.

    >>> extension("http://example.org/a.b/Chart.PDF?x=1.2"), extension("http://example.org/a.b/")
    ('pdf', '')
    """
    last = url.partition("?")[0].partition("://")[2].partition("/")[2].rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


@lru_cache(maxsize=65536)
def _site_of_origin(origin: str) -> str:
    authority = origin.partition("://")[2]
    host, port = host_of(origin), re.search(r":\d+\Z", authority)
    suffix = port[0] if port else ""
    if ":" in host or _DOTTED_QUAD.match(host):
        return authority
    suffixes = _public_suffixes(host.removesuffix(".").rpartition(".")[2], "xn--" in host)
    return (suffixes.privatesuffix(host) or host) + suffix


def _public_suffixes(domain: str, is_encoded: bool) -> PublicSuffixList:
    """The public suffixes under a top-level domain, in other scripts only for encoded hosts."""
    names = {domain}
    if domain.startswith("xn--"):
        with suppress(UnicodeError):  # then no rule is for this domain
            names.add(domain.encode().decode("idna"))
    # Pages may link to any number of domains that do not exist: nothing is kept for those.
    known = sorted(names & _suffix_rules().keys())
    return _suffixes(tuple(known), is_encoded and bool(known))


@cache
def _suffixes(domains: tuple[str, ...], is_encoded: bool) -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    rules = [rule for domain in domains for rule in _suffix_rules()[domain]]
    return PublicSuffixList("\n".join(rules), accept_encoded_idn=is_encoded)


@cache
def _suffix_rules() -> dict[str, list[str]]:
    """The rules of the public suffix list that have a dot, by their top-level domain."""
    rules: dict[str, list[str]] = {}
    for rule in shipped_text("publicsuffixlist", "public_suffix_list.dat").split("\n"):
        _, dot, domain = rule.rpartition(".")
        if dot:
            rules.setdefault(domain, []).append(rule)
    return rules


def site_name(url: str) -> str:
    """The registrable domain or IP address of a URL, with the port unless it is the default port.

    >>> site_name("https://fr.shop.example.co.uk/a"), site_name("http://127.0.0.1:9001/")
    ('example.co.uk', '127.0.0.1:9001')
    """
    return _site_of_origin(origin_of(url))


_keys = TextCache(lambda url: signed_hash(url.encode("utf-8", "surrogatepass")), 32_000_000)


def url_key(url: str) -> int:
    """The key of a URL in the store: a signed 64-bit hash.

    >>> url_key("http://example.org/") == url_key("http://example.org/")
    True
    """
    return _keys[url]
