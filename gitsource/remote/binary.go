package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Git is the git program, run without prompts and with the configuration of this package only.
type Git struct {
	path    string
	maxFile int64 // bytes of a file that it writes; 0: no bound
}

// setting is one line of git configuration.
type setting struct{ key, value string }

// environment returns the variables of this process that git and what it runs may see (how
// to find programs, homes, keys, proxies and certificates; others may be secrets), settings
// and extra. Secrets are passed to git in variables that its credential helper reads, never in
// arguments, which every user of the machine can see.
func environment(settings []setting, extra ...string) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "USERPROFILE",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_SSH_VARIANT=ssh", "GIT_OPTIONAL_LOCKS=0",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(os.TempDir()),
		"GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return append(env, extra...)
}

const (
	maxStdout = 4 << 20
	maxStderr = 16 << 10
)

// gitError says that a run of git failed.
type gitError struct {
	stderr string
	err    error
}

func (e *gitError) Error() string { return strings.TrimSpace(e.stderr + "\n" + e.err.Error()) }

func (e *gitError) Unwrap() error { return e.err }

// run runs git and returns its output, also if it fails. Without --git-dir among args git has no
// repository: it would look for one around the folder that it runs in, where
// somebody may have put one with a configuration (git(1), GIT_DIR).
func (g Git) run(ctx context.Context, env []string, args ...string) (string, error) {
	stdout := &capped{max: maxStdout}
	err := g.exec(ctx, append(env, "GIT_DIR="+os.DevNull), nil, stdout, args...)
	return stdout.String(), err
}

// exec runs git within limits, until ctx is done.
func (g Git) exec(ctx context.Context, env []string, stdin io.Reader, stdout io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Env = env
	cmd.Dir = os.TempDir() // names of files in args are absolute
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	stderr := &capped{max: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	err := cmd.Start()
	if err == nil {
		limit(cmd.Process.Pid, g.maxFile)
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case err != nil:
		return &gitError{stderr: stderr.String(), err: err}
	}
	return nil
}

// capped keeps the first bytes written to it.
type capped struct {
	bytes.Buffer
	max int
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.max - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Repack copies all objects that the refs of one git directory reach, and these
// refs but for HEAD, into another, as one pack.
func (g Git) Repack(ctx context.Context, old, gitDir string) error {
	env := environment([]setting{{"fetch.unpackLimit", "1"}, {"gc.auto", "0"}, {"safe.directory", "*"}})
	args := append(fetchArgs(gitDir), "--", old, "+refs/*:refs/*")
	if _, err := g.run(ctx, env, args...); err != nil {
		return fmt.Errorf("repack: %s", oneLine(err.Error()))
	}
	return nil
}

// TreeMerge is what git merges of two commits.
type TreeMerge struct {
	// Bases are their merge bases: the newest commits that both have.
	Bases []object.Hash
	// Tree is the result. Conflicts are the modes of the versions of each path with a
	// conflict; files that both changed have git's markers in Tree.
	Tree      object.Hash
	Conflicts map[string][]string
}

// MergeTree merges two commits of a git directory without a work tree (git-merge-tree(1)). The
// error is ErrUnsupported before git 2.38. Commits without a merge base have the zero result.
func (g Git) MergeTree(ctx context.Context, gitDir string, ours, theirs object.Hash) (m TreeMerge, err error) {
	env := environment([]setting{{"safe.directory", "*"}, {"gc.auto", "0"}, {"merge.renameLimit", "1000"}})
	exited := func(err error, code int) bool {
		exit, ok := errors.AsType[*exec.ExitError](err)
		return ok && exit.ExitCode() == code
	}
	out, err := g.run(ctx, env, "--git-dir="+gitDir, "merge-base", "--all", ours.String(), theirs.String())
	for line := range strings.Lines(out) {
		if h, err := object.ParseHash(strings.TrimSpace(line)); err == nil {
			m.Bases = append(m.Bases, h)
		}
	}
	switch {
	case exited(err, 1):
		return m, nil
	case err != nil:
		return m, fmt.Errorf("git merge-base: %s", oneLine(err.Error()))
	}
	g.maxFile = maxMerged
	out, err = g.run(ctx, env, "--git-dir="+gitDir, "merge-tree", "--write-tree", "-z", "--no-messages", ours.String(), theirs.String())
	switch conflicts := exited(err, 1); {
	case exited(err, 129): // its usage
		return m, fmt.Errorf("git merge-tree --write-tree: %w", ErrUnsupported)
	case err != nil && !conflicts:
		return m, fmt.Errorf("git merge-tree: %s", oneLine(err.Error()))
	case len(out) >= maxStdout:
		return m, errors.New("git merge-tree: too many conflicts")
	}
	id, rest, _ := strings.Cut(out, "\x00")
	m.Conflicts = map[string][]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(rest, "\x00"), "\x00") { // MODE OBJECT STAGE\tPATH
		if about, path, ok := strings.Cut(entry, "\t"); ok {
			mode, _, _ := strings.Cut(about, " ")
			m.Conflicts[path] = append(m.Conflicts[path], mode)
		}
	}
	m.Tree, err = object.ParseHash(strings.TrimSpace(id))
	return m, err
}

// maxMerged bounds the bytes of a file that git merges.
const maxMerged = 64 << 20

func fetchArgs(gitDir string) []string {
	return []string{
		"--git-dir=" + gitDir, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--update-shallow",
	}
}

// binarySource fetches with the git program.
type binarySource struct {
	client
	git Git
	led string // the address that the remote redirects to; "" for its own
}

// address returns the remote's address for git: without credentials, a path absolute. All users
// of the machine can read the arguments of programs, so one with a query has none.
func (s *binarySource) address() (string, error) {
	if path, ok := repourl.IsLocal(s.remote.URL); ok {
		repo, err := s.Trust.find(path)
		if errors.Is(err, errOwner) || errors.Is(err, errLeads) {
			return "", s.untrusted(err)
		}
		if err == nil {
			for _, name := range []string{filepath.Join(repo.gitDir, "HEAD"), filepath.Join(repo.commonDir, "config"), filepath.Join(repo.commonDir, "packed-refs")} {
				if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // git would wait for a writer, and hold a worker
					return "", s.fail(ErrUnreachable, filepath.Base(name)+" is a pipe, a device or a folder", "repair the repository")
				}
			}
		}
		return filepath.Abs(path)
	}
	e, err := parseEndpoint(s.remote.URL)
	if err == nil && e.query != "" {
		return "", s.fail(ErrUnsupported, "git would show the query of its address to all users of this machine", "put secrets into credentials:; git: auto and builtin can pull with a query")
	}
	return cmp.Or(s.led, e.clean()), err
}

