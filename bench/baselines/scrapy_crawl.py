"""A Scrapy spider that follows every link of a site and stores nothing.

    python -m bench.baselines.scrapy_crawl URL [CONNECTIONS [JOBDIR]]

With JOBDIR Scrapy keeps its queue and the URLs it has seen on disk, so that a crawl can be
resumed; without, in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from bench.support.arguments import crawl_arguments
from bench.support.processes import give_up

try:
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.http import HtmlResponse, Response
    from scrapy.linkextractors import LinkExtractor
except ImportError:
    give_up("this Python has no scrapy: pip install -r bench/requirements.txt")


class Links(Spider):  # type: ignore[misc]  # Scrapy is not type-checked
    """Follows the links of one host."""

    name = "links"

    def __init__(self, home: str) -> None:
        """Start at the home page."""
        super().__init__(start_urls=[home])
        self.extractor = LinkExtractor(allow_domains=[urlsplit(home).netloc])
        self.pages: set[str] = set()

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Note the page and ask for those it links to."""
        if isinstance(response, HtmlResponse):
            self.pages.add(response.url)
            for link in self.extractor.extract_links(response):
                yield Request(link.url)


def settings(connections: int, jobdir: str | None) -> dict[str, Any]:
    """Scrapy as its project template sets it up, but without delay, log and console."""
    chosen: dict[str, Any] = {
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": connections,
        "CONCURRENT_REQUESTS_PER_DOMAIN": connections,
        "LOG_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
    return chosen | ({"JOBDIR": jobdir} if jobdir else {})


def main() -> int:
    """Crawl the site given and print what was fetched in how many seconds, as JSON."""
    parser = crawl_arguments(__doc__)
    parser.add_argument("jobdir", nargs="?", help="keep the queue on disk, in this folder")
    options = parser.parse_args()
    process = CrawlerProcess(settings(options.connections, options.jobdir))
    crawler = process.create_crawler(Links)
    process.crawl(crawler, home=options.home)
    process.start()
    assert crawler.stats is not None
    assert isinstance(crawler.spider, Links)
    counts = crawler.stats.get_stats()
    print(
        json.dumps(
            {
                "pages": len(crawler.spider.pages),
                "requests": counts["downloader/request_count"],
                "seconds": counts["elapsed_time_seconds"],
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
