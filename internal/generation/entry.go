package generation

import "time"

// Outcome is what came of a generation.
type Outcome string

// The outcomes.
const (
	// Applying says that it is being applied, or that whoever did so has died.
	Applying Outcome = "applying"
	// Good says that all of it was applied, and that nothing was found wrong after it.
	Good Outcome = "good"
	// Failed says that it could not be applied, or that the machine was not well with it.
	Failed Outcome = "failed"
	// Unknown says that the index was lost.
	Unknown Outcome = "unknown"
)

// Origin is who asked for a generation.
type Origin string

// The origins.
const (
	Provision Origin = "provision"
	Apply     Origin = "apply"
	Watch     Origin = "watch"
	Rollback  Origin = "rollback"
)

// Entry is a generation as the index knows it.
type Entry struct {
	// Number is its own; a later generation has a higher one.
	Number int `json:"number"`
	// Config is the digest of the config that its plan was made from.
	Config string `json:"config"`
	// Revision is the number that the config's author gave it (nodeconfig's metadata.revision), 0 for none.
	Revision int64 `json:"revision,omitempty"`
	// Dialect is the dialect that the config was written in.
	Dialect string `json:"dialect,omitempty"`
	// Plan is the digest of its plan.
	Plan string `json:"plan"`
	// Origin is who asked for it.
	Origin Origin `json:"origin"`
	// Restores is the generation whose plan it has, where it is a rollback.
	Restores int `json:"restores,omitempty"`
	// Provisioned is the digest of the config that a boot made a generation of last. It is handed on from
	// one generation to the next, because the older one may be pruned.
	Provisioned string `json:"provisioned,omitempty"`
	// Addresses are those that the machine had when the plan was made, with spaces between them; a rollback's are those of
	// the generation that it restores. Empty where the plan has nothing to do with them, and for one that has none.
	Addresses string `json:"addresses,omitempty"`
	// Outcome is what came of it, and Reason why, where it failed.
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`

	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// ConfirmBy is when it is rolled back unless somebody has confirmed it; zero where it stays.
	ConfirmBy time.Time `json:"confirmBy,omitzero"`
}

// Stands reports whether there is a way back to it: it was good, and nobody still has to confirm it.
func (e Entry) Stands() bool { return e.Outcome == Good && e.ConfirmBy.IsZero() }

// Unfinished reports whether the machine is not as the generation says, or not well with it: its apply failed or
// has died.
func (e Entry) Unfinished() bool { return e.Outcome == Applying || e.Outcome == Failed }
