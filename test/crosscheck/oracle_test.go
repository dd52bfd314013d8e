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

// python is Debian's, which has cloud-init's modules; another one first in PATH would not.
const python = "/usr/bin/python3"

// answer is what cloud-init makes of a document.
type answer struct {
	// Type is what it takes the document for, by its beginning; empty for nothing that it knows.
	Type string
	// Load names the exception for which the document cannot be loaded, empty where it can.
	Load string
	// Failed says at what write_files fails: "list", "place" or "elsewhere", empty where it does not.
	Failed string
	// Files are those at the places. Where cloud-init gives up because of what is not about a place, they are
	// what they were without that: a byte order mark, something beside write_files, an entry elsewhere.
	Files map[string][]byte
	// Parts are those of a MIME message, decoded; they have names where all of the message was asked for.
	Parts []struct {
		Type, Name string
		Body       []byte
	}
	// Merged is what all cloud-configs of a message are together.
	Merged map[string]any
}

// The types that say that a document has write_files, at once or when it is rendered.
const (
	typeConfig   = "text/cloud-config"
	typeTemplate = "text/jinja2"
)

// complete reports whether cloud-init does all that the document says of files.
func (a *answer) complete() bool {
	return (a.Type == typeConfig || a.Type == typeTemplate) && a.Load == "" && a.Failed == ""
}

// cloudInit is a process that answers for cloud-init.
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

// What a document is asked for: its files as a cloud-config, its parts as a message, or these and all cloud-configs in
// one.
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
