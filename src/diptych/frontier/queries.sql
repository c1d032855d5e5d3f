-- SQL statements of `frontier` that take several lines, by name.

-- name: add_url
INSERT INTO urls (key, url, host, kind, turn, state, depth, priority, hops, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (key) DO UPDATE SET
    kind = excluded.kind, turn = excluded.turn, priority = excluded.priority,
    depth = CASE WHEN ?11 THEN depth ELSE min(depth, excluded.depth) END
WHERE excluded.state = 0 AND urls.state = 0
    AND (excluded.turn < urls.turn
         OR (excluded.turn = urls.turn AND (excluded.priority > urls.priority OR ?11)))

-- name: add_alias
INSERT INTO urls (key, url, host, kind, turn, depth, priority, reason, redirect, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 6)
ON CONFLICT (key) DO UPDATE SET state = 6, reason = excluded.reason, redirect = excluded.redirect
WHERE urls.state = 0

-- name: aliases_by_rule
-- aliases of a site; the reason is `alias ` followed by the rules, separated by ` + `
SELECT key, url, host FROM urls
WHERE state = 6 AND host IN (SELECT id FROM hosts WHERE site = ?1)
    AND instr(' + ' || substr(reason, 7) || ' + ', ' + ' || ?2 || ' + ')
ORDER BY id

-- name: aliases_of_url
SELECT key, url, host FROM urls
WHERE state = 6 AND host IN (SELECT id FROM hosts WHERE site = ?1) AND redirect = ?2
ORDER BY id

-- name: undo_alias
UPDATE urls SET state = 0, due = 0, reason = '', redirect = NULL,
    priority = priority - abs(priority) * (1 - ?)
WHERE key = ?

-- name: alias_rules
-- damaged rows are ignored
SELECT scope, rule, moved, same, broken FROM alias_rules
WHERE typeof(scope) = 'text' AND typeof(rule) = 'text'
    AND typeof(moved) = 'integer' AND moved BETWEEN 0 AND 1000000000
    AND typeof(same) = 'integer' AND same BETWEEN 0 AND 1000000000
    AND typeof(broken) = 'integer' AND broken BETWEEN 0 AND 1000000000
LIMIT ?

-- name: queued_pages
SELECT url, depth, priority FROM urls WHERE host = ? AND state = 0 AND turn = 4 ORDER BY id

-- name: queued_priorities
SELECT priority, key, host FROM urls WHERE host = ? AND state = 0 AND turn = 4

-- name: save_sample
INSERT OR REPLACE INTO samples (site, drawn, samples, downloads) VALUES (?, ?, ?, ?)

-- name: best_priority
SELECT turn, priority FROM urls WHERE host = ? AND state = 0 AND kind = 0 AND due <= ?
ORDER BY turn, priority DESC LIMIT 1

-- name: next_url
SELECT id, url, host, turn, depth, priority, hops, attempts FROM urls
WHERE host = ? AND state = 0 AND due <= ? ORDER BY turn, priority DESC, id LIMIT 1

-- name: unfinished_urls
SELECT EXISTS (SELECT 1 FROM urls WHERE host = ?1 AND state = 0)
    OR EXISTS (SELECT 1 FROM urls WHERE host = ?1 AND state = 1)

-- name: queued_url
SELECT id, url, host, turn, depth, priority, hops, attempts FROM urls WHERE key = ? AND state = 0

-- name: claim_url
UPDATE urls SET state = 1, attempts = attempts + 1 WHERE id = ?

-- name: end_claim
UPDATE urls SET state = ?, status = ?, reason = ?, due = ?, redirect = ?
WHERE id = ? AND state = 1

-- name: refuse_claim
UPDATE urls SET state = 4, reason = ?, attempts = attempts - 1 WHERE id = ?

-- name: give_back_claim
UPDATE urls SET state = 0, due = 0, attempts = attempts - 1 WHERE id = ?

-- name: queue_faults
-- pages that could not be read (`failed:` and the type of a fault); `;` is the character after `:`
UPDATE urls SET state = 0, due = 0, attempts = 0
WHERE state = 3 AND reason >= 'failed:' AND reason < 'failed;'

-- name: give_back_all_claims
UPDATE urls SET state = 0, due = 0, attempts = attempts - 1 WHERE state = 1

-- name: shift_hosts
UPDATE hosts SET next_at = max(next_at - ?1, 0) WHERE next_at > ?2

-- name: shift_retries
UPDATE urls SET due = max(due - ?1, 0) WHERE state = 0 AND due > ?2

-- name: last_request
SELECT at FROM fetches WHERE typeof(at) = 'real' ORDER BY id DESC LIMIT 1

-- name: site_costs
SELECT site, sum(size), sum(status > 0) FROM fetches WHERE id > ? GROUP BY site

-- name: fetch_again
UPDATE urls SET state = 0, due = 0, attempts = 0 WHERE key = ?

-- name: hosts_of_site
SELECT id, origin, next_at, crawl_delay, robots_status, robots_at, stopped
FROM hosts WHERE site = ?

-- name: hold_host
UPDATE hosts SET next_at = max(next_at, ?) WHERE id = ?

-- name: save_robots
UPDATE hosts SET robots = ?, robots_status = ?, robots_at = ?, crawl_delay = ? WHERE id = ?

-- name: count_trap
INSERT INTO trap_counts VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET count = count + 1

-- name: url_outcome
SELECT urls.state, urls.reason, target.url FROM urls
LEFT JOIN urls target ON target.key = urls.redirect WHERE urls.key = ?

-- name: add_lead
INSERT INTO leads (key, url, site, role, score, source, words) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET score = excluded.score, words = excluded.words,
    url = CASE WHEN length(excluded.url) < length(url) THEN excluded.url ELSE url END
WHERE leads.state = 0 AND leads.role != 0

-- name: add_citation
INSERT OR IGNORE INTO cites SELECT ?, id FROM leads WHERE key = ?

-- name: known_words
SELECT words FROM leads WHERE key = ? AND state = 0

-- name: best_leads
SELECT id, site FROM leads WHERE state = 0 ORDER BY score DESC, id LIMIT ?

-- name: end_lead
UPDATE leads SET state = 2, outcome = ?, reason = ? WHERE id = ?

-- name: follow_leads_with_faults
-- leads whose page could not be read (`failed:` and the type of a fault), and those to sites that
-- were rejected while such a page was missing
UPDATE leads SET state = 0, outcome = NULL, reason = ''
WHERE state = 2 AND (
    (reason >= 'failed:' AND reason < 'failed;')
    OR id IN (SELECT lead FROM verdicts WHERE NOT accept AND site IN (
        SELECT hosts.site FROM urls JOIN hosts ON hosts.id = urls.host
        WHERE urls.state = 3 AND reason >= 'failed:' AND reason < 'failed;'
    ))
)

-- name: forget_verdicts_with_faults
DELETE FROM verdicts WHERE lead IN (SELECT id FROM leads WHERE state = 0)

-- name: leads_with_page
SELECT count(*) FROM leads WHERE site = ? AND outcome IS NOT NULL

-- name: moved_from
SELECT l.id, l.url FROM cites JOIN leads l ON l.id = cites.source
WHERE cites.lead = ? AND l.reason = ? ORDER BY l.id LIMIT 1

-- name: moved_to
SELECT target.site FROM leads l JOIN cites ON cites.source = l.id
JOIN leads target ON target.id = cites.lead
WHERE l.site = ? AND l.reason = ? ORDER BY target.id LIMIT 1

-- name: forward_examples
SELECT words, outcome FROM leads WHERE outcome IS NOT NULL AND role = ? ORDER BY id DESC LIMIT ?

-- name: back_examples
SELECT source.words, avg(lead.outcome) FROM leads source
JOIN cites ON cites.source = source.id JOIN leads lead ON lead.id = cites.lead
WHERE source.role = ? AND source.state = 2 AND lead.outcome IS NOT NULL
    AND lead.id != source.source
GROUP BY source.id HAVING count(*) >= ? ORDER BY source.id DESC LIMIT ?

-- name: site_verdict
SELECT accept FROM verdicts JOIN sites ON sites.id = verdicts.site WHERE name = ?

-- name: save_verdict
INSERT OR REPLACE INTO verdicts
    (site, url, lead, accept, score, reason, pages, downloads, named, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: without_back_links
SELECT site, url, lead FROM verdicts WHERE accept AND NOT looked ORDER BY id

-- name: rejections
SELECT reason, count(*) FROM verdicts WHERE NOT accept GROUP BY reason ORDER BY 2 DESC, 1
