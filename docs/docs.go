// Package docs has the manual, which the server shows below /docs/.
package docs

import "embed"

// Files are the pages of the manual, in Markdown.
//
//go:embed *.md
var Files embed.FS
