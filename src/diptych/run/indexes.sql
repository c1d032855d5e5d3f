-- Indexes, views and tables that runs of earlier versions may lack: created on opening for writing.

CREATE INDEX IF NOT EXISTS urls_ready ON urls (host, turn, priority DESC, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS urls_claimed ON urls (host) WHERE state = 1;
CREATE INDEX IF NOT EXISTS urls_aliases ON urls (host, redirect) WHERE state = 6;
CREATE INDEX IF NOT EXISTS urls_failed ON urls (reason) WHERE state = 3;
CREATE INDEX IF NOT EXISTS hosts_site ON hosts (site);
CREATE INDEX IF NOT EXISTS urls_redirected ON urls (host, redirect) WHERE redirect IS NOT NULL;
CREATE INDEX IF NOT EXISTS fetches_site ON fetches (site, size);
CREATE INDEX IF NOT EXISTS fetches_url ON fetches (url);
CREATE INDEX IF NOT EXISTS pairs_right ON pairs (right);
CREATE INDEX IF NOT EXISTS pages_text ON pages (site, text_key, digest, lang);

CREATE VIEW IF NOT EXISTS frontier AS
    SELECT urls.id, url, origin, turn, priority, depth, due, attempts,
           CASE state WHEN 0 THEN 'queued' ELSE 'claimed' END AS state
    FROM urls JOIN hosts ON hosts.id = urls.host WHERE state IN (0, 1);

CREATE TABLE IF NOT EXISTS guides (         -- memory of crawl policies that have one
    site INTEGER PRIMARY KEY,
    maker TEXT NOT NULL,                    -- version, policy with its parameters, languages
    data BLOB NOT NULL,                     -- the last snapshot, compressed JSON; empty: none yet
    refilled INTEGER NOT NULL DEFAULT 0     -- 1: asked for more URLs since the last page
);

CREATE TABLE IF NOT EXISTS idle_guides (    -- guides that waited for nothing at the last commit
    site INTEGER PRIMARY KEY                -- not a column of guides: an update would rewrite data
);

CREATE TABLE IF NOT EXISTS journal (        -- observations of guides since their last snapshot
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    what TEXT NOT NULL,                     -- page, sitemap, missing, moved, found, settled, refill
    data TEXT NOT NULL                      -- a URL, or JSON
);
CREATE INDEX IF NOT EXISTS journal_site ON journal (site, id);

CREATE TABLE IF NOT EXISTS samples (        -- random samples drawn before a site's crawl ends
    site INTEGER PRIMARY KEY,
    drawn INTEGER NOT NULL,                 -- URLs in the last sample
    samples INTEGER NOT NULL,               -- samples begun
    downloads INTEGER NOT NULL              -- downloads of the site before the last sample
);

CREATE TABLE IF NOT EXISTS open_sitemaps (  -- partly read sitemaps
    turn INTEGER PRIMARY KEY,
    url INTEGER NOT NULL UNIQUE,            -- urls.key
    start INTEGER NOT NULL                  -- number of entries read
);

CREATE TABLE IF NOT EXISTS declarations (   -- declarations of sites about their pages, checked
    site INTEGER NOT NULL,
    kind TEXT NOT NULL,                     -- page.declarations.Declares
    checked INTEGER NOT NULL,
    wrong INTEGER NOT NULL,
    said TEXT NOT NULL,                     -- value that all wrong ones share; '': they differ
    found TEXT NOT NULL,                    -- languages detected instead
    PRIMARY KEY (site, kind)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS finished (       -- steps that need not be repeated: nothing has changed
    step TEXT PRIMARY KEY,
    key TEXT NOT NULL                       -- how it was done
) WITHOUT ROWID;

DROP TABLE IF EXISTS events;                -- used by versions that replayed all events to guides

CREATE TABLE IF NOT EXISTS alias_rules (    -- rules by which two URLs of a host are the same page
    scope TEXT NOT NULL,                    -- an origin, or an origin and the first folder
    rule TEXT NOT NULL,                     -- text.aliases.rewritings
    moved INTEGER NOT NULL,                 -- redirects that confirm the rule
    same INTEGER NOT NULL,                  -- copies that confirm the rule
    broken INTEGER NOT NULL,                -- pages that contradict the rule
    PRIMARY KEY (scope, rule)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS index_blocks (   -- mine --common-crawl: parts of an index to read
    crawl TEXT NOT NULL,
    site TEXT NOT NULL,                     -- '': sites that the index chooses
    number INTEGER NOT NULL,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    is_read INTEGER NOT NULL DEFAULT 0,     -- 1: its captures are in the table captures
    PRIMARY KEY (crawl, site, number)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS captures (       -- mine --common-crawl: pages that an index lists
    key INTEGER PRIMARY KEY,                -- hash of the URL
    site TEXT NOT NULL,
    depth INTEGER NOT NULL,                 -- folders in the path of the URL
    url TEXT NOT NULL,
    at TEXT NOT NULL,                       -- time of the capture: 20260920103059
    lang TEXT NOT NULL,                     -- code in the index; '': unknown
    digest TEXT NOT NULL,                   -- SHA-1 in base 32; '': unknown
    file TEXT NOT NULL,                     -- archive that holds the record
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    reason TEXT NOT NULL DEFAULT ''         -- why the record could not be copied
);

CREATE TABLE IF NOT EXISTS skipped_captures (   -- mine --common-crawl: captures by reason
    site TEXT NOT NULL,
    reason TEXT NOT NULL,                   -- 'listed': all captures of the site
    count INTEGER NOT NULL,
    PRIMARY KEY (site, reason)
) WITHOUT ROWID;
