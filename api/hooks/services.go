package hooks

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// service is a code hosting service. Those that send a ref are in push.go.
type service struct {
	// name is its name in the path.
	name string
	// title is its name for people.
	title string
	// read makes a notification from a payload. It returns nil for an event that
	// is not a push, and an error for a payload without the fields that the
	// service sends (docs/compatibility.md#webhooks).
	read func(h http.Header, payload []byte) (*notification, error)
	// signed reports whether a call proves, by the service's own method, that its
	// caller knows a secret; nil: the service has no such method.
	signed func(k *call, secret string) bool
	// signsPayload says that signatures are of the JSON, also when a form has it.
	signsPayload bool
	// signatures are the headers with signatures of the body; a call without them
	// proves what it proves by its other headers alone.
	signatures []string
}

// services is the table of all services. It is never changed.
var services = []service{github, gitlab, gitea, forgejo, bitbucket, azure, pagure, gitee}

// serviceNamed returns the service with a name; nil for an unknown name.
func serviceNamed(name string) *service {
	for i := range services {
		if services[i].name == name {
			return &services[i]
		}
	}
	return nil
}

// notification reads the payload of a call; nil for an event that is not a push.
func (s *service) notification(h http.Header, payload []byte) (*notification, error) {
	n, err := s.read(h, payload)
	if n != nil {
		n.service = s.title
		n.normalize()
	}
	return n, err
}

var bitbucket = service{
	name: "bitbucket", title: "Bitbucket", read: readBitbucket,
	signed:     anyOf(signedHex("X-Hub-Signature", "sha256=", sha256.New), hubSignature),
	signatures: []string{"X-Hub-Signature", hubHeader},
}

// bitbucketRepo is a repository in the payloads of Bitbucket Cloud and Data
// Center.
type bitbucketRepo struct {
	FullName string       `json:"full_name"` // Cloud
	OldName  string       `json:"fullName"`
	Slug     string       `json:"slug"`
	Owner    optionalText `json:"owner"`
	Project  struct {
		Key string `json:"key"`
	} `json:"project"`
	Links struct {
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
		Clone bounded[struct {
			Href string `json:"href"`
		}] `json:"clone"`
	} `json:"links"`
	MainBranch struct {
		Name string `json:"name"`
	} `json:"mainbranch"`
}

// name is owner and name of the repository; "" if the payload lacks them.
func (r *bitbucketRepo) name() string {
	owner, name := cmp.Or(string(r.Owner), r.Project.Key), cmp.Or(r.FullName, r.OldName)
	if name == "" && owner != "" && r.Slug != "" {
		name = owner + "/" + r.Slug
	}
	return name
}

// urls lists the addresses of the repository: the links of the payload, or else
// the addresses that the servers make from its name.
func (r *bitbucketRepo) urls() []string {
	var list []string
	for _, c := range r.Links.Clone {
		list = append(list, c.Href)
	}
	if len(list) > 0 {
		return list
	}
	hosts := []string{"bitbucket.org"}
	if u, err := url.Parse(r.Links.HTML.Href); err == nil && u.Host != "" && u.Host != hosts[0] {
		hosts = append(hosts, u.Host)
	}
	for _, host := range hosts {
		bare, _, _ := strings.Cut(host, ":")
		for _, tail := range []string{"", ".git"} {
			path := r.name() + tail
			list = append(list, "https://"+host+"/"+path, "ssh://git@"+host+"/"+path, "git@"+bare+":"+path)
		}
	}
	return list
}

// bitbucketRef is a branch or a tag: Cloud sends its name, Data Center displayId.
type bitbucketRef struct {
	Name      string `json:"name"`
	DisplayID string `json:"displayId"`
}

// bitbucketEvent is a push or a merged pull request.
type bitbucketEvent struct {
	Repository *bitbucketRepo `json:"repository"`
	Push       struct {
		Changes bounded[struct {
			New *bitbucketRef `json:"new"`
			Old *bitbucketRef `json:"old"`
		}] `json:"changes"`
	} `json:"push"`
	Changes bounded[struct {
		Ref bitbucketRef `json:"ref"`
	}] `json:"changes"`
	Merged struct {
		Destination struct {
			Branch bitbucketRef `json:"branch"`
		} `json:"destination"`
		To *struct {
			bitbucketRef
			Repository *bitbucketRepo `json:"repository"`
		} `json:"toRef"`
	} `json:"pullrequest"` // pullRequest too: keys match in any case
}

// branches returns the branches of the event with a key; ok is false for other
// events.
func (p *bitbucketEvent) branches(key string) (list []string, ok bool) {
	switch key {
	case "repo:push":
		for _, c := range p.Push.Changes {
			if at := cmp.Or(c.New, c.Old); at != nil {
				list = append(list, at.Name)
			}
		}
	case "repo:refs_changed":
		for _, c := range p.Changes {
			list = append(list, c.Ref.DisplayID)
		}
	case "pullrequest:fulfilled":
		list = []string{p.Merged.Destination.Branch.Name}
	case "pr:merged":
		if to := p.Merged.To; to != nil {
			list = []string{to.DisplayID}
		}
	default:
		return nil, false
	}
	return list, true
}

