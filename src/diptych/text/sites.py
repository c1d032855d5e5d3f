"""Parse sites as users type them; error messages suggest the URL that was probably meant."""

from __future__ import annotations

import re
from difflib import get_close_matches

from diptych.errors import ConfigError, in_one_line, option_name
from diptych.text.urls import host_of, normalise
from diptych.types import Url

_SCHEMES = ("http", "https")
_SIMILAR = 0.6  # minimum similarity of a misspelled scheme: "htp" has .86, "ftp" .57
_WORD = re.compile(r"([A-Za-z]{2,8})(?:[:;,.]*[/\\]+|[:;](?!\d))[/\\:\s]*(.*)", re.DOTALL)
_WELL = re.compile(r"https?://[^/\\\s:]", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"(about|data|file|ftps?|gopher|javascript|mailto|sftp|ssh|wss?):", re.I)
_EMAIL = re.compile(r"(?:mailto:)?[^\s@/:]+@([^\s@/:]+)")
_PATH = re.compile(r"(?:[/~.\\]|[A-Za-z]:\\)")
# File extensions that are not top-level domains.
_FILE = re.compile(
    r"[^\s/\\]*\.(?:csv|docx?|gz|html?|jpe?g|json|list|lst|odt|pdf|png|rtf|tsv|txt|warc|xlsx?|xml)",
    re.IGNORECASE,
)


def parse_site(text: str) -> Url:
    """Parse a site, with or without a scheme, as a URL, or raise `ConfigError` if it is invalid.

    >>> parse_site("www.example.org"), parse_site("http://example.org/fr")
    ('https://www.example.org/', 'http://example.org/fr')
    >>> parse_site("https//example.org")
    Traceback (most recent call last):
    diptych.errors.ConfigError: 'https//example.org' is not a URL; did you mean https://example.org/?
    """
    name = text.strip()
    is_other = _OTHER_SCHEME.match(name) or _is_path(name)
    if not is_other and _with_right_scheme(name) is None:
        url = normalise(name if "://" in name else "https://" + name.removeprefix("//"))
        if url is not None and host_of(url) not in _SCHEMES:
            return url
    raise ConfigError(_mistake(name))


def has_public_suffix(name: str) -> bool:
    """True if a name is a host under a known public suffix, without a scheme or path.

    >>> [has_public_suffix(name) for name in ("example.org", "sites.txt", "run", "my/a.org")]
    [True, False, False, False]
    """
    from publicsuffixlist import PublicSuffixList

    is_host = "." in name and not re.search(r"[/\\\s]", name)
    known = PublicSuffixList(accept_unknown=False)
    return is_host and known.privatesuffix(name.lower()) is not None


def _with_right_scheme(text: str) -> str | None:
    """The URL with its mistyped scheme corrected, or None if the scheme is not mistyped.

    >>> [_with_right_scheme(text) for text in ("htp://a.org", "https:/a.org", "https:a.org")]
    ['http://a.org', 'https://a.org', 'https://a.org']
    >>> _with_right_scheme("http://https://a.org/"), _with_right_scheme("http://a.org")
    ('https://a.org/', None)
    """
    words: list[str] = []
    rest = text
    while (found := _WORD.match(rest)) and get_close_matches(
        found[1].lower(), _SCHEMES, 1, _SIMILAR
    ):
        words.append(found[1].lower())
        rest = found[2]
    if not words or (len(words) == 1 and _WELL.match(text)):
        return None
    return f"{'https' if words[-1].endswith('s') else 'http'}://{rest}"


def _is_path(text: str) -> bool:
    return bool(_PATH.match(text) and not text.startswith("//")) or bool(_FILE.fullmatch(text))


def _mistake(text: str) -> str:
    """The error message for a text that is not a valid site."""
    quoted = f"'{in_one_line(text)}'"
    if meant := _meant(text):
        return f"{quoted} is not a URL; did you mean {meant}?"
    if email := _EMAIL.fullmatch(text):
        url = normalise(f"https://{email[1]}")
        return f"{quoted} is an e-mail address" + (f"; did you mean {url}?" if url else "")
    if _is_path(text):
        return (
            f"there is no file {quoted}; specify a site, such as https://example.org, a list of"
            f" sites with {option_name('sites')} or archives with {option_name('warc')}"
        )
    if len(sites := re.split(r"[\s,;]+", text)) > 1 and all(map(_is_host, sites)):
        return f"{quoted} names several sites; pass each as a separate argument: {' '.join(sites)}"
    scheme, _, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    if "@" in host:
        usual = scheme.lower() if scheme.lower() in _SCHEMES else "https"
        without = f"{usual}://{host.rpartition('@')[2]}{slash}{path}"
        return f"URLs with a user name or password are not accepted; use {without}"
    return f"{quoted} is not an http or https URL; specify one, such as https://example.org"


def _meant(text: str) -> str:
    """The URL that the user probably meant; empty if it is unclear.

    Mistyped schemes and blanks in the host are corrected.
    """
    if (right := _with_right_scheme(text)) is not None:
        return normalise(right) or ""
    scheme, _, rest = text.rpartition("://")
    host, slash, path = rest.partition("/")
    joined = re.sub(r"\s+", "", host)
    if joined == host or scheme.lower() not in ("", *_SCHEMES) or _is_host_list(host):
        return ""
    url = normalise(f"{scheme or 'https'}://{joined}{slash}{path}")
    return url if url and "." in host_of(url) else ""


def _is_host_list(text: str) -> bool:
    """True if a text is a list of hosts separated by blanks.

    >>> _is_host_list("a.org b.org"), _is_host_list("example .org")
    (True, False)
    """
    return all(map(_is_host, text.split()))


def _is_host(text: str) -> bool:
    url = normalise(text if "://" in text else f"https://{text}")
    return url is not None and "." in host_of(url).strip(".") and not text.startswith(".")