// helper is a credential helper for git that reads the environment.
const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$REPOGLOT_GIT_USERNAME" "$REPOGLOT_GIT_PASSWORD"; }; f`

func (s *binarySource) environment() []string {
	settings := []setting{
		{"credential.helper", ""},
		{"core.askPass", ""},
		{"http.followRedirects", "false"}, // follow decides
		{"gc.auto", "0"},
		{"http.lowSpeedLimit", "1"},
		{"http.lowSpeedTime", strconv.Itoa(max(1, int(s.Silence.Seconds())))},
		// index-pack streams larger files.
		{"core.bigFileThreshold", strconv.FormatInt(s.limits.Whole, 10)},
		{"core.deltaBaseCacheLimit", "32m"},
		{"pack.threads", "2"},
		{"protocol.version", "2"},
	}
	settings = append(settings, fsckSettings()...)
	if ca := os.Getenv("SSL_CERT_FILE"); ca != "" { // Go reads it; the library of git may not
		settings = append(settings, setting{"http.sslCAInfo", ca})
	}
	if dir, more, _ := strings.Cut(os.Getenv("SSL_CERT_DIR"), string(filepath.ListSeparator)); dir != "" && more == "" { // git takes one
		settings = append(settings, setting{"http.sslCAPath", dir})
	}
	var extra []string
	e, err := parseEndpoint(s.remote.URL)
	switch {
	case err != nil: // a local path
	case e.scheme == "ssh":
		extra = append(extra, "GIT_SSH_COMMAND="+s.sshCommand())
	case s.access.Username != "" || s.access.Password != "":
		// For this host only, so that a redirect to another host gets nothing.
		settings = append(settings, setting{"credential." + e.scheme + "://" + e.host + ".helper", helper})
		extra = append(extra, "REPOGLOT_GIT_USERNAME="+s.access.Username, "REPOGLOT_GIT_PASSWORD="+s.access.Password)
	}
	return environment(settings, extra...)
}

