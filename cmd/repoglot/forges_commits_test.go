package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/testrepos"
)

// git runs git in the repository on the forge.
func (p *forgeProject) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.repo.Dir
	cmd.Env = append([]string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GNUPGHOME=" + filepath.Join(p.dir, "gnupg")}, p.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Errorf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// sshKey returns a private key, and the file with who may sign with it.
func (w *forgeWorld) sshKey() (private, allowed string) {
	w.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(w.t, err)
	block, err := ssh.MarshalPrivateKey(key, "l10n-bot")
	must(w.t, err)
	public, err := ssh.NewPublicKey(key.Public())
	must(w.t, err)
	allowed = filepath.Join(w.dir, "allowed")
	must(w.t, os.WriteFile(allowed, append([]byte("l10n-bot@example.org "), ssh.MarshalAuthorizedKey(public)...), 0o600))
	return string(pem.EncodeToMemory(block)), allowed
}

// pgpKey returns a private key whose public one gpg knows.
func (w *forgeWorld) pgpKey() string {
	w.t.Helper()
	config := &packet.Config{Time: func() time.Time { return time.Unix(1_700_000_000, 0) }, Algorithm: packet.PubKeyAlgoEdDSA}
	entity, err := openpgp.NewEntity("repoglot", "", "l10n-bot@example.org", config)
	must(w.t, err)
	var private, public bytes.Buffer
	armoured, err := armor.Encode(&private, openpgp.PrivateKeyType, nil)
	must(w.t, err)
	must(w.t, entity.SerializePrivate(armoured, config))
	must(w.t, armoured.Close())
	must(w.t, entity.Serialize(&public))
	home := filepath.Join(w.dir, "gnupg")
	must(w.t, os.Mkdir(home, 0o700))
	cmd := exec.Command("gpg", "--homedir", home, "--batch", "--no-autostart", "--quiet", "--import")
	cmd.Stdin = &public
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("gpg: %v: %s", err, out)
	}
	return private.String()
}

// TestForgeCommits: commits that arrive on a forge are signed, signed off and credited as
// the settings say, and change what they must.
func TestForgeCommits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ssh-keygen", "gpg"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("skipped: %s is not installed", name)
		}
	}
	w := newForgeWorld(t)
	private, allowed := w.sshKey()
	w.env = append(w.env, "SSH_KEY="+private, "PGP_KEY="+w.pgpKey())
	files := map[string]string{"po/cs.po": forgeFile}
	direct := w.add("github", files, map[string]any{
		"push_mode": "direct", "commit_by": "language", "signoff": true, "signing_key_env": "SSH_KEY", "po_header": "keep",
		"commit_message": "{{ component_name }}: {{ language_name }}\r\n\r\n{{ stats.translated }} of {{ stats.all }}",
	})
	mode := w.add("gitlab", files, map[string]any{"push_mode": "branch", "push_branch": "l10n", "signing_key_env": "PGP_KEY", "on_conflict": "edit"})
	gate := w.add("forgejo", map[string]string{"po/cs.po": forgeFile + "\n#, c-format\nmsgid \"%d files\"\nmsgstr \"\"\n"}, map[string]any{"commit_gate": "errors"})
	w.start()

	direct.edit("jana", "One", "Jedna")
	direct.edit("petr", "Two", "Dva")
	direct.push()
	direct.wants(allFlushed, "pushed")
	if out := direct.git("-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "main"); !strings.Contains(out, `Good "git" signature for l10n-bot@example.org`) {
		t.Errorf("signed by SSH: %s", out)
	}
	const want = "Petr <petr@example.org>|L10n Bot <l10n-bot@example.org>|app: Czech\n\n2 of 2\n\n" +
		"Co-authored-by: Jana Nováková <jana@example.org>\nSigned-off-by: Petr <petr@example.org>\n"
	if got := strings.TrimSpace(direct.git("log", "-1", "--format=%an <%ae>|%cn <%ce>|%B", "main")); got != strings.TrimSpace(want) {
		t.Errorf("commit:\n%q, want\n%q", got, want)
	}
	if got := string(direct.repo.File(t, "main", "po/cs.po")); got != forgeTexts("Jedna", "Dva") {
		t.Errorf("po_header: keep left\n%s", got)
	}

	mode.edit("jana", "Two", "Dva")
	mode.push()
	mode.theirs("", "Dvojka")
	mode.push()
	mode.wants(" Dva* | Dva pending", "on_conflict: edit")
	if out := mode.git("verify-commit", "--raw", "l10n"); !strings.Contains(out, "GOODSIG") {
		t.Errorf("signed by OpenPGP: %s", out)
	}
	if got := string(mode.repo.File(t, "l10n", "po/cs.po")); !strings.Contains(got, `msgstr "Dva"`) {
		t.Errorf("on_conflict: edit wrote\n%s", got)
	}
	mode.repo.Commit(t, testrepos.Change{Merge: "l10n"})
	mode.push()
	mode.wants(" Dva | Dva flushed", "merged")

	gate.edit("jana", "%d files", "%s souborů")
	gate.edit("jana", "One", "Jedna")
	gate.push()
	gate.wants("Jedna* Dvě %s souborů* | %s souborů pending msgstr: uses argument 1 as another type than the msgid, Jedna pending", "commit_gate: errors")
	if got := gate.ours(); strings.Contains(got, "souborů") || !strings.Contains(got, "Jedna") {
		t.Errorf("commit_gate: errors wrote\n%s", got)
	}
	if log := w.server.err.String(); !strings.Contains(log, "edits stay pending") || !strings.Contains(log, "uses argument 1 as another type") {
		t.Errorf("the log does not say why:\n%s", log)
	}
	if list := gate.fake.Requests(); len(list) != 1 || strings.Contains(list[0].Body, "souborů") {
		t.Errorf("the request: %+v", list)
	}
}

