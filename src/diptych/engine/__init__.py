"""Code that uses sockets, threads or processes: fetching pages, replaying archives, workers."""
