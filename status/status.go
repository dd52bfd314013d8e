package status

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// APIVersion and Kind identify a status document.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "ProvisionStatus"
)

// The outcomes.
const (
	OutcomeSuccess = "success"
	OutcomeFailure = "failure"
)

// Action is what was done to a part of the machine.
type Action string

// The actions.
const (
	ActionCreated    Action = "created"
	ActionUpdated    Action = "updated"
	ActionCorrected  Action = "corrected" // the content was right, mode or owner were not
	ActionRemoved    Action = "removed"
	ActionLoaded     Action = "loaded" // a module
	ActionSet        Action = "set"    // a kernel parameter
	ActionRan        Action = "ran"
	ActionStarted    Action = "started"
	ActionRestarted  Action = "restarted"
	ActionStopped    Action = "stopped"
	ActionReloaded   Action = "reloaded"
	ActionMounted    Action = "mounted"
	ActionUnmounted  Action = "unmounted"
	ActionMasked     Action = "masked"
	ActionUnmasked   Action = "unmasked"
	ActionDisabled   Action = "disabled"
	ActionEnabled    Action = "enabled"
	ActionDownloaded Action = "downloaded"
	ActionPulled     Action = "pulled"
)

// actions are all of them, in the order in which a report counts them.
var actions = []Action{
	ActionCreated, ActionUpdated, ActionCorrected, ActionRemoved, ActionLoaded, ActionSet, ActionRan,
	ActionStarted, ActionRestarted, ActionStopped, ActionReloaded, ActionMounted, ActionUnmounted,
	ActionMasked, ActionUnmasked, ActionDisabled, ActionEnabled, ActionDownloaded, ActionPulled,
}

