// Package detect finds the facts of a cluster and a region that launches of nodes need, and no others: [Azure] asks Azure's
// interfaces, and [Kubernetes] asks the API server of a kubeconfig. The results are the documents that package launch/azure reads:
// azure.Detected, azure.Images, and settings in a [ConfigMap].
//
// Each fact has its source, the time from a clock that the caller gives, and whether it is certain. Each fact that cannot be found
// is a separate error with what to do, and all other facts are returned: the caller decides whether the missing fact matters. The
// package does not guess, changes nothing in the cloud, and puts no credential into a fact or an error.
//
// The SDK retries requests, and waits as long as Azure asks for. The program cmd/slipway-azure-detect calls this package. An
// autoscaler can call it, too: [Azure.Cluster], [Azure.Images] and [Kubernetes.Detect] have the signatures that
// adapters/karpenter's Refresh needs to refresh its inputs. The package's Example shows that.
package detect
