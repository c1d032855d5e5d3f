"""MkDocs hooks: links to files of the repository, and a check for remote resources.

Pages link to sources, results and other files outside `docs/`, which works inside the repository.
On the site, such links lead to the repository on the web; CONTRIBUTING.md and CHANGELOG.md become
pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
COPIED = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"(\]\()([^()\s:#]+)((?:#[^()\s]*)?\))")
REMOTE = re.compile(
    r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^>]*>"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preconnect|preload|icon))[^>]*href=[\"']?(?:https?:)?//[^>]*>"
)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages whose files are outside `docs/`."""
    for name, page in COPIED.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Redirect links to files outside `docs/` to their pages, or to the repository."""
    source = page.file.src_uri
    copied = {new: old for old, new in COPIED.items()}
    here = copied.get(source, posixpath.join("docs", source))

    def target(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), found[2]))
        if path in COPIED:
            return found[1] + posixpath.relpath(COPIED[path], posixpath.dirname(source)) + found[3]
        if path.startswith("docs/") and not path.endswith(".py"):
            inside = posixpath.relpath(path, posixpath.join("docs", posixpath.dirname(source)))
            return found[1] + inside + found[3]
        if not (ROOT / path).exists():
            raise PluginError(f"{here} links to {found[2]}, which is not there")
        return f"{found[1]}{config.extra['repository']}/blob/main/{path}{found[3]}"

    return LINK.sub(target, markdown)


def on_post_build(config: Any) -> None:
    """Fail if a page loads a script, style sheet, font or image from another machine."""
    for path in sorted(Path(config["site_dir"]).rglob("*.html")):
        found = REMOTE.search(path.read_text("utf-8"))
        if found:
            raise PluginError(f"{path.name} loads from another machine: {found[0]}")
