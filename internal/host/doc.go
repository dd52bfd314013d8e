// Package host gives the engine access to the machine: files, systemd units, kernel parameters and modules, commands,
// disks, and checks of the surroundings. The files are in internal/rootfs, the units in internal/systemd, the checks in
// internal/probe; the rest is here. No other package uses those three, and no package except these four touches a
// machine. There are two implementations of apply.Host:
//
//   - [Machine] is this machine. Its files are those under "/", and its units those of its systemd.
//   - [Directory] is a tree of files below a directory: an image to bake, a test, an example. What a tree cannot do
//     (start a unit, set a kernel parameter, run a command) is recorded in it, in /run/slipway/actions.jsonl, and counts
//     as done from then on.
//
// The package refuses to run a command through a shell or with the agent's environment, and to open as a disk a file
// that is not a disk. It is the only package that runs programs. It does not decide what a node should be like:
// internal/apply decides which changes are needed, and internal/agent and cmd open the host.
package host
