package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const (
	aksContract    = "/opt/azure/containers/aks-node-controller-config.json"
	nativeContract = "/etc/slipway/config.yaml"
	aksName        = "aks-node-controller"
	examples       = "../../examples/"
)

// destination is where a result is published.
type destination struct {
	result                 state.File
	complete, baseComplete string
}

func destinationOf(family *profile.Profile) destination {
	p := &family.Publication
	return destination{state.ResultAt(p.Result), p.Complete, p.BaseComplete}
}

// The destinations of a result: by the contract's dialect, and for a disk that takes no more.
var (
	aksPlace, nativePlace = destinationOf(profile.Of(nodeconfig.LayoutAKS)), destinationOf(profile.Default())
	runPlace              = destination{result: state.RunResult, complete: "/run/slipway/provision.complete"}
	places                = []destination{runPlace, aksPlace, nativePlace}
	markers               = []string{runPlace.complete, aksPlace.complete, nativePlace.complete}
)

// placeOf is where the result of a provisioning is published.
func (n *node) placeOf(got *status.Status) destination {
	return destinationOf(profile.Publisher(got.Config.Dialect, n.Called, got.Config.Path))
}

// node is a directory that an agent works on.
type node struct {
	*testing.T
	root string
	host *tampered
	log  *logs
	agent
}

type agent = Agent

// logs collects what is logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newNode is a fresh machine, or a second agent on the one of another node.
func newNode(t *testing.T, root ...string) *node {
	t.Helper()
	n := &node{T: t, log: new(logs)}
	if n.root = strings.Join(root, ""); n.root == "" {
		n.root = hosttest.TempDir(t)
	}
	dir, err := host.OpenDirectory(n.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	n.host = &tampered{Directory: dir, before: func(string, string) error { return nil }}
	n.agent = Agent{
		Host: n.host, Now: time.Now, Version: "test", Sequential: true, Called: aksName,
		Log: slog.New(slog.NewJSONHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return n
}

// deliver puts a contract where user data would.
func (n *node) deliver(path string, contract []byte) {
	n.Helper()
	if err := os.MkdirAll(filepath.Dir(n.root+path), 0o755); err != nil {
		n.Fatal(err)
	}
	if err := os.WriteFile(n.root+path, contract, 0o600); err != nil {
		n.Fatal(err)
	}
}

// halfOf is the path of the partial file that a power cut during a write leaves.
func halfOf(f state.File) string {
	return filepath.Dir(f.Path) + "/." + f.Name() + ".slipway-tmp"
}

// provision provisions from the delivered contract, with the facts of an example.
func (n *node) provision() *status.Status {
	n.Helper()
	return n.Provision(context.Background(), ProvisionOptions{Facts: ubuntu(n.T)})
}

func ubuntu(t *testing.T) *facts.Facts {
	t.Helper()
	known, err := facts.Parse(example(t, "facts/ubuntu.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &known
}

func example(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(examples + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// aksWith is an AKS example contract with changed fields; nil removes a field.
func aksWith(t *testing.T, name string, changed map[string]any) []byte {
	t.Helper()
	var contract map[string]any
	dec := json.NewDecoder(bytes.NewReader(example(t, "aks/"+name)))
	dec.UseNumber()
	if err := dec.Decode(&contract); err != nil {
		t.Fatal(err)
	}
	var lay func(over, onto map[string]any)
	lay = func(over, onto map[string]any) {
		for key, value := range over {
			inner, isMap := value.(map[string]any)
			below, wasMap := onto[key].(map[string]any)
			switch {
			case value == nil:
				delete(onto, key)
			case isMap && wasMap:
				lay(inner, below)
			default:
				onto[key] = value
			}
		}
	}
	lay(changed, contract)
	document, err := json.Marshal(contract)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// read reads a file of the node. It returns nil if the file does not exist.
func (n *node) read(path string) []byte {
	n.Helper()
	content, err := os.ReadFile(n.root + path)
	if err != nil && !os.IsNotExist(err) {
		n.Fatal(err)
	}
	return content
}

func (n *node) exists(path string) bool {
	_, err := os.Lstat(n.root + path)
	return err == nil
}

// result is the published result.
func (n *node) result(p destination) status.CSEStatus {
	n.Helper()
	result, err := status.ParseCSE(n.read(p.result.Path))
	if err != nil {
		n.Fatal(err)
	}
	return result
}

// published requires that the result with an exit code is published completely: status, result and marker, which must
// agree.
func (n *node) published(p destination, code int) {
	n.Helper()
	result := n.result(p)
	if got, err := result.Code(); err != nil || got != code {
		n.Errorf("the result's code is %d, %v, want %d", got, err, code)
	}
	last, err := status.Parse(n.read(state.Status.Path))
	if err != nil {
		n.Fatal(err)
	}
	if last.ExitCode != code || (last.Outcome == status.OutcomeSuccess) != (code == 0) || (last.Error == nil) != (code == 0) || (result.Error == "") != (code == 0) {
		n.Errorf("the status says %d, %s, %v; the result %q", last.ExitCode, last.Outcome, last.Error, result.Error)
	}
	if !n.exists(p.complete) {
		n.Error("there is no marker")
	}
}

// snapshot is every file of a tree with its content and modification time.
func (n *node) snapshot() map[string]string {
	n.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(n.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		}
		files[strings.TrimPrefix(path, n.root)] = info.Mode().String() + info.ModTime().String() + content
		return nil
	})
	if err != nil {
		n.Fatal(err)
	}
	return files
}

// left requires that no temporary file remains.
func (n *node) left() {
	n.Helper()
	for path := range n.snapshot() {
		if strings.Contains(path, "slipway-tmp") {
			n.Errorf("%s is left behind", path)
		}
	}
}

var _ source.Files = (*tampered)(nil)
