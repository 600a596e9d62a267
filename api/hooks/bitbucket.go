package hooks

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
)

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
	SCM      string       `json:"scm"`
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
	switch owner := string(r.Owner); {
	case r.FullName != "":
		return r.FullName
	case r.OldName != "":
		return r.OldName
	case owner != "" && r.Slug != "":
		return owner + "/" + r.Slug
	case r.Project.Key != "" && r.Slug != "":
		return r.Project.Key + "/" + r.Slug
	}
	return ""
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
			if at := c.New; at != nil {
				list = append(list, at.Name)
			} else if at := c.Old; at != nil {
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
	if err := decode(payload, &p); err != nil {
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
