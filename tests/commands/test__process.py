"""Signal handlers and garbage collection in the process of a command."""

from __future__ import annotations

import gc
import signal
import threading

from diptych.commands._process import BriefCollections, Terminated, on_signal, orderly_termination


def test_signal_handler_is_restored_after_the_context():
    before, seen = signal.getsignal(signal.SIGUSR1), []
    with on_signal(signal.SIGUSR1, lambda: seen.append(1)):
        signal.raise_signal(signal.SIGUSR1)
    assert seen == [1]
    assert signal.getsignal(signal.SIGUSR1) is before


def test_other_thread_changes_no_signal():
    seen = []

    def watch() -> None:
        with on_signal(signal.SIGUSR1, lambda: None), orderly_termination():
            seen.append([signal.getsignal(each) for each in (signal.SIGUSR1, signal.SIGTERM)])

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [[signal.SIG_DFL, signal.SIG_DFL]]


def test_termination_closes_open_resources_first(monkeypatch):
    steps = []
    monkeypatch.setattr(
        "diptych.commands._process.signal.raise_signal",
        lambda number: steps.append((number, signal.getsignal(number))),
    )
    with orderly_termination():
        try:
            signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
        except Terminated:
            steps.append("left in order")
            raise
    assert steps == ["left in order", (signal.SIGTERM, signal.SIG_DFL)]


def test_existing_signal_handler_is_kept():
    def own(number, frame):
        seen.append(number)

    seen: list[int] = []
    signal.signal(signal.SIGTERM, own)
    try:
        with orderly_termination():
            signal.raise_signal(signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Ring:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.own = self


def test_garbage_collection_is_restored_after_a_crawl():
    usual = gc.get_threshold()
    with BriefCollections():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[:2] == usual[:2]
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0


def test_garbage_is_collected_during_a_crawl():
    with BriefCollections() as garbage:
        garbage.collect_if_due(lambda: 1.0)
        Ring()
        before = sum(isinstance(each, Ring) for each in gc.get_objects())
        garbage.collect_if_due(lambda: 1.5)
        between = sum(isinstance(each, Ring) for each in gc.get_objects())
        garbage.collect_if_due(lambda: 2.0)
        after = sum(isinstance(each, Ring) for each in gc.get_objects())
    assert (before, between, after) == (1, 1, 0)
