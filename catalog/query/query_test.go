package query

import (
	"errors"
	"strings"
	"testing"
)

// The grammar and the fields (docs/search.md): a query, and how its expression
// prints.
func TestParse(t *testing.T) {
	for _, c := range []struct{ q, want string }{
		{"", ""},
		{"  \t", ""},
		{"foo", `"foo"`},
		{"foo bar", `"foo" AND "bar"`},
		{"foo AND bar", `"foo" AND "bar"`},
		{"foo and bar Or baz", `("foo" AND "bar") OR "baz"`},
		{"a b OR c", `("a" AND "b") OR "c"`},
		{"a OR b c", `"a" OR ("b" AND "c")`},
		{"NOT a b", `(NOT "a") AND "b"`},
		{"not (a or b) c", `(NOT ("a" OR "b")) AND "c"`},
		{"NOT NOT a", `NOT (NOT "a")`},
		{"android oracle nothing", `"android" AND "oracle" AND "nothing"`},
		{`"AND"`, `"AND"`},
		{`'a "b" c'`, `"a \"b\" c"`},
		{`"a\"b\\c\n"`, "\"a\\\"b\\\\c\n\""},
		{`r"^a.\"b\d"`, `r"^a.\"b\d"`},
		{`source:foo`, `source:"foo"`},
		{`source:=foo`, `source:="foo"`},
		{`source:"foo bar"`, `source:"foo bar"`},
		{`source:r"a b$"`, `source:r"a b$"`},
		{`source:<b>`, `source:"<b>"`},
		{`source:>=1`, `source:">=1"`},
		{`source:`, `"source:"`},
		{`source: foo`, `"source:" AND "foo"`},
		{`source:(foo)`, `"source:" AND "foo"`},
		{`foo-bar:x`, `"foo-bar:x"`},
		{`http://example.org/`, `"http://example.org/"`},
		{`mailto:x`, `"mailto:x"`},
		{`source:b:c`, `source:"b:c"`},
		{`SOURCE`, `"SOURCE"`},
		{`"foo bar`, `"\"foo" AND "bar"`},
		{`don't`, `"don" AND "'t"`},
		{`key:menu`, `context:"menu"`},
		{`note:x location:y flags:z target:t`, `note:"x" AND location:"y" AND flags:"z" AND target:"t"`},
		{`state:empty`, `state:=0`},
		{`state:untranslated`, `state:=0`},
		{`state:needs-editing`, `state:=10`},
		{`state:fuzzy`, `state:=10`},
		{`state:<translated`, `state:<=19`},
		{`state:<=translated`, `state:<=20`},
		{`state:>translated`, `state:>=21`},
		{`state:>=translated`, `state:>=20`},
		{`state:=approved`, `state:=30`},
		{`state:readonly`, `state:=100`},
		{`state:20`, `state:=20`},
		{`state:[0 to translated]`, `state:[0 to 20]`},
		{`source_state:<20`, `source_state:<=19`},
		{`is:read-only`, `state:=100`},
		{`is:translated`, `state:>=20`},
		{`is:untranslated`, `state:<=19`},
		{`is:fuzzy OR is:approved`, `state:=10 OR state:=30`},
		{`is:pending`, `is:pending`},
		{`has:plural has:note`, `has:plural AND has:note`},
		{`has:resolved_comment`, `label:""`},
		{`has:failing-check`, `has:check`},
		{`check:end_stop`, `check:"end_stop"`},
		{`check:End-Stop`, `check:"end_stop"`},
		{`check:newline_count`, `check:"newline-count"`},
		{`check:nonsense`, `label:""`},
		{`has:translation`, `state:>=20`},
		{`position:[5 to 7]`, `position:[5 to 7]`},
		{`position:[7 to 5]`, `label:""`},
		{`priority:>100`, `priority:>=101`},
		{`id:1,2,3`, `id:1,2,3`},
		{`id:7`, `id:7`},
		{`pending:no`, `NOT is:pending`},
		{`added:2019`, `added:[2019-01-01T00:00:00.000000Z to 2019-12-31T23:59:59.999999Z]`},
		{`added:2024-02-29`, `added:[2024-02-29T00:00:00.000000Z to 2024-02-29T23:59:59.999999Z]`},
		{`changed:>=2024-01-02T03:04:05Z`, `changed:>=2024-01-02T03:04:05.000000Z`},
		{`changed:>2024-01-02`, `changed:>=2024-01-03T00:00:00.000000Z`},
		{`changed:<=2024-01-02`, `changed:<2024-01-03T00:00:00.000000Z`},
		{`changed:>=2024-01-02T03:04:05+02:00`, `changed:>=2024-01-02T01:04:05.000000Z`},
		{`changed:>=2024-01-02T03:04:05 02:00`, `changed:>=2024-01-02T01:04:05.000000Z`},
		{`changed:>="2024-01-02 03:04"`, `changed:>=2024-01-02T03:04:00.000000Z`},
		{`change_time:[2019 to 2020-02-01]`, `change_time:[2019-01-01T00:00:00.000000Z to 2020-02-01T23:59:59.999999Z]`},
		{`last_changed:<2020`, `last_changed:<2020-01-01T00:00:00.000000Z`},
		{`changed_by:jane`, `changed_by:"jane"`},
		{`change_action:marked-for-edit`, `change_action:37`},
		{`change_action:"New string added"`, `change_action:31`},
		{`change_action:string-added-in-the-repository`, `change_action:31`},
		{`language:cs project:demo component:app`, `language:"cs" AND project:"demo" AND component:"app"`},
		{`source_language:en path:/demo/app/`, `source_language:"en" AND path:"demo/app"`},
		{`label:x OR suggestion:y OR check:same`, `label:"" OR suggestion:"y" OR check:"same"`},
		{`labels_count:0`, ``},
		{`labels_count:>0`, `label:""`},
		// Queries of real clients.
		{`state:>=translated AND (added:>=2024-01-02T03:04:05Z OR changed:>=2024-01-02T03:04:05Z)`, `state:>=20 AND (added:>=2024-01-02T03:04:05.000000Z OR changed:>=2024-01-02T03:04:05.000000Z)`},
		{`state:<translated AND NOT has:suggestion`, `state:<=19 AND (NOT has:suggestion)`},
	} {
		e, err := Parse(c.q)
		if err != nil {
			t.Errorf("%s: %v", c.q, err)
			continue
		}
		if got := printed(e); got != c.want {
			t.Errorf("%s: %s, want %s", c.q, got, c.want)
		}
	}
}

