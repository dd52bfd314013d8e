package stability

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/launch"
)

// examples are the directories of examples that a release keeps as fixtures, with their names there.
var examples = map[string]string{
	"native": "native", "aks": "aks", "eksctl": "eksctl", "kubeadm": "kubeadm", "facts": "facts", "launch": "launch", "image/trixie": "image",
}

// run is a command of a program. It runs in the directory of fixtures, so that they name no directory of this machine.
type run struct {
	command string
	// in and out are the files of standard input and output. Both may be empty.
	in, out string
	exit    int
}

// before are files of directories before the programs work on them, with their sources. The agent finds a contract at the usual path,
// so that the status names that path.
var before = map[string]string{
	"node/etc/slipway/config.yaml":       "native/minimal.yaml",
	"node/etc/default/kubelet":           "image/files/motd-1.0", // comes back when the node is reset
	"failed/etc/slipway/config.yaml":     "facts/ubuntu.json",    // facts are not a contract
	"image/tree/usr/lib/systemd/systemd": "image/files/motd-1.0", // a tree without it is not that of a machine
}

var runs = []run{
	{command: "slipway plan -f native/minimal.yaml --facts facts/ubuntu.json -o json", out: "plans/native.json"},
	{command: "slipway plan -f aks/minimal.json --facts facts/ubuntu.json -o json", out: "plans/aks.json"},
	{command: "slipway-node provision --root node --facts facts/ubuntu.json"},
	{command: "slipway-node apply --root node --facts facts/ubuntu.json -f -", in: "native/full.yaml"},
	{command: "slipway-node provision --root failed --facts facts/ubuntu.json", exit: 237},
	{command: "slipway image lock -f image/directory.yaml"},
	{command: "slipway image bake --root image/tree --lock image/directory.lock --architecture amd64"},
	{command: "slipway launch --settings launch/settings.yaml --nodeclass launch/nodeclass.yaml --nodeclaim launch/nodeclaim.yaml" +
		" --instance-type Standard_D4ds_v5 --instance-types launch/skus.json --cluster launch/detected.yaml --images launch/images.yaml -o json",
		out: "launch/record.json"},
}

// unneeded are large or empty files that every version makes itself.
var unneeded = []string{
	"node/var/lib/slipway/reserve", "node/run/slipway/lock", "failed/run", "failed/etc", "image/tree/run",
}

// makeFixtures writes what later versions must read: examples, and what the programs in bin make of them. The times in them are those of
// the run; all else is the same each time.
func makeFixtures(root, bin, dir string) error {
	for from, to := range examples {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(root, "examples", from))); err != nil {
			return fmt.Errorf("copy the examples: %w", err)
		}
	}
	for to, from := range before {
		if err := copyFile(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			return err
		}
	}
	cache, err := os.MkdirTemp("", "stability")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	for _, r := range runs {
		if err := r.do(bin, dir, cache); err != nil {
			return err
		}
	}
	for _, name := range unneeded {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return annotation(filepath.Join(dir, "launch"))
}

func (r run) do(bin, dir, cache string) error {
	args := strings.Fields(r.command)
	cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+cache)
	if r.in != "" {
		in, err := os.ReadFile(filepath.Join(dir, r.in))
		if err != nil {
			return err
		}
		cmd.Stdin = bytes.NewReader(in)
	}
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return fmt.Errorf("%s: %w", r.command, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != r.exit {
		return fmt.Errorf("%s: exit code %d, want %d\n%s", r.command, code, r.exit, &messages)
	}
	if r.out == "" {
		return nil
	}
	return writeFile(filepath.Join(dir, r.out), out.Bytes())
}

// annotation writes a launch's record as Karpenter's node claims have it.
func annotation(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err != nil {
		return err
	}
	record, err := launch.ParseRecord(data)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "record.txt"), []byte(record.Text()))
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, data)
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
