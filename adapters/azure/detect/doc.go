// Package detect finds out what launches of nodes need to know of a cluster and a region, and no more: [Azure] asks Azure's
// interfaces, and [Kubernetes] asks the API server of a kubeconfig. The results are the documents that package launch/azure
// reads: azure.Detected, azure.Images, and settings in a [ConfigMap].
//
// Each fact has its source, the time from a clock that the caller gives, and whether it is certain. What cannot be found is an
// error of its own, with what to do, and all other facts are there all the same: whoever launches decides whether the fact that
// is missing matters. Nothing is guessed, nothing in the cloud is changed, and no credential is in a fact or an error.
//
// Requests are retried by the SDK, which waits as long as Azure asks for. The program cmd/slipway-azure-detect calls it, and so
// can an autoscaler: [Azure.Cluster], [Azure.Images] and [Kubernetes.Detect] have the shape that adapters/karpenter's Refresh asks for
// again while it runs. The package's Example shows it.
package detect
