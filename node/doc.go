// Package node shows a program the effect of a contract on a machine, before the machine exists: the contract's problems, the
// node's plan, how two nodes differ and what a change from one to the other requires.
//
// It is for autoscalers, cluster operators and tests, which call [Read] or [FromConfig], then [Contract.Plan] and [Diff]. It reads
// contracts of every dialect, with the decoder and the planner that the node itself uses, and does no I/O: the same input gives the
// same output. It changes no machine and shows no secret. [github.com/slipway-dev/slipway/userdata] delivers a contract to a
// machine, and [github.com/slipway-dev/slipway/status] reads the result.
package node
