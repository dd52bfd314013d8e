// Package apply is the engine: it makes a machine be as a plan says.
//
// It mounts, compares, records what it is about to do, stages every file that differs beside its target, renames
// all of them, reloads systemd once, then loads, sets, starts and checks in the order the plan requires, in parallel
// where it requires none. The caller holds the lock. A machine that is right already is not touched: nothing is
// written, nothing restarted. The engine decides nothing; it knows the kinds of resource and not what any of them is
// for. Provisioning and the watcher use it alike, over the interfaces declared here, which internal/host satisfies.
package apply
