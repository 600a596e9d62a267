package flush

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/edit/message"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// Options say how commits are made.
type Options struct {
	// Files are added and removed, and get strings, before edits are written, each in a
	// commit of its own. They are updated after that, those of a component in one commit.
	Files []FileChange
	// On is the commit to begin with; the zero hash: the head of the mirror.
	On object.Hash
	// Styles say how the commits of components are made.
	Styles map[string]Style
	// Committer is this server; with a fixed time the same edits give the same
	// commits.
	Committer object.Signature
	// Message returns the message of a commit, without trailers. If it is empty, a
	// message of our own is taken.
	Message func(Group) string
	// Elsewhere are templates that are in no commit here, by what Template of a file calls them.
	Elsewhere map[string][]byte
	// MaxFile bounds a file in bytes; 0: 128 MiB.
	MaxFile int64
	// Memo remembers what files became; nil: nothing is known from before.
	Memo *Memo
}

// Result is what became of a flush.
type Result struct {
	// Head is the commit to push; Parent what it is derived from. They are the same
	// if nothing was to be written.
	Parent, Head object.Hash
	// Commits are the groups of the commits, oldest first.
	Commits []Group
	// Outcomes has for each file, in their order, the outcomes of its edits.
	Outcomes [][]edit.Result
	// Problems says of files by index why they could not be read; their edits have no
	// outcome.
	Problems map[int]error
	// FileProblems says by index which files could not be made, removed or updated, or get no
	// string.
	FileProblems map[int]error
	// Updated says by index what became of files that were updated, or are as their template
	// wants it.
	Updated map[int]Updated
}

// Derive makes commits of edits on top of the head of a mirror, or of another commit that
// it has. Files that this one does not have give the outcome Gone. It pushes nothing.
func Derive(ctx context.Context, w *gitsource.Writer, files []File, o Options) (Result, error) {
	if o.On.IsZero() {
		o.On = w.Head().Hash
	}
	o.Memo = cmp.Or(o.Memo, &Memo{})
	d := deriver{writer: w, files: files, options: o, result: Result{
		Parent: o.On, Head: o.On,
		Outcomes: make([][]edit.Result, len(files)), Problems: map[int]error{}, FileProblems: map[int]error{},
	}, unreadable: map[string]error{}, memos: map[string]*memo{}, templates: map[object.Hash]*poparse.File{}, updates: map[*poparse.File]*msgmerge.Template{}}
	for i := range files {
		d.result.Outcomes[i] = make([]edit.Result, len(files[i].Edits))
	}
	if err := d.read(ctx); err != nil {
		return Result{}, fmt.Errorf("flush: %w", err)
	}
	err := d.run(ctx)
	// Whoever is stopped leaves what the Memo knows to the next flush.
	if err = errors.Join(err, w.Store()); err != nil {
		return Result{}, fmt.Errorf("flush: %w", err)
	}
	return d.result, nil
}

// deriver makes the commits of one flush.
type deriver struct {
	writer  *gitsource.Writer
	files   []File
	options Options
	data    map[string]content // of the files at Result.Head
	result  Result

	unreadable map[string]error // of the files there that are not in data
	memos      map[string]*memo // of the files of the next commit
	templates  map[object.Hash]*poparse.File
	updates    map[*poparse.File]*msgmerge.Template // of templates
}

// memo is what is remembered of a file when its commit was made.
type memo struct {
	key     memoKey
	results []edit.Result
	updated Updated
}

func (d *deriver) run(ctx context.Context) error {
	for i := range d.options.Files {
		if d.options.Files[i].Update != nil {
			continue
		}
		if err := d.changeFile(ctx, i); err != nil {
			return err
		}
	}
	for _, g := range groups(d.files, &d.options) {
		if err := d.commit(ctx, g); err != nil {
			return err
		}
	}
	return d.updateFiles(ctx)
}

// content is what a file has: a blob of the mirror, and its bytes, if they were read.
type content struct {
	blob object.Hash
	data []byte
}

