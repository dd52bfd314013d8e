// Package agentless renders a plan as a node without an agent: it lists the files, links and directories of the node,
// the units that it starts, and the commands that one unit runs at each boot, as cloud-config, Ignition config or
// bundle. It lists what only an agent can do, and refuses a node that could not join, or would be less secure, without
// it.
//
// It makes no plan, touches no machine, and writes nothing. The command line uses it.
package agentless
