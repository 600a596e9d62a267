package hooks

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
)

var bitbucket = service{
	name: "bitbucket", title: "Bitbucket", read: readBitbucket,
	signed: anyOf(signedHex("X-Hub-Signature", "sha256=", sha256.New), hubSignature),
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

// readBitbucket reads what Bitbucket Cloud and Data Center send:
// https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/ and
// https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
func readBitbucket(h http.Header, payload []byte) (*notification, error) {
	type ref struct {
		Name      string `json:"name"`
		DisplayID string `json:"displayId"`
		Type      string `json:"type"`
	}
	var p struct {
		Repository *bitbucketRepo `json:"repository"`
		Push       struct {
			Changes bounded[struct {
				New *ref `json:"new"`
				Old *ref `json:"old"`
			}] `json:"changes"`
		} `json:"push"`
		Changes bounded[struct {
			Ref ref `json:"ref"`
		}] `json:"changes"`
		Merged struct {
			Destination struct {
				Branch ref `json:"branch"`
			} `json:"destination"`
			To *struct {
				ref
				Repository *bitbucketRepo `json:"repository"`
			} `json:"toRef"`
		} `json:"pullrequest"` // pullRequest too: keys match in any case
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	n := &notification{}
	switch h.Get("X-Event-Key") {
	case "repo:push":
		for _, c := range p.Push.Changes {
			if at := c.New; at != nil {
				n.branches = append(n.branches, at.Name)
			} else if at := c.Old; at != nil {
				n.branches = append(n.branches, at.Name)
			}
		}
	case "repo:refs_changed":
		for _, c := range p.Changes {
			n.branches = append(n.branches, c.Ref.DisplayID)
		}
	case "pullrequest:fulfilled":
		n.branches = []string{p.Merged.Destination.Branch.Name}
	case "pr:merged":
		if to := p.Merged.To; to != nil {
			n.branches = []string{to.DisplayID}
			if p.Repository == nil {
				p.Repository = to.Repository
			}
		}
	default:
		return nil, nil
	}
	r := p.Repository
	if r == nil || r.name() == "" {
		return nil, errMissingField
	}
	n.repos, n.repoURL, n.fullName, n.defaultBranch = r.urls(), r.Links.HTML.Href, r.name(), r.MainBranch.Name
	return n, nil
}
