// Package karpenter lets Karpenter make nodes with Slipway. [Provider] is a cloudprovider.CloudProvider of
// sigs.k8s.io/karpenter over a small interface, [Machines]: a cloud, a lab of virtual machines, or a fake is behind it.
// [Bootstrapper] is for an existing provider.
//
// Package launch decides what a node will be, and package launch/azure has the decisions for AKS. This package translates
// between them and Karpenter: objects and labels, instance types and offerings, typed errors, drift as a condition's reason,
// bootstrap tokens as Kubernetes' secrets. It refuses to decide anything about a node itself, and it starts no machine that
// package launch finds a fatal problem with. The token is in the user data of a machine and in the cluster's secret, and
// nowhere else: no error, event, condition, annotation or log line has it.
//
// Programs that run Karpenter call it: [Register], [New], then Karpenter's own operator and controllers, see the example of
// the package and docs/karpenter.md.
//
// It uses Karpenter 1.14. Karpenter 1.15 needs Go 1.26.9.
package karpenter
