// Package state is the table of the files that the agent writes for itself and for other programs, and reads back: the
// path, the mode and the size limit of each. Writer and reader use the same limit, so that the agent can read
// everything that it writes.
//
// It does not know the files' content: internal/generation, internal/apply, internal/identity, internal/publish,
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

// The directories of the files: Dir survives a reboot, RunDir does not.
const (
	Dir         = "/var/lib/slipway"
	RunDir      = "/run/slipway"
	Generations = Dir + "/generations"
)

// WaitingEvery is how often a run writes to Waiting what it waits for, and how often other programs read that.
const WaitingEvery = 10 * time.Second

// WaitingKey is the attribute of a log record about what a program waits for. A terminal shows such a record at every
// level.
const WaitingKey = "waiting"

// AwaitedContract is the beginning of that attribute's value if the program waits for its contract.
const AwaitedContract = "a contract"

// File is a file of the agent's state.
type File struct {
	Path string
	// Mode has permission bits only. A file that may hold a secret is readable for the superuser only.
	Mode uint32
	// Limit is its maximum size in bytes.
	Limit int64
}

// The files, except the record of each generation.
var (
	// Status is Slipway's detailed result: outcome, every error, timeline, changes.
	Status = File{Dir + "/status.json", 0o600, 1 << 20}
	// Result is what a provisioning publishes for waiting programs, at the default node family's path.
	Result = ResultAt(profile.Default().Publication.Result)
	// RunStatus and RunResult replace Status and a result if the disk is full: they are in memory, and disappear with
	// the next boot.
	RunStatus = File{RunDir + "/status.json", 0o600, 1 << 20}
	RunResult = File{RunDir + "/provision.json", 0o600, 1 << 20}
	// Identity identifies the provisioned machine, and the source of its contract.
	Identity = File{Dir + "/identity.json", 0o600, 64 << 10}
	// Authorities are the certificate authorities in the last answer of the machine's cloud.
	Authorities = File{Dir + "/authorities.json", 0o600, 512 << 10}
	// KubeletDefaults are the cluster's settings for the kubelets of all its nodes, from its last answer.
	KubeletDefaults = File{Dir + "/kubelet-defaults.json", 0o600, 512 << 10}
	// Commands are the names of the run-once commands that have run, one in a line.
	Commands = File{Dir + "/commands", 0o600, 64 << 10}
	// Watch has the watcher's decisions about each source.
	Watch = File{Dir + "/watch.json", 0o600, 64 << 10}
	// Intent is the engine's journal. It names files and units of a plan and leftovers of earlier plans, so it is
	// smaller than the generation's record.
	Intent = File{Dir + "/intent.json", 0o600, maxRecord}
	// Index lists the generations.
	Index = File{Generations + "/index.json", 0o600, 1 << 20}
	// Facts are the facts of the last plan.
	Facts = File{RunDir + "/facts.json", 0o644, 1 << 20}
	// Waiting has what a run is waiting for, and the time.
	Waiting = File{RunDir + "/waiting", 0o600, 8 << 10}
	// Reserve reserves disk space for the rollback of a change that has met a full disk. A rollback needs a record of
	// the restored plan, the index, the intent, the status and a result, and a second copy of the plan's files while
	// they are staged: 0.2 MB for the largest example, blocks included. This is four times as much.
	Reserve = File{Dir + "/reserve", 0o600, 1 << 20}
	// Actions has the recorded actions of a directory host.
	Actions = File{RunDir + "/actions.jsonl", 0o644, 16 << 20}
)

// maxRecord limits the record of a generation: a plan with the contents of its files, and the original files.
const maxRecord = 32 << 20

// Generation is the record of a generation.
func Generation(number int) File {
	return File{fmt.Sprintf("%s/%06d.json", Generations, number), 0o600, maxRecord}
}

// ResultAt is the result of a provisioning at a node family's path. A user's script may write it itself.
func ResultAt(place string) File { return File{place, 0o600, 1 << 20} }

// Files are all files. The first generation's record represents all records.
func Files() []File {
	all := []File{Status, RunStatus, RunResult, Identity, Authorities, KubeletDefaults, Commands, Watch, Intent, Index, Facts, Waiting, Reserve, Actions, Generation(1)}
	for _, family := range profile.All() { // some have the same path
		if result := ResultAt(family.Publication.Result); !slices.Contains(all, result) {
			all = append(all, result)
		}
	}
	return all
}

// Name is the last element of the path.
func (f File) Name() string { return path.Base(f.Path) }

// With returns the file with a content, ready to be written. If the content is larger than the limit, With returns an
// error and the file stays unchanged.
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

// Write writes the file durably. No reader sees an incomplete file.
func (f File) Write(to interface {
	WriteFileAtomic(file *resource.File) error
}, content []byte) error {
	file, err := f.With(content)
	if err != nil {
		return err
	}
	return to.WriteFileAtomic(file)
}

// host is a host for replacing a file only if its content differs.
type host interface {
	ReadFile(path string, limit int64) ([]byte, error)
	WriteFileAtomic(file *resource.File) error
	Unstage(path string) error
}

// WriteOther writes the file unless it already holds the content. In both cases it removes a partial file of a run that
// died while it wrote the file.
func (f File) WriteOther(to host, content []byte) error {
	if have, err := f.Read(to); err == nil && bytes.Equal(have, content) {
		return to.Unstage(f.Path)
	}
	return f.Write(to, content)
}

// WriteJSON is WriteOther for a value in JSON.
func (f File) WriteJSON(to host, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return f.WriteOther(to, append(content, '\n'))
}
