// Package command is how both of Slipway's programs make their command lines: help, usage errors,
// choices, -o json, version and completion, alike in both.
//
// It is cobra, set up once. It knows no document and no machine, and never ends the process: [Run]
// returns the exit code with which main does. cmd/slipway and cmd/slipway-node call it.
package command
