"""The command line: thin; what it does is in `pipeline`, what it says is here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diptych._version import VERSION
from diptych.cli_align import align, lexicon
from diptych.cli_backlinks import backlinks
from diptych.cli_corpus import export, merge, rebuild
from diptych.cli_discover import detect, discover
from diptych.cli_parts import AS_LINES, FILE, LANGID, LANGS, Group
from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.run.store import Store

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="diptych")
def main() -> None:
    """Mine parallel text from the web: give it a website and two languages."""


def _stage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """One option per stage, to override what the recipe says."""
    for stage in reversed(("crawl", "pair", "verify", "align-dom", "align-sentences", "filter")):
        help = f"Strategy for the {stage} stage instead of the recipe's."
        command = click.option(f"--{stage}", metavar="NAME", help=help)(command)
    return command


@main.command()
@click.argument("sites", nargs=-1, metavar="SITE...")
@LANGS
@click.option("--out", type=FILE, metavar="RUN", help="Folder of the run.")
@click.option(
    "--warc",
    "archives",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Mine archives instead of the web (a file or a folder; also several).",
)
@click.option(
    "--strategy", default=None, metavar="NAME", help="A recipe (see: diptych strategies)."
)
@_stage_options
@click.option(
    "--lexicon",
    "lexicons",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Words you know, from: diptych lexicon import (also several).",
)
@LANGID
@click.option("--also", multiple=True, metavar="URL", help="Another host that is part of the site.")
@click.option(
    "--scope",
    type=click.Choice(["site", "host", "prefix"]),
    default="site",
    show_default=True,
    help="How far a site reaches: registrable domain, host or folder.",
)
@click.option("--max-pages", type=click.IntRange(1), metavar="N", help="Pages per site, at most.")
@click.option(
    "--max-minutes",
    type=click.FloatRange(0, min_open=True),
    metavar="M",
    help="Minutes per site, at most.",
)
@click.option(
    "--max-megabytes",
    type=click.FloatRange(0, min_open=True),
    metavar="MB",
    help="Megabytes per site, at most.",
)
@click.option(
    "--patience",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="N",
    help="End a site when one more pair would probably cost more downloads than this; 0: never.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Seconds between requests to a host; a longer Crawl-delay is kept.",
)
@click.option(
    "--connections",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Connections to one host at a time.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that pages are paired and aligned in.",
)
@click.option("--user-agent", metavar="TEXT", help="How to present yourself to web servers.")
@click.option(
    "--proxy", metavar="URL", help="HTTP proxy; else HTTP_PROXY, HTTPS_PROXY, NO_PROXY count."
)
@click.option(
    "--allow-private", is_flag=True, help="Also fetch from private and loopback addresses."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def mine(sites: tuple[str, ...], **options: Any) -> None:
    """Crawl SITE and mine its parallel text into a corpus; - is a list on standard input.

    The run is a folder; the same command goes on where it was left, however it ended.
    """
    import gc

    from diptych.commands.mine import mine as run_mine

    gc.set_threshold(100_000, 50, 100)  # pages make no cycles; looking for them takes a while
    outcome = run_mine(sites, **options)
    raise SystemExit(outcome)


main.add_command(export)
main.add_command(merge)
main.add_command(rebuild)


@main.command()
@click.argument("run", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(run: Path, as_json: bool) -> None:
    """Say how far RUN has come; also while it is running."""
    from diptych.commands.mine import to_json
    from diptych.reports.funnel import tell
    from diptych.reports.summary import summarise
    from diptych.run.terms import read_terms

    terms = read_terms(run)
    if "detect" in terms.recipe:
        from diptych.reports.site_page import Standing

        with _reading(run) as store:
            standing = Standing.of(store)
        click.echo(standing.to_json() if as_json else "\n".join(standing.lines()))
        return
    with _reading(run) as store:
        summary = summarise(store, terms.langs)
    if as_json:
        click.echo(to_json(summary))
    else:
        tell(summary, run, [], err=False)


@main.command()
@click.argument("run", type=FILE)
@click.argument("urls", nargs=-1, metavar="[URL [URL]]")
def explain(run: Path, urls: tuple[str, ...]) -> None:
    """Say what is known of a URL of RUN, or of a pair of URLs, and why it was decided so."""
    from diptych.reports.explain import explain as lines

    with _reading(run) as store:
        text = lines(store, urls)
    # A page's title may hold commands for the terminal.
    click.echo(
        "".join(character for character in text if character.isprintable() or character == "\n")
    )


def _model_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--model", default="", metavar="FOLDER", help=help)


@main.command()
@click.argument("file", type=FILE, metavar="URLS.tsv")
@LANGS
@click.option(
    "--method",
    default="keys",
    show_default=True,
    metavar="NAME",
    help="Strategy for the pair stage, or several as in keys+langstrip.",
)
@click.option("--by-domain", is_flag=True, help="Pair each registrable domain by itself.")
@_model_option("URL language model for lines without a language, instead of the one shipped.")
@AS_LINES
def pair(file: Path, langs: str, method: str, by_domain: bool, model: str, as_json: bool) -> None:
    """Pair the URLs of a list, without fetching them.

    A line of URLS.tsv is a URL, or a URL, a tab and its language; - is standard input.  Each line
    of the answer has left, right, score and key, with tabs between them.
    """
    from diptych.commands.url_lang import pair_list

    raise SystemExit(pair_list(file, langs, method, model, by_domain=by_domain, as_json=as_json))


@main.command("url-lang")
@click.argument("file", type=FILE, required=False)
@_model_option("A model of your own: of diptych train, or of Transformers.")
@AS_LINES
def url_lang(file: Path | None, model: str, as_json: bool) -> None:
    """Tell the language of a page by its URL.

    FILE has a URL a line; without it, or as -, standard input is read.  Each line of the answer has
    url, language and probability, with tabs between them.
    """
    from diptych.commands.url_lang import url_lang as answer

    raise SystemExit(answer(file, model, as_json=as_json))


@main.command("url-pair")
@click.argument("file", type=FILE, required=False)
@_model_option("A model of your own: of diptych train, or of Transformers.")
@AS_LINES
def url_pair(file: Path | None, model: str, as_json: bool) -> None:
    """Tell by two URLs how likely their pages are translations of each other.

    FILE has two URLs a line with a tab between them; without it, or as -, standard input is read.
    Each line of the answer has both URLs and the probability, with tabs between them.
    """
    from diptych.commands.url_lang import url_pair as answer

    raise SystemExit(answer(file, model, as_json=as_json))


@main.command()
@click.argument("model", type=click.Choice(["url-lang", "url-pair", "verify", "langid"]))
@click.argument("data", type=FILE, nargs=-1, required=True)
@click.option(
    "--out", type=FILE, metavar="FOLDER",
    help="Folder of the model; of langid its file, LANG.langid.json if none is named.",
)  # fmt: skip
@click.option(
    "--backend",
    type=click.Choice(["linear", "transformers"]),
    default="linear",
    show_default=True,
    help="Our own small model, or an encoder such as XLM-RoBERTa.",
)
@click.option("--base", default="", metavar="FOLDER", help="The encoder to start from.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N",
              help="Of the split and of training.")  # fmt: skip
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Of an encoder, at most.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Rows an encoder sees at once.")
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Of an encoder; as published 1e-5.",
)
@click.option(
    "--method",
    type=click.Choice(["classify", "decision_tree", "maxent"]),
    help="Of verify: whose features; classify has all of them.",
)
@click.option("--run", type=FILE, metavar="RUN", help="Of verify: whose pages DATA speaks of.")
def train(model: str, data: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """Train a model on labelled DATA, and say how good it is on data it has not seen.

    The columns of DATA, with tabs between them: domain, url, lang for url-lang; domain, url, lang,
    url, lang for url-pair; left, right, and 1 or 0 for verify, where left and right are HTML files
    beside DATA, or URLs of a run.  For langid DATA is the code of a language, such as tet, and
    files of text in it; what comes of it is used with --langid.
    """
    method, run = options.pop("method"), options.pop("run")
    backend, base, seed = (options.pop(name) for name in ("backend", "base", "seed"))
    more = tuple((name, value) for name, value in options.items() if value is not None)
    if model == "langid":
        from diptych.commands.train.langid import train_langid

        if len(data) < 2 or base or more or backend != "linear" or method or run:
            raise ConfigError("langid takes a language, files of text in it, and --out FILE")
        lang = str(data[0])
        raise SystemExit(train_langid(lang, data[1:], out or Path(f"{lang}.langid.json")))
    if out is None:
        raise ConfigError("say where the model goes: --out FOLDER")
    if model == "verify":
        from diptych.commands.train.verify import VerifyOrder, train_verify

        if len(data) > 1 or base or more or backend != "linear":
            raise ConfigError("verify takes one file of labels, --out, --method, --run and --seed")
        raise SystemExit(train_verify(VerifyOrder(data[0], out, method or "classify", run, seed)))
    if method or run:
        raise ConfigError(f"--method and --run are for verify, not for {model}")
    from diptych.commands.train.url_models import Order
    from diptych.commands.train.url_models import train as run_train

    raise SystemExit(run_train(Order(model, data, out, backend, base, seed, more)))


main.add_command(discover)
main.add_command(detect)
main.add_command(backlinks)
main.add_command(align)
main.add_command(lexicon)


@main.command()
def strategies() -> None:
    """List recipes and the strategies of each stage."""
    from diptych import recipes, registry

    click.echo("recipes (--strategy NAME)")
    for name in recipes.names():
        default = " [default]" if name == recipes.DEFAULT else ""
        click.echo(f"  {name:<14} {recipes.read(name).get('about', '')}{default}")
    options = {"export": "format", "discover": "policy", "detect": "method"}
    for stage in registry.STRATEGIES:
        click.echo(f"\n{stage} (--{options.get(stage, stage.replace('_', '-'))} NAME)")
        for name, cls in sorted(registry.strategies(stage).items()):
            first = (cls.__doc__ or "").strip().partition("\n")[0]
            click.echo(f"  {name:<14} {first}")


@main.command()
@click.option(
    "--out",
    type=FILE,
    default=Path("diptych-demo"),
    show_default=True,
    help="Folder of the run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def demo(out: Path, as_json: bool) -> None:
    """Serve the bundled bilingual site on loopback and mine it."""
    from diptych.demo import demo as run_demo

    raise SystemExit(run_demo(out, as_json=as_json))


def _reading(run: Path) -> Store:
    from diptych.run.store import Store
    from diptych.run.terms import read_terms

    read_terms(run)
    return Store(run, write=False)


if __name__ == "__main__":
    sys.exit(main())
