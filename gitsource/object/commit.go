package object

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/text/encoding/htmlindex"
)

// Commit is one commit. Its texts are valid UTF-8, whatever encoding the commit has.
type Commit struct {
	// Hash is the commit's id.
	Hash Hash
	// Tree is the id of its root directory.
	Tree Hash
	// Parents in the commit's order. The first is the branch that a merge went into.
	Parents []Hash
	// Author wrote the change; Committer made the commit.
	Author, Committer Signature
	// Message without trailing line breaks, cut after 64 KiB.
	Message string
}

// Subject returns the first line of the message.
func (c Commit) Subject() string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return strings.TrimSpace(line)
}

// Signature is a person and a time.
type Signature struct {
	// Name and Email as in the commit, before any mailmap; may be empty.
	Name, Email string
	// When, in the person's time zone, in whole seconds of the years 1970 to
	// 9999. Zero if the commit has no readable time.
	When time.Time
}

const (
	maxMessage = 64 << 10
	maxParents = 4096         // that are read; a Copy has all
	lastSecond = 253402300799 // 9999-12-31T23:59:59Z, the last time that JSON can hold
)

// Commit reads a commit. The error is ErrUnknownCommit if the directory does not have it.
func (s *Store) Commit(h Hash) (Commit, error) {
	head, err := s.commitHeader(h)
	if err != nil {
		return Commit{}, err
	}
	if head.tree.IsZero() {
		return Commit{}, objectError("commit", h, fmt.Errorf("no tree: %w", ErrCorrupt))
	}
	return Commit{
		Hash: h, Tree: head.tree, Parents: head.parents,
		Author:    parseSignature(toUTF8(head.author, head.charset)),
		Committer: parseSignature(toUTF8(head.committer, head.charset)),
		Message:   strings.TrimRight(toUTF8(string(head.message[:min(len(head.message), maxMessage)]), head.charset), "\n"),
	}, nil
}

// Node is the part of a commit that a walk through history needs.
type Node struct {
	// Tree is the id of the root directory.
	Tree Hash
	// Parents that the directory has, in the commit's order.
	Parents []Hash
	// When is the committer's time in Unix seconds.
	When int64
}

// Node reads a commit for a walk. Parents that a shallow directory lacks are left out.
func (s *Store) Node(h Hash) (Node, error) {
	head, err := s.commitHeader(h)
	if err != nil {
		return Node{}, err
	}
	if s.shallow {
		head.parents = slices.DeleteFunc(head.parents, func(p Hash) bool { return !s.objects.has(p) })
	}
	return Node{head.tree, head.parents, parseSignature(head.committer).When.Unix()}, nil
}

func (s *Store) commitHeader(h Hash) (commitHeader, error) {
	if h.IsZero() || !s.objects.has(h) {
		return commitHeader{}, fmt.Errorf("commit %s: %w", h, ErrUnknownCommit)
	}
	data, err := s.objects.read(h, plumbing.CommitObject, commitLimit)
	if err != nil {
		return commitHeader{}, objectError("commit", h, err)
	}
	head, err := parseCommit(data)
	head.parents = head.parents[:min(len(head.parents), maxParents)]
	return head, objectError("commit", h, err)
}

// commitHeader is a commit as git stores it.
type commitHeader struct {
	tree                       Hash
	parents                    []Hash
	author, committer, charset string
	message                    []byte
}

