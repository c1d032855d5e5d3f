-- Number of downloads at which both pages of each verified pair were there, in order.
-- A page that was fetched twice was there the first time; other answers of its URL are no page.
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
