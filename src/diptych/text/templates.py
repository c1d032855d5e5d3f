"""Templates: texts of a site that differ from many others only in a name, number or address."""

from __future__ import annotations

import re

from diptych.text.digests import signed_hash

# An e-mail address begins where its letters do, or a search in long texts would be quadratic.
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+|(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
"""a URL or an e-mail address"""
SLOT = "\0"
"""replaces what varies in a template"""
_MAX_LENGTH = 300  # characters; longer texts are not templates
_TOKEN = re.compile(rf"{SLOT}|[^\W_]+(?:['’.-][^\W_]+)*")


def template_key(left: str, right: str) -> int:
    """A hash of two texts without names, numbers and addresses; 0 if nothing is left or left out.

    A word that both texts contain counts as a name.  Texts with the same key are made from one
    template.

    >>> one = template_key("Square tag Cloudy Fever", "Etiqueta cuadrada Cloudy Fever")
    >>> one == template_key("Square tag Ghoul", "Etiqueta cuadrada Ghoul") != 0
    True
    >>> template_key("Contact us", "Contacto"), template_key("Ghoul 2018", "Ghoul, 2018")
    (0, 0)
    """
    if len(left) > _MAX_LENGTH or len(right) > _MAX_LENGTH:
        return 0
    ours, theirs = (_TOKEN.findall(ADDRESS.sub(SLOT, text).casefold()) for text in (left, right))
    shared = {*ours} & {*theirs}
    masked = [_masked(tokens, shared) for tokens in (ours, theirs)]
    if any(SLOT not in tokens for tokens in masked) or masked == [[SLOT], [SLOT]]:
        return 0
    return signed_hash("\n".join(map(" ".join, masked)).encode("utf-8", "surrogatepass")) or 1


def _masked(tokens: list[str], shared: set[str]) -> list[str]:
    """Replace each run of shared tokens, numbers and addresses by a slot."""
    found: list[str] = []
    for token in tokens:
        if token not in shared and token != SLOT and not any(map(str.isdigit, token)):
            found.append(token)
        elif not found or found[-1] != SLOT:
            found.append(SLOT)
    return found
