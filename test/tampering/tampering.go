// Package tampering has ways to tamper with a node, and an honest node's files, as data. It is for tests of the code that detects
// tampering.
package tampering

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/test/hosttest"
)

//go:embed cases.txt
var cases string

// Contract is the NodeConfig of the node, to be merged with examples/native/minimal.yaml.
const Contract = `
kubelet:
  config: {staticPodPath: /etc/kubernetes/manifests}
`

// Case is a change of a node.
type Case struct {
	Name string
	// Verify and Drift are the expected results of "slipway verify", without the image, and of the agent: seen, noted or quiet.
	Verify, Drift string
	// At is the reported path.
	At    string
	steps [][]string
}

// Read returns the files of the node's image, and the cases.
func Read(t testing.TB) (image Case, all []Case) {
	t.Helper()
	for number, line := range slices.Collect(strings.Lines(cases)) {
		line = strings.TrimSpace(line)
		words := strings.SplitN(line, " ", 3)
		switch {
		case line == "" || line[0] == '#':
		case words[0] == "case":
			c := Case{Name: words[1]}
			for _, word := range strings.Fields(words[2]) {
				key, value, _ := strings.Cut(word, "=")
				switch key {
				case "verify":
					c.Verify = value
				case "drift":
					c.Drift = value
				case "at":
					c.At = value
				default:
					t.Fatalf("line %d: unknown %q", number+1, key)
				}
			}
			all = append(all, c)
		case len(all) == 0:
			image.steps = append(image.steps, words)
		default:
			c := &all[len(all)-1]
			if c.At == "" {
				c.At = words[1]
			}
			c.steps = append(c.steps, words)
		}
	}
	return image, all
}

// Apply applies a case to the tree below a directory. It skips the test if the file system has no attributes.
func (c *Case) Apply(t testing.TB, root string) {
	t.Helper()
	for _, step := range c.steps {
		at, rest := root+step[1], ""
		if len(step) > 2 {
			rest = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(step[2])
		}
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		switch step[0] {
		case "write":
			_ = os.Remove(at)
			err = errors.Join(err, os.WriteFile(at, []byte(rest), 0o644), os.Chmod(at, 0o644))
		case "append":
			var f *os.File
			if f, err = os.OpenFile(at, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				_, err = f.WriteString(rest)
				err = errors.Join(err, f.Close())
			}
		case "link":
			_ = os.Remove(at)
			err = errors.Join(err, os.Symlink(rest, at))
		case "name":
			err = errors.Join(err, os.Link(root+rest, at))
		case "move":
			err = os.Rename(at, root+rest)
		case "remove":
			err = os.RemoveAll(at)
		case "pipe":
			_ = os.Remove(at)
			err = errors.Join(err, syscall.Mkfifo(at, 0o644))
		case "size":
			var size int64
			if size, err = strconv.ParseInt(rest, 10, 64); err == nil {
				err = os.Truncate(at, size)
			}
		case "mode":
			var mode uint64
			if mode, err = strconv.ParseUint(rest, 8, 32); err == nil {
				err = syscall.Chmod(at, uint32(mode))
			}
		case "owner":
			var id int
			if os.Geteuid() != 0 { // to a user's own number, a change would succeed and change nothing
				t.Skip("only the superuser gives files away")
			}
			if id, err = strconv.Atoi(rest); err == nil {
				err = os.Lchown(at, id, id)
			}
		case "attribute":
			name, value, _ := strings.Cut(rest, " ")
			var content []byte
			if content, err = hex(value); err == nil {
				err = syscall.Setxattr(at, name, content, 0)
			}
			if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EPERM) {
				t.Skipf("%s cannot be set here: %v", name, err)
			}
		default:
			err = fmt.Errorf("unknown step %q", step[0])
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", c.Name, step, err)
		}
	}
}

func hex(value string) ([]byte, error) {
	content := make([]byte, len(value)/2)
	_, err := fmt.Sscanf(value, "%x", &content)
	return content, err
}

// Copy copies a tree, with modes, owners and links, and returns the copy.
func Copy(t testing.TB, root string) string {
	t.Helper()
	to := hosttest.TempDir(t)
	CopyTo(t, root, to)
	return to
}

// CopyTo copies a tree over another one.
func CopyTo(t testing.TB, root, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", root+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
