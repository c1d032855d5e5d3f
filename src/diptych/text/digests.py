"""The digest that tells two bodies apart, as WARC files write it."""

from __future__ import annotations

import base64
import hashlib

__all__ = ["body_digest"]


def body_digest(body: bytes) -> str:
    """The SHA-1 of a body in base 32.

    >>> body_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
