package unit

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHistoryReader reads versions of several files in turn with one Reader, some of
// them with an error, a repeated string or other rules: each gives what it gives when
// it is read alone.
func TestHistoryReader(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pool := NewPool()
	r := NewHistoryReader(pool, 200_000)
	var texts [5]string
	compared := 0
	for n := range 400 {
		i := random.IntN(len(texts))
		text := texts[i]
		kind := random.IntN(12)
		if text == "" {
			kind = 0
		}
		switch kind {
		case 0:
			text = versionOf(random, i*50, i*50+300)
		case 1:
			text = strings.Replace(text, "msgid \"string", "msgid \"strong", 1)
		case 2:
			text += "\nmsgid \"string\n"
		case 3:
			text += "\nmsgid \"string 7\"\nmsgstr \"\"\n"
		default:
			text = edit(random, text)
		}
		rules := NewRules("", n%40 == 0)
		key := versionKey{string(rune('a' + i)), rules}
		before := r.versions.before(key)
		f := sameAs(t, r, key.name, rules, text)
		if f == nil {
			continue
		}
		texts[i] = text
		if after := r.versions.before(key); before != nil && after != nil && after.po != before.po {
			compared++
		}
		pool.Put(f)
	}
	if compared < 100 {
		t.Errorf("only %d versions were compared with the one before", compared)
	}
	if r.versions.bytes > r.versions.bound || r.versions.recent.Len() != len(r.versions.files) {
		t.Errorf("%d bytes in %d and %d versions are kept", r.versions.bytes, len(r.versions.files), r.versions.recent.Len())
	}
}

// edit changes some lines of a file, so that entries stay whole.
func edit(r *rand.Rand, text string) string {
	entries := strings.Split(text, "\n\n")
	for range 1 + r.IntN(20) {
		i := 1 + r.IntN(len(entries)-1)
		switch r.IntN(5) {
		case 0:
			entries[i] = strings.Replace(entries[i], "msgstr \"", "msgstr \"x", 1)
		case 1:
			entries[i] = "#. note\n" + entries[i]
		case 2:
			entries = append(entries[:i], entries[i+1:]...)
		default:
			entries[i] = strings.Replace(entries[i], ".c:", ".c:1", 1)
		}
	}
	return strings.Join(entries, "\n\n")
}

// TestVersionsKeepNoText checks that strings of unchanged units are in no version's
// text: thousands of versions would stay in memory.
func TestVersionsKeepNoText(t *testing.T) {
	text := versionOf(rand.New(rand.NewPCG(5, 6)), 0, 100)
	r := NewHistoryReader(NewPool(), 1<<20)
	first := []byte(text)
	second := []byte(strings.Replace(text, "src/1.c:", "src/11.c:", 3))
	if _, err := r.Read("x.po", first, NewRules("", false)); err != nil {
		t.Fatal(err)
	}
	f, err := r.Read("x.po", second, NewRules("", false))
	if err != nil {
		t.Fatal(err)
	}
	show := func(u *Unit) string { return u.Target + u.Location + u.Source + u.Context + u.Note + u.Flags }
	var want []string
	for i := range f.Units {
		want = append(want, strings.Clone(show(&f.Units[i])))
	}
	clear(first)
	clear(second)
	for i := range f.Units {
		if got := show(&f.Units[i]); got != want[i] {
			t.Fatalf("unit %d is %q, want %q", i, got, want[i])
		}
	}
	spare := r.versions.spare[:cap(r.versions.spare)]
	if len(spare) == 0 {
		t.Error("the memory of a replaced version is not used again")
	}
	for i := range spare {
		if spare[i] != (madeUnit{}) {
			t.Fatalf("memory %d to be used again has %+v", i, spare[i])
		}
	}
}
