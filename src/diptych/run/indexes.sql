-- Indexes that a run of an earlier version may lack: made when it is opened for writing.

CREATE INDEX IF NOT EXISTS urls_ready ON urls (host, turn, priority DESC, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS urls_claimed ON urls (host) WHERE state = 1;
CREATE INDEX IF NOT EXISTS hosts_site ON hosts (site);
CREATE INDEX IF NOT EXISTS urls_redirected ON urls (host, redirect) WHERE redirect IS NOT NULL;
CREATE INDEX IF NOT EXISTS fetches_site ON fetches (site, size);
CREATE INDEX IF NOT EXISTS fetches_url ON fetches (url);
