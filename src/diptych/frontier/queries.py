"""SQL statements for the frontier, read from `queries.sql`."""

from __future__ import annotations

from diptych.run.queries import read_queries

SQL = read_queries("diptych.frontier")
