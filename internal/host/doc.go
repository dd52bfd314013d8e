// Package host is the machine, as the engine sees it: files, systemd units, kernel parameters and
// modules, commands, and checks of what is around it. It is the only package that touches any of
// them, and holds two implementations of apply.Host:
//
//   - [Machine] is this machine. Its files are those under "/", its units those of the systemd that
//     runs it.
//   - [Directory] is a tree of files below a directory: an image that is baked, a test, an example.
//     What cannot be done to a tree (to start a unit, to set a kernel parameter, to run a command) is
//     recorded in it, in /run/slipway/actions.jsonl, and taken as done from then on.
//
// The package refuses to leave its tree through symbolic links, to write through a symbolic link, to
// put a file in place of a directory or a device, to read what is not a regular file, to run a
// command through a shell or with the agent's environment, and to ask systemd again and again where
// it can be told. Nothing here decides what a node should be like: internal/apply decides what is to
// be done, internal/agent and cmd open the host that it is done to.
package host
