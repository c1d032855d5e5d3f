"""Sockets, threads and processes: fetching, replay of archives, worker processes."""
