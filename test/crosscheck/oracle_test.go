//go:build crosscheck

package crosscheck

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// python is Debian's, which has cloud-init's modules; another one that is first in PATH does not have them.
const python = "/usr/bin/python3"

// answer is cloud-init's result for a document.
type answer struct {
	// Type is the type that cloud-init detects by the document's beginning. Empty means unknown.
	Type string
	// Load names the exception because of which the document cannot be loaded. Empty means no exception.
	Load string
	// Failed is where write_files fails: "list", "place" or "elsewhere". Empty means that it does not fail.
	Failed string
	// Files are those at the contract's paths. If cloud-init fails for a reason outside these paths, they are its files without
	// that reason: a byte order mark, something beside write_files, an entry for another path.
	Files map[string][]byte
	// Parts are those of a MIME message, decoded. They have names if the whole message was requested.
	Parts []struct {
		Type, Name string
		Body       []byte
	}
	// Merged is the merged result of all cloud-configs in a message.
	Merged map[string]any
}

// The types of documents with write_files, directly or after rendering.
const (
	typeConfig   = "text/cloud-config"
	typeTemplate = "text/jinja2"
)

// complete reports whether cloud-init does all that the document requires for files.
func (a *answer) complete() bool {
	return (a.Type == typeConfig || a.Type == typeTemplate) && a.Load == "" && a.Failed == ""
}

// cloudInit is a process that calls cloud-init.
type cloudInit struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startCloudInit(t *testing.T) *cloudInit {
	t.Helper()
	cmd := exec.Command(python, append([]string{"oracle.py"}, places...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", python, err)
		}
	})
	return &cloudInit{in: in, out: bufio.NewReader(out)}
}

// What is requested for a document: its files as a cloud-config, its parts as a message, or these and all cloud-configs merged.
const (
	askConfig = "config"
	askParts  = "parts"
	askMerged = "merged"
)

func (c *cloudInit) ask(what string, document []byte) (answer, error) {
	if _, err := io.WriteString(c.in, what+" "+base64.StdEncoding.EncodeToString(document)+"\n"); err != nil {
		return answer{}, fmt.Errorf("ask cloud-init: %w", err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return answer{}, fmt.Errorf("cloud-init's answer: %w", err)
	}
	var a answer
	return a, json.Unmarshal(line, &a)
}
