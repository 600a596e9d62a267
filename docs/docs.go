// Package docs has the manual, which the server shows below /docs/.
package docs

import "embed"

// Files are the pages of the manual, in Markdown, and their pictures in img.
//
//go:embed *.md img/*.png
var Files embed.FS
