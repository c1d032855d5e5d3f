-- Schema of a run.  The key of a URL is its 64-bit hash (text.urls.url_key); ids follow discovery.

CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    found REAL,                             -- pairs found during the crawl
    left REAL,                              -- estimate of pairs not found yet; NULL: unknown
    ended TEXT NOT NULL DEFAULT ''          -- reason.SiteEnd: why its crawl ended; '': not ended
);

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,            -- scheme://host[:port]
    site INTEGER NOT NULL REFERENCES sites,
    next_at REAL NOT NULL DEFAULT 0,        -- earliest time of the next request
    crawl_delay REAL,                       -- requested by robots.txt
    robots TEXT,                            -- text of robots.txt; NULL: unknown
    robots_status TEXT NOT NULL DEFAULT '', -- outcome: read, missing, unreachable ...
    robots_at REAL,
    refusals INTEGER NOT NULL DEFAULT 0,    -- consecutive refusals
    stopped TEXT NOT NULL DEFAULT ''        -- why no more requests are sent; '': not stopped
);

CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,
    url TEXT NOT NULL,
    host INTEGER NOT NULL,                  -- 0: outside the crawl's scope
    kind INTEGER NOT NULL,                  -- frontier.Kind
    state INTEGER NOT NULL,                 -- frontier.State
    depth INTEGER NOT NULL,
    turn INTEGER NOT NULL DEFAULT 4,        -- frontier.Turn: 0 robots.txt ... 4 pages
    priority REAL NOT NULL,                 -- among URLs with the same turn
    hops INTEGER NOT NULL DEFAULT 0,        -- number of redirects that led here
    due REAL NOT NULL DEFAULT 0,            -- earliest time of the request
    attempts INTEGER NOT NULL DEFAULT 0,
    status INTEGER,                         -- HTTP status of the last response
    reason TEXT NOT NULL DEFAULT '',        -- why it failed or was refused
    redirect INTEGER                        -- key of the target of its redirect
);

