// Package azure converts a launch to the input of Azure's interfaces: the models of Azure's SDK for a network interface, a virtual
// machine, its extension, and a scale set.
//
// Package launch and package launch/azure decide what a node will be. This package only writes the decisions as models: it decides
// nothing about a node, calls no cloud and starts no machine. It is pure: the same launch gives the same JSON. Programs that launch
// nodes on Azure call it, and send the models with the SDK's clients. Package detect, beside it, reads from Azure.
//
// The token and the user data are in the fields that Azure does not return, OSProfile.CustomData and the extension's
// ProtectedSettings, and in no error. To print or log a model is to print them.
package azure