// Status is what came of a provisioning: status.json.
type Status struct {
	// APIVersion and Kind are filled in by Marshal.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Outcome is OutcomeSuccess or OutcomeFailure.
	Outcome  string `json:"outcome"`
	ExitCode int    `json:"exitCode"`
	// CodeName is the exit code's name in the table of package exitcode.
	CodeName string `json:"codeName"`
	// Error is the one of Errors that the exit code stands for.
	Error  *Failure  `json:"error,omitempty"`
	Errors []Failure `json:"errors,omitempty"`
	// Warnings are what went wrong and the node does without.
	Warnings []Failure `json:"warnings,omitempty"`

	AgentVersion string `json:"agentVersion"`
	Config       Config `json:"config"`
	// Mode says who made the node, and why; nil where nobody asked for anything but Slipway.
	Mode *Mode `json:"mode,omitempty"`
	// Sources are the places where the contract was looked for, in that order, none where it was named.
	Sources []Source `json:"sources,omitempty"`
	// Identity says how the machine is known for another one than that which was provisioned before; empty
	// where it is the same, or the first.
	Identity string `json:"identity,omitempty"`
	// Generation is the number of the generation that was applied, 0 where it did not come to that.
	Generation int `json:"generation,omitempty"`
	// Restored is the generation that was restored because the change failed.
	Restored   int       `json:"restored,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	DurationMs int64     `json:"durationMs"`

	// Problems are what is wrong with the config.
	Problems []nodeconfig.Problem `json:"problems,omitempty"`
	// Changes are what was done to the machine, in order.
	Changes []Change `json:"changes,omitempty"`
	// Unchanged is how many resources were as they should be.
	Unchanged int `json:"unchanged"`
	// Steps are the timeline, in order of their start.
	Steps []Step `json:"steps,omitempty"`
	// CriticalPath are the names of the steps that nothing else could have made up for, in order: each began
	// when the one before it had ended.
	CriticalPath []string `json:"criticalPath,omitempty"`
	// Skipped are the resources that were not tried.
	Skipped []string `json:"skipped,omitempty"`
	// Pending is what the cluster's Node does not have yet of the labels and taints that the machine's config wants, each with the command
	// that an administrator runs if the agent may not change it.
	Pending []string `json:"pending,omitempty"`
	// Omitted counts what Marshal left out of the lists, nil for nothing.
	Omitted *Omitted `json:"omitted,omitempty"`
}

// The names of a Mode.
const (
	// ModeNative is Slipway itself.
	ModeNative = "native"
	// ModeLegacy are the image's own provisioning scripts.
	ModeLegacy = "legacy"
)

// Mode is who makes the node.
type Mode struct {
	// Name is ModeNative or ModeLegacy.
	Name string `json:"name"`
	// Reason says why.
	Reason string `json:"reason"`
}

// Omitted counts what was left out of the lists of a status: the document has a size that is always read back.
type Omitted struct {
	Errors   int `json:"errors,omitempty"`
	Warnings int `json:"warnings,omitempty"`
	Sources  int `json:"sources,omitempty"`
	Problems int `json:"problems,omitempty"`
	Changes  int `json:"changes,omitempty"`
	Steps    int `json:"steps,omitempty"`
	Skipped  int `json:"skipped,omitempty"`
}

// omitted is what was left out.
func (s *Status) omitted() Omitted {
	if s.Omitted == nil {
		return Omitted{}
	}
	return *s.Omitted
}

// Source is a place where a contract was looked for.
type Source struct {
	// Name is the place's: "file", "azure-ovf", "ec2-imds", ...
	Name string `json:"name"`
	// Found says that the contract was there.
	Found bool `json:"found,omitempty"`
	// Result says where it was, or why the place was given up.
	Result string `json:"result"`
	// StartMs is when it was looked at last, from StartedAt.
	StartMs    int64 `json:"startMs"`
	DurationMs int64 `json:"durationMs"`
}

// Failure is one thing that went wrong.
type Failure struct {
	// Resource is the ID of what could not be made so, empty where it is none of the plan's.
	Resource string `json:"resource,omitempty"`
	// Cause is the kind of reason, where a person would act differently on it: "dns", "tls".
	Cause string `json:"cause,omitempty"`
	// Endpoint is what was tried: a URL with its address, a path or a unit.
	Endpoint string `json:"endpoint,omitempty"`
	// Message is the error.
	Message string `json:"message"`
	// Action is what to do about it.
	Action string `json:"action,omitempty"`
}

// String is the failure on one line: where, why, and what happened.
func (f *Failure) String() string {
	if where := f.where(); where != "" {
		return where + ": " + f.Message
	}
	return f.Message
}

// Config says which config was applied.
type Config struct {
	Path              string `json:"path,omitempty"`
	Dialect           string `json:"dialect,omitempty"`
	Digest            string `json:"digest,omitempty"`
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// Change is one thing that was done to the machine.
type Change struct {
	// ID is the resource's ID, or the name of the unit that was acted on.
	ID     string `json:"id"`
	Action Action `json:"action"`
}

// Step is one part of the timeline.
type Step struct {
	Name string `json:"name"`
	// StartMs is when it started, from StartedAt.
	StartMs    int64  `json:"startMs"`
	DurationMs int64  `json:"durationMs"`
	Detail     string `json:"detail,omitempty"`
}

// Marshal writes the document, indented by two spaces; times are in UTC. The same status gives the
// same bytes. Texts are made valid UTF-8 and shortened, and lists cut, so that it is no larger than the file may
// be; Omitted says how much was left out.
func (s *Status) Marshal() ([]byte, error) {
	for limit := maxEntries; ; limit /= 2 {
		data, err := encode(s.bounded(limit), "  ")
		if err != nil || len(data) <= int(state.Status.Limit) || limit == 0 {
			return data, err
		}
	}
}

// Parse reads a document that Marshal wrote. Unknown fields are passed over, so that an older
// command can read what a newer agent wrote; another kind or version of document is an error.
func Parse(data []byte) (*Status, error) {
	if int64(len(data)) > state.Status.Limit {
		return nil, fmt.Errorf("the status has %d bytes; the limit is %d", len(data), state.Status.Limit)
	}
	var header struct{ APIVersion, Kind string }
	if err := json.Unmarshal(data, &header); err != nil {
		return nil, fmt.Errorf("the status cannot be read: %w", err)
	}
	if header.APIVersion != APIVersion || header.Kind != Kind {
		return nil, fmt.Errorf("the document is %q %q, want %q %q",
			head(header.APIVersion, 64), head(header.Kind, 64), APIVersion, Kind)
	}
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the status cannot be read: %w", err)
	}
	return &s, nil
}
