package azure

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/launch"
)

// series is a series of instance types, in which everything grows with the processors.
type series struct {
	// before and after are what is before and after the number of processors in a name.
	before, after string
	cpus          []int
	// memory, cache and disk are for each processor, in GiB. Without a disk on the host there is no place for a machine's own.
	memory, cache, disk float64
	// other is the memory of sizes that have another one.
	other        map[int]float64
	architecture string
	generations  []string
	// eight is the number of processors from which on a size can have eight network interfaces: 16, if it is not another one.
	eight int
}

var (
	twoTo64  = []int{2, 4, 8, 16, 32, 48, 64}
	twoTo96  = []int{2, 4, 8, 16, 32, 48, 64, 96}
	withTwen = []int{2, 4, 8, 16, 20, 32, 48, 64}
	both     = []string{"1", "2"}
	second   = []string{"2"}
)

// allSeries are the common ones, of which everything that a decision needs is known (Azure: sizes for virtual machines; the
// capabilities: Resource SKUs of 2024-01 and 2026-08). All have premium storage, accelerated networking, encryption at the host and
// no graphics processor, can be spot machines, and none keeps its memory from the host. Of any other size a list says more.
var allSeries = []series{
	{before: "D", after: "s_v3", cpus: twoTo64, memory: 4, cache: 25, disk: 8, architecture: "amd64", generations: both},
	{before: "D", after: "s_v4", cpus: twoTo64, memory: 4, architecture: "amd64", generations: both},
	{before: "D", after: "ds_v4", cpus: twoTo64, memory: 4, cache: 25, disk: 37.5, architecture: "amd64", generations: both},
	{before: "D", after: "s_v5", cpus: twoTo96, memory: 4, architecture: "amd64", generations: both},
	{before: "D", after: "ds_v5", cpus: twoTo96, memory: 4, cache: 25, disk: 37.5, architecture: "amd64", generations: both},
	{before: "D", after: "as_v5", cpus: twoTo96, memory: 4, architecture: "amd64", generations: both},
	{before: "D", after: "ps_v5", cpus: twoTo64, memory: 4, other: map[int]float64{64: 208}, architecture: "arm64", generations: second, eight: 32},
	{before: "D", after: "pds_v5", cpus: twoTo64, memory: 4, other: map[int]float64{64: 208}, cache: 25, disk: 37.5, architecture: "arm64", generations: second, eight: 32},
	{before: "D", after: "pls_v5", cpus: twoTo64, memory: 2, architecture: "arm64", generations: second, eight: 32},
	{before: "D", after: "plds_v5", cpus: twoTo64, memory: 2, cache: 25, disk: 37.5, architecture: "arm64", generations: second, eight: 32},
	{before: "E", after: "s_v4", cpus: withTwen, memory: 8, other: map[int]float64{64: 504}, architecture: "amd64", generations: both},
	{before: "E", after: "s_v5", cpus: withTwen, memory: 8, architecture: "amd64", generations: both},
	{before: "E", after: "as_v5", cpus: withTwen, memory: 8, architecture: "amd64", generations: both},
	{before: "F", after: "s_v2", cpus: []int{2, 4, 8, 16, 32, 48, 64, 72}, memory: 2, cache: 16, disk: 8, architecture: "amd64", generations: both, eight: 32},
}

// standard begins the name of each size.
const standard = "Standard_"

// instanceType is the size of a number of processors.
func (s *series) instanceType(cpus int) launch.InstanceType {
	gibibytes := func(each float64) int64 { return int64(float64(cpus) * each * (1 << 30)) }
	t := launch.InstanceType{
		Name: standard + s.before + strconv.Itoa(cpus) + s.after, VCPUs: cpus, MemoryBytes: gibibytes(s.memory),
		Architecture: s.architecture, Generations: slices.Clone(s.generations), GPUs: new(0),
		EphemeralDisk: new(s.disk > 0), PremiumStorage: new(true), AcceleratedNetworking: new(true), EncryptionAtHost: new(true), Spot: new(true),
		TrustedLaunch: new(s.architecture == "amd64"), Interfaces: s.interfaces(cpus), Addresses: addressesEach,
	}
	if memory, ok := s.other[cpus]; ok {
		t.MemoryBytes = int64(memory * (1 << 30))
	}
	if s.disk > 0 {
		t.CacheDiskBytes, t.ResourceDiskBytes, t.Placements = gibibytes(s.cache), gibibytes(s.disk), []string{"ResourceDisk", "CacheDisk"}
	}
	return t
}

// interfaces is how many network interfaces the size of a number of processors can have.
func (s *series) interfaces(cpus int) int {
	switch {
	case cpus <= 4:
		return 2
	case cpus < cmp.Or(s.eight, 16):
		return 4
	}
	return 8
}

// InstanceTypes are the instance types that are built in, by name. In which zones a region has them is not known.
func InstanceTypes() []launch.InstanceType {
	var all []launch.InstanceType
	for i := range allSeries {
		for _, cpus := range allSeries[i].cpus {
			all = append(all, allSeries[i].instanceType(cpus))
		}
	}
	slices.SortFunc(all, func(a, b launch.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// KnownInstanceType is the built-in instance type with a name, in any case. The error is an [*UnknownTypeError].
func KnownInstanceType(name string) (*launch.InstanceType, error) {
	for _, t := range InstanceTypes() {
		if strings.EqualFold(t.Name, name) {
			return &t, nil
		}
	}
	return nil, &UnknownTypeError{Name: name, where: "the built-in table"}
}
