// Package command builds the command lines of both of Slipway's programs: help, usage errors, choices, -o json, version
// and completion, the same in both.
//
// It is cobra, set up once. It knows no document and no machine, and never ends the process: [Run] returns main's exit
// code. cmd/slipway and cmd/slipway-node call it.
package command
