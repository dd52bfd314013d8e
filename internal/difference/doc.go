// Package difference reports how two plans differ, and what it takes to bring a machine from one to the
// other: nothing, a reload, a restart, a drain, a reboot, or another machine.
//
// What is compared is what a machine will have and what restarts; the order of things and the reasons for
// them are not. The class of each change comes from tables, whose rows name their source. The package
// reads no machine, applies nothing and never shows a secret; it decides which class a change has, and not
// whether it may be made. cmd/slipway's diff and the agent's apply call it, so that both say the same.
package difference
