-- SQL statements of `run` that take several lines, by name.

-- name: add_warc
INSERT INTO warcs (path, size) VALUES (?, ?) ON CONFLICT (path) DO NOTHING

-- name: whole_bytes
-- end of the last complete record in a WARC file that has become shorter
SELECT coalesce(max(offset + length) FILTER (WHERE offset + length <= ?2),
                min(offset) FILTER (WHERE offset <= ?2))
FROM fetches WHERE warc = ?1

-- name: queue_lost_urls
UPDATE urls SET state = 0, due = 0
WHERE key IN (SELECT url FROM fetches WHERE warc = ? AND offset + length > ?)

-- name: delete_lost_guides
-- these guides know lost pages; they are rebuilt from the others
DELETE FROM guides WHERE site IN
    (SELECT site FROM fetches WHERE warc = ? AND offset + length > ?)

-- name: delete_lost_journal
DELETE FROM journal WHERE site IN
    (SELECT site FROM fetches WHERE warc = ? AND offset + length > ?)

-- name: delete_lost_sitemaps
DELETE FROM open_sitemaps WHERE url IN
    (SELECT url FROM fetches WHERE warc = ? AND offset + length > ?)

-- name: delete_lost_pages
DELETE FROM pages WHERE warc = ? AND offset + length > ?

-- name: delete_lost_fetches
DELETE FROM fetches WHERE warc = ? AND offset + length > ?

-- name: has_copies
-- of records in remote archives
SELECT 1 FROM archive WHERE warc = ? AND EXISTS (SELECT 1 FROM warcs WHERE path LIKE '%://%')
LIMIT 1

-- name: forget_remote_archives
UPDATE warcs SET size = -1 WHERE path LIKE '%://%'

-- name: last_answer
-- 304 is a revisit record, without a body
SELECT warc, offset FROM fetches WHERE url = ? AND warc IS NOT NULL AND status != 304
ORDER BY id DESC LIMIT 1

-- name: last_good_answer
SELECT warc, offset FROM fetches
WHERE url = ? AND warc IS NOT NULL AND status = 200 AND reason = '' ORDER BY id DESC LIMIT 1

-- name: sketches
SELECT urls.url, data FROM sketches JOIN pages ON pages.url = sketches.url
JOIN urls ON urls.key = pages.url WHERE site = ? ORDER BY urls.url

-- name: pages_without_sketch
SELECT urls.url, langs FROM pages JOIN urls ON urls.key = pages.url
WHERE pages.url NOT IN (SELECT url FROM sketches) ORDER BY urls.url

-- name: titles
SELECT DISTINCT title FROM pages WHERE site = ?1 AND (?2 IS NULL OR lang = ?2)

-- name: links
SELECT urls.url, links FROM pages JOIN urls ON urls.key = pages.url
WHERE site = ? ORDER BY urls.url

-- name: save_fetch
INSERT INTO fetches (url, site, at, status, size, reason, warc, offset, length)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: alias_of
SELECT target.url FROM urls JOIN urls target ON target.key = urls.redirect
WHERE urls.key = ? AND urls.state = 6

-- name: redirects
SELECT s.key, t.url FROM urls s JOIN urls t ON t.key = s.redirect
JOIN hosts ON hosts.id = s.host WHERE hosts.site = ? AND s.redirect IS NOT NULL

-- name: site_pages
SELECT pages.url, digest, lang, langs, title, canonical, text_key, fetched_at, warc, offset, length(data)
FROM pages LEFT JOIN sketches ON sketches.url = pages.url WHERE site = ?

-- name: site_announced
SELECT source, target, hreflang FROM announced WHERE site = ?

-- name: make_current_pairs
CREATE TEMP TABLE IF NOT EXISTS current_pairs
    (left INTEGER, right INTEGER, left_lang TEXT, right_lang TEXT)

-- name: delete_other_pairs
DELETE FROM pairs WHERE site = ? AND (left, right, left_lang, right_lang)
    NOT IN (SELECT left, right, left_lang, right_lang FROM current_pairs)