// readBitbucket reads what Bitbucket Cloud and Data Center send:
// https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/ and
// https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
func readBitbucket(h http.Header, payload []byte) (*notification, error) {
	var p bitbucketEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	key := h.Get("X-Event-Key")
	branches, ok := p.branches(key)
	if !ok {
		return nil, nil
	}
	r := p.Repository
	if to := p.Merged.To; r == nil && key == "pr:merged" && to != nil {
		r = to.Repository
	}
	if r == nil || r.name() == "" {
		return nil, errMissingField
	}
	return &notification{
		fullName: r.name(), repoURL: r.Links.HTML.Href, repos: r.urls(),
		branches: branches, defaultBranch: r.MainBranch.Name,
	}, nil
}

// Azure sends the secret as a password, which every service may do.
var azure = service{name: "azure", title: "Azure", read: readAzure}

// readAzure reads
// https://learn.microsoft.com/azure/devops/service-hooks/events#git.push
func readAzure(_ http.Header, payload []byte) (*notification, error) {
	var p struct {
		EventType string `json:"eventType"`
		Resource  *struct {
			RefUpdates bounded[struct {
				Name string `json:"name"`
			}] `json:"refUpdates"`
			Repository azureRepo `json:"repository"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	r := p.Resource
	switch {
	case p.EventType != "" && p.EventType != "git.push":
		return nil, nil
	case p.EventType == "" || r == nil || r.Repository.RemoteURL == "" || r.Repository.Name == "":
		return nil, errMissingField
	}
	n := &notification{
		fullName: r.Repository.Name, repoURL: r.Repository.RemoteURL,
		repos: r.Repository.urls(), defaultBranch: r.Repository.DefaultBranch,
	}
	for _, u := range r.RefUpdates {
		n.branches = append(n.branches, u.Name)
	}
	return n, nil
}

type azureRepo struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	RemoteURL     string `json:"remoteUrl"`
	DefaultBranch string `json:"defaultBranch"`
	Project       struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"project"`
}

// urls lists all addresses of the repository: at dev.azure.com and
// visualstudio.com, for https and ssh, with names and with ids.
func (r *azureRepo) urls() []string {
	list := []string{r.RemoteURL}
	organisation := azureOrganisation(r.RemoteURL)
	if organisation == "" {
		return list
	}
	for _, project := range spellings(r.Project.Name, r.Project.ID) {
		for _, repo := range spellings(r.Name, r.ID) {
			list = append(list,
				"https://dev.azure.com/"+organisation+"/"+project+"/_git/"+repo,
				"git@ssh.dev.azure.com:v3/"+organisation+"/"+project+"/"+repo,
				"https://"+organisation+".visualstudio.com/"+project+"/_git/"+repo,
				organisation+"@vs-ssh.visualstudio.com:v3/"+organisation+"/"+project+"/"+repo)
		}
	}
	return list
}

// azureOrganisation returns the organisation in an address; "" for another
// server.
func azureOrganisation(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if host == "dev.azure.com" {
		organisation, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		return organisation
	}
	if organisation, ok := strings.CutSuffix(host, ".visualstudio.com"); ok {
		return organisation
	}
	return ""
}

// spellings lists the ways to write names in an address: plain and escaped.
func spellings(names ...string) []string {
	var list []string
	for _, name := range names {
		list = append(list, name, url.PathEscape(name))
	}
	return usable(list)
}

var pagure = service{
	name: "pagure", title: "Pagure", read: readPagure,
	signed:     anyOf(signedHex("X-Pagure-Signature-256", "", sha256.New), signedHex("X-Pagure-Signature", "", sha1.New)),
	signatures: []string{"X-Pagure-Signature-256", "X-Pagure-Signature"},
}

// readPagure reads https://docs.pagure.org/pagure/usage/using_webhooks.html:
// messages of fedmsg.
func readPagure(_ http.Header, payload []byte) (*notification, error) {
	var p struct {
		Topic string `json:"topic"`
		Msg   *struct {
			Instance string `json:"pagure_instance"`
			FullName string `json:"project_fullname"`
			Branch   string `json:"branch"`
		} `json:"msg"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Topic == "" && p.Msg == nil:
		return nil, errMissingField
	case p.Topic != "git.receive" || p.Msg == nil:
		return nil, nil
	case p.Msg.Instance == "" || p.Msg.FullName == "":
		return nil, errMissingField
	}
	at := strings.TrimRight(p.Msg.Instance, "/") + "/" + p.Msg.FullName
	n := &notification{
		fullName: p.Msg.FullName, repoURL: at,
		repos: []string{at, at + ".git"}, branches: []string{p.Msg.Branch},
	}
	if u, err := url.Parse(p.Msg.Instance); err == nil && u.Host != "" {
		ssh := "ssh://git@" + u.Host + "/" + p.Msg.FullName
		n.repos = append(n.repos, ssh, ssh+".git")
	}
	return n, nil
}
