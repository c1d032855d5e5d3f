"""Arguments of the programs that crawl one site, so that their results can be compared."""

from __future__ import annotations

import argparse

__all__ = ["crawl_arguments"]


def crawl_arguments(about: str | None) -> argparse.ArgumentParser:
    """Parse the home page, and the maximum number of open connections."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("home", metavar="URL")
    parser.add_argument("connections", type=int, nargs="?", default=16)
    return parser
