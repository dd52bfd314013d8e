// Package azure makes of a launch what Azure's interfaces take: the models of Azure's SDK for a network interface, a
// virtual machine, its extension, and a scale set.
//
// Package launch and package launch/azure decide what a node will be. Here it is only written in other words: the package
// decides nothing about a node, asks no cloud and starts no machine. It is pure, and the same launch has the same JSON.
// Programs that launch nodes on Azure call it, with the clients of the SDK; package detect, beside it, asks Azure.
//
// The token and the user data are in the fields that Azure keeps to itself, OSProfile.CustomData and the extension's
// ProtectedSettings, and in no error. Whoever prints or logs a model, prints them.
package azure
