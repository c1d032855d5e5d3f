CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (                    -- files that have been read
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    note TEXT NOT NULL                  -- fault of the file
);
CREATE TABLE pages (
    key INTEGER PRIMARY KEY,            -- of the URL, see _page_key
    url TEXT NOT NULL,
    links TEXT NOT NULL                 -- links to other sites: [[url, rel, hreflang, anchor, ...]]
);
CREATE TABLE backs (
    host INTEGER NOT NULL,              -- host of the linked page
    target INTEGER NOT NULL,            -- the linked page
    source INTEGER NOT NULL,            -- pages.key of the linking page
    PRIMARY KEY (host, target, source)
) WITHOUT ROWID;
