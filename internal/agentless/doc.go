// Package agentless makes a node of a plan without an agent: it says which files, links and directories the node has, which
// units it starts, and which commands one unit runs at each boot, and renders that as cloud-config, Ignition config or bundle.
// What only an agent can do is listed, and refused where the node could not join, or would be less safe, without it.
//
// It plans nothing itself, touches no machine, and writes nothing. The command line uses it.
package agentless
