"""Caches keyed by text with a limit in bytes, because a page may have thousands of long texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

_ENTRY = 160  # bytes of an entry apart from its characters: string object, dict slot, number
# When the map is full, one new value in _ONE_IN is stored.  If N texts are looked up in turn and C
# fit, C of N lookups hit up to N = 16 C; values no longer looked up are gone after 16 C misses.
_ONE_IN = 16

_Value = TypeVar("_Value")


class TextMap(dict[str, _Value]):
    """A dict keyed by text that is cleared when it exceeds its maximum size in bytes.

    Lookups are as fast as in a plain dict.
    """

    def __init__(self, max_bytes: int, *, per_entry: int = 0, per_character: int = 1) -> None:
        super().__init__()
        self._max_bytes = max_bytes
        self._per_entry = _ENTRY + per_entry
        self._per_character = per_character
        self.bytes = 0
        """estimated size of the entries, including values"""

    def keep(self, text: str, value: _Value) -> _Value:
        """Store a value for a text, and return the value."""
        if text not in self:
            size = self._per_entry + self._per_character * len(text)
            if self.bytes + size > self._max_bytes:
                self.clear()
            if size > self._max_bytes:
                return value
            self.bytes += size
        self[text] = value
        return value

    def keep_all(self, texts: Sequence[str], values: Iterable[_Value]) -> None:
        """Store the values of texts that are missing; if there is no room, those before go."""
        size = self._per_entry * len(texts) + self._per_character * sum(map(len, texts))
        if self.bytes + size > self._max_bytes:
            self.clear()
        if size <= self._max_bytes:
            self.bytes += size
            self.update(zip(texts, values, strict=True))

    def clear(self) -> None:
        """Remove all entries."""
        super().clear()
        self.bytes = 0


class TextCache(TextMap[_Value]):
    """A cache for a function of a text: `cache[text]` calls the function if the text is missing."""

    def __init__(
        self,
        function: Callable[[str], _Value],
        max_bytes: int,
        *,
        per_entry: int = 0,
        per_character: int = 1,
        together: Callable[[Sequence[str]], Iterable[_Value]] | None = None,
    ) -> None:
        """Create a cache; `together`, if given, computes the values of many texts faster."""
        super().__init__(max_bytes, per_entry=per_entry, per_character=per_character)
        self._function = function
        self._together = together or functools.partial(map, function)

    def read(self, texts: Iterable[str]) -> None:
        """Compute the values of the texts that are missing, all at once."""
        if missing := list({text for text in texts if text not in self}):
            self.keep_all(missing, self._together(missing))

    def __missing__(self, text: str) -> _Value:
        return self.keep(text, self._function(text))


class LastingMap(Generic[_Value]):
    """A bounded cache of expensive values, for texts that are looked up in a cycle.

    When the cache is full, only one in `_ONE_IN` new values replaces the oldest values, and the
    other new values are not stored.  If every new value were stored, each would be dropped before
    its next lookup.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: dict[str, tuple[_Value, int]] = {}
        self._without_room = 0
        self.bytes = 0
        """estimated size of the entries"""

    def get(self, text: str) -> _Value | None:
        """The value stored for a text, or None."""
        held = self._held.get(text)
        return held[0] if held else None

    def keep(self, text: str, value: _Value, size: int) -> _Value:
        """Store a value of `size` bytes, and return it; a full cache does not store every value."""
        self._drop(text)
        size += _ENTRY + len(text)
        if self.bytes + size > self._max_bytes:
            self._without_room += 1
            if size > self._max_bytes or self._without_room % _ONE_IN:
                return value
        while self.bytes + size > self._max_bytes:
            self._drop(next(iter(self._held)))
        self._held[text] = value, size
        self.bytes += size
        return value

    def _drop(self, text: str) -> None:
        if text in self._held:
            self.bytes -= self._held.pop(text)[1]
