"""The least a crawler can do: fetch, find links, follow those not seen. Nothing is stored.

python -m bench.baselines.bare_crawl URL [CONNECTIONS]
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, field
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from bench.support.arguments import crawl_arguments


@dataclass
class Tally:
    """What a crawl has seen so far."""

    seen: set[str] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    requests: int = 0
    bytes: int = 0
    links: int = 0


def links_of(body: bytes, url: str) -> tuple[int, set[str]]:
    """Count the links of a page and collect the distinct URLs they lead to."""
    hrefs = [node.attributes["href"] or "" for node in LexborHTMLParser(body).css("a[href]")]
    bare = {urldefrag(href).url for href in hrefs}
    return len(hrefs), {_join(url, href) for href in bare}


def _join(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:  # not a URL at all, such as http://[
        return url


async def work(
    session: aiohttp.ClientSession, queue: asyncio.Queue[str], tally: Tally, site: str
) -> None:
    """Fetch from the queue and put the new links of the same host into it."""
    while True:
        async with session.get(URL(await queue.get(), encoded=True)) as response:
            body = await response.read()
        tally.requests += 1
        url = str(response.url)
        if response.status == 200 and "html" in response.content_type and url not in tally.pages:
            tally.pages.add(url)
            tally.bytes += len(body)
            count, links = links_of(body, url)
            tally.links += count
            for link in links:
                if link not in tally.seen and link.startswith(site):
                    tally.seen.add(link)
                    queue.put_nowait(link)
        queue.task_done()


async def crawl(home: str, connections: int) -> Tally:
    """Crawl a site to its end."""
    tally = Tally(seen={home})
    queue: asyncio.Queue[str] = asyncio.Queue()
    queue.put_nowait(home)
    parts = urlsplit(home)
    site = f"{parts.scheme}://{parts.netloc}/"
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        workers = [group.create_task(work(session, queue, tally, site)) for _ in range(connections)]
        await queue.join()
        for worker in workers:
            worker.cancel()
    return tally


def main() -> int:
    """Crawl the site given and print what was fetched in how many seconds, as JSON."""
    options = crawl_arguments(__doc__).parse_args()
    start = time.perf_counter()
    tally = asyncio.run(crawl(options.home, options.connections))
    seconds = time.perf_counter() - start
    counts = {
        name: len(value) if isinstance(value, set) else value
        for name, value in asdict(tally).items()
    }
    print(json.dumps(counts | {"seconds": seconds}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
