package hooks

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
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
	read func(h http.Header, payload texts) (*notification, error)
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
	if !json.Valid(payload) {
		return nil, errMissingField
	}
	n, err := s.read(h, texts{gjson.ParseBytes(payload)})
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

// bitbucketAddresses lists the addresses that the servers make from the name of a repository,
// whose page tells the host.
func bitbucketAddresses(name, page string) (list []string) {
	hosts := []string{"bitbucket.org"}
	if u, err := url.Parse(page); err == nil && u.Host != "" && u.Host != hosts[0] {
		hosts = append(hosts, u.Host)
	}
	for _, host := range hosts {
		bare, _, _ := strings.Cut(host, ":")
		for _, tail := range []string{"", ".git"} {
			path := name + tail
			list = append(list, "https://"+host+"/"+path, "ssh://git@"+host+"/"+path, "git@"+bare+":"+path)
		}
	}
	return list
}

// readBitbucket reads what Bitbucket Cloud and Data Center send:
// https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/ and
// https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
// A push has branches and tags: Cloud sends their name, Data Center displayId.
func readBitbucket(h http.Header, payload texts) (*notification, error) {
	r, merged := payload.part("repository"), payload.part("pullRequest")
	var branches []string
	listed := true
	switch h.Get("X-Event-Key") {
	case "repo:push":
		branches, listed = payload.each("push.changes", "new.name", "old.name")
	case "repo:refs_changed":
		branches, listed = payload.each("changes", "ref.displayId")
	case "pullrequest:fulfilled":
		branches = payload.part("pullrequest").all("destination.branch.name")
	case "pr:merged":
		branches = merged.all("toRef.displayId")
		if !r.Exists() {
			r = merged.part("toRef.repository")
		}
	default:
		return nil, nil
	}
	name := r.text("full_name", "fullName")
	if owner, slug := cmp.Or(r.text("owner"), r.text("project.key")), r.text("slug"); name == "" && owner != "" && slug != "" {
		name = owner + "/" + slug
	}
	page := r.text("links.html.href")
	repos, ok := r.each("links.clone", "href")
	if name == "" || !ok || !listed {
		return nil, errMissingField
	}
	if len(repos) == 0 {
		repos = bitbucketAddresses(name, page)
	}
	return &notification{fullName: name, repoURL: page, repos: repos, branches: branches, defaultBranch: r.text("mainbranch.name")}, nil
}

// Azure sends the secret as a password, which every service may do.
var azure = service{name: "azure", title: "Azure", read: readAzure}

// readAzure reads https://learn.microsoft.com/azure/devops/service-hooks/events#git.push
func readAzure(_ http.Header, payload texts) (*notification, error) {
	event, r := payload.text("eventType"), payload.part("resource.repository")
	name, address := r.text("name"), r.text("remoteUrl")
	branches, ok := payload.each("resource.refUpdates", "name")
	switch {
	case event != "" && event != "git.push":
		return nil, nil
	case event == "" || name == "" || address == "" || !ok:
		return nil, errMissingField
	}
	return &notification{
		fullName: name, repoURL: address, repos: azureAddresses(address, r), branches: branches, defaultBranch: r.text("defaultBranch"),
	}, nil
}

// azureAddresses lists all addresses of the repository: at dev.azure.com and
// visualstudio.com, for https and ssh, with names and with ids.
func azureAddresses(address string, r texts) []string {
	list := []string{address}
	organisation := azureOrganisation(address)
	if organisation == "" {
		return list
	}
	for _, project := range spellings(r.all("project.name", "project.id")) {
		for _, repo := range spellings(r.all("name", "id")) {
			list = append(list,
				"https://dev.azure.com/"+organisation+"/"+project+"/_git/"+repo,
				"git@ssh.dev.azure.com:v3/"+organisation+"/"+project+"/"+repo,
				"https://"+organisation+".visualstudio.com/"+project+"/_git/"+repo,
				organisation+"@vs-ssh.visualstudio.com:v3/"+organisation+"/"+project+"/"+repo)
		}
	}
	return list
}

// azureOrganisation returns the organisation in an address; "" for another server.
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
func spellings(names []string) []string {
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

// readPagure reads fedmsg's messages: https://docs.pagure.org/pagure/usage/using_webhooks.html
func readPagure(_ http.Header, payload texts) (*notification, error) {
	topic, msg := payload.text("topic"), payload.part("msg")
	instance, name := msg.text("pagure_instance"), msg.text("project_fullname")
	switch {
	case topic == "" && !msg.Exists():
		return nil, errMissingField
	case topic != "git.receive" || !msg.Exists():
		return nil, nil
	case instance == "" || name == "":
		return nil, errMissingField
	}
	at := strings.TrimRight(instance, "/") + "/" + name
	n := &notification{fullName: name, repoURL: at, repos: []string{at, at + ".git"}, branches: msg.all("branch")}
	if u, err := url.Parse(instance); err == nil && u.Host != "" {
		ssh := "ssh://git@" + u.Host + "/" + name
		n.repos = append(n.repos, ssh, ssh+".git")
	}
	return n, nil
}
