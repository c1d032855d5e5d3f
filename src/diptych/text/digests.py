"""Digests of response bodies in WARC notation, and 64-bit hashes for SQLite."""

from __future__ import annotations

import base64
import hashlib


def body_digest(body: bytes) -> str:
    """The SHA-1 digest of a response body, in base 32 with the prefix `sha1:`, as in WARC files.

    >>> body_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def signed_hash(data: bytes) -> int:
    """A signed 64-bit hash of some bytes, which fits into an SQLite integer.

    >>> signed_hash(b"") == signed_hash(b""), signed_hash(b"a") == signed_hash(b"b")
    (True, False)
    """
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
