-- SPDX-License-Identifier: GPL-2.0-only
-- A join, an index, a recursion and an aggregate, in memory.
CREATE TABLE number(n INTEGER, word TEXT);
WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 40000)
INSERT INTO number SELECT n, printf('%x', n * 7919 % 65521) FROM up;
CREATE INDEX by_word ON number(word);
SELECT count(*), sum(a.n) FROM number a JOIN number b ON a.word = b.word;
SELECT substr(word, 1, 2), count(*), max(word) FROM number GROUP BY 1 ORDER BY 2 DESC LIMIT 3;
SELECT count(*) FROM number WHERE word LIKE '%a%1%';
