// Package host is the machine, as the engine sees it: files, systemd units, kernel parameters and
// modules, commands, disks, and checks of what is around it. The files are internal/rootfs, the units
// internal/systemd, the checks internal/probe; the rest is here. No other package uses those three, and none
// but these four touches a machine. There are two implementations of apply.Host:
//
//   - [Machine] is this machine. Its files are those under "/", its units those of the systemd that
//     runs it.
//   - [Directory] is a tree of files below a directory: an image that is baked, a test, an example.
//     What cannot be done to a tree (to start a unit, to set a kernel parameter, to run a command) is
//     recorded in it, in /run/slipway/actions.jsonl, and taken as done from then on.
//
// The package refuses to run a command through a shell or with the agent's environment, and to open as a disk what
// is none. It is the only one that runs programs. Nothing here decides what a node should be like: internal/apply decides what is to
// be done, internal/agent and cmd open the host that it is done to.
package host
