// Package apply is the engine: it makes a machine match a plan.
//
// It mounts, compares, records what it is about to do, stages every file that differs beside its target, renames all of
// them, reloads systemd once, then loads, sets, starts and checks in the plan's order, and in parallel if the plan
// requires no order. The caller holds the lock. If the machine already matches, the engine writes nothing and restarts
// nothing. The engine decides nothing: it knows the kinds of resource, but not the purpose of a resource. Provisioning
// and the watcher both use it, over the interfaces declared here, which internal/host implements.
package apply
