"""`url-lang`, `url-pair` and `pair` on the command line."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.commands import mistake, run
from support.urlmodels import FakeLanguages, FakePairs

import diptych
from diptych.api import urls as url_models
from diptych.commands import main

LANGS = ("--langs", "en,fr")


@pytest.fixture(autouse=True)
def languages(monkeypatch):
    """Replace the shipped models with models whose answers are known."""
    fake = FakeLanguages()
    monkeypatch.setattr(url_models, "language_model", lambda folder: fake)
    monkeypatch.setattr(url_models, "pair_model", lambda folder: FakePairs())
    return fake


def ask(*arguments, data):
    """Run a command with standard input; returns its output as bytes."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=data)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def table(result):
    return [line.split("\t") for line in result.stdout.splitlines()]


BAD = [
    b"mailto:a@a.org", b"data:text/html,<b>x</b>", b"nonsense", b"http://a.org/\0",
    b"http://a.org/\xff\xfe", b"http://a.org/" + b"x" * 1_000_000, b"http://[::1/", b"http://",
]  # fmt: skip


# -- url-lang --------------------------------------------------------------------------------------


def test_languages_of_urls(tmp_path):
    data = b"http://a.org/fr/x\n\nhttp://a.org/en/x\textra\nhttp://a.org/\n"
    expected = [
        ["http://a.org/fr/x", "fr", "0.8000"],
        ["http://a.org/en/x", "en", "0.8000"],
        ["http://a.org/", "und", "0.8000"],
    ]
    plain, packed = tmp_path / "urls", tmp_path / "urls.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    for result in (
        ask("url-lang", data=data), ask("url-lang", "-", data=data), run("url-lang", plain),
        run("url-lang", packed),
    ):  # fmt: skip
        assert (result.exit_code, result.stderr) == (0, "")
        assert table(result) == expected


def test_bad_lines_are_answered_in_their_place_and_counted():
    data = b"\n".join([b"http://a.org/fr/", *BAD, b"http://a.org/en/"])
    result = ask("url-lang", data=data)
    assert result.exit_code == 0
    rows = [line.split(b"\t") for line in result.stdout_bytes.split(b"\n")[:-1]]
    assert [row[0] for row in rows] == data.split(b"\n")
    assert [row[1:] for row in rows[1:-1]] == [[b"und", b"0.0000"]] * len(BAD)
    assert result.stderr == (
        "skipped 8 lines without an http or https URL: lines 2, 3, 4, 5, 6, ...\n"
    )


def test_one_json_object_per_line():
    result = ask("url-lang", "--json", data=b"http://a.org/fr/\nhttp://a.org/\xff\n")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"url": "http://a.org/fr/", "lang": "fr", "probability": 0.8},
        {"url": "http://a.org/\N{REPLACEMENT CHARACTER}", "lang": "und", "probability": 0.0},
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "nothing found: the input is empty"), (b"nonsense\nx\n", "skipped 2 lines")],
)
@pytest.mark.parametrize("command", [["url-lang"], ["url-pair"], ["pair", "-", *LANGS]])
def test_nothing_found_is_reported(command, data, said):
    result = ask(*command, data=data)
    assert result.exit_code == 1
    assert said in result.stderr


def test_lines_are_processed_in_batches_in_order(languages):
    urls = [f"http://a.org/{'fr' if number % 3 else 'en'}/{number}" for number in range(10_000)]
    result = ask("url-lang", data="\n".join(urls).encode())
    assert [row[0] for row in table(result)] == urls
    assert [row[1] for row in table(result)] == [url.split("/")[3] for url in urls]
    assert [len(asked) for asked in languages.asked] == [4096, 4096, 1808]


# -- url-pair --------------------------------------------------------------------------------------


def test_probabilities_of_pairs():
    data = b"http://a.org/en/x\thttp://a.org/fr/x\nhttp://a.org/en/x\thttp://a.org/fr/y\tmore\n"
    result = ask("url-pair", data=data)
    assert (result.exit_code, result.stderr) == (0, "")
    assert table(result) == [
        ["http://a.org/en/x", "http://a.org/fr/x", "0.9000"],
        ["http://a.org/en/x", "http://a.org/fr/y", "0.1000"],
    ]
    lines = ask("url-pair", "--json", data=data).stdout.splitlines()
    assert json.loads(lines[0]) == {
        "left": "http://a.org/en/x", "right": "http://a.org/fr/x", "probability": 0.9
    }  # fmt: skip


def test_lines_without_two_urls_get_an_empty_result():
    good = b"http://a.org/en/"
    pairs = [good + b"\t" + bad for bad in BAD] + [bad + b"\t" + good for bad in BAD] + [good]
    result = ask("url-pair", data=b"\n".join([*pairs, good + b"\thttp://a.org/fr/"]))
    assert result.exit_code == 0
    rows = [line.split(b"\t") for line in result.stdout_bytes.split(b"\n")[:-1]]
    assert [row[2] for row in rows] == [b"0.0000"] * len(pairs) + [b"0.9000"]
    assert rows[-2] == [good, b"", b"0.0000"]
    assert "skipped 17 lines without two tab-separated http or https URLs" in result.stderr


# -- pair ------------------------------------------------------------------------------------------

SITE = [
    ("http://www.a.org/en/one.html", "en"), ("http://www.a.org/fr/one.html#top", "fr"),
    ("http://www.a.org/en/two.html", "en"), ("www.a.org/fr/two.html", "fr-CA"),
    ("http://www.a.org/en/three.html", "en"), ("HTTP://www.a.org/fr/three.html", "fra"),
    ("http://www.a.org/de/one.html", "de"),
]  # fmt: skip
PAIRS = {(SITE[place][0], SITE[place + 1][0]) for place in (0, 2, 4)}  # as they were written


