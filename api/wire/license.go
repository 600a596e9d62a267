package wire

import (
	_ "embed" // spdx.txt
	"strings"
	"sync"
)

// spdx holds the licence identifiers of the SPDX licence list, deprecated
// ones included, one per line in byte order.
//
//go:embed spdx.txt
var spdx string

// licenses is the set of spdx.
var licenses = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for id := range strings.Lines(spdx) {
		set[strings.TrimSpace(id)] = true
	}
	return set
})

// licenseURL returns the SPDX page of a licence; null for "", "proprietary" and
// any other name that is not in the SPDX list.
func licenseURL(id string) *string {
	if !licenses()[id] {
		return nil
	}
	return OrNull("https://spdx.org/licenses/" + id + ".html")
}