// TestForgeUpdates: with msgmerge: commit the update of all files and the edits of people are one
// request, whose text has a row for each language. Another template changes it in place; merged,
// nothing is left; closed, its update is not offered again before the strings change.
func TestForgeUpdates(t *testing.T) {
	t.Parallel()
	w := newForgeWorld(t)
	template := func(ids ...string) string {
		text := forgeFile[:strings.Index(forgeFile, "\nmsgid \"One\"")]
		for _, id := range ids {
			text += "\n#: main.c\nmsgid \"" + id + "\"\nmsgstr \"\"\n"
		}
		return text
	}
	file := strings.Replace(forgeFile, "Two", "The second one", 1)
	for _, kind := range forge.Kinds() {
		w.add(kind, map[string]string{"po/cs.po": file, "po/de.po": file, "po/fr.po": file, "po/app.pot": template("One", "The second one")},
			map[string]any{"new_base": "po/app.pot", "language_regex": "^[^.]+$", "msgmerge": "commit"})
	}
	w.start()
	for _, p := range w.projects {
		put := func(ids ...string) {
			p.repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": template(ids...)}, Author: "Maintainer <m@example.org>"})
			if why := p.operate("pull"); why != "" {
				t.Error(why)
			}
		}
		requests := func(states string, has ...string) {
			t.Helper()
			p.push()
			list, got := p.fake.Requests(), ""
			for _, r := range list {
				got += r.State + " "
			}
			if strings.TrimSpace(got) != states {
				t.Fatalf("%s: the requests are %+v, want %s", p.fake.Kind, list, states)
			}
			for _, text := range has {
				if body := list[len(list)-1].Body; !strings.Contains(body, text) {
					t.Errorf("%s: the request lacks %q:\n%s", p.fake.Kind, text, body)
				}
			}
		}
		p.edit("jana", "One", "Jedna")
		put("One", "The second one!", "Three is new")
		p.call(http.MethodPost, "/api/translations/"+p.slug+"/app/de/units/", "petr", map[string]any{"source": "Three is new", "target": []string{"Drei"}, "state": 20}, nil)
		requests("open", "| `cs` | `One` | – | `Jedna` |", "`po/cs.po` (`cs`): 1 new, 1 reworded, 0 gone", "(`de`): 0 new, 1", "(`fr`): 1 new, 1")
		if text := p.git("log", "--format=%an %s", "main.."+p.branch()); strings.Count(text, "\n") != 3 {
			t.Errorf("%s: the branch has\n%s", p.fake.Kind, text)
		}
		put("One", "The second one!", "Three is new", "Four")
		requests("open", "`po/cs.po` (`cs`): 2 new, 1 reworded, 0 gone", "(`de`): 1 new", "| `cs` | `One` | – | `Jedna` |")
		p.repo.Commit(t, testrepos.Change{Merge: p.branch()})
		p.fake.End(1, "merged")
		requests("merged")
		put("One", "The second one!", "Three is new", "Four", "Five")
		requests("merged open", "`po/fr.po` (`fr`): 1 new, 0 reworded, 0 gone")
		p.fake.End(2, "closed")
		requests("merged closed")
		put("The second one!", "One", "Three is new", "Four", "Five")
		requests("merged closed")
		put("One", "The second one!", "Three is new", "Four", "Five", "Six")
		requests("merged closed open", "2 new, 0 reworded, 0 gone")
	}
}
