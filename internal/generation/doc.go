// Package generation keeps what a machine was made from: each plan that was applied, as a numbered
// generation, and what came of it.
//
// A generation is written before the first of its files is. Later nothing of it is changed but the time until which
// somebody has to confirm it; what came of it is in the index beside it. So there is always a way back, to the last generation that was good, and whatever
// an earlier generation brought can be told from what somebody else put there. A rollback is a generation
// too, with a number of its own. The package decides nothing about when a generation is made and applies
// none; internal/transition and internal/agent call it, with the lock held.
package generation