// fsckSettings make git refuse objects that harm those who clone them, such as a directory with
// an entry .git, ".." or a submodule whose name leads elsewhere. Faults that old tools left in
// many histories, and that harm nobody, only warn (git-fsck(1)).
func fsckSettings() []setting {
	list := []setting{{"fetch.fsckObjects", "true"}, {"fetch.fsck.fullPathname", "error"}}
	for _, harmless := range []string{
		"badDate", "badDateOverflow", "badEmail", "badFilemode", "badName", "badParentSha1", "badTimezone", "badTree",
		"duplicateEntries", "emptyName", "gitmodulesLarge", "gitmodulesMissing", "gitmodulesParse", "missingAuthor",
		"missingCommitter", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail",
		"missingTagEntry", "missingTaggerEntry", "multipleAuthors", "nullSha1", "treeNotSorted", "zeroPaddedDate",
		"zeroPaddedFilemode",
	} {
		list = append(list, setting{"fetch.fsck." + harmless, "warn"})
	}
	return list
}

func (s *binarySource) sshCommand() string {
	command := "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4"
	if s.access.SSHKey != "" {
		command += " -o IdentitiesOnly=yes -i " + shellQuote(s.access.SSHKey)
	}
	if len(s.KnownHosts) > 0 {
		command += " -o " + shellQuote("UserKnownHostsFile="+strings.Join(s.KnownHosts, " "))
	}
	return command
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// run runs git with args, the remote's address and refs. If the remote redirects the
// requests of a service, it does so again with the address that it leads to.
func (s *binarySource) run(ctx context.Context, service string, args []string, refs ...string) (string, error) {
	if s.git.path == "" {
		return "", s.fail(ErrUnsupported, "git: binary is set, but there is no git program", "install git, or set git: auto")
	}
	if strings.ContainsFunc(s.access.Username+s.access.Password, unicode.IsControl) {
		return "", s.fail(ErrAuth, "user or password holds control characters", "correct credentials: for this host")
	}
	for {
		address, err := s.address()
		if err != nil {
			return "", err
		}
		out, err := s.git.run(ctx, s.environment(), slices.Concat(args, []string{"--", address}, refs)...)
		if err == nil || !redirected(err) || s.led != "" {
			return out, err
		}
		if s.led, err = s.follow(ctx, service); err != nil {
			return "", err
		}
	}
}

// read is run for reading, with an *Error.
func (s *binarySource) read(ctx context.Context, args []string, refs ...string) (string, error) {
	out, err := s.run(ctx, uploadService, args, refs...)
	if err != nil {
		return "", s.describe(err)
	}
	return out, nil
}

func (s *binarySource) Tip(ctx context.Context) (object.Head, error) {
	// git's own limits do not apply while it connects.
	ctx, cancel := context.WithTimeout(ctx, 2*max(time.Second, s.Silence))
	defer cancel()
	pattern := "HEAD"
	if s.remote.Branch != "" {
		pattern = "refs/heads/" + s.remote.Branch
	}
	out, err := s.read(ctx, []string{"ls-remote", "--quiet", "--symref"}, pattern)
	if err != nil {
		return object.Head{}, err
	}
	head, err := parseLsRemote(out, pattern)
	if err != nil {
		return object.Head{}, s.fail(ErrUnreachable, err.Error(), "check the repository there")
	}
	if !head.Hash.IsZero() {
		return head, nil
	}
	out, err = s.read(ctx, []string{"ls-remote", "--quiet", "--heads"})
	switch {
	case err != nil:
		return object.Head{}, err
	case strings.TrimSpace(out) == "":
		return object.Head{}, s.fail(ErrEmptyRepository, "", "push a first commit")
	case s.remote.Branch == "":
		return object.Head{}, s.fail(ErrBranchMissing, "its HEAD names a branch that has no commit", "set branch:")
	}
	return object.Head{}, s.fail(ErrBranchMissing, fmt.Sprintf("%q", s.remote.Branch), "correct branch:, or leave it out to follow the repository's HEAD")
}

// parseLsRemote finds one ref in what git ls-remote --symref writes; the zero Hash: none.
func parseLsRemote(out, ref string) (object.Head, error) {
	head := object.Head{Branch: strings.TrimPrefix(ref, "refs/heads/")}
	for line := range strings.SplitSeq(out, "\n") {
		id, name, ok := strings.Cut(line, "\t")
		if !ok || name != ref {
			continue
		}
		if target, ok := strings.CutPrefix(id, "ref: "); ok {
			branch, ok := strings.CutPrefix(target, "refs/heads/")
			if !ok || !object.ValidBranch(branch) {
				return object.Head{}, fmt.Errorf("its HEAD names %q, which is no branch", oneLine(target))
			}
			head.Branch = branch
			continue
		}
		var err error
		if head.Hash, err = object.ParseHash(id); err != nil {
			return object.Head{}, err
		}
	}
	return head, nil
}

func (s *binarySource) Transfer(ctx context.Context, gitDir string, tip object.Head, _ []object.Hash) error {
	ref := "refs/heads/" + tip.Branch
	switch tip.Branch {
	case object.Detached:
		ref = "HEAD"
	case "":
		ref = tip.Hash.String()
	}
	old, err := object.Packs(gitDir)
	if err != nil {
		return err
	}
	limits, before := s.limits.Within(gitDir), object.Size(gitDir)
	small := func() error { // git fetch has no setting for this
		if object.Size(gitDir)-before > limits.Bytes {
			return limits.TooManyBytes()
		}
		return nil
	}
	fetching, ended := EndIf(ctx, small)
	s.git.maxFile = limits.Bytes + 1<<20 // small names the limit; this is for when it is late
	_, err = s.read(fetching, fetchArgs(gitDir), "+"+ref+":refs/repoglot/incoming")
	_ = ended()
	if large := small(); large != nil {
		removeNew(gitDir, old)
		return s.fail(object.ErrTooLarge, large.Error(), "use a smaller repository, or raise the limit")
	}
	if err != nil {
		return err
	}
	return object.Loosen(ctx, gitDir, old) // git keeps every pack that it checks
}

// reftable reports whether a local repository keeps its refs in a reftable.
func (t Trust) reftable(path string) bool {
	repo, err := t.find(path)
	return err == nil && repo.isReftable()
}

// mayHarm begins what is said about a remote with an object that git fsck refuses.
const mayHarm = "it has an object that may harm those who clone it: "

// fsckError finds the object and its fault in git's message.
func fsckError(said string) string {
	for line := range strings.Lines(said) {
		if _, fault, ok := strings.Cut(line, "error: object "); ok {
			return fmt.Sprintf("%.200s", oneLine(fault))
		}
	}
	return "see git fsck"
}

// describe makes an *Error of git's message: its exit status is always 128.
func (s *binarySource) describe(err error) error {
	if remote, ok := errors.AsType[*Error](err); ok {
		return remote
	}
	if cause := contextCause(err); cause != nil {
		return s.timedOut(cause)
	}
	said := err.Error() // the kind is decided before secrets are removed
	if path, local := repourl.IsLocal(s.remote.URL); !local && saysAbsent(said) {
		return s.fail(ErrUnreachable, "repository not found", "correct the address, or give credentials: if it is private")
	} else if local && s.Trust.reftable(path) && (strings.Contains(said, "unknown repository extension") || strings.Contains(said, "expected git repo version")) {
		return s.fail(ErrUnsupported, "refs are kept in a reftable, which this git cannot read", "install git 2.45 or newer")
	}
	for _, known := range []struct {
		text         string
		kind         error
		what, remedy string
	}{
		{"Host key verification failed", ErrAuth, "the host's key is not the one in known_hosts, or is not there", "verify the key and add it to ~/.ssh/known_hosts"},
		{"Authentication failed", ErrAuth, "user or password is refused", "check credentials: for this host"},
		{"could not read Username", ErrAuth, "it wants a user and a password", "set credentials: for this host, or check that the repository exists"},
		{"could not read Password", ErrAuth, "it wants a password", "set credentials: for this host"},
		{"Permission denied", ErrAuth, "permission denied", "set ssh_key in credentials:, or load a key into the ssh agent"},
		{"returned error: 30", ErrUnreachable, "it redirects where it is not followed", "correct the address"},
		{"returned error: 403", ErrAuth, "access is forbidden", "check credentials: for this host"},
		{"fsck error", ErrUnreachable, mayHarm + fsckError(said), "run git fsck there"},
		{"couldn't find remote ref", ErrBranchMissing, "the branch has gone", "correct branch:"},
		{"not found", ErrUnreachable, "repository not found", "correct the address, or give credentials: if it is private"},
		{"detected dubious ownership", ErrUnreachable, "git refuses a repository of another user", "set git: auto, or run repoglot as its owner"},
		{"does not appear to be a git repository", ErrUnreachable, "is not a git repository", "correct the address"},
	} {
		if strings.Contains(said, known.text) {
			if words := remoteWords(said); words != "" && known.kind == ErrAuth { // such as that it is archived
				known.what += ": " + redactText(words, s.remote, s.access)
			}
			return s.fail(known.kind, known.what, known.remedy)
		}
	}
	return s.fail(ErrUnreachable, redactText(said, s.remote, s.access), "check address and network")
}

// EndIf returns a context that is done when check returns an error, which it is asked for
// four times a second. Ended ends it, and returns that error.
func EndIf(ctx context.Context, check func() error) (_ context.Context, ended func() error) {
	ctx, stop := context.WithCancel(ctx)
	why := make(chan error, 1)
	go func() {
		defer close(why)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := check(); err != nil {
				why <- err
				stop()
				return
			}
		}
	}()
	return ctx, func() error { stop(); return <-why }
}

