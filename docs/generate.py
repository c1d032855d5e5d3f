"""Write the generated parts of the documentation: python docs/generate.py [DOCUMENT...].

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.  What comes from the
code (help, parameters, schema, recipes, deviations, kept benchmark results, the API) is made in
memory; what comes from the demo is made by running it on loopback in a temporary folder.  The
outputs in console blocks are those of the commands, run in order in a fresh folder for each
document.  Writing twice changes nothing.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import inspect
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import click
from api_page import api, field_docs
from figures import benchmarks, readme_figures, table
from transcripts import console_blocks, filled, run_document

from diptych import protocols, recipes, registry
from diptych.api.web import Environment
from diptych.commands import main as command_line
from diptych.demo import GOLD, SITE
from diptych.engine.file_server import serve
from diptych.files import shipped_text

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 110  # columns of help
MAP_COLUMN = 30  # where the map says what a module is
MARKED = re.compile(
    r"^(<!-- generated: ([^\n]+?) -->\n)(.*?)^(<!-- end -->)$", re.DOTALL | re.MULTILINE
)
LANGS = ("--langs", "en,fr")

# Segments of the demo shown in the README, by their left side.
SHOWN_SEGMENTS = (
    "Twice a day the sea comes in, and twice a day it goes out again.",
    "In 1823 Augustin Fresnel’s first great lens was lit at the top.",
    "Thirty-two men found themselves on a rock about to be covered by the sea.",
    "The shape of the coast matters as much as the sky.",
    "The hell of hells",
)


def documents() -> list[Path]:
    """All files that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def fill(text: str, blocks: Mapping[str, str]) -> str:
    r"""The text with those of its generated parts replaced that are in blocks.

    >>> fill("<!-- generated: a -->\nold\n<!-- end -->", {"a": "new"}).splitlines()[2]
    'new'
    """
    return MARKED.sub(
        lambda found: (
            f"{found[1]}\n{blocks[found[2]]}\n\n{found[4]}" if found[2] in blocks else found[0]
        ),
        text,
    )


def names_in(text: str) -> list[str]:
    """The names of the generated parts of a text."""
    return [found[2] for found in MARKED.finditer(text)]


def schema() -> str:
    """The tables of a run, and those that runs of earlier versions are given."""
    names = ("schema.sql", "indexes.sql")
    return "\n\n".join(shipped_text("diptych.run", name).strip() for name in names)


def blocks_from_code() -> dict[str, str]:
    """Every generated part that needs no run."""
    blocks = {
        "commands": commands(),
        "map": code_map(),
        "recipes": recipe_table(),
        "strategies": strategy_table(),
        "schema": f"```sql\n{schema()}\n```",
        "deviations": deviations(),
        "benchmarks": benchmarks(),
        "figures": readme_figures(),
        "api": api(),
    }
    for stage in registry.STRATEGIES:
        for name, cls in registry.strategies(stage).items():
            blocks[f"parameters {stage} {name}"] = parameters(stage, cls)
    return blocks


def commands() -> str:
    """The help of all commands."""
    top = _context(command_line, "diptych", None)
    parts = [f"```text\n{command_line.get_help(top)}\n```"]
    for name, command in command_line.commands.items():
        shown = command.get_help(_context(command, name, top))
        parts.append(f"## {name}\n\n```text\n{shown}\n```")
    return "\n\n".join(parts)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(
        command, parent, name, terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )  # fmt: skip


