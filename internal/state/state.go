// Package state is the table of the files that the agent writes for itself and for those who wait for it, and
// reads back: where each is, who may read it, and how large it may be. Writer and reader take the limit from
// here, so that nothing is written that cannot be read again.
//
// It does not know what is in the files: internal/generation, internal/apply, internal/identity, internal/publish,
// internal/agent, internal/watch and internal/host do.
package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// Where the files are: Dir outlives a reboot, RunDir does not.
const (
	Dir         = "/var/lib/slipway"
	RunDir      = "/run/slipway"
	Generations = Dir + "/generations"
)

// WaitingEvery is how often a run says in Waiting what it waits for, and whoever waits for the run looks there.
const WaitingEvery = 10 * time.Second

// WaitingKey is the attribute of a log record that says what a program waits for. A terminal shows such a record at each level.
const WaitingKey = "waiting"

// File is a file of the agent's state.
type File struct {
	Path string
	// Mode has permission bits only. A file that may hold a secret is for the superuser alone.
	Mode uint32
	// Limit is how large it may be, in bytes.
	Limit int64
}

// The files, but for the record of each generation.
var (
	// Status is Slipway's own result: outcome, every error, timeline, changes.
	Status = File{Dir + "/status.json", 0o600, 1 << 20}
	// Result is what a provisioning publishes for those who wait for it, in the place of the default family of nodes.
	Result = ResultAt(profile.Default().Publication.Result)
	// RunStatus and RunResult take the place of Status and of a result where the disk takes no more: they are in
	// memory, and gone with the next boot.
	RunStatus = File{RunDir + "/status.json", 0o600, 1 << 20}
	RunResult = File{RunDir + "/provision.json", 0o600, 1 << 20}
	// Identity says which machine was provisioned, and from where.
	Identity = File{Dir + "/identity.json", 0o600, 64 << 10}
	// Authorities are the certificate authorities that the machine's cloud has last said it is to trust.
	Authorities = File{Dir + "/authorities.json", 0o600, 512 << 10}
	// KubeletDefaults is what the node's cluster has set for the kubelets of all its nodes, when it was asked.
	KubeletDefaults = File{Dir + "/kubelet-defaults.json", 0o600, 512 << 10}
	// Commands are the names of the commands that have been run and are run once, one on a line.
	Commands = File{Dir + "/commands", 0o600, 64 << 10}
	// Watch is what the watcher has decided about each source.
	Watch = File{Dir + "/watch.json", 0o600, 64 << 10}
	// Intent is the engine's journal. It names files and units of a plan and of what earlier plans have left,
	// and so is smaller than the record of the generation.
	Intent = File{Dir + "/intent.json", 0o600, maxRecord}
	// Index lists the generations.
	Index = File{Generations + "/index.json", 0o600, 1 << 20}
	// Facts are the facts that the last plan was made from.
	Facts = File{RunDir + "/facts.json", 0o644, 1 << 20}
	// Waiting says what a run is waiting for, and when that was.
	Waiting = File{RunDir + "/waiting", 0o600, 8 << 10}
	// Reserve holds nothing but room, for the way back of a change that has met a full disk. That needs a record of
	// what is restored, the index, the intent, the status and a result, and the files of the plan a second time while
	// they are staged: 0.2 MB for the largest example, blocks included. This is four times as much.
	Reserve = File{Dir + "/reserve", 0o600, 1 << 20}
	// Actions is what was done to a directory in a machine's place.
	Actions = File{RunDir + "/actions.jsonl", 0o644, 16 << 20}
)

// maxRecord bounds the record of a generation: a plan with the contents of its files, and the files that were
// there before.
const maxRecord = 32 << 20

// Generation is the record of a generation.
func Generation(number int) File {
	return File{fmt.Sprintf("%s/%06d.json", Generations, number), 0o600, maxRecord}
}

// ResultAt is what a provisioning publishes in a place of a family of nodes. A user's script may write it by itself.
func ResultAt(place string) File { return File{place, 0o600, 1 << 20} }

// Files are all files, with the first generation's record for those of all.
func Files() []File {
	all := []File{Status, RunStatus, RunResult, Identity, Authorities, KubeletDefaults, Commands, Watch, Intent, Index, Facts, Waiting, Reserve, Actions, Generation(1)}
	for _, family := range profile.All() { // some publish in the same place
		if result := ResultAt(family.Publication.Result); !slices.Contains(all, result) {
			all = append(all, result)
		}
	}
	return all
}

// Name is the last part of the path.
func (f File) Name() string { return path.Base(f.Path) }

// With is the file with a content, to be written. It is an error where the content is larger than the limit:
// the file stays as it is then.
func (f File) With(content []byte) (*resource.File, error) {
	if int64(len(content)) > f.Limit {
		return nil, fmt.Errorf("write %s: it would be %d bytes; the limit is %d", f.Path, len(content), f.Limit)
	}
	return &resource.File{Path: f.Path, Mode: f.Mode, Content: content}, nil
}

// Read reads the file.
func (f File) Read(from interface {
	ReadFile(path string, limit int64) ([]byte, error)
}) ([]byte, error) {
	return from.ReadFile(f.Path, f.Limit)
}

// Write writes the file durably; nobody sees a part of it.
func (f File) Write(to interface {
	WriteFileAtomic(file *resource.File) error
}, content []byte) error {
	file, err := f.With(content)
	if err != nil {
		return err
	}
	return to.WriteFileAtomic(file)
}

// host is where a file is replaced only if its content is another one.
type host interface {
	ReadFile(path string, limit int64) ([]byte, error)
	WriteFileAtomic(file *resource.File) error
	Unstage(path string) error
}

// WriteOther writes the file unless it holds the content already. Either way nothing is left of a run that died while it
// wrote the file.
func (f File) WriteOther(to host, content []byte) error {
	if have, err := f.Read(to); err == nil && bytes.Equal(have, content) {
		return to.Unstage(f.Path)
	}
	return f.Write(to, content)
}

// WriteJSON is WriteOther for a value, written as JSON.
func (f File) WriteJSON(to host, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return f.WriteOther(to, append(content, '\n'))
}
