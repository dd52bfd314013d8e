// Package crash holds what a provisioning, a change of a running node, its way back and a reset must survive: their own
// death at every change that they make of the machine, power cuts, full and failing disks, and other provisionings at
// the same time. Its tests go in by the front door, the agent's Provision, Change and Reset on a directory, and know
// nothing of the engine but what a node's owner can see. They need the build tag failpoint; an ordinary `go test` tries a few of the points in a process
// of its own, `make crash` all, and `make crash-part` some of every kind in every scenario, drawn by a seed
// that is another one each time and that is printed.
//
// What "converges" means. A node that was interrupted, however often, and provisioned once more is the same
// as one that never was:
//
//   - every path outside the records below has the same type, mode, owner, link target and content; so has
//     what the agent keeps for itself in /var/lib/slipway, but for the times in it: an interrupted run is
//     finished, and not counted as another;
//   - no temporary file is left anywhere;
//   - the status and the result say success, with the same contract's digest; the marker is there. Their
//     times and lists of changes are those of the last run, and differ; so does the place where that run found
//     the contract, which may be the copy that an earlier one has kept;
//   - there is at least one event and at most one a run, each whole; an event that could not be written is
//     in the log;
//   - the same units are active, the same modules loaded, the same parameters set. The record of actions
//     may hold more lines than that of one run, as a unit may be restarted once more than was needed;
//   - every unit was started or restarted after the last change of each of its inputs, and systemd was
//     reloaded between the change of a unit file and that restart, where it had a unit in memory;
//   - one more provisioning changes nothing.
//
// In between, whatever happens: success is published only where the machine is as the contract that the
// result names makes it. After a call that failed, every path has all of its old or all of its new content,
// and there is one error, which names what failed, with the exit code that the plan gives it, or the agent's.
//
// A change that was interrupted, and one that goes back, leave after the next boot what one of the two contracts says,
// whole (apply_test.go). A reset that was interrupted ends as one that was left alone (reset_test.go).
//
// One test runs the program as it is delivered, on a directory that it takes for its machine (kill_test.go). It gets SIGKILL or
// SIGTERM while it downloads. The moment is a number of bytes that the servers have sent, so it does not depend on how fast the
// machine is. The servers also stop sending, and close connections. After each run a byte of what has come changes, or a component is
// removed. Whatever happens, a file with a program's name has all bytes of that program, and SIGTERM ends the process. The next
// undisturbed run makes the same machine as if nothing had happened, without a part of a download, and the run after it downloads
// nothing.
//
// A power cut empties /run, which is in memory; what is enabled is started by systemd in half of the cases.
// Of what was not synced the disk keeps what it likes (see disk).
//
// The package refuses to look into the engine's own records. Nobody imports it.
package crash