def listing(rows, *, with_langs=True):
    text = "".join(f"{url}\t{lang}\n" if with_langs else f"{url}\n" for url, lang in rows)
    return text.encode()


@pytest.mark.parametrize("method", ["keys", "langstrip", "keys+langstrip", "union"])
@pytest.mark.parametrize("with_langs", [True, False])
def test_pairs_of_a_list(method, with_langs, languages):
    data = listing(SITE, with_langs=with_langs)
    result = ask("pair", "-", *LANGS, "--method", method, data=data)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = table(result)
    assert {(row[0], row[1]) for row in rows} == PAIRS
    assert {len(row) for row in rows} == {4}
    assert all(0 < float(row[2]) <= 1 for row in rows)
    assert {row[3] for row in rows} == {
        {"keys": "en:fr", "langstrip": "langstrip"}.get(method, "keys+langstrip")
    }
    assert bool(languages.asked) is not with_langs


def test_pairs_as_objects():
    result = ask("pair", "-", *LANGS, "--json", data=listing(SITE))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert {(pair["left"], pair["right"]) for pair in found} == PAIRS
    assert set(found[0]) == {"left", "right", "score", "key"}


def test_list_is_one_site_by_default():
    rows = [("http://a.fr/x.html", "fr"), ("http://a.com/x.html", "en")] + [
        (f"http://a.{'com' if lang == 'en' else 'fr'}/{page}", lang)
        for page in ("one", "two", "three")
        for lang in ("en", "fr")
    ]
    whole = ask("pair", "-", *LANGS, data=listing(rows))
    assert len(table(whole)) == 4
    apart = ask("pair", "-", *LANGS, "--by-domain", data=listing(rows))
    assert (apart.exit_code, apart.stdout) == (1, "")
    assert "no pairs among 8 URLs (4 in en, 4 in fr)" in apart.stderr


def test_same_pair_is_found_in_many_domains():
    rows = [
        (url.replace("a.org", f"d{number}.org"), lang) for number in range(3) for url, lang in SITE
    ]
    result = ask("pair", "-", *LANGS, "--by-domain", data=listing(rows))
    assert len(table(result)) == 9
    assert [row[0].split("/")[2] for row in table(result)] == [
        f"www.d{number}.org" for number in range(3) for _ in range(3)
    ]


@pytest.mark.parametrize("folder", ["", "/en"])  # of no language, or all of one
def test_urls_without_language_evidence_are_left_to_the_keys(folder):
    rows = [(f"http://a.org{folder}/{side}/{page}", "") for side in "ec" for page in "xyzw"]
    result = ask("pair", "-", "--langs", "en,zh", data=listing(rows, with_langs=False))
    assert {(row[0][-3:], row[1][-3:]) for row in table(result)} in (
        {(f"e/{page}", f"c/{page}") for page in "xyzw"},
        {(f"c/{page}", f"e/{page}") for page in "xyzw"},
    )


def test_repeated_and_invalid_lines_are_reported():
    data = listing([*SITE, SITE[0]]) + b"nonsense\n"
    result = ask("pair", "-", *LANGS, data=data)
    assert len(table(result)) == 3
    assert "1 URL was listed more than once" in result.stderr
    assert "skipped 1 line without an http or https URL: line 9" in result.stderr


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["url-lang", "missing.txt"], "cannot read missing.txt"),
        (["url-pair", "missing.gz"], "cannot read missing.gz"),
        (["pair", "missing.tsv", *LANGS], "cannot read missing.tsv"),
        (["pair", "missing.tsv", "--langs", "en"], "two different languages"),
        (["pair", "missing.tsv", "--langs", "en,xx"], "'xx'"),
        (
            ["pair", "missing.tsv", *LANGS, "--method", "nope"],
            "unknown pair strategy 'nope'; available",
        ),
        (
            ["pair", "missing.tsv", *LANGS, "--method", "keys+"],
            "unknown pair strategy ''; available",
        ),
    ],
)
def test_invalid_options_are_reported(arguments, said):
    assert said in mistake(*arguments)


@pytest.mark.parametrize("command", [["url-lang"], ["url-pair"], ["pair", "-", *LANGS]])
def test_model_that_is_not_a_folder_is_reported(command, monkeypatch):
    monkeypatch.undo()
    result = ask(*command, "--model", "xlm-roberta-base", data=b"http://a.org/\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: --model xlm-roberta-base is not a folder")
    assert len(result.stderr.splitlines()) == 1


# -- as a process of its own -----------------------------------------------------------------------


def test_closed_pipe_is_not_an_error(tmp_path):
    file = tmp_path / "urls"
    file.write_text("http://a.org/fr/\n" * 200_000)
    package = str(Path(diptych.__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-m", "diptych", "url-lang", str(file)],
        env={**os.environ, "PYTHONPATH": package},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (first, said) == (b"http://a.org/fr/\tfr\t" + first[-7:], b"")
    assert process.returncode in (0, 1)


def test_help_names_the_options_of_each_command():
    for command, words in {
        "url-lang": ("--model", "--json", "standard input"),
        "url-pair": ("--model", "--json", "standard input"),
        "pair": ("--langs", "--method", "--by-domain"),
        "train": ("--out", "--backend", "--base", "--seed", "domain, url, lang"),
    }.items():
        told = " ".join(run(command, "--help").output.split())
        for word in words:
            assert word in told
