// Package doctor finds out why a machine is not a Ready node, and names the cause and the next step.
//
// A table of checks is the whole of it. A check asks one question, and needs other checks: it looks only if none of them
// found something wrong. So one fault is one verdict, and what follows from it is "not looked at". The checks run beside
// each other along their needs. They change nothing.
//
// The package asks a [Machine], and touches no machine itself. internal/host has the implementations; cmd/slipway-node
// prints the result, and internal/agent puts the first verdict of a failed provisioning in its status.
package doctor
