-- One run.  A URL's key is a 64-bit hash of it (text.urls.url_key); ids are in order of discovery.

CREATE TABLE sites (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    found REAL,                             -- pairs that were found while crawling
    left REAL,                              -- pairs that are probably not found yet; NULL: unknown
    ended TEXT NOT NULL DEFAULT ''          -- reason.SiteEnd: why its crawl ended; '': it has not
);

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,            -- scheme://host[:port]
    site INTEGER NOT NULL REFERENCES sites,
    next_at REAL NOT NULL DEFAULT 0,        -- no request before this time
    crawl_delay REAL,                       -- asked for in robots.txt
    robots TEXT,                            -- its text, or NULL when not known
    robots_status TEXT NOT NULL DEFAULT '', -- how that was decided: allowed, read, unreachable ...
    robots_at REAL,
    refusals INTEGER NOT NULL DEFAULT 0,    -- in a row
    stopped TEXT NOT NULL DEFAULT ''        -- why this host is no longer asked
);

CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,
    url TEXT NOT NULL,
    host INTEGER NOT NULL,                  -- 0 outside of the crawl's scope
    kind INTEGER NOT NULL,                  -- frontier.Kind
    state INTEGER NOT NULL,                 -- frontier.State
    depth INTEGER NOT NULL,
    turn INTEGER NOT NULL DEFAULT 4,        -- frontier.Turn: 0 robots.txt ... 4 pages
    priority REAL NOT NULL,                 -- among those whose turn it is
    hops INTEGER NOT NULL DEFAULT 0,        -- redirects that led here
    due REAL NOT NULL DEFAULT 0,            -- not before this time
    attempts INTEGER NOT NULL DEFAULT 0,
    status INTEGER,                         -- of the last answer
    reason TEXT NOT NULL DEFAULT '',        -- why it failed or was refused
    redirect INTEGER                        -- key of the URL it leads to
);

CREATE TABLE trap_counts (
    key TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE warcs (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,              -- relative to the run folder, or an archive of the user's
    size INTEGER NOT NULL,                  -- bytes that belong to the run; of the last one the rest is cut off
    error TEXT NOT NULL DEFAULT ''          -- what is wrong with an archive of the user's
);

CREATE TABLE archive (                      -- mine --warc: where each URL's last good response is
    key INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    warc INTEGER NOT NULL REFERENCES warcs,
    offset INTEGER NOT NULL,
    page INTEGER NOT NULL                   -- whether that response is an HTML page
);

CREATE TABLE fetches (                      -- every answer, in order
    id INTEGER PRIMARY KEY,
    url INTEGER NOT NULL,                   -- urls.key
    site INTEGER NOT NULL,
    at REAL NOT NULL,
    status INTEGER NOT NULL,                -- 0 where there was no answer
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
    text_key INTEGER NOT NULL DEFAULT 0     -- hash of its visible text; 0: it has next to none
);
CREATE INDEX pages_site ON pages (site);

CREATE TABLE sketches (                     -- what of a page's content tells its counterpart
    url INTEGER PRIMARY KEY,                -- urls.key
    data BLOB NOT NULL                      -- compressed JSON
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
    evidence TEXT NOT NULL,                 -- what proposed it: hreflang+keys
    scores TEXT NOT NULL DEFAULT '',        -- all that was measured: hreflang:0.900 tags:0.981
    aligned INTEGER NOT NULL DEFAULT 0,
    UNIQUE (left, right, left_lang, right_lang)
);
CREATE INDEX pairs_site ON pairs (site);

CREATE TABLE decisions (                    -- of verify, one per pair
    pair INTEGER PRIMARY KEY REFERENCES pairs ON DELETE CASCADE,
    accept INTEGER NOT NULL,
    score REAL NOT NULL,
    reason TEXT NOT NULL,
    marks TEXT NOT NULL DEFAULT ''          -- machine_translated and the like
);

CREATE TABLE learning (                     -- one row
    basis TEXT NOT NULL,                    -- digest of the pages that were learned from
    is_done INTEGER NOT NULL
);

CREATE TABLE lexicons (                     -- what segments have taught, by pair of languages
    left_lang TEXT NOT NULL,
    right_lang TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (left_lang, right_lang)
);

CREATE TABLE segments (                     -- aligned, or with one side empty: nothing corresponds
    id INTEGER PRIMARY KEY,
    pair INTEGER NOT NULL REFERENCES pairs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    accept INTEGER NOT NULL,
    reason TEXT NOT NULL,                   -- why it is not in the corpus
    score REAL NOT NULL,                    -- how good it is, by all that the run says of it
    judged REAL NOT NULL,                   -- the same by itself
    alignment REAL NOT NULL,                -- how sure its alignment is
    copies INTEGER NOT NULL DEFAULT 1,      -- how often it was found; those after the first are duplicates
    key INTEGER,                            -- of both texts in their languages; near-duplicates have one key
    left_key INTEGER,                       -- of the left text
    right_key INTEGER,
    flags TEXT NOT NULL,                    -- email phone
    left TEXT NOT NULL,
    right TEXT NOT NULL,
    left_path TEXT NOT NULL,                -- DOM paths of its blocks
    right_path TEXT NOT NULL,
    left_at TEXT NOT NULL,                  -- which characters of each block: 0-54 0-12
    right_at TEXT NOT NULL,
    UNIQUE (pair, position)
);

CREATE TABLE leads (                        -- discover: where bilingual sites may be found
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,            -- of its URL, or of its site where one page is enough
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    role INTEGER NOT NULL,                  -- types.Role
    state INTEGER NOT NULL DEFAULT 0,       -- 0 waiting, 1 taken up, 2 done
    score REAL NOT NULL,
    source INTEGER NOT NULL,                -- the lead it was found through; 0: none
    words BLOB NOT NULL,                    -- the neighbourhood of the link, 32 bits each
    outcome REAL,                           -- what came of it; NULL: not known
    reason TEXT NOT NULL DEFAULT ''         -- why nothing came of it
);
CREATE INDEX leads_waiting ON leads (score DESC, id) WHERE state = 0;
CREATE INDEX leads_taken ON leads (id) WHERE state = 1;
CREATE INDEX leads_site ON leads (site);

CREATE TABLE cites (                        -- discover: which leads a page was found to link to
    source INTEGER NOT NULL,
    lead INTEGER NOT NULL,
    PRIMARY KEY (source, lead)
) WITHOUT ROWID;
CREATE INDEX cites_lead ON cites (lead);

CREATE TABLE verdicts (                     -- discover, detect: whether sites are bilingual
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL UNIQUE REFERENCES sites,
    url TEXT NOT NULL,                      -- where the test began
    lead INTEGER NOT NULL,
    accept INTEGER NOT NULL,
    score REAL NOT NULL,
    reason TEXT NOT NULL,
    pages TEXT NOT NULL,                    -- JSON: [[language, url]]
    downloads INTEGER NOT NULL,             -- pages that were asked for
    named TEXT NOT NULL,                    -- what was followed to come there, if the site has moved
    at INTEGER NOT NULL,                    -- downloads of the whole search by then
    looked INTEGER NOT NULL DEFAULT 0       -- whether those who link to it were looked up
);
CREATE INDEX verdicts_unlooked ON verdicts (site) WHERE accept AND NOT looked;
