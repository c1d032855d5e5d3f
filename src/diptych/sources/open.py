"""Open link sources by path: web graphs, link indexes, earlier runs and HTTP services.

New kinds of link sources are added here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diptych.errors import SourceError
from diptych.protocols import LinkSource
from diptych.sources.many import MergedSources

_CAN_BE = (
    "a link source is the folder of a web graph (made by: diptych backlinks graph), "
    "a .sqlite index of WAT files (made by: diptych backlinks wat), the folder of an earlier run, "
    "or a .toml file that describes an HTTP service"
)


def open_source(spec: str, proxy: str | None = None, patience: float = float("inf")) -> LinkSource:
    """Open the link source at a path or URL; raise a `SourceError` if it is not a link source.

    An HTTP service is accessed through `proxy`, and requests are not retried after `patience`
    seconds.
    """
    path = Path(spec)
    if not path.exists():
        raise SourceError(f"{spec} does not exist; {_CAN_BE}")
    if path.is_dir():
        return _of_folder(path)
    if path.suffix == ".toml":
        from diptych.engine.link_service import LinkService

        return LinkService.open(path, proxy, patience)
    if path.suffix in (".sqlite", ".db"):
        from diptych.sources.link_index import LinkIndex

        return LinkIndex.open(path)
    raise SourceError(f"{spec} is not a link source; {_CAN_BE}")


def _of_folder(folder: Path) -> LinkSource:
    if (folder / "graph.json").is_file():
        from diptych.sources.web_graph import WebGraph

        return WebGraph.open(folder)
    if (folder / "run.sqlite").is_file():
        from diptych.sources.earlier_run import open_earlier_run

        return open_earlier_run(folder)
    raise SourceError(f"{folder} contains neither a web graph nor a run; {_CAN_BE}")


def open_sources(specs: Sequence[str], proxy: str | None = None) -> MergedSources:
    """Open several link sources, merged into one that counts their failures."""
    return MergedSources(tuple(open_source(spec, proxy) for spec in specs))