// removeNew removes the packs of a git directory that are not in old, and the transfer's ref.
func removeNew(gitDir string, old []string) {
	dir := filepath.Join(gitDir, "objects", "pack")
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		pack := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name())) + ".pack"
		if !slices.Contains(old, pack) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
	_ = os.Remove(filepath.Join(gitDir, "refs", "repoglot", "incoming"))
}

// advertisement is the start of info/refs in versions 0 and 1.
const advertisement = "001e# service=git-upload-pack\n0000"

// uploadSettings bound the memory that the program may use and the objects that it may give.
// Git reads no other configuration except the mirror's own, which object.Init wrote. It reads
// uploadpack.packObjectsHook only from protected configuration, which does not exist.
func uploadSettings() []setting {
	return []setting{
		{"core.hooksPath", os.DevNull},
		{"uploadpack.hideRefs", "refs/repoglot"}, // refs of our own, such as other branches
		{"uploadpack.hideRefs", "refs/namespaces"},
		{"uploadpack.allowFilter", "false"},
		{"uploadpack.allowRefInWant", "false"},
		{"transfer.advertiseObjectInfo", "false"}, // it would tell about any object
		{"pack.threads", "1"},
		{"pack.windowMemory", "64m"},
		{"pack.deltaCacheSize", "32m"},
		{"gc.auto", "0"},
		{"safe.directory", "*"}, // the folder may belong to the user of a container's volume
	}
}

// UploadPack runs git upload-pack for one round of the smart HTTP protocol, with the git
// directory dir. request is the body that a client posted, in a version of the protocol (0 to
// 2); nil asks for the body of info/refs. The program and its children end when ctx is done or
// a write to w fails. The error wraps an *exec.ExitError if the program failed. With a
// namespace (gitnamespaces(7)) it shows the refs of that one.
func (g Git) UploadPack(ctx context.Context, dir, namespace string, request []byte, version int, w io.Writer) error {
	args := []string{"upload-pack", "--strict", "--stateless-rpc"}
	if request == nil {
		args = append(args, "--advertise-refs")
		if version != 2 {
			if _, err := io.WriteString(w, advertisement); err != nil {
				return err
			}
		}
	}
	env := environment(uploadSettings(), "GIT_PROTOCOL=version="+strconv.Itoa(version), "GIT_NAMESPACE="+namespace)
	return g.exec(ctx, env, bytes.NewReader(request), w, append(args, dir)...)
}
