package rest

import "testing"

// FuzzQuery: encoding is stable, whatever came in, and keeps the last value.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"format=api?format=po", "a=b+c&a=%zz", "&&?=&=x", "page=2&page_size=%20"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		ps := ParseQuery(raw)
		once := ps.Encode("api", 3)
		again := ParseQuery(once)
		if twice := again.Encode("api", 3); twice != once {
			t.Errorf("%q: %q then %q", raw, once, twice)
		}
		if page, _ := again.Get("page"); page != "3" {
			t.Errorf("%q: page %q in %q", raw, page, once)
		}
		for _, p := range ps {
			if p.Name == "page" || p.Name == "format" {
				continue
			}
			want, _ := ps.Get(p.Name)
			if got, ok := again.Get(p.Name); !ok || got != want {
				t.Errorf("%q: %q is %q, was %q", raw, p.Name, got, want)
			}
		}
	})
}
