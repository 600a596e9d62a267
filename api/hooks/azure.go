package hooks

import (
	"net/http"
	"net/url"
	"strings"
)

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
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	if p.EventType != "git.push" {
		if p.EventType == "" {
			return nil, errMissingField
		}
		return nil, nil
	}
	r := p.Resource
	if r == nil || r.Repository.RemoteURL == "" || r.Repository.Name == "" {
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

// azureRepo is a repository of Azure Repos.
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
	organisation, ok := strings.CutSuffix(host, ".visualstudio.com")
	if !ok {
		return ""
	}
	return organisation
}

// spellings lists the ways to write names in an address: plain and escaped.
func spellings(names ...string) []string {
	var list []string
	for _, name := range names {
		list = append(list, name, url.PathEscape(name))
	}
	return usable(list)
}
