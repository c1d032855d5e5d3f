"""Arguments of the programs that crawl one site, so that they can be compared."""

from __future__ import annotations

import argparse

__all__ = ["crawl_arguments"]


def crawl_arguments(about: str | None) -> argparse.ArgumentParser:
    """The home page, and how many connections may be open at once."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("home", metavar="URL")
    parser.add_argument("connections", type=int, nargs="?", default=16)
    return parser
