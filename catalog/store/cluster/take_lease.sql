-- A statement for fmt.Sprintf: the clock, and the lists of parameters of textsOf.
WITH at AS (SELECT %s AS t),
newest AS (SELECT fingerprint FROM configurations ORDER BY revision DESC, n DESC LIMIT 1),
looked AS (SELECT $7 <> '' OR EXISTS (SELECT 1 FROM mirrors WHERE holder = '' AND active = 1 AND wished IS NOT NULL)
	OR (SELECT MIN(due) FROM mirrors WHERE holder = '' AND active = 1) <= (SELECT t FROM at)
	OR (SELECT MIN(expires) FROM mirrors WHERE holder <> '') <= (SELECT t FROM at) AS there),
shared AS (SELECT branch, host, active, holder, wished, due, expires,
	COUNT(*) FILTER (WHERE expires > t) OVER (PARTITION BY host) AS of_host, MAX(started) OVER (PARTITION BY host) AS host_served,
	COUNT(*) FILTER (WHERE expires > t) OVER (PARTITION BY host, project) AS of_project, MAX(started) OVER (PARTITION BY host, project) AS served
	FROM mirrors, at WHERE (SELECT there FROM looked)),
best AS (SELECT ARRAY(SELECT m.branch FROM shared m, at
	WHERE m.active = 1 AND $2 = (SELECT fingerprint FROM newest)
		AND (m.holder = '' AND (m.wished IS NOT NULL OR m.due <= t OR $7 <> '') OR m.holder <> '' AND m.expires <= t)
		AND m.branch NOT IN %s AND ($7 = m.branch OR $7 = ''
			AND (m.host <> '' AND m.of_host < $6 OR m.host = '' AND m.branch IN %s)
			AND m.host NOT IN %s)
	ORDER BY LEAST(m.wished, m.due, m.expires) < t - 600000000 DESC NULLS LAST,
		m.of_host, m.host_served NULLS FIRST, m.of_project, m.served NULLS FIRST, LEAST(m.wished - 600000000, m.due), m.branch
	LIMIT 16) AS list)
UPDATE mirrors SET token = token + 1, holder = $1, started = t, expires = t + $3, wished = NULL, wished_by = ''
FROM at WHERE branch = (
	SELECT m.branch FROM mirrors m, at WHERE m.branch = ANY ((SELECT list FROM best)::TEXT[])
		AND (m.holder = '' AND (m.wished IS NOT NULL OR m.due <= t OR $7 <> '') OR m.holder <> '' AND m.expires <= t)
	ORDER BY array_position((SELECT list FROM best), m.branch)
	LIMIT 1 FOR UPDATE OF m SKIP LOCKED)
RETURNING branch, token, failures
