"""Recognise private IP addresses and host names, and refuse connections to them.

A page is hostile input: a link, a redirect or a DNS answer may point into the user's own network.
The address of the connection itself is checked, so a second DNS lookup cannot bypass the check.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from contextvars import ContextVar
from typing import Any

refused_addresses: ContextVar[list[str]] = ContextVar("refused_addresses")
"""private addresses to which the current request tried to connect"""


class PrivateAddressError(OSError):
    """Raised for a connection to an address that is not on the public Internet."""


def is_private(address: str) -> bool:
    """True if an IP address is private, loopback, link-local or otherwise not public.

    >>> is_private("192.168.1.1"), is_private("::ffff:127.0.0.1"), is_private("93.184.216.34")
    (True, True, False)
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(ip, ipaddress.IPv6Address):
        if embedded := ip.ipv4_mapped or ip.sixtofour or _embedded(ip):
            return is_private(str(embedded))
        return not ip.is_global or any(ip in network for network in _NOT_PUBLIC)
    is_special = any(ip in network for network in _NOT_PUBLIC_4)
    return not ip.is_global or ip.is_multicast or is_special


# IANA's registries of special-purpose addresses; `ipaddress` lacks some, depending on its version.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "64:ff9b:1::/48",  # NAT64 for local use, RFC 8215
            "100::/64",  # discarded, RFC 6666
            "100:0:0:1::/64",  # dummy prefix, RFC 9780
            "2001::/23",  # protocols, with Teredo and ORCHID, RFC 2928
            "2001:db8::/32",  # documentation, RFC 3849
            "2002::/16",  # 6to4, RFC 3056, unless it holds a public address
            "3fff::/20",  # documentation, RFC 9637
            "5f00::/16",  # segment routing, RFC 9602
            "fc00::/7",  # private, RFC 4193
            "fe80::/10",  # link-local, RFC 4291
            "fec0::/10",  # site-local, RFC 3879
            "ff00::/8",  # multicast, RFC 4291
        ),
    )
)
_NOT_PUBLIC_4 = (
    ipaddress.IPv4Network("192.0.0.0/24"),  # protocols, RFC 6890
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays of 6to4, RFC 7526
)
_HOLDING_IPV4 = (
    ipaddress.IPv6Network("64:ff9b::/96"),  # RFC 6052
    ipaddress.IPv6Network("::/96"),  # deprecated form, RFC 4291, 2.5.5.1
    ipaddress.IPv6Network("::ffff:0:0:0/96"),  # translated addresses, RFC 2765, 2.1
)


def _embedded(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address embedded in the last 32 bits of an IPv6 address, or None."""
    if any(ip in network for network in _HOLDING_IPV4):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_private_name(host: str) -> bool:
    """True if a host name is private; with a proxy, only the name can be checked.

    >>> is_private_name("localhost"), is_private_name("10.0.0.1"), is_private_name("example.org")
    (True, True, False)
    """
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return is_private(host)


def guarded_socket(address_info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
    """Create a socket for a resolved address; raise an error if the address is private."""
    family, kind, protocol, _, address = address_info
    if is_private(str(address[0])):
        if (refused := refused_addresses.get(None)) is not None:
            refused.append(str(address[0]))
        raise PrivateAddressError(errno.EACCES, f"private address {address[0]}")
    return socket.socket(family, kind, protocol)
