package page

import (
	"html"
	"net/url"
	"strings"
)

// newest is the address of a list of changes from its end.
func newest(link string) string {
	if strings.Contains(link, "?") {
		return link + "&ordering=-id"
	}
	return link + "?ordering=-id"
}

// last shows the address under a key by the last segment of its path.
func last(key string) func(*node) string {
	return func(row *node) string {
		link := webURL(row.text(key))
		if link == "" {
			return ""
		}
		segments := segmentsOf(link)
		return anchor(link, segments[len(segments)-1])
	}
}

// author shows who made a change: the author of its commit, as a link if the
// change is theirs (decision 16).
func author(row *node) string {
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
func about(row *node) string {
	source, link := row.text("details", "source"), webURL(row.text("unit"))
	switch {
	case link == "":
		return ""
	case strings.TrimSpace(source) == "":
		return last("unit")(row)
	}
	shown := cut(source, maxName)
	if len(shown) < len(source) {
		shown += "…"
	}
	return anchor(link, shown)
}

// below leads to what stands below an entry, if a truth value says that there is
// something.
func below(key, name string) func(*node) string {
	return func(row *node) string {
		link, query, _ := strings.Cut(webURL(row.text("url")), "?")
		if row.text(key) != "true" || link == "" {
			return ""
		}
		if query != "" {
			query = "?" + query
		}
		return anchor(link+name+"/"+query, name)
	}
}

// siblings leads to a string in all languages.
func siblings(row *node) string {
	link, query, _ := strings.Cut(webURL(row.text("source_unit")), "?")
	if link == "" {
		return ""
	}
	if query != "" {
		query = "?" + query
	}
	return anchor(link+"translations/"+query, "translations")
}

// failing lists the names of checks.
func failing(row *node) string {
	var names []string
	if list := row.get("checks"); list != nil {
		for _, check := range list.members {
			names = append(names, check.text("name"))
		}
	}
	return short(strings.Join(names, ", "))
}

// where shows what an entry is in.
func where(row *node) string {
	link := webURL(row.text("translation"))
	if link == "" {
		link = webURL(row.text("component"))
	}
	segments := segmentsOf(link)
	if link == "" || len(segments) < 3 {
		return ""
	}
	parts := make([]string, 0, len(segments)-2)
	for _, segment := range segments[2:] {
		parts = append(parts, escaped(cut(segment, maxName)))
	}
	return `<a href="` + html.EscapeString(link) + `"><bdi>` + strings.Join(parts, "/<wbr>") + `</bdi></a>`
}

func segmentsOf(link string) []string {
	u, err := url.Parse(link)
	if err != nil {
		return []string{""}
	}
	return strings.Split(strings.Trim(u.Path, "/"), "/")
}

// languageOf is the code that the URL of a translation ends with; "" if it is
// none.
func languageOf(link string) string {
	segments := segmentsOf(link)
	if len(segments) != 5 || segments[1] != "translations" {
		return ""
	}
	return segments[4]
}
