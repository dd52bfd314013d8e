// Package userdata makes the user data of new machines: the document that a cloud gives to a new machine so that it finds its
// contract and starts the agent.
//
// The input is one [Contract], with the user's own parts beside it. The output is one of three kinds of document, each
// deterministic to the byte:
//
//   - [CustomData] and [MIME]: a MIME document for cloud-init, with a boothook that writes the
//     contract and starts the agent in cloud-init's earliest stage. It is the one to prefer.
//   - [CloudConfig]: a plain #cloud-config, for places that take nothing else.
//   - [Ignition]: an Ignition 3.4.0 config, for Flatcar and other images without cloud-init.
//
// In all of them, contract and parts are base64: no value of the contract can become code, and no part of either can become a line
// of YAML or a MIME header. On the machine only root can read the contract, from its first byte on.
//
// The package does no I/O, and reads no clock, environment or randomness. It does not look into the contract: package node
// validates it. It returns no custom data that Azure would refuse, see [TooLargeError]. [Cloud.Check] has the limits of other
// clouds, and [Gzip] makes a document smaller. Programs that create machines use it: provisioners, autoscalers, templates. The
// command line calls it (slipway render), and api/aksnodeconfig/nodeconfigutils does for AKS's types.
package userdata