-- name: other_pairs
SELECT id FROM pairs WHERE site = ? AND (left, right, left_lang, right_lang)
    NOT IN (SELECT left, right, left_lang, right_lang FROM current_pairs)

-- name: save_pairs
INSERT INTO pairs (site, left, right, left_lang, right_lang, score, evidence, scores)
VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (left, right, left_lang, right_lang) DO UPDATE
SET score = excluded.score, evidence = excluded.evidence, scores = excluded.scores

-- name: add_pair
INSERT OR IGNORE INTO pairs (site, left, right, left_lang, right_lang, score, evidence)
VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: pair_id
SELECT id FROM pairs WHERE left = ? AND right = ? AND left_lang = ? AND right_lang = ?

-- name: pair_langs
SELECT DISTINCT left_lang, right_lang FROM pairs ORDER BY left_lang, right_lang

-- name: pair_order
SELECT pairs.id FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
ORDER BY l.url, r.url, left_lang, right_lang

-- name: save_segment_texts
INSERT OR IGNORE INTO segment_texts (id, key, left_key, right_key, left, right)
VALUES (?, ?, ?, ?, ?, ?)

-- name: save_occurrences
INSERT INTO occurrences
    (pair, position, accept, text, reason, score, judged, alignment, partial, flags,
     left_path, right_path, left_at, right_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: delete_unused_texts
DELETE FROM segment_texts WHERE id NOT IN (SELECT text FROM occurrences)

-- name: learning_pages
SELECT urls.url, digest FROM pages JOIN urls ON urls.key = pages.url ORDER BY 1

-- name: learning_redirects
SELECT s.url, t.url FROM urls s JOIN urls t ON t.key = s.redirect ORDER BY 1

-- name: learning_announced
SELECT source, target, hreflang FROM announced ORDER BY 1, 2, 3

-- name: doubtful_sites
-- sites with many sketched pages that are in no certain pair, compared with their sure pairs
SELECT pages.site FROM sketches JOIN pages ON pages.url = sketches.url
WHERE sketches.url NOT IN
    (SELECT left FROM pairs WHERE score >= ?1 UNION SELECT right FROM pairs WHERE score >= ?1)
GROUP BY pages.site
HAVING count(*) > ?3 * (SELECT count(*) FROM pairs WHERE pairs.site = pages.site AND score >= ?2)
ORDER BY pages.site

-- name: pairs_to_learn_from
SELECT l.url, r.url, left_lang, right_lang, pairs.score, evidence,
       min(a.text_length, b.text_length)
FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
JOIN pages a ON a.url = pairs.left JOIN pages b ON b.url = pairs.right
WHERE left_lang = ? AND right_lang = ? AND pairs.score >= ? ORDER BY l.url, r.url

-- name: pair_ids_to_align
SELECT pairs.id FROM pairs LEFT JOIN sites ON sites.id = pairs.site
JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
LEFT JOIN decisions ON decisions.pair = pairs.id
WHERE decisions.pair IS NULL OR NOT aligned
ORDER BY sites.name, l.url, r.url, left_lang, right_lang

-- name: pairs_by_id
SELECT pairs.id, pairs.site,
       coalesce(lp.text_length, 0) + coalesce(rp.text_length, 0),
       l.url, r.url, left_lang, right_lang, score, evidence, scores
FROM json_each(?) wanted CROSS JOIN pairs ON pairs.id = wanted.value
CROSS JOIN urls l ON l.key = pairs.left CROSS JOIN urls r ON r.key = pairs.right
LEFT JOIN pages lp ON lp.url = pairs.left LEFT JOIN pages rp ON rp.url = pairs.right
ORDER BY wanted.key

-- name: verified_pair
SELECT left_lang, right_lang, evidence, d.score, d.marks,
       lu.url, lp.title, lp.fetched_at, lp.digest, lw.path, lp.offset, lp.flags, lp.warc,
       coalesce(lv.seen_at, lp.fetched_at),
       ru.url, rp.title, rp.fetched_at, rp.digest, rw.path, rp.offset, rp.flags, rp.warc,
       coalesce(rv.seen_at, rp.fetched_at)
FROM pairs JOIN decisions d ON d.pair = pairs.id
JOIN urls lu ON lu.key = pairs.left JOIN urls ru ON ru.key = pairs.right
JOIN pages lp ON lp.url = pairs.left JOIN pages rp ON rp.url = pairs.right
JOIN warcs lw ON lw.id = lp.warc JOIN warcs rw ON rw.id = rp.warc
LEFT JOIN visits lv ON lv.url = pairs.left LEFT JOIN visits rv ON rv.url = pairs.right
WHERE pairs.id = ? AND d.accept

-- name: verified_ends
SELECT pairs.id, left, right FROM pairs JOIN decisions ON pair = pairs.id WHERE decisions.accept

-- name: segments_to_score
SELECT id, judged, key, left_key, right_key, partial FROM sound_segments
WHERE pair = ? AND key IS NOT NULL ORDER BY position

-- name: segment_texts
SELECT pairs.site, s.left, s.right FROM json_each(?) wanted
CROSS JOIN segments s ON s.id = wanted.value CROSS JOIN pairs ON pairs.id = s.pair
ORDER BY wanted.key

-- name: save_segment_scores
UPDATE occurrences SET score = ?1, accept = ?2, reason = ?3, copies = ?4
WHERE id = ?5 AND (score, accept, reason, copies) IS NOT (?1, ?2, ?3, ?4)

-- name: unmarked_duplicates
SELECT count(*) - count(DISTINCT key) FROM sound_segments
WHERE reason != ? AND key IS NOT NULL

-- name: chosen_segments
SELECT key, left, right, left_path, right_path, left_at, right_at, score, alignment, flags, copies,
       first_seen
FROM sound_segments WHERE pair = ? AND score >= ? AND reason IS NOT ? AND reason IS NOT ?
ORDER BY position

-- name: all_segments
SELECT left, right, left_path, right_path, left_at, right_at, score, reason
FROM segments WHERE pair = ? ORDER BY position

-- name: kept_segment
SELECT s.left, s.right, left_lang, right_lang, l.url, r.url, left_path, right_path, s.score
FROM kept_segments s JOIN pairs ON pairs.id = s.pair
JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
WHERE s.pair = ? ORDER BY position LIMIT 1 OFFSET ?

-- name: save_archived_answer
INSERT INTO archive (key, url, warc, offset, page) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET warc = excluded.warc, offset = excluded.offset, page = excluded.page
WHERE excluded.page >= page

-- name: queue_urls_by_reason
UPDATE urls SET state = 0, due = 0, attempts = 0 WHERE reason = ?

-- name: save_index_block
INSERT OR REPLACE INTO index_blocks (crawl, site, number, file, offset, length)
VALUES (?, ?, ?, ?, ?, ?)

-- name: unread_index_blocks
SELECT file, offset, length FROM index_blocks
WHERE crawl = ? AND site = ? AND NOT is_read ORDER BY number

-- name: mark_index_block
UPDATE index_blocks SET is_read = 1
WHERE crawl = ? AND site = ? AND file = ? AND offset = ? AND length = ?

-- name: save_capture
-- the last capture of a URL is kept, unless the record of another one has been copied
INSERT INTO captures (key, site, depth, url, at, lang, digest, file, offset, length)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
SET at = excluded.at, lang = excluded.lang, digest = excluded.digest, file = excluded.file,
    offset = excluded.offset, length = excluded.length, reason = ''
WHERE (excluded.at, excluded.file, excluded.offset) > (at, file, offset)
    AND key NOT IN (SELECT key FROM archive)

-- name: count_skipped_captures
INSERT INTO skipped_captures (site, reason, count) VALUES (?, ?, ?)
ON CONFLICT (site, reason) DO UPDATE SET count = count + excluded.count

-- name: make_wanted
CREATE TEMP TABLE IF NOT EXISTS wanted
    (url TEXT, at TEXT, lang TEXT, digest TEXT, file TEXT, offset INTEGER, length INTEGER)

-- name: choose_captures
INSERT INTO temp.wanted
WITH turns AS (
    SELECT *, row_number() OVER (
        PARTITION BY site, lang ORDER BY depth, length(url), url
    ) AS turn FROM captures
), places AS (
    SELECT *, row_number() OVER (PARTITION BY site ORDER BY turn, lang) AS place FROM turns
)
SELECT url, at, lang, digest, file, offset, length FROM places
WHERE (?1 < 0 OR place <= ?1) AND reason = '' AND key NOT IN (SELECT key FROM archive)
ORDER BY file, offset

-- name: wanted_captures
SELECT url, at, lang, digest, file, offset, length, rowid FROM temp.wanted
WHERE rowid > ? ORDER BY rowid LIMIT ?

-- name: downloads_of_kind
SELECT count(*) FROM fetches JOIN urls ON urls.key = fetches.url
WHERE fetches.status > 0 AND kind = ?

-- name: downloads_by_kind
-- reason.DownloadKind, or the reason why there is no page; with downloads and distinct URLs
SELECT CASE WHEN urls.kind = 1 THEN 'robots.txt'
            WHEN urls.kind = 2 AND fetches.reason != '' THEN 'missing_sitemap'
            WHEN fetches.reason != '' THEN fetches.reason
            WHEN fetches.status IN (301, 302, 303, 307, 308) THEN 'redirect'
            WHEN fetches.status = 304 THEN 'not_modified'
            WHEN fetches.status != 200 THEN 'http_' || fetches.status
            WHEN urls.kind = 2 THEN 'sitemap'
            WHEN pages.url IS NOT NULL THEN 'page'
            WHEN urls.redirect IS NOT NULL OR urls.reason = ? THEN 'refresh'
            ELSE 'other' END AS what,
       count(*), count(DISTINCT fetches.url)
FROM fetches LEFT JOIN urls ON urls.key = fetches.url LEFT JOIN pages ON pages.url = fetches.url
WHERE fetches.status > 0 GROUP BY what

-- name: pages_by_language
-- all pages, distinct ones, and those of them in no pair; pages with the same text are one
-- (page.distinct.content_of), in the language of any of them that has one
WITH paired (url) AS MATERIALIZED (SELECT left FROM pairs UNION SELECT right FROM pairs),
texts AS (
    SELECT max(lang) AS lang, count(*) AS pages, max(url IN paired) AS is_paired FROM pages
    GROUP BY site, text_key,
             CASE WHEN text_key != 0 THEN '' WHEN digest != '' THEN digest ELSE url END
)
SELECT lang, sum(pages), count(*), sum(NOT is_paired) FROM texts GROUP BY lang

-- name: faults
-- reasons of URLs that failed (3) or were refused (4)
SELECT reason, count(*) FROM urls WHERE state IN (3, 4) AND reason != '' GROUP BY reason

-- name: skipped_urls
-- those that were never asked for
SELECT reason, count(*) FROM urls WHERE state = 4 AND reason != '' GROUP BY reason

-- name: unanswered_urls
-- those that failed without any answer
SELECT reason, count(*) FROM urls
WHERE state = 3 AND reason != '' AND coalesce(status, 0) = 0 GROUP BY reason

-- name: aliases
-- reasons of URLs that are aliases (6)
SELECT reason, count(*) FROM urls WHERE state = 6 AND typeof(reason) = 'text' GROUP BY reason

-- name: alias_counts
-- how often a rule held and was broken in the given scopes; damaged rows are ignored
SELECT scope, moved + same, broken FROM alias_rules
WHERE rule = ? AND scope IN (SELECT value FROM json_each(?))
    AND typeof(moved) = 'integer' AND moved BETWEEN 0 AND 1000000000
    AND typeof(same) = 'integer' AND same BETWEEN 0 AND 1000000000
    AND typeof(broken) = 'integer' AND broken BETWEEN 0 AND 1000000000

-- name: scripted_pages
-- by site; flags are stored after the long column links, so only pages with little text are read
SELECT name, sum(text_length < ?1 AND ' ' || flags || ' ' LIKE '% ' || ?2 || ' %') AS scripted,
       count(*) FROM pages JOIN sites ON sites.id = pages.site
GROUP BY site HAVING scripted > 0 ORDER BY site

-- name: declarations
SELECT name, kind, checked, wrong, said, declarations.found
FROM declarations JOIN sites ON sites.id = declarations.site ORDER BY site, kind

-- name: aligned_pairs
SELECT count(*) FROM pairs JOIN decisions ON pair = pairs.id WHERE aligned AND accept

-- name: unaligned_pairs
SELECT count(*) FROM pairs LEFT JOIN decisions ON pair = pairs.id
WHERE decisions.pair IS NULL OR NOT aligned

-- name: page_flags
SELECT flags, count(*) FROM pages WHERE url IN
    (SELECT left FROM pairs JOIN decisions ON pair = pairs.id WHERE accept
     UNION SELECT right FROM pairs JOIN decisions ON pair = pairs.id WHERE accept)
GROUP BY flags

-- name: verified_by_languages
SELECT left_lang, right_lang, count(*),
       sum((SELECT count(*) FROM kept_segments WHERE kept_segments.pair = pairs.id))
FROM pairs JOIN decisions ON decisions.pair = pairs.id WHERE decisions.accept
GROUP BY left_lang, right_lang

-- name: found_at
-- The first response of a URL that is a page counts; its other responses are no pages.
WITH downloads AS MATERIALIZED (
    SELECT url, status, reason, row_number() OVER (ORDER BY id) AS number
    FROM fetches WHERE status > 0
), arrived AS MATERIALIZED (
    SELECT url, min(number) AS number
    FROM downloads WHERE status = 200 AND reason = '' GROUP BY url
)
SELECT max(one.number, other.number) AS number
FROM decisions JOIN pairs ON pairs.id = decisions.pair
JOIN arrived AS one ON one.url = pairs.left
JOIN arrived AS other ON other.url = pairs.right
WHERE decisions.accept ORDER BY number

-- name: score_histogram
SELECT min(?1 - 1, CAST(score * ?1 AS INTEGER)), sum(accept), count(*)
FROM sound_segments WHERE reason NOT IN (?2, ?3) GROUP BY 1

-- name: url_facts
SELECT urls.state, urls.depth, urls.status, urls.reason,
       CASE WHEN urls.redirect IS NOT NULL THEN coalesce(target.url, '?') END,
       urls.attempts, urls.turn, urls.priority
FROM urls LEFT JOIN urls target ON target.key = urls.redirect WHERE urls.key = ?1

-- name: page_facts
SELECT lang, langs, title, pages.size, text_length, html_lang, content_language, canonical,
       fetched_at, path, offset, digest, flags, site
FROM pages JOIN warcs ON warcs.id = pages.warc WHERE url = ?

-- name: pair_facts
SELECT l.url, r.url, pairs.score, evidence, scores,
       decisions.accept, decisions.score, decisions.reason, decisions.marks,
       (SELECT count(*) FROM kept_segments WHERE kept_segments.pair = pairs.id)
FROM pairs JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
LEFT JOIN decisions ON decisions.pair = pairs.id

-- name: segments_between
SELECT segments.reason, count(*), avg(segments.score) FROM segments
JOIN pairs ON pairs.id = segments.pair
WHERE (pairs.left, pairs.right) IN ((?1, ?2), (?2, ?1))
GROUP BY segments.reason ORDER BY count(*) DESC, segments.reason

-- name: outlook
SELECT sum(found), sum(left) FROM sites WHERE
    typeof(found) = 'real' AND typeof(left) = 'real' AND abs(found) < 9e999 AND abs(left) < 9e999

-- name: outlooks
SELECT id, found, left FROM sites WHERE
    typeof(found) = 'real' AND typeof(left) = 'real' AND abs(found) < 9e999 AND abs(left) < 9e999

-- name: begin_guide
INSERT INTO guides (site, maker, data) VALUES (?1, ?2, x'') ON CONFLICT (site) DO NOTHING

-- name: save_guide
INSERT INTO guides (site, maker, data) VALUES (?1, ?2, ?3) ON CONFLICT (site)
DO UPDATE SET maker = excluded.maker, data = excluded.data

-- name: site_history
-- outcome of each requested URL, in the order of the last responses
SELECT urls.url, urls.kind, urls.state, urls.reason, target.url, target.state, pages.url IS NOT NULL
FROM (SELECT url, max(id) AS id FROM fetches WHERE site = ? GROUP BY url) AS asked
JOIN urls ON urls.key = asked.url LEFT JOIN urls target ON target.key = urls.redirect
LEFT JOIN pages ON pages.url = urls.key ORDER BY asked.id

-- name: site_decisions
SELECT l.url, r.url, left_lang, right_lang, pairs.score, evidence, d.accept, d.score, d.reason
FROM pairs JOIN decisions d ON d.pair = pairs.id
JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right
WHERE pairs.site = ? ORDER BY pairs.id

-- name: make_set_aside_ids
CREATE TEMP TABLE IF NOT EXISTS set_aside_ids (id INTEGER PRIMARY KEY)

-- name: set_aside_pairs
-- the verified pairs that a query (its ids are in set_aside_ids) selects, with their places
INSERT OR IGNORE INTO vanished_pairs
    (left_lang, right_lang, evidence, score, marks,
     left_url, left_title, left_fetched, left_digest, left_path, left_offset, left_flags,
     left_warc, left_seen,
     right_url, right_title, right_fetched, right_digest, right_path, right_offset, right_flags,
     right_warc, right_seen)
SELECT left_lang, right_lang, evidence, d.score, d.marks,
       lu.url, lp.title, lp.fetched_at, lp.digest, lw.path, lp.offset, lp.flags, lp.warc,
       coalesce(lv.seen_at, lp.fetched_at),
       ru.url, rp.title, rp.fetched_at, rp.digest, rw.path, rp.offset, rp.flags, rp.warc,
       coalesce(rv.seen_at, rp.fetched_at)
FROM set_aside_ids CROSS JOIN pairs ON pairs.id = set_aside_ids.id
JOIN decisions d ON d.pair = pairs.id
JOIN urls lu ON lu.key = pairs.left JOIN urls ru ON ru.key = pairs.right
JOIN pages lp ON lp.url = pairs.left JOIN pages rp ON rp.url = pairs.right
JOIN warcs lw ON lw.id = lp.warc JOIN warcs rw ON rw.id = rp.warc
LEFT JOIN visits lv ON lv.url = pairs.left LEFT JOIN visits rv ON rv.url = pairs.right
WHERE d.accept AND EXISTS (SELECT 1 FROM occurrences WHERE pair = pairs.id AND accept)

-- name: set_aside_segments
INSERT OR IGNORE INTO vanished
    (text, pair, number, key, left, right, left_path, right_path, left_at, right_at, score,
     alignment, flags, copies, first_seen)
SELECT o.text, past.id, ?1, t.key, t.left, t.right, o.left_path, o.right_path, o.left_at,
       o.right_at, o.score, o.alignment, o.flags, o.copies, coalesce(t.first_seen, ?2)
FROM set_aside_ids CROSS JOIN pairs ON pairs.id = set_aside_ids.id
JOIN urls lu ON lu.key = pairs.left JOIN urls ru ON ru.key = pairs.right
JOIN pages lp ON lp.url = pairs.left JOIN pages rp ON rp.url = pairs.right
JOIN vanished_pairs past ON (left_url, left_warc, left_offset, right_url, right_warc, right_offset)
    = (lu.url, lp.warc, lp.offset, ru.url, rp.warc, rp.offset)
JOIN occurrences o ON o.pair = pairs.id AND o.accept
JOIN segment_texts t ON t.id = o.text

-- name: pairs_of_page
SELECT id FROM pairs WHERE left = ?1 UNION SELECT id FROM pairs WHERE right = ?1

-- name: stamp_segments
UPDATE segment_texts SET first_seen = ?
WHERE first_seen IS NULL AND id IN (SELECT text FROM occurrences WHERE accept)

-- name: new_segments
SELECT count(DISTINCT text) FROM occurrences JOIN segment_texts ON segment_texts.id = text
WHERE accept AND first_seen IS NULL

-- name: found_again
-- a segment that was found before, or whose near-duplicate was, keeps the earlier date
UPDATE segment_texts SET first_seen =
    (SELECT min(first_seen) FROM vanished WHERE vanished.key = segment_texts.key)
WHERE first_seen IS NULL AND key IN (SELECT key FROM vanished)
    AND id IN (SELECT text FROM occurrences WHERE accept)

-- name: forget_found
DELETE FROM vanished WHERE key IN
    (SELECT key FROM occurrences JOIN segment_texts ON segment_texts.id = text WHERE accept)

-- name: queue_pages
-- pages of verified pairs (1.0) come before other pages in a language (0.6) and the rest (0.3);
-- among them, those that have not been seen for longest
UPDATE urls SET state = 0, due = 0, attempts = 0, hops = 0, reason = '', kind = 0,
    turn = max(turn, 2),
    priority = (SELECT CASE WHEN urls.key IN temp.paired THEN 1.0 WHEN lang != '' THEN 0.6
                       ELSE 0.3 END + 0.1 * min(1.0, max(0.0, ?1 - coalesce(
                           (SELECT seen_at FROM visits WHERE visits.url = urls.key), fetched_at))
                           / 31536000.0)
                FROM pages WHERE pages.url = urls.key)
WHERE key IN (SELECT url FROM pages)

-- name: make_paired
CREATE TEMP TABLE paired AS
    SELECT left AS url FROM pairs JOIN decisions ON pair = pairs.id WHERE accept
    UNION SELECT right FROM pairs JOIN decisions ON pair = pairs.id WHERE accept

-- name: queue_others
-- robots.txt and sitemaps, what robots.txt forbade, and servers' and network faults
UPDATE urls SET state = 0, due = 0, attempts = 0, reason = ''
WHERE (kind IN (1, 2) AND host IN (SELECT id FROM hosts))
    OR (state = 4 AND reason = ?1) OR (state = 3 AND EXISTS (SELECT 1 FROM json_each(?2) WHERE value = reason))

-- name: unread_sitemaps
-- sitemaps that were not read in an update, and that may still be there
SELECT hosts.site, urls.url FROM urls JOIN hosts ON hosts.id = urls.host
WHERE kind = 2 AND (state IN (0, 1) OR (state = 3 AND reason NOT IN
    (SELECT value FROM json_each(?1))))

-- name: leave_pages
-- pages that were not visited again stay as they were
UPDATE urls SET state = 2 WHERE state IN (0, 1) AND key IN (SELECT url FROM pages)

-- name: save_visit
INSERT INTO visits (url, number, outcome, seen_at) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (url) DO UPDATE SET number = ?2, outcome = ?3, seen_at = coalesce(?4, seen_at)

-- name: listed_pages
-- queued pages among some URLs, with the last time that they were seen and how they were found then
SELECT urls.key, coalesce(seen_at, fetched_at), coalesce(outcome, '') FROM json_each(?1) listed
CROSS JOIN urls ON urls.key = listed.value JOIN pages ON pages.url = urls.key
LEFT JOIN visits ON visits.url = urls.key WHERE urls.state = 0

-- name: pages_left_out
UPDATE urls SET state = 2 WHERE key = ? AND state = 0

-- name: ask_left_out
UPDATE urls SET state = 0, due = 0, attempts = 0 WHERE key IN
    (SELECT visits.url FROM visits JOIN pages ON pages.url = visits.url
     WHERE number = ?1 AND outcome = ?2 AND site = ?3)

-- name: check_left_out
UPDATE visits SET outcome = ?1 WHERE number = ?2 AND outcome = ?3
    AND url IN (SELECT url FROM pages WHERE site = ?4)

-- name: ask_missing
-- URLs that had no page, and are now listed or linked again; each is asked for once
UPDATE urls SET state = 0, due = 0, attempts = 0, priority = max(priority, 0.3)
WHERE key IN (SELECT value FROM json_each(?1)) AND state = 3 AND kind = 0
    AND (reason = 'http_404' OR reason = 'http_410')
    AND key NOT IN (SELECT url FROM visits WHERE number = ?2)

-- name: ask_redirects
UPDATE urls SET state = 0, due = 0, attempts = 0, redirect = NULL
WHERE redirect = ?1 AND host IN (SELECT id FROM hosts WHERE site = ?3) AND state = 2 AND kind = 0
    AND key NOT IN (SELECT url FROM visits WHERE number = ?2)

-- name: whole_crawl
-- requests and bytes that a crawl of all pages, sitemaps and robots.txt would take
SELECT count(*), coalesce(sum(size), 0) FROM (
    SELECT max(fetches.id), fetches.size AS size FROM fetches JOIN urls ON urls.key = fetches.url
    LEFT JOIN pages ON pages.url = fetches.url
    WHERE fetches.status = 200 AND (pages.url IS NOT NULL OR kind IN (1, 2)) GROUP BY fetches.url)

-- name: vanished_segments
SELECT key, left, right, left_path, right_path, left_at, right_at, score, alignment, flags, copies,
       first_seen
FROM vanished WHERE pair = ? AND number IN (SELECT id FROM updates WHERE finished_at IS NOT NULL)
ORDER BY left_path, left_at, text

-- name: begin_update
INSERT INTO updates (started_at, first_fetch, pages, pairs, segments)
SELECT ?, (SELECT coalesce(max(id), 0) FROM fetches), (SELECT count(*) FROM pages),
       (SELECT count(*) FROM decisions WHERE accept), (SELECT count(*) FROM kept_segments)

-- name: visited_pages
SELECT hosts.site, count(*) FROM visits JOIN urls ON urls.key = visits.url
JOIN hosts ON hosts.id = urls.host WHERE number = ?
    AND outcome NOT IN (SELECT value FROM json_each(?)) GROUP BY hosts.site

-- name: last_update
SELECT id, started_at, last_fetch IS NOT NULL, first_fetch, coalesce(last_fetch, 1 << 62), pairs,
       coalesce(pairs_after, (SELECT count(*) FROM decisions WHERE accept)), segments,
       coalesce(segments_after, (SELECT count(*) FROM kept_segments)), new_segments
FROM updates ORDER BY id DESC LIMIT 1

-- name: end_update
UPDATE updates SET finished_at = ? WHERE finished_at IS NULL

-- name: settle_update
UPDATE updates SET last_fetch = (SELECT max(id) FROM fetches),
    pairs_after = (SELECT count(*) FROM decisions WHERE accept),
    segments_after = (SELECT count(*) FROM kept_segments)
WHERE finished_at IS NULL

-- name: visits_by_outcome
SELECT outcome, count(*) FROM visits WHERE number = ? GROUP BY outcome ORDER BY outcome

-- name: unvisited_pages
SELECT count(*) FROM pages WHERE url NOT IN (SELECT url FROM visits WHERE number = ?)

-- name: update_costs
SELECT coalesce(sum(status > 0), 0), coalesce(sum(size), 0) FROM fetches
WHERE id > ? AND id <= ?

-- name: last_download
SELECT coalesce((SELECT max(at) FROM fetches), (SELECT max(fetched_at) FROM pages), 0.0)

-- name: is_reading_sitemap
SELECT EXISTS (SELECT 1 FROM urls WHERE host IN (SELECT id FROM hosts WHERE site = ?)
               AND state = 1 AND kind = 2)

-- name: recorded_places
SELECT coalesce(offset, -1), urls.url FROM fetches JOIN urls ON urls.key = fetches.url WHERE warc = ?1
UNION SELECT offset, url FROM archive WHERE warc = ?1

-- name: page_places
-- with the number of its downloads since the last update began
SELECT u.url, pages.warc, path, pages.offset, digest,
       (SELECT count(*) FROM fetches WHERE fetches.url = pages.url AND status BETWEEN 200 AND 299
        AND reason = '' AND fetches.id > (SELECT coalesce(max(first_fetch), 0) FROM updates)),
       links, (SELECT data FROM sketches WHERE sketches.url = pages.url)
FROM pages JOIN urls u ON u.key = pages.url JOIN warcs ON warcs.id = pages.warc
ORDER BY pages.warc, pages.offset

-- name: count_pages_without_url
SELECT count(*) FROM pages WHERE url NOT IN (SELECT key FROM urls)

-- name: snapshots
SELECT name, data FROM guides JOIN sites ON sites.id = guides.site WHERE data != x''
