// Package karpenter lets Karpenter make nodes with Slipway. [Provider] is a cloudprovider.CloudProvider of sigs.k8s.io/karpenter.
// It uses a small interface, [Machines], which a cloud, a lab of virtual machines or a fake implements. [Bootstrapper] is for an
// existing provider.
//
// Package launch decides what a node will be, and package launch/azure has the decisions for AKS. This package translates between
// them and Karpenter: objects and labels, instance types and offerings, typed errors, drift as a condition's reason, bootstrap
// tokens as Kubernetes' secrets. It decides nothing about a node itself. It starts no machine for which package launch reports a
// fatal problem. The token is in a machine's user data and in the cluster's secret, and nowhere else: no error, event, condition,
// annotation or log line contains it.
//
// Programs that run Karpenter call [Register], then [New], then Karpenter's own operator and controllers. See the example of the
// package and docs/karpenter.md.
//
// It uses Karpenter 1.14. Karpenter 1.15 needs Go 1.26.9.
package karpenter
