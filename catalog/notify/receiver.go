package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// Receiver is who is told of changes.
type Receiver struct {
	// URL is the address, which may have secrets.
	URL string
	// Secret is in base64, as Standard Webhooks has it.
	Secret string `json:"-"`
	// Events are those that it wants, as catalog.ActionsOf has them; empty: all.
	Events []string
	// Projects are the slugs of those that it is told of, their private components too; empty:
	// what is public. Languages are codes; empty: all. Entries of whole components have none.
	Projects, Languages []string
	// Batch is how long changes are collected for one delivery; 0: each has its own.
	Batch time.Duration
	// AllowPrivate permits addresses of this machine and of private networks.
	AllowPrivate bool
}

// Name names the receiver in the database, without secrets.
func (r *Receiver) Name() string {
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte("repoglot receiver\x00"+r.URL)))
}

// host names the receiver in logs.
func (r *Receiver) host() string {
	if u, err := url.Parse(r.URL); err == nil {
		return u.Host
	}
	return ""
}

// wants reports whether the receiver is told of an entry of a component. What a first import
// brings is no news, but that the component came.
func (r *Receiver) wants(c *catalog.Change, of *store.ComponentRow) bool {
	news := c.Action == catalog.ActionCreateComponent || of.Imported && c.ID > of.ImportedChange
	language := cmp.Or(c.Language, c.Event["language"])
	if !news || len(r.Projects) == 0 && of.Settings.Private(&of.Project) || len(r.Projects) > 0 && !slices.Contains(r.Projects, c.Project) ||
		language != "" && len(r.Languages) > 0 && !slices.Contains(r.Languages, language) {
		return false
	}
	return len(r.Events) == 0 || slices.ContainsFunc(r.Events, func(event string) bool {
		actions, conflicts, _ := catalog.ActionsOf(event)
		return slices.Contains(actions, c.Action) || conflicts && c.Event[catalog.EventConflict] != ""
	})
}

// message is an entry as Weblate's webhooks have it (its schema weblate-messaging).
type message struct {
	ChangeID    int64    `json:"change_id"`
	Action      string   `json:"action"`
	Timestamp   string   `json:"timestamp"`
	Target      []string `json:"target,omitempty"`
	Old         []string `json:"old,omitempty"`
	Source      []string `json:"source,omitempty"`
	URL         string   `json:"url"`
	Author      string   `json:"author,omitempty"`
	User        string   `json:"user,omitempty"`
	Project     string   `json:"project"`
	Component   string   `json:"component"`
	Translation string   `json:"translation,omitempty"`
}

// maxText bounds a text of a message, in characters.
const maxText = 10_000

func forms(text string) []string {
	if text == "" {
		return nil
	}
	return catalog.Each(catalog.SplitForms(text), func(form *string) string { return catalog.Clip(*form, maxText) })
}

// newMessage makes the message of an entry. Where an edit ended in a conflict, or a request was
// opened, the action says that.
func newMessage(c *catalog.Change, page func(*catalog.Change) string) message {
	m := message{
		ChangeID: c.ID, Action: c.Action.Name(), Timestamp: c.Timestamp.UTC().Format("2006-01-02T15:04:05.000000Z"),
		Target: forms(c.Target), Old: forms(c.Old), Source: forms(c.Source), Author: c.Username, URL: cmp.Or(c.Event[catalog.EventURL], page(c)),
		Project: c.Project, Component: c.Component, Translation: cmp.Or(c.Language, c.Event["language"]),
	}
	if c.Action.Credited() {
		m.User = c.Username
	}
	switch {
	case c.Event[catalog.EventConflict] != "":
		m.Action = "Edit conflict"
	case c.Action == catalog.ActionPush:
		m.Action = "Request opened"
	case c.UnitID == 0:
		m.Target = forms(cmp.Or(c.Event["message"], c.Event["error"], c.Event["file"]))
	}
	return m
}

// body is what is sent of entries: a list, if they are collected.
func (r *Receiver) body(list []catalog.Change, page func(*catalog.Change) string) ([]byte, error) {
	if r.Batch == 0 {
		return json.Marshal(newMessage(&list[0], page))
	}
	return json.Marshal(catalog.Each(list, func(c *catalog.Change) message { return newMessage(c, page) }))
}