// TestFields: every field, with dashes or underscores where both are allowed,
// whether or not a repository can have it.
func TestFields(t *testing.T) {
	names := func(field, values string) (qs []string) {
		for v := range strings.FieldsSeq(values) {
			qs = append(qs, field+":"+v)
			if other := strings.ReplaceAll(v, "-", "_"); field == "has" && other != v {
				qs = append(qs, field+":"+other)
			}
		}
		return qs
	}
	for _, qs := range [][]string{
		names("state", "empty untranslated needs-editing fuzzy translated approved read-only readonly 0 100"),
		names("source_state", "empty untranslated needs-editing fuzzy translated approved read-only readonly"),
		names("is", "read-only readonly approved fuzzy needs-editing translated untranslated pending automatically-translated"),
		names("has", `plural suggestion explanation note comment resolved-comment check failing-check dismissed-check ignored-check
			translation variant shaping label context screenshot flags glossary location source-comment`),
		names("pending", "yes true on 1 no false off 0"),
		names("priority", "1 =1 <1 <=1 >1 >=1"), names("position", "1 =1 <1 <=1 >1 >=1"), names("id", "1 =1 <1 <=1 >1 >=1 1,2"), names("labels_count", "1 <1"),
		names("added", "2019 <2019 <=2019 >2019 >=2019 2019-01-02"), names("changed", "2019"), names("change_time", "2019"),
		names("last_changed", "2019"), names("source_changed", "2019"),
		names("changed_by", "x"), names("change_action", "marked-for-edit"), names("check", "same"), names("dismissed_check", "same"),
		names("language", "cs"), names("project", "x"), names("component", "x"), names("path", "a/b"), names("source_language", "en"),
		names("suggestion", "x"), names("comment", "x"), names("resolved_comment", "x"), names("explanation", "x"), names("source_comment", "x"),
		names("suggestion_author", "x"), names("comment_author", "x"), names("label", "x"), names("screenshot", "x"),
		{"priority:[1 to 2]", "position:[1 to 2]", "id:[1 to 2]", "added:[2019 to 2020]", "state:[0 to 20]"},
	} {
		for _, q := range qs {
			if _, err := Parse(q); err != nil {
				t.Errorf("%s: %v", q, err)
			}
			if _, err := Parse("NOT " + q); err != nil {
				t.Errorf("NOT %s: %v", q, err)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		q      string
		column int
		part   string
	}{
		{"(foo", 1, "not closed"},
		{"foo)", 4, "Unexpected ')'"},
		{"é (a OR (b)", 3, "not closed"},
		{"()", 2, "Expected a term"},
		{"foo AND", 8, "Expected a term"},
		{"OR foo", 1, "Expected a term instead of 'OR'"},
		{"a OR AND b", 6, "Expected a term"},
		{"NOT", 4, "Expected a term"},
		{"state:nonsense", 7, "Unsupported state: 'nonsense'"},
		{"ab nonsense:x", 4, "Unsupported field: nonsense"},
		{"Source:x", 1, "Unsupported field: Source"},
		{"is:foo", 4, "Unsupported is lookup"},
		{"is:empty", 4, "Unsupported is lookup"},
		{"has:foo", 5, "Unsupported has lookup"},
		{"position:x", 10, "Unsupported position"},
		{"id:1,x", 4, "Unsupported id"},
		{"id:99999999999999999999", 4, "Unsupported id"},
		{"pending:maybe", 9, "Unsupported pending"},
		{"added:2024-02-30", 7, "Invalid timestamp"},
		{"added:yesterday", 7, "Invalid timestamp"},
		{"added:>=[2019 to 2020]", 9, "Invalid timestamp"},
		{`source:r"("`, 8, "Invalid regular expression"},
		{`r"a{1000}b{1000}"`, 1, "too complex"},
		{`r"(a{31}){30}"`, 1, "too complex"},
		{`label:r"("`, 7, "Invalid regular expression"},
		{"change_action:nonsense", 15, "Unsupported change_action"},
		{strings.Repeat("(", 60) + "a" + strings.Repeat(")", 60), 42, "Nested"},
		{strings.Repeat("NOT ", 60) + "a", 165, "Nested"},
		{strings.Repeat("a ", 101), 201, "More than 100 terms"},
		{strings.Repeat("x", MaxLength+1), 1, "too long"},
		{"\xff", 1, "UTF-8"},
		{"id:1" + strings.Repeat(",1", 1000), 4, "More than 1000 ids"},
	} {
		e, err := Parse(c.q)
		var at *Error
		if !errors.As(err, &at) || at.Column != c.column || !strings.Contains(at.Text, c.part) {
			t.Errorf("%.40s: %v, %v; want %q at column %d", c.q, e, err, c.part, c.column)
		}
	}
}

func TestMatch(t *testing.T) {
	var fold Folder
	for _, c := range []struct {
		m    Match
		text string
		want bool
	}{
		{Match{Contains, "WORLD"}, "Hello, world", true},
		{Match{Contains, "ŽLUŤ"}, "příliš žluťoučký", true},
		{Match{Contains, "ΣΑΣ"}, "σας", true}, // final sigma
		{Match{Contains, "kelvin"}, "300 \u212aelvin", true},
		{Match{Contains, "ſtop"}, "STOP", true},
		{Match{Contains, "strasse"}, "Straße", false},
		{Match{Contains, "𐐀"}, "x𐐨", true},
		{Match{Contains, ""}, "", true},
		{Match{Contains, "ab\x00c"}, "AB\x00C", true},
		{Match{Contains, "world!"}, "Hello, world", false},
		{Match{Exact, "Open"}, "Open", true},
		{Match{Exact, "Open"}, "open", false},
		{Match{Exact, "Open"}, "Opened", false},
		{Match{Regexp, "^op"}, "open", true},
		{Match{Regexp, "^op"}, "Open", false},
		{Match{Regexp, "(?i)^op"}, "Open", true},
		{Match{Regexp, `\d+ (file|page)s?$`}, "12 pages", true},
		{Match{Regexp, `(colou?r)+s`}, "colors", true},
		{Match{Regexp, `(abc)*d`}, "d", true},
		{Match{Regexp, `ab|cd`}, "cd", true},
	} {
		f, _, err := c.m.Compile(&fold)
		if err != nil {
			t.Fatal(err)
		}
		if got := f(c.text); got != c.want {
			t.Errorf("%v in %q: %v", c.m, c.text, got)
		}
	}
}

// FuzzParse: nothing panics; an expression prints as a query with the same
// meaning.
func FuzzParse(f *testing.F) {
	for _, q := range []string{
		`a b OR NOT (c AND source:="x\"y") r"^[a-z]+$"`, `state:[empty to translated] id:1,2 position:>5`, `added:[2019 to 2020-02] changed:<2024-01-02T03:04:05.5+01:00`,
		`has:plural is:fuzzy pending:no label:x language:cs path:a/b/c`, `"open 'q' r"x" [1 to 2] http://x source: ))`, `changed:2020-01-01T00:00 02:00 change_action:31 changed_by:"x"`,
		"NOT not and", "source:[a to b] é:ü", `r"\"" 'it\'s'`,
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		e, err := Parse(q)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Column < 1 || at.Column > len(q)+1 {
				t.Fatalf("%q: %v", q, err)
			}
			return
		}
		once := printed(e)
		if len(once) > MaxLength { // quoting makes it longer
			return
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%q printed as %q: %v", q, once, err)
		}
		if twice := printed(again); twice != once {
			t.Fatalf("%q: %q, then %q", q, once, twice)
		}
	})
}