def code_map() -> str:
    """The tree of the package in the order of its rooms, with a line for each module.

    A module without a docstring is an error.
    """
    rooms = re.search(r"^`(base \. .+)`$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    assert rooms, "CONTRIBUTING.md does not say the order of rooms"
    package = ROOT / "src/diptych"
    order = rooms[1].split(" . ")
    root = [path for path in sorted(package.glob("*.py")) if path.stem not in order]
    lines = [line for path in root for line in _map_lines(path, 1)]
    for room in ["recipes", "demo", *order[1:]]:
        file = package / f"{room}.py"
        lines += _map_lines(file if file.exists() else package / room, 1)
    return "```text\n" + "\n".join(["src/diptych/", *lines]) + "\n```"


def _map_lines(path: Path, depth: int) -> Iterator[str]:
    """A module or a package, and what is in it."""
    is_package = path.is_dir()
    name = f"{'  ' * depth}{path.name}{'/' if is_package else ''}"
    yield f"{name:<{MAP_COLUMN}} {_about(path / '__init__.py' if is_package else path)}"
    if is_package:
        inner = [entry for entry in path.iterdir() if (entry / "__init__.py").exists()]
        files = [entry for entry in path.glob("*.py") if entry.name != "__init__.py"]
        for entry in sorted([*inner, *files], key=lambda entry: (entry.name == "shared", entry)):
            yield from _map_lines(entry, depth + 1)


def _about(module: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8")))
    if not text:
        raise SystemExit(f"{module.relative_to(ROOT)} has no docstring: say in a line what it is")
    return text.partition("\n")[0]


def recipe_table() -> str:
    """The recipes and what each names for the stages."""
    rows = []
    for name in recipes.names():
        recipe = recipes.load(name, {})
        stages = [f"`{_spelled(recipe[stage])}`" for stage in registry.RECIPE_STAGES]
        shown = f"`{name}`" + (" (default)" if name == recipes.DEFAULT else "")
        rows.append([shown, *stages])
    return table(["recipe", *registry.RECIPE_STAGES], rows)


def _spelled(settings: Mapping[str, Any]) -> str:
    inner = [_spelled(each) for each in settings.get("pairers", ())]
    return f"{settings['use']}({', '.join(inner)})" if inner else str(settings["use"])


def strategy_table() -> str:
    """All strategies with the first line of what they are."""
    return table(
        ["stage", "strategy", "in one line"],
        (
            [stage, f"[`{name}`]({name}.md)", inspect.cleandoc(cls.__doc__ or "").split("\n")[0]]
            for stage in registry.STRATEGIES
            for name, cls in sorted(registry.strategies(stage).items())
        ),
    )


def parameters(stage: str, cls: type) -> str:
    """The parameters of a strategy: its fields, their defaults and their docstrings."""
    fields = dataclasses.fields(cls)
    if not fields:
        return "None."
    meanings = field_docs(cls)
    return table(
        ["parameter", "type", "default", "meaning"],
        (
            [
                f"`{field.name}`",
                f"`{field.type}`",
                f"`{field.default!r}`",
                meanings.get(field.name) or _promised(stage, field.name),
            ]
            for field in fields
        ),
    )


def _promised(stage: str, name: str) -> str:
    """What the stage's Protocol says of an attribute that a strategy has as a field."""
    if stage != "export":
        return ""
    promised = inspect.getattr_static(protocols.Exporter, name, None)
    return inspect.cleandoc(promised.__doc__ or "").rstrip(".") if promised else ""


def deviations() -> str:
    """Every place where the code says that it departs from a paper, and why."""
    rows = []
    for path in sorted((ROOT / "src/diptych").rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            found = re.match(r"\s*# DEVIATION\(([^)]+)\): (.*)", line)
            if found:
                words = [found[2], *_comment_after(lines, number)]
                where = path.relative_to(ROOT).as_posix()
                name = where.removeprefix("src/diptych/")
                rows.append(
                    [found[1], f"[`{name}`](../{where})", " ".join(" ".join(words).split())]
                )
    return table(["paper", "module", "departure"], sorted(rows))


def _comment_after(lines: Sequence[str], number: int) -> Iterator[str]:
    for line in lines[number + 1 :]:
        text = line.strip()
        if not text.startswith("#"):
            return
        yield text.lstrip("# ")


def blocks_from_demo() -> dict[str, str]:
    """Every generated part that shows the demo, run in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {**demo_result(folder), "demo recipes": demo_recipes(folder)}


def demo_result(folder: Path) -> dict[str, str]:
    """Run the demo; its pairs and some of its segments."""
    run_command(folder, "demo")
    return {
        "demo segments": _segments(folder / "diptych-demo/corpus.tsv"),
        "demo pairs": _pairs(folder / "diptych-demo/pairs.tsv"),
    }


def demo_recipes(folder: Path) -> str:
    """Each recipe on the demo site, scored against the pairs that are known to be right."""
    gold = {(row["left_path"], row["right_path"]) for row in _lines(GOLD)}
    runs = {_resolved(recipes.DEFAULT): "diptych-demo"}  # recipes alike are run once
    rows = []
    for name in recipes.names():
        run = runs.setdefault(_resolved(name), f"recipe-{name}")
        if not (folder / run).exists():
            with serve(SITE) as home:
                mine = ("mine", home, *LANGS, "--strategy", name, "--out", run, "--delay", "0")
                run_command(folder, *mine, "--allow-private", "--quiet")
        found = json.loads(run_command(folder, "status", run, "--json"))
        pairs = _pair_paths(folder / run / "pairs.tsv")
        right = len(gold & pairs)
        shares = [right / max(1, len(pairs)), right / len(gold), found["downloads_per_pair"]]
        counts = [str(found[key]) for key in ("downloads", "pages", "pairs")]
        shown = ["-" if share is None else f"{share:.2f}" for share in shares]
        rows.append([f"`{name}`", *counts, *shown])
    figures = ["downloads", "pages", "pairs", "precision", "recall", "downloads per pair"]
    return table(["recipe", *figures], rows, right=figures)


def _resolved(recipe: str) -> str:
    return json.dumps(recipes.load(recipe, {}), sort_keys=True)


def run_command(folder: Path, *arguments: str) -> str:
    """All that a diptych command says; finding nothing is no failure."""
    said = io.StringIO()
    with chdir(folder), redirect_stdout(said), redirect_stderr(said):
        try:
            # In one process, as what is found must not depend on the number of processors.
            command_line.main(arguments, standalone_mode=False, obj=Environment(workers=0))
        except SystemExit as end:
            if end.code not in (None, 0, 1):
                raise RuntimeError(f"diptych {' '.join(arguments)}: {said.getvalue()}") from end
    return said.getvalue()


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, dialect="excel-tab", quoting=csv.QUOTE_NONE))


def _path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]


def _pair_paths(path: Path) -> set[tuple[str, str]]:
    return {(_path(row["left_url"]), _path(row["right_url"])) for row in _lines(path)}


def _segments(path: Path) -> str:
    by_left = {row["left"]: row for row in _lines(path)}
    missing = [text for text in SHOWN_SEGMENTS if text not in by_left]
    if missing:
        sys.exit(f"the demo no longer finds the segment '{missing[0]}': choose another to show")
    rows = ([by_left[text][key] for key in ("left", "right", "score")] for text in SHOWN_SEGMENTS)
    return table(["en", "fr", "score"], rows, right=["score"])


def _pairs(path: Path) -> str:
    rows = (
        [_path(row["left_url"]), _path(row["right_url"]), row["score"], row["evidence"]]
        for row in _lines(path)
    )
    return table(["left", "right", "score", "evidence"], rows, right=["score"])


def with_outputs(path: Path, text: str) -> str:
    """A document with what the commands of its console blocks print."""
    if not console_blocks(text):
        return text
    ran = run_document(text)
    for command in (command for block in ran for command in block if command.code):
        if command.code in (126, 127):
            sys.exit(f"{path.name}: cannot run '{command.text}': {command.output}")
        click.echo(f"{path.name}: '{command.text}' ends with {command.code}", err=True)
    return filled(text, ran)


def main(names: Sequence[str]) -> None:
    """Write all generated parts anew, of the documents that are named or of all."""
    blocks = {**blocks_from_code(), **blocks_from_demo()}
    for path in [Path(name).resolve() for name in names] or documents():
        text = path.read_text("utf-8")
        unknown = set(names_in(text)) - set(blocks)
        if unknown:
            sys.exit(f"{path.name} asks for '{min(unknown)}'; available: {', '.join(blocks)}")
        written = with_outputs(path, fill(text, blocks))
        if written != text:
            path.write_text(written, "utf-8")
            click.echo(f"wrote {path.relative_to(ROOT)}", err=True)


if __name__ == "__main__":
    main(sys.argv[1:])
