package generation

import "time"

// Outcome is the outcome of a generation.
type Outcome string

// The outcomes.
const (
	// Applying means that it is being applied, or that the agent died during that.
	Applying Outcome = "applying"
	// Good means that all of it was applied and all checks afterwards passed.
	Good Outcome = "good"
	// Failed means that it could not be applied, or that the machine was not healthy with it.
	Failed Outcome = "failed"
	// Unknown means that the index was lost.
	Unknown Outcome = "unknown"
)

// Origin is the requester of a generation.
type Origin string

// The origins.
const (
	Provision Origin = "provision"
	Apply     Origin = "apply"
	Watch     Origin = "watch"
	Rollback  Origin = "rollback"
)

// Entry is a generation in the index.
type Entry struct {
	// Number is its number. Later generations have higher ones.
	Number int `json:"number"`
	// Config is the digest of the config that its plan was made from.
	Config string `json:"config"`
	// Revision is the number that the config's author gave it (nodeconfig's metadata.revision). 0 means none.
	Revision int64 `json:"revision,omitempty"`
	// Dialect is the dialect that the config was written in.
	Dialect string `json:"dialect,omitempty"`
	// Plan is the digest of its plan.
	Plan string `json:"plan"`
	// Origin is its requester.
	Origin Origin `json:"origin"`
	// Restores is the generation whose plan it has, if it is a rollback.
	Restores int `json:"restores,omitempty"`
	// Provisioned is the digest of the config of the last generation that a boot made. Each generation takes it over
	// from the one before, because that may be pruned.
	Provisioned string `json:"provisioned,omitempty"`
	// Addresses are the machine's addresses when the plan was made, separated by spaces. A rollback has those of the
	// generation that it restores. It is empty if the plan does not depend on them, or the machine had none.
	Addresses string `json:"addresses,omitempty"`
	// Registers is the digest of the labels and taints that the plan's kubelet registers with. It is empty for a plan without a kubelet.
	Registers string `json:"registers,omitempty"`
	// Outcome is its outcome, and Reason why it failed.
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`

	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// ConfirmBy is when it is rolled back unless an administrator confirms it. It is zero if it stays.
	ConfirmBy time.Time `json:"confirmBy,omitzero"`
}

// Stands reports whether it can be restored: it was good, and waits for no confirmation.
func (e Entry) Stands() bool { return e.Outcome == Good && e.ConfirmBy.IsZero() }

// Unfinished reports whether the machine differs from the generation, or is not healthy with it: its apply failed or
// died.
func (e Entry) Unfinished() bool { return e.Outcome == Applying || e.Outcome == Failed }