// parseCommit reads the header lines of a commit, without continuations, as signatures have.
func parseCommit(data []byte) (head commitHeader, err error) {
	for len(data) > 0 && data[0] != '\n' && err == nil {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		key, value, _ := bytes.Cut(line, []byte{' '})
		switch string(key) {
		case "tree":
			head.tree, err = ParseHash(string(value))
		case "parent":
			var parent Hash
			parent, err = ParseHash(string(value))
			head.parents = append(head.parents, parent)
		case "author":
			head.author = string(value)
		case "committer":
			head.committer = string(value)
		case "encoding":
			head.charset = string(value)
		}
	}
	if err != nil {
		return commitHeader{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	head.message = bytes.TrimPrefix(data, []byte{'\n'})
	return head, nil
}

// toUTF8 converts text that is not UTF-8 from the charset in the commit's encoding
// header. Without a known charset, invalid bytes become U+FFFD.
func toUTF8(s, charset string) string {
	if utf8.ValidString(s) {
		return s
	}
	if enc, err := htmlindex.Get(charset); err == nil && charset != "" {
		if out, err := enc.NewDecoder().String(s); err == nil {
			return out
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// parseSignature reads "Name <email> seconds zone"; missing parts stay zero.
func parseSignature(s string) Signature {
	var sig Signature
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		sig.Name = cleanName(s)
		return sig
	}
	sig.Name, sig.Email = cleanName(s[:open]), cleanName(s[open+1:end])
	seconds, zone, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return sig
	}
	sig.When = time.Unix(min(max(unix, 0), lastSecond), 0).In(parseZone(zone))
	return sig
}

// parseZone reads "+0200"; invalid text is UTC.
func parseZone(zone string) *time.Location {
	n, err := strconv.Atoi(zone)
	if err != nil || len(zone) != 5 || n <= -2400 || n >= 2400 || n == 0 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// cleanName removes control characters, and blanks at both ends, for pages and headers.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// Mailmap maps names and addresses in commits to a person's proper name and
// address (gitmailmap(5)). The zero value changes nothing.
type Mailmap struct {
	byEmail map[string]*mapped // key: address in lower case
}

type mapped struct {
	name, email string             // the proper ones; "" keeps the commit's
	byName      map[string]*mapped // for commits with one name, in lower case
}

// ParseMailmap reads the four forms of lines in gitmailmap(5). Other lines are
// skipped, as git does; a later line overrides an earlier one.
func ParseMailmap(text string) Mailmap {
	m := Mailmap{byEmail: map[string]*mapped{}}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD")
		if strings.HasPrefix(line, "#") {
			continue
		}
		name1, email1, rest, ok := cutPerson(line)
		if !ok {
			continue
		}
		name2, email2, _, two := cutPerson(rest)
		if two {
			m.add(name1, email1, name2, email2)
		} else if name1 != "" {
			m.add(name1, "", "", email1)
		}
	}
	return m
}

// cutPerson reads "name <email>" from the start of s.
func cutPerson(s string) (name, email, rest string, ok bool) {
	open := strings.IndexByte(s, '<')
	if open < 0 {
		return "", "", "", false
	}
	end := strings.IndexByte(s[open:], '>')
	if end < 0 {
		return "", "", "", false
	}
	end += open
	return cleanName(s[:open]), cleanName(s[open+1 : end]), s[end+1:], true
}

func (m Mailmap) add(name, email, oldName, oldEmail string) {
	key := strings.ToLower(oldEmail)
	e := m.byEmail[key]
	if e == nil {
		e = &mapped{}
		m.byEmail[key] = e
	}
	if oldName != "" {
		if e.byName == nil {
			e.byName = map[string]*mapped{}
		}
		e.byName[strings.ToLower(oldName)] = &mapped{name: name, email: email}
		return
	}
	e.name, e.email = cmp.Or(name, e.name), cmp.Or(email, e.email)
}

// Lookup returns the proper name and address for the name and address in a
// commit, or these themselves if they are not mapped. Case does not matter.
func (m Mailmap) Lookup(name, email string) (properName, properEmail string) {
	e := m.byEmail[strings.ToLower(email)]
	if e == nil {
		return name, email
	}
	if special := e.byName[strings.ToLower(name)]; special != nil {
		e = special
	}
	return cmp.Or(e.name, name), cmp.Or(e.email, email)
}

// slop is how many more commits are read after all that are left are older than
// the commits found, since commit times can be wrong. Git takes 5 (revision.c).
const slop = 512

// Unseen returns the commits reachable from tip but not in seen, which has all their ancestors.
func (s *Store) Unseen(ctx context.Context, tip Hash, seen map[Hash]struct{}) (map[Hash]Node, error) {
	fresh := map[Hash]Node{}
	todo := []Hash{tip}
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		_, old := seen[h]
		if _, met := fresh[h]; old || met {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := s.Node(h)
		if err != nil {
			return nil, err
		}
		fresh[h] = n
		todo = append(todo, n.Parents...)
	}
	return fresh, nil
}

// painted is a commit met by Difference.
type painted struct {
	hash    Hash
	node    Node
	old     bool // reachable from the commit to leave out
	visited bool // its parents were painted
}

// Difference returns the commits reachable from tip and not from any of without (git's
// without..tip). It reads the newest commits first, until the rest is reachable from both. With
// most > 0 it stops soon after it finds more than most commits. The zero id reaches nothing.
func (s *Store) Difference(ctx context.Context, tip Hash, without []Hash, most int) (map[Hash]Node, error) {
	d := painter{s: s, all: map[Hash]*painted{}}
	if err := d.push(tip, false); err != nil {
		return nil, err
	}
	for _, h := range without {
		if h.IsZero() {
			continue
		}
		if err := d.push(h, true); err != nil {
			return nil, err
		}
	}
	for extra := 0; d.queue.Len() > 0 && (most <= 0 || d.fresh <= most); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.open == 0 { // all queued commits are to be left out
			if d.fresh == 0 {
				break
			}
			if extra++; extra > slop && d.queue[0].node.When < d.oldest {
				break
			}
		}
		if err := d.pop(); err != nil {
			return nil, err
		}
	}
	fresh := make(map[Hash]Node, d.fresh)
	for h, p := range d.all {
		if !p.old {
			fresh[h] = p.node
		}
	}
	return fresh, nil
}

// InHistory returns those of some objects that are tip or its ancestors. It reads
// the newest commits first, until it has met all of them or the history ends.
func (s *Store) InHistory(ctx context.Context, tip Hash, some map[Hash]bool) (map[Hash]bool, error) {
	d := painter{s: s, all: map[Hash]*painted{}}
	if err := d.push(tip, false); err != nil {
		return nil, err
	}
	found := make(map[Hash]bool, len(some))
	for d.queue.Len() > 0 && len(found) < len(some) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if h := d.queue[0].hash; some[h] {
			found[h] = true
		}
		if err := d.pop(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// painter is the state of Difference.
type painter struct {
	s      *Store
	all    map[Hash]*painted
	queue  newestFirst
	open   int   // queued commits that are not known to be old
	fresh  int   // commits that are not known to be old
	oldest int64 // smallest time of a commit pushed as fresh
}

func (d *painter) push(h Hash, old bool) error {
	if p, ok := d.all[h]; ok {
		if old {
			d.paint(p)
		}
		return nil
	}
	n, err := d.s.Node(h)
	if err != nil {
		return err
	}
	p := &painted{hash: h, node: n, old: old}
	d.all[h] = p
	heap.Push(&d.queue, p)
	if !old {
		if d.fresh == 0 || n.When < d.oldest {
			d.oldest = n.When
		}
		d.open++
		d.fresh++
	}
	return nil
}

func (d *painter) pop() error {
	p, _ := heap.Pop(&d.queue).(*painted)
	p.visited = true
	if !p.old {
		d.open--
	}
	for _, parent := range p.node.Parents {
		if err := d.push(parent, p.old); err != nil {
			return err
		}
	}
	return nil
}

// paint marks a commit, and the commits that were reached from it, as old.
func (d *painter) paint(p *painted) {
	todo := []*painted{p}
	for len(todo) > 0 {
		p, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if p.old {
			continue
		}
		p.old = true
		d.fresh--
		if !p.visited {
			d.open--
			continue
		}
		for _, parent := range p.node.Parents {
			if q, ok := d.all[parent]; ok {
				todo = append(todo, q)
			}
		}
	}
}

// newestFirst is a heap by commit time, then id.
type newestFirst []*painted

func (q newestFirst) Len() int { return len(q) }
func (q newestFirst) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].node.When, q[i].node.When), q[i].hash.Compare(q[j].hash)) < 0
}
func (q newestFirst) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *newestFirst) Push(x any) { *q = append(*q, x.(*painted)) }

func (q *newestFirst) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