CREATE TABLE trap_counts (
    key TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE warcs (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,              -- relative to the run folder; of the user: absolute
    size INTEGER NOT NULL,                  -- bytes that belong to the run; the rest is truncated
    error TEXT NOT NULL DEFAULT ''          -- fault of a user's archive
);

CREATE TABLE archive (                      -- mine --warc: place of each URL's last good response
    key INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    warc INTEGER NOT NULL REFERENCES warcs,
    offset INTEGER NOT NULL,
    page INTEGER NOT NULL                   -- 1: the response is an HTML page
);

CREATE TABLE fetches (                      -- all responses, in order
    id INTEGER PRIMARY KEY,
    url INTEGER NOT NULL,                   -- urls.key
    site INTEGER NOT NULL,
    at REAL NOT NULL,
    status INTEGER NOT NULL,                -- 0: no response
    size INTEGER NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    warc INTEGER,
    offset INTEGER,
    length INTEGER
);

CREATE TABLE pages (
    url INTEGER PRIMARY KEY,                -- urls.key
    site INTEGER NOT NULL,
    lang TEXT NOT NULL,
    langs TEXT NOT NULL,                    -- soft scores: en:0.98 de:0.01
    title TEXT NOT NULL,
    depth INTEGER NOT NULL,
    size INTEGER NOT NULL,
    text_length INTEGER NOT NULL,
    digest TEXT NOT NULL,
    html_lang TEXT NOT NULL,
    content_language TEXT NOT NULL,
    canonical TEXT,
    fetched_at REAL NOT NULL,
    warc INTEGER NOT NULL REFERENCES warcs,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    links TEXT NOT NULL,                    -- JSON: [[url, rel, hreflang, anchor, around, alt, src]]
    flags TEXT NOT NULL DEFAULT '',         -- machine:google licence:CC-BY-4.0 noai
    text_key INTEGER NOT NULL DEFAULT 0     -- hash of the visible text; 0: almost no text
);
CREATE INDEX pages_site ON pages (site);

CREATE TABLE sketches (                     -- content features of pages, for pairing
    url INTEGER PRIMARY KEY,                -- urls.key
    data BLOB NOT NULL                      -- compressed JSON
);

CREATE TABLE contents (                     -- blocks and trees of pages, for alignment
    url INTEGER PRIMARY KEY,                -- urls.key
    reader INTEGER NOT NULL,                -- page.content.READER: other versions read pages again
    data BLOB NOT NULL                      -- compressed
);

CREATE TABLE announced (                    -- translations that sitemaps announce
    site INTEGER NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    hreflang TEXT NOT NULL,
    PRIMARY KEY (site, source, target, hreflang)
) WITHOUT ROWID;

CREATE VIEW links AS                        -- all links, for people; the code reads pages.links
    SELECT pages.site, urls.url AS source, json_extract(value, '$[0]') AS target,
           json_extract(value, '$[1]') AS rel, json_extract(value, '$[2]') AS hreflang,
           json_extract(value, '$[3]') AS anchor, json_extract(value, '$[4]') AS around,
           json_extract(value, '$[5]') AS alt, json_extract(value, '$[6]') AS src
    FROM pages JOIN urls ON urls.key = pages.url, json_each(pages.links)
    UNION ALL
    SELECT site, source, target, 'alternate', hreflang, '', '', '', '' FROM announced;

CREATE TABLE pairs (
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    left INTEGER NOT NULL,                  -- urls.key
    right INTEGER NOT NULL,
    left_lang TEXT NOT NULL,
    right_lang TEXT NOT NULL,
    score REAL NOT NULL,
    evidence TEXT NOT NULL,                 -- methods that proposed the pair: hreflang+keys
    scores TEXT NOT NULL DEFAULT '',        -- all measurements: hreflang:0.900 tags:0.981
    aligned INTEGER NOT NULL DEFAULT 0,
    UNIQUE (left, right, left_lang, right_lang)
);
CREATE INDEX pairs_site ON pairs (site);

CREATE TABLE decisions (                    -- decisions of verify, one per pair
    pair INTEGER PRIMARY KEY REFERENCES pairs ON DELETE CASCADE,
    accept INTEGER NOT NULL,
    score REAL NOT NULL,
    reason TEXT NOT NULL,
    marks TEXT NOT NULL DEFAULT ''          -- for example machine_translated
);

CREATE TABLE learning (                     -- one row
    basis TEXT NOT NULL,                    -- digest of the pages learned from
    is_done INTEGER NOT NULL
);

CREATE TABLE lexicons (                     -- lexicons learned from segments
    left_lang TEXT NOT NULL,
    right_lang TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (left_lang, right_lang)
);

CREATE TABLE segment_texts (                -- distinct segments; a site repeats many on its pages
    id INTEGER PRIMARY KEY,                 -- hash of both texts and languages
    key INTEGER,                            -- of both texts and languages; near-duplicates share it
    left_key INTEGER,                       -- of the left text
    right_key INTEGER,
    left TEXT NOT NULL,                     -- one side is empty if it has no counterpart
    right TEXT NOT NULL,
    first_seen REAL                         -- date of the mining or update that first kept it;
                                            -- NULL: not kept before the current one
);

CREATE TABLE occurrences (                  -- places of segments in page pairs
    id INTEGER PRIMARY KEY,
    pair INTEGER NOT NULL REFERENCES pairs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text INTEGER NOT NULL,                  -- segment_texts.id
    accept INTEGER NOT NULL,
    reason TEXT NOT NULL,                   -- why it is not in the corpus; '': it is
    score REAL NOT NULL,                    -- quality, by all evidence in the run
    judged REAL NOT NULL,                   -- quality of the segment by itself
    alignment REAL NOT NULL,                -- confidence of the alignment
    partial INTEGER NOT NULL DEFAULT 0,     -- 1: if it is not good, one side says more
    copies INTEGER NOT NULL DEFAULT 1,      -- near-duplicates with it; the others are left out
    flags TEXT NOT NULL,                    -- for example: email phone
    left_path TEXT NOT NULL,                -- DOM paths of its blocks
    right_path TEXT NOT NULL,
    left_at TEXT NOT NULL,                  -- offsets in each block: 0-54 0-12
    right_at TEXT NOT NULL,
    UNIQUE (pair, position)
);

CREATE VIEW segments AS                     -- all occurrences with their texts
    SELECT occurrences.id, pair, position, accept, reason, score, judged, alignment, partial,
           copies, key, left_key, right_key, flags, left, right, left_path, right_path, left_at,
           right_at, first_seen
    FROM occurrences LEFT JOIN segment_texts ON segment_texts.id = text;

CREATE TABLE updates (                      -- diptych update: each time the sites were visited again
    id INTEGER PRIMARY KEY,
    started_at REAL NOT NULL,
    finished_at REAL,                       -- NULL: the same command continues it
    first_fetch INTEGER NOT NULL,           -- last of the fetches before it
    pages INTEGER NOT NULL,                 -- pages before it
    pairs INTEGER NOT NULL,                 -- verified pairs before it
    segments INTEGER NOT NULL,              -- kept segments before it
    last_fetch INTEGER,                     -- last of its fetches
    pairs_after INTEGER,
    segments_after INTEGER,
    new_segments INTEGER NOT NULL DEFAULT 0 -- kept for the first time
);

CREATE TABLE visits (                       -- outcome of the last visit of a URL in an update
    url INTEGER PRIMARY KEY,                -- urls.key
    number INTEGER NOT NULL,                -- updates.id
    outcome TEXT NOT NULL,                  -- run.updates.Visited
    seen_at REAL                            -- when its page was last known to be there
);

CREATE TABLE vanished_pairs (               -- page pairs whose segments are no longer found
    id INTEGER PRIMARY KEY,
    left_lang TEXT NOT NULL,
    right_lang TEXT NOT NULL,
    evidence TEXT NOT NULL,
    score REAL NOT NULL,
    marks TEXT NOT NULL,
    left_url TEXT NOT NULL,
    left_title TEXT NOT NULL,
    left_fetched REAL NOT NULL,
    left_digest TEXT NOT NULL,
    left_path TEXT NOT NULL,                -- of the archive that still holds the text
    left_offset INTEGER NOT NULL,
    left_flags TEXT NOT NULL,
    left_warc INTEGER NOT NULL,
    left_seen REAL NOT NULL,
    right_url TEXT NOT NULL,
    right_title TEXT NOT NULL,
    right_fetched REAL NOT NULL,
    right_digest TEXT NOT NULL,
    right_path TEXT NOT NULL,
    right_offset INTEGER NOT NULL,
    right_flags TEXT NOT NULL,
    right_warc INTEGER NOT NULL,
    right_seen REAL NOT NULL,
    UNIQUE (left_url, left_warc, left_offset, right_url, right_warc, right_offset)
);

CREATE TABLE vanished (                     -- segments that were kept, and are no longer found
    text INTEGER PRIMARY KEY,               -- segment_texts.id
    pair INTEGER NOT NULL,                  -- vanished_pairs.id
    number INTEGER NOT NULL,                -- updates.id: the update that did not find it
    key INTEGER,
    left TEXT NOT NULL,
    right TEXT NOT NULL,
    left_path TEXT NOT NULL,
    right_path TEXT NOT NULL,
    left_at TEXT NOT NULL,
    right_at TEXT NOT NULL,
    score REAL NOT NULL,
    alignment REAL NOT NULL,
    flags TEXT NOT NULL,
    copies INTEGER NOT NULL,
    first_seen REAL NOT NULL
);

CREATE TABLE leads (                        -- discover: URLs that may lead to bilingual sites
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,            -- of the URL, or of the site if one page is enough
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    role INTEGER NOT NULL,                  -- types.Role
    state INTEGER NOT NULL DEFAULT 0,       -- 0 waiting, 1 in progress, 2 done
    score REAL NOT NULL,
    source INTEGER NOT NULL,                -- lead that led to it; 0: none
    words BLOB NOT NULL,                    -- features of the link, 32 bits each
    outcome REAL,                           -- result of following it; NULL: unknown
    reason TEXT NOT NULL DEFAULT ''         -- why it led to nothing
);
CREATE INDEX leads_waiting ON leads (score DESC, id) WHERE state = 0;
CREATE INDEX leads_taken ON leads (id) WHERE state = 1;
CREATE INDEX leads_site ON leads (site);

CREATE TABLE cites (                        -- discover: leads that a page links to
    source INTEGER NOT NULL,
    lead INTEGER NOT NULL,
    PRIMARY KEY (source, lead)
) WITHOUT ROWID;
CREATE INDEX cites_lead ON cites (lead);

CREATE TABLE verdicts (                     -- discover, detect: decisions on sites
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL UNIQUE REFERENCES sites,
    url TEXT NOT NULL,                      -- start of the test
    lead INTEGER NOT NULL,
    accept INTEGER NOT NULL,
    score REAL NOT NULL,
    reason TEXT NOT NULL,
    pages TEXT NOT NULL,                    -- JSON: [[language, url]]
    downloads INTEGER NOT NULL,             -- number of pages requested
    named TEXT NOT NULL,                    -- URL that led to the site, if the site has moved
    at INTEGER NOT NULL,                    -- downloads of the whole search up to this verdict
    looked INTEGER NOT NULL DEFAULT 0       -- 1: pages that link to the site were looked up
);
CREATE INDEX verdicts_unlooked ON verdicts (site) WHERE accept AND NOT looked;
