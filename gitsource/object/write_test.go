package object

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteObjects writes objects twice and reads them.
func TestWriteObjects(t *testing.T) {
	dir := t.TempDir()
	if err := Init(dir); err != nil {
		t.Fatal(err)
	}
	blob, err := WriteBlob(dir, []byte("hello\n"))
	if err != nil || blob.String() != "ce013625030ba8dba906f756967f9e9ca394464a" {
		t.Fatalf("%s, %v", blob, err)
	}
	raw := append([]byte("100755 .git\x00"), blob[:]...) // a name that Tree escapes
	tree, err := WriteTree(dir, raw)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "objects", looseName(blob))
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := WriteBlob(dir, []byte("hello\n")); err != nil || again != blob {
		t.Errorf("again: %s, %v", again, err)
	}
	if after, err := os.Stat(name); err != nil || !os.SameFile(before, after) {
		t.Errorf("an object that is there was written again: %v", err)
	}
	commit, err := WriteCommit(dir, []byte("tree "+tree.String()+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Commit(commit)
	if err != nil || c.Tree != tree || c.Message != "m" {
		t.Errorf("%+v, %v", c, err)
	}
	if got, err := s.RawTree(tree); err != nil || string(got) != string(raw) {
		t.Errorf("%q, %v", got, err)
	}
	if list, err := s.Tree(tree); err != nil || list[0].Name == ".git" {
		t.Errorf("%v, %v", list, err)
	}
	if data, err := s.Blob(blob, 100); err != nil || string(data) != "hello\n" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := s.RawTree(blob); err == nil {
		t.Error("a file was read as a directory")
	}
	if _, err := WriteBlob(filepath.Join(dir, "HEAD"), []byte("x")); err == nil {
		t.Error("written below a file")
	}
}
