package capacity

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The sources of AKS's rules.
const (
	aksPodsSource     = "AKS docs: maximum pods per node; Karpenter for Azure"
	aksReservedSource = "AKS docs: resource reservations"
	aksEvictionSource = "AKS docs: eviction threshold"
)

// Plugin is the source of pods' addresses in an AKS cluster.
type Plugin string

// The plug-ins.
const (
	Azure        Plugin = "azure"         // each pod has an address in the virtual network
	AzureOverlay Plugin = "azure-overlay" // pods have addresses outside the virtual network
	Kubenet      Plugin = "kubenet"
	NoPlugin     Plugin = "none" // the user's own
)

// aksPods are the numbers of pods on a node for which no number is set.
var aksPods = []struct {
	plugin Plugin
	pods   int
}{{Azure, 30}, {AzureOverlay, 250}, {Kubenet, 110}, {NoPlugin, 250}}

// Plugins are all plug-ins.
func Plugins() []Plugin {
	var all []Plugin
	for _, p := range aksPods {
		all = append(all, p.plugin)
	}
	return all
}

// aksCPU are the shares of processor time in millicores, and aksMemory those of memory in MiB, in AKS before Kubernetes 1.29.
var (
	aksCPU    = []band{{1000, 600, "6"}, {1000, 400, "4"}, {2000, 200, "2"}, {0, 100, "1"}}
	aksMemory = []band{{4 << 10, 2500, "25"}, {4 << 10, 2000, "20"}, {8 << 10, 1000, "10"}, {112 << 10, 600, "6"}, {0, 200, "2"}}
)

// Since Kubernetes 1.29 AKS reserves 20 MB for each pod and 50 MB in addition, at most a quarter of the machine. Its documentation
// uses MB; a kubelet counts in MiB, and so does this package.
const (
	aksPodMemory, aksBaseMemory = 20, 50
	aksMostMemory               = 4
	mebibyte                    = 1 << 20
)

// AKS is a virtual machine in an AKS cluster.
type AKS struct {
	// VCPUs are its virtual processors, MemoryBytes its memory.
	VCPUs       int
	MemoryBytes int64
	// Plugin is the source of the pods' addresses.
	Plugin Plugin
	// MaxPods is the number of pods that the user has set. 0 means that none is set.
	MaxPods int
	// Former computes the memory as before Kubernetes 1.29, from the machine's size alone.
	Former bool
}

// Node computes the capacity of the machine's node. The error lists all problems.
func (a AKS) Node() (*Node, error) {
	pods := 0
	for _, p := range aksPods {
		if p.plugin == a.Plugin {
			pods = p.pods
		}
	}
	var problems []error
	if a.VCPUs < 1 {
		problems = append(problems, errors.New("the number of virtual processors is not given"))
	}
	if a.MemoryBytes < 1 {
		problems = append(problems, errors.New("the memory is not given"))
	}
	if a.MaxPods < 0 {
		problems = append(problems, fmt.Errorf("%d is no number of pods", a.MaxPods))
	}
	if pods == 0 {
		problems = append(problems, fmt.Errorf("the network plug-in %q is not known; use one of %q", a.Plugin, Plugins()))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	n := newNode()
	if a.MaxPods > 0 {
		n.pods(a.MaxPods, fmt.Sprintf("as set; the number for %s is %d", a.Plugin, pods), aksPodsSource)
	} else {
		n.pods(pods, "the number for "+string(a.Plugin), aksPodsSource)
	}
	time, how := reserved(int64(a.VCPUs)*1000, aksCPU, "m", false)
	n.reserve(cpu, strconv.FormatInt(time, 10)+"m", how, aksReservedSource)
	size := a.MemoryBytes / mebibyte
	if a.Former {
		kept, how := reserved(size, aksMemory, "Mi", false)
		n.reserve(memory, strconv.FormatInt(kept, 10)+"Mi", how, aksReservedSource)
		n.evict(memoryAvailable, "750Mi", "the same for all before Kubernetes 1.29", aksEvictionSource)
		return n, nil
	}
	kept, quarter := int64(aksPodMemory*n.MaxPods+aksBaseMemory), size/aksMostMemory
	how = podMemory(aksPodMemory, n.MaxPods, aksBaseMemory)
	if kept > quarter {
		how, kept = fmt.Sprintf("%s = %d Mi, at most a quarter of %d Mi", how, kept, size), quarter
	}
	n.reserve(memory, strconv.FormatInt(kept, 10)+"Mi", how, aksReservedSource)
	n.evict(memoryAvailable, "100Mi", "the same for all since Kubernetes 1.29", aksEvictionSource)
	return n, nil
}

// AKSMemory returns the memory for a scheduler before the node exists: whole gibibytes, minus the part that the hypervisor keeps,
// rounded up (Karpenter for Azure: VM_MEMORY_OVERHEAD_PERCENT). The machine itself reports a different size. If this number is too
// large, pods wait for a node on which they do not fit.
func AKSMemory(memoryBytes int64, overhead float64) int64 {
	whole := memoryBytes >> 30 << 30
	return whole - int64(math.Ceil(float64(whole)*overhead))
}
