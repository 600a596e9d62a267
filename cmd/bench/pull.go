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
	measuredPulls = 9
)

// pullAfter measures pulls of one commit, each a whole process, after a short
// and after a long history.
func (b *bench) pullAfter(ctx context.Context) error {
	var took [2]float64
	for i, commits := range []int{shortHistory, longHistory} {
		repo := filepath.Join(b.dir, fmt.Sprintf("history-%d.git", commits))
		if out, err := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=main", repo).CombinedOutput(); err != nil {
			return fmt.Errorf("git init: %w\n%s", err, out)
		}
		if err := growHistory(ctx, repo, 0, commits); err != nil {
			return err
		}
		config, err := b.writeComponents(filepath.Base(repo), repo, "full", map[string]string{"it": "        filemask: po/*.po\n"})
		if err != nil {
			return err
		}
		if _, err := b.sync(ctx, config); err != nil {
			return err
		}
		var walls []time.Duration
		for n := range measuredPulls {
			if err := growHistory(ctx, repo, commits+n, 1); err != nil {
				return err
			}
			u, err := b.sync(ctx, config)
			if err != nil {
				return err
			}
			walls = append(walls, u.wall)
		}
		took[i] = median(walls)
	}
	b.row(fmt.Sprintf("pull of one commit after %d commits, median of %d", longHistory, measuredPulls), "ms", took[1], limitAfter*took[0])
	b.row(fmt.Sprintf("  against that after %d commits", shortHistory), "×", took[1]/took[0], limitAfter)
	return nil
}

// growHistory adds commits to a repository, each of which changes one string of
// one file, from the n-th on.
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
