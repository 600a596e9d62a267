package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
)

// variants are an answer whose body is in memory, in the encodings that were
// asked for so far.
type variants struct {
	// header is the same for all encodings.
	header
	plain []byte
	parts bool // clients may ask for parts of the body
	tags  [encodings]string

	once   [encodings]sync.Once
	bodies [encodings]body
}

// newVariants returns the variants of an answer; nil unless it is a success
// whose body is in memory.
func newVariants(a answer) *variants {
	v := &variants{header: a.header}
	switch b := a.body.(type) {
	case content:
		v.plain = b
	case ranged:
		v.plain, v.parts = b, true
	default:
		return nil
	}
	if a.status != http.StatusOK {
		return nil
	}
	v.bodies[identity] = a.body
	sum := sha256.Sum256(v.plain)
	v.tags = etags(base64.RawURLEncoding.EncodeToString(sum[:15]))
	return v
}

// etags are the strong validators of the encodings of the content that tag
// stands for.
func etags(tag string) (all [encodings]string) {
	for e := range all {
		all[e] = `"` + tag + encoding(e).suffix() + `"`
	}
	return all
}

// in returns the body in an encoding. grown is its size in bytes if it was made
// now.
func (v *variants) in(e encoding) (b body, grown int) {
	if e == identity {
		return v.bodies[identity], 0
	}
	v.once[e].Do(func() {
		made := compress(e, v.plain)
		grown = len(made)
		if v.parts {
			v.bodies[e] = ranged(made)
		} else {
			v.bodies[e] = content(made)
		}
	})
	return v.bodies[e], grown
}

// notModified is a 304 for the answer in an encoding.
func (v *variants) notModified(e encoding) answer {
	return answer{
		header{status: http.StatusNotModified, contentType: v.contentType, etag: v.tags[e], modified: v.modified, maxAge: v.maxAge, at: v.at},
		noContent{},
	}
}
