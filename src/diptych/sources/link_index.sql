CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (                    -- what has been read
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    note TEXT NOT NULL                  -- what is wrong with it
);
CREATE TABLE pages (
    key INTEGER PRIMARY KEY,            -- of the URL, see _page_key
    url TEXT NOT NULL,
    links TEXT NOT NULL                 -- those to other sites: [[url, rel, hreflang, anchor, ...]]
);
CREATE TABLE backs (
    host INTEGER NOT NULL,              -- of what is linked to
    target INTEGER NOT NULL,            -- the page that is linked to
    source INTEGER NOT NULL,            -- pages.key of what links there
    PRIMARY KEY (host, target, source)
) WITHOUT ROWID;
