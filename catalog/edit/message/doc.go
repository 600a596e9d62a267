// Package message renders the message templates of a component, in the part of Django's
// template language that Weblate's manual names, and adds trailers.
//
// Goals: a template that can be parsed can be rendered; everything that is unknown is an
// error with its place when the configuration is read; a message is bounded, and no
// value breaks its line, so none can pose as a trailer.
//
// Non-goals: other tags and filters of Django, escaping for HTML.
//
// # The language
//
// A {{ placeholder }} is a name of [Values], with filters behind it:
// {{ filename|basename|stripext }}. The tags are {% for item in component_linked_childs %}
// … {% empty %} … {% endfor %} and {% if not stats.all == "0" %} … {% elif author %} …
// {% else %} … {% endif %}, with "and", "or", "not", "==" and "!=". {# comments #} are
// left out. Nesting has at most 10 levels.
package message