// read reads the files at the head.
func (d *deriver) read(ctx context.Context) error {
	r, err := d.writer.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	wanted := map[string]bool{} // now; false: once it is updated
	for _, f := range d.files {
		wanted[f.Path], wanted[f.Template] = true, true
	}
	for i := range d.options.Files {
		f := &d.options.Files[i]
		for _, path := range []string{f.Path, f.Template, f.linguas()} {
			wanted[path] = wanted[path] || f.Update == nil
		}
	}
	list, err := r.Snapshot(ctx, d.result.Parent, func(path string) bool {
		_, is := wanted[path]
		return is
	}, nil)
	if err != nil {
		return err
	}
	d.data = make(map[string]content, len(list))
	for _, f := range list {
		var data []byte
		var err error
		if wanted[f.Path] {
			data, err = d.blob(ctx, r, f.Blob)
		}
		switch {
		case err == nil:
			d.data[f.Path] = content{f.Blob, data}
		case errors.Is(err, object.ErrTooLarge), !object.Damaged(err) && ctx.Err() == nil:
			d.problem(f.Path, err)
		default:
			return err
		}
	}
	for name, data := range d.options.Elsewhere {
		delete(d.unreadable, name)
		if sum := sha256.Sum256(data); data != nil {
			d.data[name] = content{object.Hash(sum[:20]), data}
		}
	}
	return nil
}

// problem notes why nothing more is written into a file.
func (d *deriver) problem(path string, err error) {
	d.unreadable[path] = err
	for i := range d.files {
		if d.files[i].Path == path {
			d.result.Problems[i] = fmt.Errorf("%s: %w", path, err)
		}
	}
}

