package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// The repositories of pullAfter.
const (
	shortHistory  = 10
	longHistory   = 10_000
	limitAfter    = 1.2 // long against short
	historyUnits  = 200
	measuredPulls = 15
)

// pullAfter measures pulls of one commit, each a whole process, after a short
// and after a long history, in turn.
func (b *bench) pullAfter(ctx context.Context) error {
	histories := []*grown{{commits: shortHistory}, {commits: longHistory}}
	for _, g := range histories {
		if err := b.grow(ctx, g); err != nil {
			return err
		}
	}
	for range measuredPulls {
		for _, g := range histories {
			if err := growHistory(ctx, g.repo, g.commits, 1); err != nil {
				return err
			}
			g.commits++
			u, err := b.sync(ctx, g.config)
			if err != nil {
				return err
			}
			g.pulls = append(g.pulls, u.wall)
		}
	}
	short, long := median(histories[0].pulls), median(histories[1].pulls)
	b.row(fmt.Sprintf("pull of one commit after %d commits, median of %d", longHistory, measuredPulls), "ms", long, limitAfter*short)
	b.row(fmt.Sprintf("  against that after %d commits", shortHistory), "×", long/short, limitAfter)
	return nil
}

// grown is a repository with a history.
type grown struct {
	commits      int
	repo, config string
	pulls        []time.Duration
}

// grow makes the repository and imports it.
func (b *bench) grow(ctx context.Context, g *grown) error {
	g.repo = filepath.Join(b.dir, fmt.Sprintf("history-%d.git", g.commits))
	_, err := git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", g.repo)
	if err != nil {
		return err
	}
	if err := growHistory(ctx, g.repo, 0, g.commits); err != nil {
		return err
	}
	if g.config, err = b.writeComponents(ctx, filepath.Base(g.repo), g.repo, "full", map[string]string{"it": "        filemask: po/*.po\n"}); err != nil {
		return err
	}
	_, err = b.sync(ctx, g.config)
	return err
}

// growHistory adds commits to a repository, from the n-th on; each changes one string
// of a file.
func growHistory(ctx context.Context, repo string, n, commits int) error {
	cmd := exec.CommandContext(ctx, "git", "-C", repo, "fast-import", "--quiet", "--force")
	var in, out bytes.Buffer
	for end := n + commits; n < end; n++ {
		file := historyFile(n)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Bench <bench@example.org> %d +0000\ndata 4\nedit\n", 1_500_000_000+n*60)
		if n == end-commits && n > 0 {
			in.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&in, "M 100644 inline po/cs.po\ndata %d\n%s\n", len(file), file)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = &in, &out, &out, os.Environ()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git fast-import: %w\n%s", err, out.String())
	}
	return nil
}

// historyFile is the file after n edits.
func historyFile(n int) []byte {
	b := []byte("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i := range historyUnits {
		edits := (n + historyUnits - 1 - i) / historyUnits
		b = append(b, "\nmsgid \"A sentence of the program, number "...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, "\"\nmsgstr \"Věta programu, po úpravě "...)
		b = strconv.AppendInt(b, int64(edits), 10)
		b = append(b, "\"\n"...)
	}
	return b
}
