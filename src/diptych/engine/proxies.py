"""The proxy for a request, with its password kept apart from its URL, which errors may show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

from diptych.text.urls import host_of, normalise
from diptych.types import Url


class Proxy(NamedTuple):
    """A proxy: its scheme, host and port, and the headers that it requires."""

    url: str
    headers: Mapping[str, str]


def read_proxy(text: str) -> Proxy:
    """Parse the URL of a proxy; a ValueError, without the URL, if it is invalid.

    A path or a query, which no proxy uses, is left out.

    >>> read_proxy("http://me:se%2Fcret@proxy.example/?a=b")
    Proxy(url='http://proxy.example', headers={'Proxy-Authorization': 'Basic bWU6c2UvY3JldA=='})
    >>> read_proxy("http://proxy.example")
    Proxy(url='http://proxy.example', headers={})
    """
    scheme, _, rest = text.partition("://")
    for end in "/?#":
        rest = rest.partition(end)[0]
    user, at, place = rest.rpartition("@")
    if normalise(f"{scheme}://{place}") is None:
        raise ValueError("the URL of the proxy is not valid")
    if not at:
        return Proxy(f"{scheme}://{place}", {})
    secret = b64encode(unquote(user).encode()).decode("ascii")
    return Proxy(f"{scheme}://{place}", {"Proxy-Authorization": f"Basic {secret}"})


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxy that the user gave for all requests, or else those of the environment."""

    given: str | None
    _of_environment: Mapping[str, str] = field(default_factory=getproxies)

    def proxy_for(self, url: Url) -> Proxy | None:
        """The proxy for a URL, or None; raises ValueError if its own URL is invalid."""
        if self.given:
            return read_proxy(self.given)
        found = self._of_environment.get(url.partition(":")[0]) or self._of_environment.get("all")
        if found is None or proxy_bypass(host_of(url)):
            return None
        return read_proxy(found if "://" in found else f"http://{found}")
