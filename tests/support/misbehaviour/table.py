"""The table of all misbehaviours."""

from __future__ import annotations

from support.misbehaviour import bodies, connections, places, sites
from support.misbehaviour.row import Misbehaviour

TABLE: tuple[Misbehaviour, ...] = (
    *connections.ROWS, *bodies.ROWS, *places.ROWS, *sites.ROWS,
)  # fmt: skip