// Eight bytes at a time are folded like single bytes.
func TestFoldASCII(t *testing.T) {
	var fold Folder
	for c := range 128 {
		s := "x" + string(rune(c)) + "Yz@[`{" + string(rune(c)) + "日" + string(rune(c)) // beginning at each place
		for i := range len(s) {
			want := make([]byte, 0, len(s))
			for _, b := range []byte(s[i:]) {
				want = append(want, lower1(b))
			}
			if got := fold.String(s[i:]); got != string(want) && s[i]&0xc0 != 0x80 {
				t.Fatalf("%q: %q, want %q", s[i:], got, want)
			}
		}
	}
}

// FuzzFold: folding is stable and knows no case.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"Straße", "ΣΑΣ", "\xff\u212a", "İi"} {
		f.Add(s)
	}
	var fold Folder
	f.Fuzz(func(t *testing.T, s string) {
		once := fold.String(s)
		if fold.String(once) != once {
			t.Errorf("%q: %q, then %q", s, once, fold.String(once))
		}
		for _, r := range once { // an equal of a character that is there
			if want := foldRune(r); r != want && r != '\ufffd' {
				t.Errorf("%q: %q left", s, r)
			}
		}
		if match, _, _ := (Match{Contains, s}).Compile(&fold); !match(once) || !strings.EqualFold(s, s) {
			t.Errorf("%q is not in %q", s, once)
		}
	})
}
