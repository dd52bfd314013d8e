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

// Action is a kind of change of a part of the machine.
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

// actions are all of them, in the order of a report's counts.
var actions = []Action{
	ActionCreated, ActionUpdated, ActionCorrected, ActionRemoved, ActionLoaded, ActionSet, ActionRan,
	ActionStarted, ActionRestarted, ActionStopped, ActionReloaded, ActionMounted, ActionUnmounted,
	ActionMasked, ActionUnmasked, ActionDisabled, ActionEnabled, ActionDownloaded, ActionPulled,
}

// Status is the result of a provisioning: status.json.
type Status struct {
	// APIVersion and Kind are set by Marshal.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Outcome is OutcomeSuccess or OutcomeFailure.
	Outcome  string `json:"outcome"`
	ExitCode int    `json:"exitCode"`
	// CodeName is the exit code's name in the table of package exitcode.
	CodeName string `json:"codeName"`
	// Error is the one of Errors to which the exit code belongs.
	Error  *Failure  `json:"error,omitempty"`
	Errors []Failure `json:"errors,omitempty"`
	// Warnings are failures that the node works without.
	Warnings []Failure `json:"warnings,omitempty"`

	AgentVersion string `json:"agentVersion"`
	Config       Config `json:"config"`
	// Mode is which program made the node, and why. It is nil if nothing but Slipway was requested.
	Mode *Mode `json:"mode,omitempty"`
	// Sources are the sources that were searched for the contract, in order. It is empty if the user named the contract.
	Sources []Source `json:"sources,omitempty"`
	// Identity is how the agent knows that this is another machine than the one that was provisioned before. It is empty if it is
	// the same machine, or the first.
	Identity string `json:"identity,omitempty"`
	// Generation is the number of the generation that was applied. 0 means that no generation was made.
	Generation int `json:"generation,omitempty"`
	// Restored is the generation that was restored because the change failed.
	Restored   int       `json:"restored,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	DurationMs int64     `json:"durationMs"`

	// Problems are the config's problems.
	Problems []nodeconfig.Problem `json:"problems,omitempty"`
	// Changes are the changes of the machine, in order.
	Changes []Change `json:"changes,omitempty"`
	// Unchanged is the number of resources that needed no change.
	Unchanged int `json:"unchanged"`
	// Steps are the timeline, in the order of their starts.
	Steps []Step `json:"steps,omitempty"`
	// CriticalPath are the names of the steps that determined the total duration, in order: each began when the one before it had
	// ended.
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

// Mode is which program makes the node.
type Mode struct {
	// Name is ModeNative or ModeLegacy.
	Name string `json:"name"`
	// Reason is why.
	Reason string `json:"reason"`
}

// Omitted counts the entries that were left out of the lists of a status, which limits the document's size so that it can always be
// parsed.
type Omitted struct {
	Errors   int `json:"errors,omitempty"`
	Warnings int `json:"warnings,omitempty"`
	Sources  int `json:"sources,omitempty"`
	Problems int `json:"problems,omitempty"`
	Changes  int `json:"changes,omitempty"`
	Steps    int `json:"steps,omitempty"`
	Skipped  int `json:"skipped,omitempty"`
}

// omitted returns these counts.
func (s *Status) omitted() Omitted {
	if s.Omitted == nil {
		return Omitted{}
	}
	return *s.Omitted
}

// Source is a source that was searched for a contract.
type Source struct {
	// Name is the source's name: "file", "azure-ovf", "ec2-imds", ...
	Name string `json:"name"`
	// Found reports whether the source had the contract.
	Found bool `json:"found,omitempty"`
	// Result is where the contract was, or why the source was given up.
	Result string `json:"result"`
	// StartMs is when the source was last tried, from StartedAt.
	StartMs    int64 `json:"startMs"`
	DurationMs int64 `json:"durationMs"`
}

// Failure is one thing that went wrong.
type Failure struct {
	// Resource is the ID of the resource that failed. It is empty if the failure belongs to no resource of the plan.
	Resource string `json:"resource,omitempty"`
	// Cause is the kind of cause, if a person would act differently on it: "dns", "tls".
	Cause string `json:"cause,omitempty"`
	// Endpoint is what was tried: a URL with its address, a path or a unit.
	Endpoint string `json:"endpoint,omitempty"`
	// Message is the error.
	Message string `json:"message"`
	// Action is what to do about it.
	Action string `json:"action,omitempty"`
}

// String returns the failure on one line: what failed, why, and the error.
func (f *Failure) String() string {
	if where := f.where(); where != "" {
		return where + ": " + f.Message
	}
	return f.Message
}

// Config identifies the config that was applied.
type Config struct {
	Path              string `json:"path,omitempty"`
	Dialect           string `json:"dialect,omitempty"`
	Digest            string `json:"digest,omitempty"`
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
}

// Change is one change of the machine.
type Change struct {
	// ID is the resource's ID, or the name of the unit that was restarted or stopped.
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

// Marshal writes the document, indented by two spaces; times are in UTC. The same status gives the same bytes. Texts are made valid
// UTF-8 and shortened, and lists cut, so that it is no larger than the file may be; Omitted counts what was left out.
func (s *Status) Marshal() ([]byte, error) {
	for limit := maxEntries; ; limit /= 2 {
		data, err := encode(s.bounded(limit), "  ")
		if err != nil || len(data) <= int(state.Status.Limit) || limit == 0 {
			return data, err
		}
	}
}

// Parse parses a document that Marshal wrote. Unknown fields are ignored, so that an older command can read a newer agent's
// document. Another kind or version of document is an error.
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
