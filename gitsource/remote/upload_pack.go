package remote

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
)

// advertisement is the start of info/refs in versions 0 and 1.
const advertisement = "001e# service=git-upload-pack\n0000"

// uploadSettings bound the memory that the program may use and the objects that it
// may give. Git reads no other configuration except the mirror's own, which
// object.Init wrote. It reads uploadpack.packObjectsHook only from protected
// configuration, which does not exist.
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

// UploadPack runs git upload-pack for one round of the smart HTTP protocol, with
// the git directory dir. request is the body that a client posted, in a version of
// the protocol (0 to 2); nil asks for the body of info/refs. The program and its
// children end when ctx is done or a write to w fails. The error wraps an
// *exec.ExitError if the program failed. With a namespace (gitnamespaces(7)) it shows the
// refs of that one.
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
