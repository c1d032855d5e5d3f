"""Sockets, threads and processes: fetching pages, replaying archives, running worker processes."""
