"""Console blocks of the documentation: every one is run, and prints what is shown."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

import generate
import pytest
from transcripts import (
    WIDTH,
    Command,
    commands,
    console_blocks,
    filled,
    normalised,
    on_screen,
    run_document,
)  # fmt: skip

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = generate.documents()
BLOCK = re.compile(r"^( *)(```+|~~~+)(.*?)$(.*?)^\1\2$", re.DOTALL | re.MULTILINE)
RUN = [path for path in DOCUMENTS if console_blocks(path.read_text("utf-8"))]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def printed(*lines: str) -> list[str]:
    """What the commands print that a document consists of."""
    text = "```console\n" + "".join(f"$ {line}\n" for line in lines) + "```\n"
    return [command.output for block in run_document(text) for command in block]


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN, ids=shown)
def test_console_blocks_show_what_their_commands_print(path: Path) -> None:
    text = path.read_text("utf-8")
    for block, ran in zip(console_blocks(text), run_document(text), strict=True):
        for told, real in zip(block, ran, strict=True):
            assert normalised(told.output) == normalised(real.output), f"make docs: {told.text}"


def test_readme_and_each_way_in_are_run() -> None:
    names = {"README.md", "docs/tutorial.md", "docs/translator.md", "docs/archive-owner.md"}
    assert names | {"docs/corpus-builder.md"} <= {shown(path) for path in RUN}


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_what_is_not_run_does_not_look_as_if_it_were(path: Path) -> None:
    """A prompt is shown only in console blocks, which are run, and they stand in no list."""
    text = path.read_text("utf-8")
    for indent, _, language, body in BLOCK.findall(text):
        is_console = language.strip() == "console"
        assert "console" not in language or (is_console and not indent)
        assert is_console or not re.search(r"^\s*\$ ", body, re.MULTILINE), body
    outside = BLOCK.sub("", text)
    assert not re.search(r"^\s+\$ ", outside, re.MULTILINE)
    assert len(console_blocks(text)) == len(re.findall(r"```console", text))
    assert all(command.text for block in console_blocks(text) for command in block)


@pytest.mark.parametrize("path", RUN, ids=shown)
def test_commands_reach_no_machine_but_this_one(path: Path) -> None:
    for block in console_blocks(path.read_text("utf-8")):
        for command in block:
            assert not re.search(r"https?://(?!127\.0\.0\.1:8735/)", command.text), command.text


# -- the runner ----------------------------------------------------------------------------------


def test_commands_of_a_document_share_a_fresh_folder_and_a_shell() -> None:
    assert printed("ls", "mkdir a && cd a", "pwd", "ls .. | cat") == ["", "", "/path/to/a", "a"]


def test_errors_are_shown_where_they_come() -> None:
    assert printed("echo one; echo two >&2; echo three") == ["one\ntwo\nthree"]


def test_commands_are_on_a_terminal_of_a_known_width() -> None:
    assert printed("test -t 1 && echo yes", "stty size < /dev/stderr | cut -d ' ' -f 2") == [
        "yes", str(WIDTH)
    ]  # fmt: skip


def test_command_in_the_background_has_said_a_line_before_the_next() -> None:
    assert printed("(sleep 0.2; echo ready; exec sleep 600) &", "echo next") == ["ready", "next"]


def test_what_is_in_the_background_ends_with_the_document(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    waiting = f"(exec 5<>{tmp_path}/pipe; echo open; exec sleep 600) &"
    assert printed(waiting) == ["open"]
    end = time.monotonic() + 60
    while time.monotonic() < end:  # a pipe that nobody reads cannot be opened for writing
        with suppress(OSError):
            os.close(os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK))
            time.sleep(0.01)
            continue
        return
    pytest.fail("it is still there")


def test_diptych_is_that_of_this_checkout() -> None:
    from diptych._version import VERSION

    assert VERSION in printed("diptych --version")[0]


def test_commands_cannot_read_each_other() -> None:
    assert printed("cat", "echo next") == ["", "next"]


def test_output_that_differs_is_replaced_and_times_and_places_are_left() -> None:
    text = "```console\n$ date\n2020-01-01T00:00:00Z\n$ echo b\na\n$ true\nleft over\n```\n"
    ran = [[
        Command("date", "2026-02-03T04:05:06Z"), Command("echo b", "b"), Command("true", "")
    ]]  # fmt: skip
    wanted = "```console\n$ date\n2020-01-01T00:00:00Z\n$ echo b\nb\n$ true\n```\n"
    assert filled(text, ran) == wanted
    assert filled(wanted, ran) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 s", "13.5 s"),
        ("at byte 1,204", "at byte 7"),
        ("http://127.0.0.1:8735/a", "http://127.0.0.1:41000/a"),
        ("2026-01-02 03:04 UTC", "2025-11-12 13:14 UTC"),
    ],
)
def test_times_ports_and_places_are_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("12 segments", "13 segments"), ("0.95", "0.96"), ("1 site", "2 site"), ("a.tsv", "b.tsv")],
)
def test_nothing_else_is_the_same(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_what_a_display_erases_is_not_on_the_screen() -> None:
    drawn = "pages 1\r\nqueue 2\r\x1b[2K\x1b[1A\x1b[2Kdone\r\n"
    assert on_screen(drawn) == "done"


def test_block_must_begin_with_a_command() -> None:
    with pytest.raises(ValueError, match="begins with no command"):
        commands("output\n$ true\n")
