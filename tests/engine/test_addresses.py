"""Public and private addresses."""

from __future__ import annotations

import socket

import pytest

from diptych.engine.addresses import (
    PrivateAddressError,
    guarded_socket,
    is_private,
    is_private_name,
)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
        "192.0.2.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "2002:7f00:1::", "2002:c0a8:101::1", "64:ff9b::127.0.0.1", "64:ff9b::a00:1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b:1::a00:1",
        "", "localhost", "127.1", "0x7f.0.0.1", "not an address",
    ],
)  # fmt: skip
def test_address_is_private(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "100::1", "100:0:0:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:30::1",
        "2001:1ff:ffff::1", "2001:0:5db8:d822:0:0:0:1", "3fff::1", "3fff:fff:ffff::1", "5f00::1",
        "5f00:ffff::1", "fec0::1", "feff:ffff::1", "64:ff9b:1:ffff::1", "192.88.99.1",
        "192.0.0.8", "192.0.0.170", "255.255.255.255",
    ],
)  # fmt: skip
def test_address_for_a_special_purpose_is_private(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1", "::ffff:0:169.254.169.254",
        "::ffff:0:0:1", "2002:a9fe:a9fe::", "64:ff9b::169.254.169.254", "64:ff9b::192.168.0.1",
        "2002:a00:1:5efe::1",
    ],
)  # fmt: skip
def test_address_that_translates_a_private_one_is_private(address):
    assert is_private(address)


@pytest.mark.parametrize("address", ["::127.0.0.1", "::10.0.0.1", "::a9fe:a9fe"])
def test_address_that_holds_a_private_one_the_old_way_is_private(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255",
        "100.128.0.1", "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111",
        "2a00:1450:4001::200e", "2001:200::1", "2001:4860::1", "5eff::1", "5f01::1", "4000::1",
        "3ffe:ffff::1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    ],
)  # fmt: skip
def test_address_is_public(address):
    assert not is_private(address)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True), ("a.localhost", True), ("printer.local", True), ("db.internal", True),
        ("127.0.0.1", True), ("::1", True), ("10.1.2.3", True), ("fe80::1", True),
        ("example.org", False), ("8.8.8.8", False), ("localhost.example.org", False),
        ("internal.example.org", False),
    ],
)  # fmt: skip
def test_host_is_private_by_its_name(host, expected):
    assert is_private_name(host) is expected


def _looked_up(address: str) -> tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 80)


def test_no_socket_is_made_for_a_private_address():
    with pytest.raises(PrivateAddressError, match=r"127\.0\.0\.1"):
        guarded_socket(_looked_up("127.0.0.1"))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700:4700::1111"])
def test_socket_is_made_for_a_public_address(address):
    with guarded_socket(_looked_up(address)) as made:
        assert made.family is (socket.AF_INET6 if ":" in address else socket.AF_INET)
        assert made.type is socket.SOCK_STREAM
