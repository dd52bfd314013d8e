// Package crash tests that a provisioning, a change of a running node, its rollback and a reset survive their own death at every
// change that they make to the machine, power cuts, full and failing disks, and concurrent provisionings. Its tests call the
// agent's Provision, Change and Reset on a directory, and know nothing about the engine except what a node's owner can see. They
// need the build tag failpoint. `make crash` tries all points. `make crash-part` tries some of every kind in every scenario, drawn with a
// seed that is new in each run and is printed; an ordinary `go test` does the same in a separate process, always with one seed.
//
// What "converges" means. A node that was interrupted any number of times and then provisioned once more equals one that was never
// interrupted:
//
//   - every path outside the records below has the same type, mode, owner, link target and content. So have
//     the agent's own files in /var/lib/slipway, except for their times: an interrupted run is finished, and
//     not counted as another;
//   - no temporary file is left anywhere;
//   - the status and the result report success, with the same contract's digest; the marker exists. Their
//     times and lists of changes are those of the last run, and differ. So does the path where that run found
//     the contract, which may be the copy that an earlier run has kept;
//   - there is at least one event and at most one for each run, each complete; an event that could not be
//     written is in the log;
//   - the same units are active, the same modules loaded, the same parameters set. The record of actions
//     may have more lines than that of one run, because a unit may restart once more than necessary;
//   - every unit was started or restarted after the last change of each of its inputs. If systemd had the
//     unit in memory, it was reloaded between the change of the unit file and that restart;
//   - one more provisioning changes nothing.
//
// At every moment before that: a success is published only if the machine is as the contract in the result requires. After a failed
// call, every path has all of its old or all of its new content. There is one error, which names what failed, with the exit code
// that the plan gives it, or the agent's own.
//
// An interrupted change, and one that rolls back, leave the machine after the next boot completely as one of the two contracts
// requires (apply_test.go). After an interrupted reset, another reset ends like an uninterrupted one (reset_test.go).
//
// One test runs the program as it is delivered, on a directory that it takes for its machine (kill_test.go). It gets SIGKILL or
// SIGTERM while it downloads. The moment is a number of bytes that the servers have sent, so it does not depend on the machine's
// speed. The servers also stop sending, and close connections. After each run the test changes a byte of the received data, or
// removes a component. In every case a file with a program's name has all bytes of that program, and SIGTERM ends the process. The
// next undisturbed run makes the same machine as if nothing had happened, without a partial download left, and the run after it
// downloads nothing.
//
// A power cut empties /run, which is in memory. In half of the cases systemd then starts the enabled units. Of the data that was
// not synced, the disk keeps an arbitrary part (see disk).
//
// The package must not read the engine's own records. No package imports it.
package crash
