// Package status is what a provisioning leaves behind: its result, for machines and for people.
//
// There are three documents. [CSEStatus] is AKS's provision.json, key for key, as the consumers of
// the custom script extension's output read it. [Status] is Slipway's own status.json: outcome,
// every error with what to do about it, the timeline, and what was changed. [Event] is one event for
// Azure's guest agent. Each can be marshalled, the first two can be read back, and [Status.Print]
// shows a status on a terminal.
//
// What is written is bounded, so that no consumer has to cut it; what is read is limited in size,
// and a result whose exit code cannot be told is an error, never a success. The package refuses to
// do I/O, to read the clock, and to decide which exit code a failure has. It is for programs that ask
// what became of a node: controllers and support tools, with [Parse], [ParseCSE] and [ParseCSEMessage]. The agent
// (internal/publish) writes the documents; its command prints them.
package status
