-- A site is a private domain (a.blogspot.com, not blogspot.com); an IP address is its own site.
-- common_crawl.py fills in the text in braces.
WITH wanted AS (
    SELECT unnest($codes) AS code, unnest($numbers) AS number
), hosts AS MATERIALIZED (
    SELECT {domain} AS domain, url_host_name AS host,
           split_part(content_languages, ',', 1) AS code, count(*) AS pages
    FROM {scan} WHERE {condition} GROUP BY ALL
), platforms AS (
    SELECT domain FROM hosts GROUP BY domain HAVING count(DISTINCT host) >= $many
), places AS MATERIALIZED (
    SELECT CASE WHEN platforms.domain IS NULL THEN hosts.domain ELSE host END AS site,
           host, code, pages
    FROM hosts LEFT JOIN platforms USING (domain)
), enough AS (
    SELECT site, number FROM places JOIN wanted USING (code)
    GROUP BY site, number HAVING sum(pages) >= $at_least
), members AS MATERIALIZED (
    SELECT DISTINCT site, host FROM places SEMI JOIN (
        SELECT site FROM enough GROUP BY site HAVING count(*) >= 2
    ) USING (site)
), contents AS MATERIALIZED (
    SELECT site, split_part(content_languages, ',', 1) AS code,
           -- Copies under several URLs count once, as do pages that were fetched several times.
           least(count(DISTINCT hash(coalesce(content_digest, url))),
                 count(DISTINCT hash(url[position('://' IN url):]))) AS pages,
           -- The home page, else the shortest URL; https is preferred.
           min({{'deep': url LIKE '%://%/_%', 'length': length(url) - position('://' IN url),
                 'is_open': NOT starts_with(url, 'https'), 'url': url}}) AS first
    FROM {scan} JOIN members ON url_host_name = host WHERE {condition} GROUP BY ALL
), counts AS (
    SELECT site, number, sum(pages)::BIGINT AS pages
    FROM contents JOIN wanted USING (code) GROUP BY site, number
), ranked AS (
    SELECT site, list(number) AS numbers, list(pages) AS pages,
           list_reverse_sort(list(pages)) AS best
    FROM counts GROUP BY site
), totals AS (
    SELECT site, sum(pages)::BIGINT AS total, min(first).url AS start
    FROM contents GROUP BY site
)
SELECT site, start, numbers, pages, total, best[2] * sqrt(best[2] / best[1]) AS score
FROM ranked JOIN totals USING (site)
WHERE best[2] >= $at_least ORDER BY score DESC, site LIMIT $limit
