package testrepos

import (
	"fmt"
	"os"
	"strings"
)

// hostileFolders are git directories on this machine whose files are not what they
// should be.
func hostileFolders() []Hostile {
	const repair = "repair the repository"
	list := []Hostile{
		{Name: "gitdir-file", Fails: "use the repository that it leads to", make: func(w *hostileWriter) {
			other := *w
			other.dir = w.outside + "/other.git"
			other.write("HEAD", "ref: refs/heads/main\n")
			other.mkdir("objects")
			other.served(treeLine{modeFile, "cs.po", other.blob(strings.Replace(smallPO, "Jedna", HostileCanary, 1))})
			w.remove("")
			w.write(".git", "gitdir: "+other.dir+"\n")
			w.fail(other.err)
		}},
		{Name: "head-link", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.link("HEAD", w.outside+"/secret") }},
		{Name: "ref-link", Fails: "push a first commit", make: func(w *hostileWriter) { w.sound(); w.link("refs/heads/main", w.outside+"/secret") }},
		{Name: "ref-text", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("refs/heads/main", HostileCanary+"\n") }},
		{Name: "ref-large", Fails: "push a first commit", make: func(w *hostileWriter) {
			w.sound()
			w.write("refs/heads/main", strings.Repeat("0", 64<<20))
		}},
		{Name: "packed-refs-link", make: func(w *hostileWriter) { w.sound(); w.link("packed-refs", w.outside+"/secret") }},
		{Name: "objects-link", Fails: "use the repository that it leads to", make: func(w *hostileWriter) { w.sound(); w.link("objects", w.outside) }},
		{Name: "head-odd", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("HEAD", "ref: refs/heads/../../../outside/secret\n") }},
		{Name: "head-loop", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("HEAD", "ref: HEAD\n") }},
		{Name: "odd-refs", make: func(w *hostileWriter) {
			id := w.sound()
			for _, name := range []string{"-x", "a..b", "a@{b", "x.lock", "ba d", "a\nb", "a~1", "a^", "a:b", "\x7f", strings.Repeat("r", 200)} {
				w.write("refs/heads/"+name, id.String()+"\n")
			}
			var b strings.Builder
			for i := range 200_000 {
				fmt.Fprintf(&b, "%s refs/heads/many/%d\n", id, i)
			}
			w.write("packed-refs", b.String())
		}},
		{Name: "shallow-large", Fails: repair, make: func(w *hostileWriter) {
			w.sound()
			w.write("shallow", "")
			w.fail(os.Truncate(w.path("shallow"), 800<<20))
		}},
		{Name: "config-large", make: func(w *hostileWriter) { w.sound(); w.fail(os.Truncate(w.path("config"), 800<<20)) }},
	}
	const leads = "use the repository that it leads to"
	for _, l := range []struct{ file, target, fails string }{
		{"commondir", "outside", leads},
		{"commondir", "self", "correct the address"},
		{"commondir", "many", ""},
		{"commondir", "secret", leads},
		{"objects/info/alternates", "outside", leads},
		{"objects/info/alternates", "self", ""},
		{"objects/info/alternates", "many", ""},
		{"objects/info/alternates", "secret", ""},
	} {
		list = append(list, Hostile{Name: strings.ReplaceAll(l.file, "/", "-") + "-" + l.target, Fails: l.fails, make: func(w *hostileWriter) {
			w.sound()
			w.write(l.file, map[string]string{
				"outside": w.outside + "\n", "self": w.dir + "\n" + w.dir + "/objects\n",
				"many": strings.Repeat(w.dir+"/objects\n", 100_000), "secret": w.outside + "/secret\n",
			}[l.target])
		}})
	}
	pack := "objects/pack/pack-" + strings.Repeat("5", 40) + ".pack"
	for _, l := range []struct{ file, fails string }{
		{"HEAD", repair},
		{"refs/heads/main", "push a first commit"},
		{"packed-refs", ""},
		{"shallow", repair},
		{"commondir", ""},
		{"config", ""},
		{"objects/info/alternates", ""},
		{"objects/pack", repair},
		{pack, "run git fsck there"},
	} {
		list = append(list, Hostile{Name: "pipe-" + strings.ReplaceAll(l.file, "/", "-"), Fails: l.fails, make: func(w *hostileWriter) {
			w.sound()
			w.remove(l.file)
			w.write(l.file+".x", "") // makes the folder
			w.remove(l.file + ".x")
			w.fail(makePipe(w.path(l.file)))
		}})
	}
	return list
}
