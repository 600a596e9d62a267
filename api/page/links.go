package page

import (
	"net/url"
	"strings"
)

// linked shows a value as a link to the address under another key.
func linked(address string, keys ...string) func(*node) cell {
	return func(row *node) cell {
		name, link := row.text(keys...), webURL(row.text(address))
		if link == "" {
			return short(name)
		}
		if name == "" {
			name = "—"
		}
		return anchor(link, name)
	}
}

// links shows addresses by what their keys say.
func links(keys ...string) func(*node) cell {
	return func(row *node) cell {
		var c cell
		for _, key := range keys {
			if link := webURL(row.text(key)); link != "" {
				if key == "changes_list_url" { // people look for the newest
					link = newest(link)
				}
				name := strings.TrimSuffix(strings.TrimSuffix(key, "_url"), "_list")
				c.Links = append(c.Links, Link{Name: strings.ReplaceAll(name, "_", " "), URL: link})
			}
		}
		return c
	}
}

// newest is the address of a list of changes, the newest first.
func newest(link string) string {
	if strings.Contains(link, "?") {
		return link + "&ordering=-id"
	}
	return link + "?ordering=-id"
}

// last shows the address under a key by the last segment of its path.
func last(key string) func(*node) cell {
	return func(row *node) cell {
		link := webURL(row.text(key))
		if link == "" {
			return cell{}
		}
		segments := segmentsOf(link)
		return anchor(link, segments[len(segments)-1])
	}
}

// author shows who made a change: the author of its commit, as a link if the
// change is theirs (docs/compatibility.md#change-entries).
func author(row *node) cell {
	name, link := row.text("details", "author_name"), webURL(row.text("user"))
	switch {
	case name == "":
		return last("user")(row)
	case link == "":
		return short(name)
	}
	return anchor(link, cut(name, maxName))
}

// about shows the source of the string that a change is about.
func about(row *node) cell {
	source, link := row.text("details", "source"), webURL(row.text("unit"))
	switch {
	case link == "":
		return cell{}
	case strings.TrimSpace(source) == "":
		return last("unit")(row)
	}
	shown := cut(source, maxName)
	if len(shown) < len(source) {
		shown += "…"
	}
	return anchor(link, shown)
}

// after shows the text after a change. A removed string has none: its target is the
// removed text, which stands under "Old".
func after(row *node) cell {
	if row.text("action") == "63" {
		return cell{}
	}
	return single("target")(row)
}

// below links to a list below an entry, if a truth value says that it is not
// empty.
func below(key, name string) func(*node) cell {
	return func(row *node) cell {
		if row.text(key) != "true" {
			return cell{}
		}
		return anchorBelow(webURL(row.text("url")), name)
	}
}

// siblings links to a string in all languages.
func siblings(row *node) cell {
	return anchorBelow(webURL(row.text("source_unit")), "translations")
}

// anchorBelow links to a resource below another one, with the same query.
func anchorBelow(link, name string) cell {
	path, query, asked := strings.Cut(link, "?")
	if path == "" {
		return cell{}
	}
	path += name + "/"
	if asked {
		path += "?" + query
	}
	return anchor(path, name)
}

// where links to the translation or the component that an entry is in.
func where(row *node) cell {
	link := webURL(row.text("translation"))
	if link == "" {
		link = webURL(row.text("component"))
	}
	segments := segmentsOf(link)
	if link == "" || len(segments) < 3 {
		return cell{}
	}
	c := cell{Link: link}
	for _, segment := range segments[2:] {
		c.Path = append(c.Path, visible(cut(segment, maxName)))
	}
	return c
}

func segmentsOf(link string) []string {
	u, err := url.Parse(link)
	if err != nil {
		return []string{""}
	}
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// languageOf is the code that the URL of a translation ends with; "" for other
// URLs.
func languageOf(link string) string {
	segments := segmentsOf(link)
	if len(segments) != 5 || segments[1] != "translations" {
		return ""
	}
	return segments[4]
}
