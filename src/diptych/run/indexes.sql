-- Indexes, views and tables that a run of an earlier version may lack: made when it is opened for writing.

CREATE INDEX IF NOT EXISTS urls_ready ON urls (host, turn, priority DESC, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS urls_claimed ON urls (host) WHERE state = 1;
CREATE INDEX IF NOT EXISTS urls_aliases ON urls (host, redirect) WHERE state = 6;
CREATE INDEX IF NOT EXISTS urls_failed ON urls (reason) WHERE state = 3;
CREATE INDEX IF NOT EXISTS hosts_site ON hosts (site);
CREATE INDEX IF NOT EXISTS urls_redirected ON urls (host, redirect) WHERE redirect IS NOT NULL;
CREATE INDEX IF NOT EXISTS fetches_site ON fetches (site, size);
CREATE INDEX IF NOT EXISTS fetches_url ON fetches (url);

CREATE VIEW IF NOT EXISTS frontier AS
    SELECT urls.id, url, origin, turn, priority, depth, due, attempts,
           CASE state WHEN 0 THEN 'queued' ELSE 'claimed' END AS state
    FROM urls JOIN hosts ON hosts.id = urls.host WHERE state IN (0, 1);

CREATE TABLE IF NOT EXISTS guides (         -- what crawl policies with a memory know
    site INTEGER PRIMARY KEY,
    maker TEXT NOT NULL,                    -- version, policy with its parameters, languages
    data BLOB NOT NULL,                     -- the last snapshot, compressed JSON; empty: none yet
    refilled INTEGER NOT NULL DEFAULT 0     -- whether it was asked for more since the last page
);

CREATE TABLE IF NOT EXISTS idle_guides (    -- guides that waited for nothing at the last commit
    site INTEGER PRIMARY KEY                -- not a column of guides: to change one rewrites its data
);

CREATE TABLE IF NOT EXISTS journal (        -- what guides observed since their last snapshot, in order
    id INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    what TEXT NOT NULL,                     -- page, sitemap, missing, moved, found, settled, refill
    data TEXT NOT NULL                      -- a URL, or JSON
);
CREATE INDEX IF NOT EXISTS journal_site ON journal (site, id);

CREATE TABLE IF NOT EXISTS samples (        -- URLs drawn at random before the crawl of a site ends
    site INTEGER PRIMARY KEY,
    drawn INTEGER NOT NULL,                 -- of the last sample
    samples INTEGER NOT NULL,               -- that were begun
    downloads INTEGER NOT NULL              -- of the site, when the last one was drawn
);

CREATE TABLE IF NOT EXISTS open_sitemaps (  -- sitemaps that are not read to their end
    turn INTEGER PRIMARY KEY,
    url INTEGER NOT NULL UNIQUE,            -- urls.key
    start INTEGER NOT NULL                  -- entries that were read
);

CREATE TABLE IF NOT EXISTS declarations (   -- what sites declare of their pages, checked against them
    site INTEGER NOT NULL,
    kind TEXT NOT NULL,                     -- page.declarations.Declares
    checked INTEGER NOT NULL,
    wrong INTEGER NOT NULL,
    said TEXT NOT NULL,                     -- what all the wrong ones say; '': they differ
    found TEXT NOT NULL,                    -- the languages that are found instead
    PRIMARY KEY (site, kind)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS finished (       -- steps that need not be done again: nothing has changed
    step TEXT PRIMARY KEY,
    key TEXT NOT NULL                       -- how it was done
) WITHOUT ROWID;

DROP TABLE IF EXISTS events;                -- of versions that told guides everything again

CREATE TABLE IF NOT EXISTS alias_rules (    -- by which rules two URLs of a host are one page
    scope TEXT NOT NULL,                    -- an origin, or an origin and the first folder
    rule TEXT NOT NULL,                     -- text.aliases.rewritings
    moved INTEGER NOT NULL,                 -- redirects by which it held
    same INTEGER NOT NULL,                  -- copies by which it held
    broken INTEGER NOT NULL,                -- pages that contradict it
    PRIMARY KEY (scope, rule)
) WITHOUT ROWID;
