// Package generation keeps each plan that was applied to a machine as a numbered generation, with its outcome.
//
// A generation is written before the first of its files. Later only its confirmation deadline changes; its outcome is
// in the index beside it. So the machine can always go back to the last good generation, and the agent can distinguish
// what an earlier generation created from other programs' files. A rollback is a generation too, with a new number. The
// package neither decides when a generation is made nor applies one: internal/transition and internal/agent call it,
// with the lock held.
package generation
