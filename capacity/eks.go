package capacity

import (
	"errors"
	"fmt"
	"strconv"
)

// Where EKS's rules were read.
const (
	eksPodsSource      = "Amazon EKS: eni-max-pods, max-pods-calculator.sh"
	eksReservedSource  = "Amazon EKS AMI: kubeReserved"
	eksEvictionSource  = "Amazon EKS AMI: evictionHard"
	addressesPerPrefix = 16
)

// EKS's numbers.
const (
	// eksSmallVCPUs is how many virtual processors the calculator takes for few: such a machine has at most eksSmallPods, every
	// other eksMostPods.
	eksSmallVCPUs, eksSmallPods, eksMostPods = 30, 110, 250
	// eksPodMemory is what is kept back for each pod and eksBaseMemory beside that, in MiB.
	eksPodMemory, eksBaseMemory = 11, 255
)

// eksCPU are the shares of processor time, in millicores.
var eksCPU = []band{{1000, 600, "6"}, {1000, 100, "1"}, {2000, 50, "0.5"}, {0, 25, "0.25"}}

// EKS is an EC2 instance of a cluster of EKS.
type EKS struct {
	// InstanceType is its type, "m5.large". It may be empty where Interfaces and Addresses are given.
	InstanceType string
	// Interfaces are its network interfaces, Addresses the IPv4 addresses of each; 0 means those of the type.
	Interfaces, Addresses int
	// VCPUs are its virtual processors.
	VCPUs int
	// OtherPods is the number of pods of an instance whose type is not known. If 0, such a type is an error.
	OtherPods int
	// MaxPods is a number of pods that somebody has set, 0 for none. What is kept back is computed from the instance's own
	// number nevertheless, as EKS's images do.
	MaxPods int
	// CustomNetworking gives pods addresses of other subnets: the first interface has none for them.
	CustomNetworking bool
	// PrefixDelegation gives an interface prefixes of 16 addresses in the place of addresses. It takes a Nitro instance.
	PrefixDelegation bool
	// Capped bounds the number to what EKS recommends. With PrefixDelegation it always is.
	Capped bool
}

// Node computes what the instance can hold. The error lists everything that is wrong or not known; one can be an
// [*UnknownTypeError].
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

// pods is the instance's own number: an address for each pod, and two for pods that have the machine's.
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
