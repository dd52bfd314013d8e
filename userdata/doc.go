// Package userdata makes what a machine is created with: the document that a cloud hands to a new
// machine so that it finds its contract and starts the agent.
//
// One [Contract] goes in, with parts of the user's own beside it. Three kinds of document come out, each
// deterministic to the byte:
//
//   - [CustomData] and [MIME]: a MIME document for cloud-init, with a boothook that writes the
//     contract and starts the agent in cloud-init's earliest stage. It is the one to prefer.
//   - [CloudConfig]: a plain #cloud-config, for places that take nothing else.
//   - [Ignition]: an Ignition 3.4.0 config, for Flatcar and other images without cloud-init.
//
// Contract and parts are carried as base64 only, in all of them: nothing that the contract says can
// become code, nothing of either can become a line of YAML or a MIME header. On the machine the contract
// is readable by root alone from its first byte.
//
// The package does no I/O, reads no clock, no environment and no randomness, and refuses to look
// into the contract: whether it is a good one is for package node to say. It returns no custom data that
// Azure would refuse, see [TooLargeError]; what other clouds take [Cloud.Check] says, and [Gzip] makes a
// document smaller. It is for whoever creates machines: provisioners, autoscalers, templates. The command
// line calls it (slipway render), and api/aksnodeconfig/nodeconfigutils does for AKS's types.
package userdata
