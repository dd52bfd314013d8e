// Package node tells a program what a contract makes of a machine, before there is one: what is wrong with the
// contract, what the node will be like, how two nodes differ and what going from one to the other takes.
//
// It is for autoscalers, cluster operators and tests, which call [Read] or [FromConfig], then [Contract.Plan] and [Diff]. It reads contracts of every dialect, with the decoder and the
// planner that the node itself uses, and does no I/O: the same input gives the same output. It changes no machine and
// shows no secret. [github.com/slipway-dev/slipway/userdata] delivers a contract to a machine,
// [github.com/slipway-dev/slipway/status] reads what came of it.
package node
