package filemask

// Matcher selects paths. The zero value selects every file.
type Matcher struct {
	// Want reports whether a file is wanted; nil: all are.
	Want func(path string) bool
	// Prune reports that no file below a directory is wanted; nil: every directory
	// is entered. It only saves work.
	Prune func(dir string) bool
}

// Selects reports whether a file is wanted.
func (m Matcher) Selects(path string) bool { return m.Want == nil || m.Want(path) }

// Prunes reports whether no file below a directory is wanted.
func (m Matcher) Prunes(dir string) bool { return m.Prune != nil && m.Prune(dir) }

// NewMatcher selects the files that any of the masks matches, and other paths, such
// as those of templates. It also selects files that a mask [Mask.Refuses], so that
// they can be reported.
func NewMatcher(masks []Mask, paths ...string) Matcher {
	exact := make(map[string]struct{}, len(paths))
	for _, p := range paths {
		exact[p] = struct{}{}
	}
	above := make(map[string]struct{})
	for _, p := range paths {
		for i, c := range p {
			if c == '/' {
				above[p[:i]] = struct{}{}
			}
		}
	}
	return Matcher{
		Want: func(p string) bool {
			if _, ok := exact[p]; ok {
				return true
			}
			for _, m := range masks {
				if _, ok := m.Match(p); ok || m.Refuses(p) != "" {
					return true
				}
			}
			return false
		},
		Prune: func(dir string) bool {
			if _, ok := above[dir]; ok {
				return false
			}
			for _, m := range masks {
				if m.Below(dir) {
					return false
				}
			}
			return true
		},
	}
}
