// Package difference reports how two plans differ, and what is necessary to bring a machine from one to the
// other: nothing, a reload, a restart, a drain, a reboot, or another machine.
//
// It compares what a machine will have and what restarts; it ignores the order of resources and the reasons for them.
// Tables, whose rows name their source, have the class of each change. The package reads no machine, applies nothing and
// never shows a secret. It decides the class of a change, not whether the change may be made. cmd/slipway's diff and
// the agent's apply call it, so both report the same.
package difference
