// Package status is the result of a provisioning, for programs and for people.
//
// There are three documents. [CSEStatus] is AKS's provision.json, key for key, as the consumers of the custom script extension's
// output read it. [Status] is Slipway's own status.json: outcome, every error with what to do about it, the timeline, and the
// changes. [Event] is one event for Azure's guest agent. All can be marshalled, the first two can be parsed, and [Status.Print]
// shows a status on a terminal.
//
// Written documents have limits, so that no consumer has to cut them. Parsed data has a size limit, and a result whose exit code is
// unknown is an error, never a success. The package does no I/O, does not read the clock, and does not decide which exit code a
// failure has. It is for programs that need a node's result: controllers and support tools, with [Parse], [ParseCSE] and
// [ParseCSEMessage]. The agent (internal/publish) writes the documents; its command prints them.
package status
