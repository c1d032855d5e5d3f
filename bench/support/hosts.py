"""Hosts on one machine: network namespaces on a bridge, from which loopback sites can be reached.

Linux keeps 127.0.0.0/8 to each namespace.  Here, a namespace keeps 127.0.0.1 only, and the sites of
`bench.sites.small_sites` (127.1.0.0/16) are those of the machine.  That takes the rights of root
and the program `ip`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Host", "hosts", "why_no_hosts"]

BRIDGE = "diptych-bench"
SITES = "127.1.0.0/16"
NETWORK = "10.76.0"
NAMESPACES = Path("/run/netns")


class Host(NamedTuple):
    """A namespace with an address of its own."""

    name: str
    address: str

    def command(self, given: Sequence[str]) -> list[str]:
        """The command that runs the given one on this host."""
        return ["ip", "netns", "exec", self.name, *given]


def why_no_hosts() -> str:
    """The reason why this machine cannot have hosts, or "" if it can."""
    if not shutil.which("ip"):
        return "the program 'ip' (Linux, package iproute2) is missing"
    return "" if os.geteuid() == 0 else "only root can make network namespaces"


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Make hosts; they are removed at the end, together with what an ended benchmark left."""
    made = [Host(f"{BRIDGE}-{number}", f"{NETWORK}.{number + 2}") for number in range(count)]
    _remove(made)
    try:
        _run(f"ip link add {BRIDGE} type bridge")
        _run(f"ip address add {NETWORK}.1/24 dev {BRIDGE}")
        _run(f"ip link set {BRIDGE} up")
        _let_loopback_in(BRIDGE)
        for number, host in enumerate(made):
            _connect(host, f"diptych-b{number}")
        yield made
    finally:
        _remove(made)


def _connect(host: Host, cable: str) -> None:
    """Make a namespace and connect it to the bridge."""
    _run(f"ip netns add {host.name}")
    _run(f"ip link add {cable} type veth peer name eth0 netns {host.name}")
    _run(f"ip link set {cable} master {BRIDGE} up")
    for line in (
        "ip link set lo up",
        f"ip address add {host.address}/24 dev eth0",
        "ip link set eth0 up",
        "ip route del table local local 127.0.0.0/8 dev lo",
        f"ip route add {SITES} via {NETWORK}.1 src {host.address}",
    ):
        _run(" ".join(host.command([line])))
    _let_loopback_in("eth0", host)


def _let_loopback_in(device: str, host: Host | None = None) -> None:
    """Let packets to and from 127.0.0.0/8 pass a network device."""
    given = ["tee", f"/proc/sys/net/ipv4/conf/{device}/route_localnet"]
    subprocess.run(
        host.command(given) if host else given, input="1", text=True, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def _remove(made: Sequence[Host]) -> None:
    for host in made:
        if (NAMESPACES / host.name).exists():
            _run(f"ip netns del {host.name}")
    with suppress(subprocess.CalledProcessError):
        _run(f"ip link del {BRIDGE}")


def _run(line: str) -> None:
    subprocess.run(line.split(), check=True, capture_output=True)
