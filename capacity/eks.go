package capacity

import (
	"errors"
	"fmt"
	"strconv"
)

// The sources of EKS's rules.
const (
	eksPodsSource      = "Amazon EKS: eni-max-pods, max-pods-calculator.sh"
	eksReservedSource  = "Amazon EKS AMI: kubeReserved"
	eksEvictionSource  = "Amazon EKS AMI: evictionHard"
	addressesPerPrefix = 16
)

// EKS's numbers.
const (
	// eksSmallVCPUs is the number of virtual processors up to which the calculator calls a machine small. Such a machine has at
	// most eksSmallPods, every other one eksMostPods.
	eksSmallVCPUs, eksSmallPods, eksMostPods = 30, 110, 250
	// eksPodMemory is reserved for each pod and eksBaseMemory in addition, in MiB.
	eksPodMemory, eksBaseMemory = 11, 255
)

// eksCPU are the shares of processor time, in millicores.
var eksCPU = []band{{1000, 600, "6"}, {1000, 100, "1"}, {2000, 50, "0.5"}, {0, 25, "0.25"}}

// EKS is an EC2 instance in an EKS cluster.
type EKS struct {
	// InstanceType is its type, "m5.large". It may be empty if Interfaces and Addresses are set.
	InstanceType string
	// Interfaces is the number of network interfaces, Addresses the number of IPv4 addresses of each. 0 means the type's.
	Interfaces, Addresses int
	// VCPUs is the number of virtual processors.
	VCPUs int
	// OtherPods is the number of pods for an instance of an unknown type. If 0, such a type is an error.
	OtherPods int
	// MaxPods is the number of pods that the user has set. 0 means that none is set. The reservations are computed from the
	// instance's own number even so, as in EKS's images.
	MaxPods int
	// CustomNetworking gives pods addresses in other subnets: the first interface then has no addresses for them.
	CustomNetworking bool
	// PrefixDelegation gives an interface prefixes of 16 addresses instead of addresses. It needs a Nitro instance.
	PrefixDelegation bool
	// Capped limits the number to EKS's recommendation. With PrefixDelegation it is always limited.
	Capped bool
}

// Node computes the capacity of the instance's node. The error lists all problems; one of them may be an [*UnknownTypeError].
func (e EKS) Node() (*Node, error) {
	var problems []error
	if e.VCPUs < 1 {
		problems = append(problems, errors.New("the number of virtual processors is not given"))
	}
	if e.MaxPods < 0 {
		problems = append(problems, fmt.Errorf("%d is no number of pods", e.MaxPods))
	}
	interfaces, addresses := e.Interfaces, e.Addresses
	var unknown error
	switch {
	case interfaces < 0 || addresses < 0 || (interfaces == 0) != (addresses == 0):
		problems = append(problems, errors.New("network interfaces and the addresses of each are given together, or neither"))
	case interfaces == 0:
		interfaces, addresses, unknown = Interfaces(e.InstanceType)
	}
	own, how := e.pods(interfaces, addresses)
	if unknown != nil && e.OtherPods > 0 {
		own, how, unknown = e.OtherPods, "the same for each type that is not known", nil
	}
	if err := errors.Join(append(problems, unknown)...); err != nil {
		return nil, err
	}
	n := newNode()
	if e.MaxPods > 0 {
		n.pods(e.MaxPods, fmt.Sprintf("as set; the instance's own number is %d = %s", own, how), eksPodsSource)
	} else {
		n.pods(own, how, eksPodsSource)
	}
	time, how := reserved(int64(e.VCPUs)*1000, eksCPU, "m", true)
	n.reserve(cpu, strconv.FormatInt(time, 10)+"m", how, eksReservedSource)
	n.reserve(memory, strconv.Itoa(eksPodMemory*own+eksBaseMemory)+"Mi", podMemory(eksPodMemory, own, eksBaseMemory), eksReservedSource)
	n.reserve(ephemeralStorage, "1Gi", "the same for all", eksReservedSource)
	n.evict(memoryAvailable, "100Mi", "the same for all", eksEvictionSource)
	n.evict(nodefsAvailable, "10%", "the same for all", eksEvictionSource)
	n.evict(nodefsInodesFree, "5%", "the same for all", eksEvictionSource)
	return n, nil
}

// pods is the instance's own number: one for each address, and two for pods that use the machine's address.
func (e EKS) pods(interfaces, addresses int) (count int, how string) {
	usable, less := interfaces, ""
	if e.CustomNetworking {
		usable, less = interfaces-1, " - 1"
	}
	if e.PrefixDelegation {
		count = usable*(addresses-1)*addressesPerPrefix + 2
		how = "(" + strconv.Itoa(interfaces) + less + " interfaces) × (" + strconv.Itoa(addresses) + " - 1 prefixes) × " + strconv.Itoa(addressesPerPrefix) + " + 2"
	} else {
		count = usable*(addresses-1) + 2
		how = "(" + strconv.Itoa(interfaces) + less + " interfaces) × (" + strconv.Itoa(addresses) + " - 1 addresses) + 2"
	}
	most := eksMostPods
	if e.VCPUs <= eksSmallVCPUs {
		most = eksSmallPods
	}
	if (e.Capped || e.PrefixDelegation) && count > most {
		how = fmt.Sprintf("%s = %d, at most %d with %d virtual processors", how, count, most, e.VCPUs)
		count = most
	}
	return count, how
}
