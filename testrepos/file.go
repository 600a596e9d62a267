package testrepos

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// parseFile reads `PATH` or `PATH (directive, …)`; PATH may be a Go string in
// double quotes, for names that a txtar line cannot have.
func parseFile(name string, data []byte) (File, error) {
	f := File{Path: name, text: data}
	var directives string
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
		f.Path, directives = strings.TrimSpace(name[:i]), name[i+2:len(name)-1]
	}
	if strings.HasPrefix(f.Path, `"`) {
		path, err := strconv.Unquote(f.Path)
		if err != nil {
			return f, fmt.Errorf("file name %s is no Go string", f.Path)
		}
		f.Path = path
	}
	for _, part := range strings.Split(f.Path, "/") {
		if part == "" || strings.Contains(part, "\x00") {
			return f, fmt.Errorf("file name %q: git has no names that are empty or contain NUL", f.Path)
		}
	}
	for d := range strings.SplitSeq(directives, ",") {
		if d = strings.TrimSpace(d); d != "" {
			if err := f.directive(d); err != nil {
				return f, err
			}
		}
	}
	return f, f.check()
}

// operations are the directives that make the text.
var operations = map[string]operation{
	"deleted": opDelete, "edit": opEdit, "entries": opEntries, "drop": opDrop, "msgmerge": opMerge,
	"shift": opShift, "copy": opCopy, "repeat": opRepeat, "base64": opBase64,
}

// kinds are the directives that make another kind of entry.
var kinds = map[string]filemode.FileMode{
	"symlink": filemode.Symlink, "executable": filemode.Executable, "submodule": filemode.Submodule,
}

// directive applies one word from the parentheses.
func (f *File) directive(d string) error {
	word, arg, _ := strings.Cut(d, " ")
	if op := operations[word]; op != opText {
		if f.op != opText {
			return fmt.Errorf("two directives that make the text; write two sections")
		}
		f.op, f.arg = op, arg
		return nil
	}
	if kind, ok := kinds[word]; ok {
		f.kind = kind
		return nil
	}
	switch word {
	case "bom":
		f.bom = true
	case "crlf":
		f.crlf = true
	case "no-eol":
		f.noEOL = true
	case "charset":
		return f.setCharset(arg)
	default:
		return fmt.Errorf("unknown directive %q; README.md of testrepos lists them", word)
	}
	return nil
}

func (f *File) setCharset(name string) error {
	enc, err := ianaindex.MIME.Encoding(name)
	if err != nil || enc == nil {
		if enc, err = htmlindex.Get(name); err != nil {
			return fmt.Errorf("charset %q is not known to x/text", name)
		}
	}
	f.charset = enc
	return nil
}

// check returns an error for wrong arguments before anything is written.
func (f *File) check() error {
	switch f.op {
	case opMerge, opCopy:
		if f.arg == "" {
			return fmt.Errorf("directive needs an argument: (msgmerge POT) or (copy LABEL:PATH)")
		}
	case opShift:
		if _, err := strconv.Atoi(f.arg); err != nil {
			return fmt.Errorf("shift %q: want a number of lines", f.arg)
		}
	case opRepeat:
		if n, err := strconv.Atoi(f.arg); err != nil || n < 0 || n > maxRepeat {
			return fmt.Errorf("repeat %q: want a number up to %d", f.arg, maxRepeat)
		}
	case opBase64:
		if _, err := decode64(f.text); err != nil {
			return fmt.Errorf("base64: %w", err)
		}
	case opEdit:
		if _, err := parseEdits(f.text); err != nil {
			return err
		}
	}
	return nil
}

// encode turns text into the bytes of the file.
func (f *File) encode(text []byte) ([]byte, error) {
	if f.noEOL || f.kind == filemode.Symlink {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	if f.crlf {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if f.charset != nil {
		var err error
		if text, err = f.charset.NewEncoder().Bytes(text); err != nil {
			return nil, fmt.Errorf("text does not fit its charset: %w", err)
		}
	}
	if f.bom {
		text = append([]byte("\ufeff"), text...)
	}
	return text, nil
}

// decode is the inverse of encode, for directives that change the present text.
func (f *File) decode(data []byte) ([]byte, error) {
	if f.bom {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	if f.charset != nil {
		var err error
		if data, err = f.charset.NewDecoder().Bytes(data); err != nil {
			return nil, fmt.Errorf("present text is not in this charset: %w", err)
		}
	}
	if f.crlf {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return data, nil
}

func decode64(text []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
}