// commit makes the commit of a group, unless it changes nothing.
func (d *deriver) commit(ctx context.Context, g *group) error {
	about := Group{Component: g.key.component}
	var changed []derive.File
	for f := range d.files {
		if len(g.edits[f]) == 0 || d.result.Problems[f] != nil {
			continue
		}
		file := &d.files[f]
		now, err := d.apply(ctx, f, g)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			d.problem(file.Path, err)
		case now != nil:
			changed = append(changed, *now)
			about.Files = append(about.Files, file.Path)
			if !slices.Contains(about.Languages, file.Language) {
				about.Languages = append(about.Languages, file.Language)
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(about.Languages)
	about.Author, about.Others, about.Reviewers = g.last, g.others(), g.reviewers
	err := d.write(ctx, about, changed)
	var path *derive.PathError
	if !errors.As(err, &path) {
		return err
	}
	d.problem(path.Path, err) // it must not hold up the others
	for f := range g.edits {
		if d.files[f].Path == path.Path {
			for _, i := range g.edits[f] {
				d.result.Outcomes[f][i] = edit.Result{}
			}
		}
	}
	g.authors, g.reviewers, g.last = nil, nil, edit.Author{}
	return d.commit(ctx, g)
}

// write makes a commit on top of the last one.
func (d *deriver) write(ctx context.Context, about Group, changed []derive.File) error {
	id, err := d.writer.Commit(ctx, derive.Commit{
		Parent: d.result.Head, Files: changed, Committer: d.options.Committer, Signer: d.options.Styles[about.Component].Signer,
		Author:  object.Signature{Name: about.Author.Name, Email: about.Author.Email, When: about.Author.Time},
		Message: d.message(about),
	})
	if err != nil {
		return err
	}
	for _, f := range changed {
		if delete(d.data, f.Path); !f.Remove {
			d.data[f.Path] = content{d.writer.Blob(f.Path), f.Data}
		}
		if m := d.memos[f.Path]; m != nil {
			d.options.Memo.put(m.key, memoValue{d.data[f.Path].blob, m.results, m.updated})
			delete(d.memos, f.Path)
		}
	}
	d.result.Head = id
	d.result.Commits = append(d.result.Commits, about)
	return nil
}

// apply writes the edits of a group into a file. It returns nil if the file stays.
func (d *deriver) apply(ctx context.Context, f int, g *group) (*derive.File, error) {
	file := &d.files[f]
	was, ok := d.data[file.Path]
	if !ok {
		for _, i := range g.edits[f] {
			d.result.Outcomes[f][i] = edit.Result{Outcome: edit.Gone}
		}
		return nil, nil
	}
	edits := make([]edit.Edit, len(g.edits[f]))
	for k, i := range g.edits[f] {
		edits[k] = file.Edits[i]
	}
	now, results, err := d.written(ctx, file, was, edits)
	if err != nil {
		return nil, err
	}
	written := false
	for k, i := range g.edits[f] {
		d.result.Outcomes[f][i] = results[k]
		if results[k].Outcome.Written() {
			written = true
			g.credit(edits[k])
		}
	}
	if !written {
		return nil, nil
	}
	return now, nil
}

// written returns a file with edits: what was made of the same file by the same edits
// before, if the mirror still has it.
func (d *deriver) written(ctx context.Context, file *File, was content, edits []edit.Edit) (*derive.File, []edit.Result, error) {
	key := keyOf(file.Path, was.blob, d.data[file.Template].blob, edits, file.Options)
	if known, found := d.options.Memo.get(key); found && d.writer.Has(known.after) {
		return &derive.File{Path: file.Path, Blob: known.after}, known.results, nil
	}
	if err := d.load(ctx, file.Path); err != nil {
		return nil, nil, err
	}
	o := file.Options
	if _, there := d.data[file.Template]; there { // what it gives waits while it cannot be read
		o.Template, _ = d.template(ctx, file.Template)
	}
	out, results, err := edit.Apply(file.Path, d.data[file.Path].data, edits, o)
	if err == nil {
		d.memos[file.Path] = &memo{key: key, results: results}
	}
	return &derive.File{Path: file.Path, Data: out}, results, err
}

// template returns a template that is there.
func (d *deriver) template(ctx context.Context, path string) (*poparse.File, error) {
	if err := d.load(ctx, path); err != nil {
		return nil, err
	}
	blob := d.data[path].blob
	if f := d.templates[blob]; f != nil {
		return f, nil
	}
	f, err := poparse.Parse(path, d.data[path].data)
	if err == nil {
		d.templates[blob] = f
	}
	return f, err
}

// load reads the bytes of a file that has become a blob that was known.
func (d *deriver) load(ctx context.Context, path string) (err error) {
	now := d.data[path]
	now.data, err = d.bytes(ctx, path)
	d.data[path] = now
	return err
}

// bytes reads a file, unless it was read.
func (d *deriver) bytes(ctx context.Context, path string) ([]byte, error) {
	now := d.data[path]
	if now.data != nil {
		return now.data, nil
	}
	r, err := d.writer.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return d.blob(ctx, r, now.blob)
}

// blob reads a blob that can be written again.
func (d *deriver) blob(ctx context.Context, r *gitsource.Reader, id object.Hash) ([]byte, error) {
	data, err := r.Blob(ctx, id, d.options.MaxFile)
	if err == nil && object.IsLFSPointer(data) {
		err = errors.New("it is in Git LFS, which cannot be written")
	}
	return data, err
}

// message returns the message of a commit with its trailers.
func (d *deriver) message(g Group) string {
	text := ""
	if d.options.Message != nil {
		text = d.options.Message(g)
	}
	if strings.Trim(text, "\x00\r\n\t ") == "" {
		text = "Update translations"
	}
	if g.Stopped {
		text += "\n\nThere are too many strings to find all similar ones: some texts that were there are not offered again."
	}
	var trailers []string
	for _, a := range g.Others {
		trailers = append(trailers, message.Trailer(message.CoAuthoredBy, a.Name, a.Email))
	}
	for _, a := range g.Reviewers {
		trailers = append(trailers, message.Trailer(message.ReviewedBy, a.Name, a.Email))
	}
	if d.options.Styles[g.Component].SignOff {
		trailers = append(trailers, message.Trailer(message.SignedOffBy, g.Author.Name, g.Author.Email))
	}
	return message.WithTrailers(text, trailers...)
}

// Memo remembers what files became by edits, so that a flush on another head makes only
// directories and commits anew where nobody else touched the files. The zero Memo is empty
// and may be used by several goroutines.
type Memo struct {
	mu    sync.Mutex
	known map[memoKey]memoValue
}

// maxMemo bounds the steps that a Memo knows.
const maxMemo = 20_000

// memoKey is a hash of a file and the edits that are written into it.
type memoKey [sha256.Size]byte

type memoValue struct {
	after   object.Hash
	results []edit.Result
	updated Updated
}

// keyOf is the key of edits of a file whose contents are a blob, as those of its template.
func keyOf(path string, blob, template object.Hash, edits []edit.Edit, o edit.Options) memoKey {
	text, _ := json.Marshal(struct { // which texts, numbers and times always have
		Path           string
		Blob, Template object.Hash
		Edits          []edit.Edit
		Options        edit.Options
	}{path, blob, template, edits, o})
	return sha256.Sum256(text)
}

func (m *Memo) get(key memoKey) (v memoValue, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.known[key]
	return v, ok
}

func (m *Memo) put(key memoKey, v memoValue) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxMemo {
		m.known = map[memoKey]memoValue{}
	}
	m.known[key] = v
}
