package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Spent is what a client used of a limit.
type Spent struct {
	// Client names it.
	Client string
	// Used is the number of requests, or of what else is limited.
	Used int
	// Left is the rest of the span that the limit is about.
	Left time.Duration
}

// spend adds up what clients used, in the order of their names, so that two processes
// never wait for each other. A span that was over begins again.
const spend = `INSERT INTO spent AS s (client, used, ends)
	SELECT x.client, x.used, ` + Now + ` + x.left_us FROM jsonb_to_recordset(CAST($1 AS TEXT)::jsonb) AS x(client TEXT, used BIGINT, left_us BIGINT) ORDER BY x.client
	ON CONFLICT (client) DO UPDATE SET used = excluded.used + CASE WHEN s.ends > ` + Now + ` THEN s.used ELSE 0 END,
		ends = CASE WHEN s.ends > ` + Now + ` THEN s.ends ELSE excluded.ends END
	RETURNING client, used, ends - ` + Now

// forgetSpent deletes spans that are over, a few at a time.
const forgetSpent = `DELETE FROM spent WHERE client IN (SELECT client FROM spent WHERE ends < ` + Now + ` ORDER BY ends LIMIT 1000 FOR UPDATE SKIP LOCKED)`

// Spend adds what clients used of a limit since the last call to what other processes
// counted, and returns the sums, with the rest of the span that began first. Clients are
// stored as hashes, until their span is over.
func (c *Cluster) Spend(ctx context.Context, limit string, list []Spent) (sums []Spent, err error) {
	type row struct {
		Client string `json:"client"`
		Used   int    `json:"used"`
		Left   int64  `json:"left_us"`
	}
	rows, names := make([]row, len(list)), map[string]string{}
	for i, s := range list {
		rows[i] = row{spender(limit, s.Client), s.Used, s.Left.Microseconds()}
		names[rows[i].Client] = s.Client
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	err = c.Do(ctx, "count requests", func(s *sqldb.Session) error {
		err := s.Query(ctx, spend, []any{string(text)}, func(scan sqldb.Scan) error {
			var client string
			var used, left int64
			err := scan(&client, &used, &left)
			sums = append(sums, Spent{names[client], int(used), time.Duration(left) * time.Microsecond})
			return err
		})
		if err != nil {
			return err
		}
		return s.Do(ctx, forgetSpent)
	})
	return sums, err
}

// spender is the name under which a client is stored.
func spender(limit, client string) string {
	sum := sha256.Sum256([]byte("repoglot client\x00" + strconv.Itoa(len(limit)) + limit + client))
	return hex.EncodeToString(sum[:16])
}
