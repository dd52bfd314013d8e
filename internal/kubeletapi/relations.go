package kubeletapi

import (
	"math"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/quantity"
)

// The checks of settings that depend on others. An unset one has the kubelet's default.

// isOverLow and isUnderHigh check the two thresholds of images. A violation is reported at the higher one if that is set.
func isOverLow(j *judge, r *rule, v value) bool { return v.v == nil || v.or(85) > j.get(r.with).or(80) }

func isUnderHigh(j *judge, r *rule, v value) bool { return j.get(r.with).v != nil || v.or(80) < 85 }

func isOverMinimum(j *judge, r *rule, v value) bool {
	n, _ := v.amount()
	return n <= 0 || n > j.get(r.with).or(int64(2*time.Minute))
}

func isAtMostTotal(j *judge, r *rule, v value) bool { return v.or(0) <= j.get(r.with).or(0) }

// isWithout accepts a value only if no other setting is set, and isWithAll only if all are.
func isWithout(j *judge, r *rule, v value) bool {
	return v.isZero() || !slices.ContainsFunc(j.others(r), func(other value) bool { return !other.isZero() })
}

func isWithoutPeriods(j *judge, r *rule, v value) bool {
	return v.isZero() || !slices.ContainsFunc(j.others(r), func(other value) bool { return other.or(0) > 0 })
}

func isWithAll(j *judge, r *rule, v value) bool {
	return v.isZero() || !slices.ContainsFunc(j.others(r), value.isZero)
}

func isWithoutTrue(j *judge, r *rule, v value) bool {
	return !v.isTrue() || !slices.ContainsFunc(j.others(r), value.isTrue)
}

// isOneInTurn checks maxParallelImagePulls: with more than 1, serializeImagePulls is false by default.
func isOneInTurn(j *judge, r *rule, v value) bool {
	n, _ := v.amount()
	return n <= 1 || j.get(r.with).v != true
}

func isForAllowlist(j *judge, r *rule, v value) bool {
	return v.isZero() || j.get(r.with).text() == "NeverVerifyAllowlistedImages"
}

func isWithHandler(j *judge, r *rule, v value) bool { return v.v != true || j.get(r.with).v != false }

func isForText(j *judge, r *rule, v value) bool {
	format := j.get(r.with).text()
	return v.isZero() || format == "" || format == "text"
}

// isBurst checks a flag: 0 in the file means the default.
func isBurst(j *judge, r *rule, v value) bool {
	return v.flag == "" || !v.isZero() || j.get(r.with).or(50) <= 0
}

// isTicked checks a period. Without static pods, no period is needed.
func isTicked(j *judge, r *rule, v value) bool {
	n, ok := v.amount()
	return !ok || n > 0 || n == 0 && v.flag == "" || j.get(r.with).isZero()
}

// isListenAddress and isOtherPort check addresses and ports whose servers end the kubelet if they fail.
func isListenAddress(j *judge, r *rule, v value) bool {
	return isAddress(j, r, v) || j.get("enableServer").v == false && j.get("readOnlyPort").or(0) <= 0
}

func isOtherPort(j *judge, _ *rule, v value) bool {
	port := j.get("port")
	n := port.or(10250)
	if n == 0 && port.flag == "" {
		n = 10250
	}
	return v.or(0) == 0 || v.or(0) != n || j.get("enableServer").v == false
}

func isOtherBit(j *judge, _ *rule, v value) bool {
	return v.or(15) != j.get("iptablesMasqueradeBit").or(14) || j.get("makeIPTablesUtilChains").v == false
}

func isAuthenticating(j *judge, _ *rule, v value) bool {
	return v.v != false || j.get("authentication.anonymous.enabled").v == true || j.get("authentication.x509.clientCAFile").text() != ""
}

// isOneIP checks a node's addresses together with a cloud's controller.
func isOneIP(j *judge, r *rule, v value) bool {
	return len(nodeAddresses(v)) < 2 || j.get(r.with).text() == ""
}

func isNodeIPs(_ *judge, _ *rule, v value) bool {
	addresses := nodeAddresses(v)
	return len(addresses) < 2 || len(addresses) == 2 && addresses[0].Is4() != addresses[1].Is4() && !addresses[0].IsUnspecified() && !addresses[1].IsUnspecified()
}

// nodeAddresses parses the flag --node-ip. The kubelet ignores invalid addresses in it.
func nodeAddresses(v value) (addresses []netip.Addr) {
	for part := range strings.SplitSeq(v.text(), ",") {
		if part = strings.TrimSpace(part); isIP(part) {
			addr, _ := netip.ParseAddr(plainIP(part))
			addresses = append(addresses, addr.Unmap())
		}
	}
	return addresses
}

func isForStatic(j *judge, r *rule, v value) bool {
	return v.isZero() || j.get(r.with).text() == "static"
}

func isForMemory(j *judge, r *rule, v value) bool {
	return v.isZero() || j.get(r.with).text() == "Static"
}

func isBelowTLS13(j *judge, r *rule, v value) bool {
	return v.isZero() || j.get(r.with).text() != "VersionTLS13"
}

func isWithoutSingle(j *judge, r *rule, v value) bool {
	return !v.isTrue() || j.get(r.with).text() != "single-numa-node"
}

func isForTopology(j *judge, r *rule, v value) bool {
	policy := j.get(r.with).text()
	return v.isZero() || v.v == "container" || policy != "" && policy != "none"
}

// usesTopology reports whether the kubelet reads the options of topologyManagerPolicy. Since 1.28 it does not if the policy is
// "none".
func (j *judge) usesTopology() bool {
	policy := j.get("topologyManagerPolicy").text()
	return j.checker.minor < 28 && j.checker.enabled(j.gates, "TopologyManager") || policy != "" && policy != "none"
}

func isTopologyAbsent(j *judge, _ *rule, v value) bool { return v.v == nil || !j.usesTopology() }
func isTopologyKey(j *judge, r *rule, v value) bool    { return isKey(j, r, v) || !j.usesTopology() }
func isTopologyBool(j *judge, r *rule, v value) bool {
	return v.v == nil || isBool(j, r, v) || !j.usesTopology()
}

func isTopologyCount(j *judge, r *rule, v value) bool {
	n, err := strconv.Atoi(v.text())
	return v.v == nil || err == nil && n >= int(r.least) || !j.usesTopology()
}

// The checks of lists.

func isUnique(_ *judge, _ *rule, v value) bool {
	list := v.list()
	slices.Sort(list)
	return len(slices.Compact(list)) == len(list)
}

func isAlone(_ *judge, r *rule, v value) bool {
	list := v.list()
	return len(list) <= 1 || !slices.ContainsFunc(list, r.hasWord)
}

func isNotBoth(_ *judge, r *rule, v value) bool {
	list := v.list()
	return slices.ContainsFunc(strings.Split(r.words, " "), func(word string) bool { return !slices.Contains(list, word) })
}

func hasCgroup(j *judge, r *rule, v value) bool {
	return !slices.ContainsFunc(v.list(), r.hasWord) || j.get(r.with).text() != ""
}

// hasReservation reports whether there is a reservation to enforce.
func hasReservation(j *judge, r *rule, v value) bool {
	return !slices.ContainsFunc(v.list(), r.hasWord) || !j.get(r.with).isZero()
}

// isEnforceable checks cgroupsPerQOS: without it nothing can be enforced, and the kubelet enforces the pods' reservation by
// default. Until 1.30 it did not accept "none" either.
func isEnforceable(j *judge, r *rule, v value) bool {
	enforced := j.get(r.with)
	if v.v != false {
		return true
	}
	isNone := func(word string) bool { return word != "none" || j.checker.minor < 31 }
	return enforced.v != nil && !slices.ContainsFunc(enforced.list(), isNone)
}

// isUniqueSysctls checks defaultPodSysctls: a parameter can be written with dots and with slashes.
func isUniqueSysctls(_ *judge, _ *rule, v value) bool {
	names, _ := v.v.(map[string]any)
	seen := make(map[string]bool, len(names))
	for name := range names {
		if isSysctlPattern(name) {
			seen[withDots(name)] = true
		} else {
			seen[name] = true
		}
	}
	return len(seen) == len(names)
}

func isUniqueMemory(_ *judge, _ *rule, v value) bool {
	type kind struct{ node, name string }
	seen := make(map[kind]bool)
	for node, name := range memories(v) {
		of := kind{node, name.name}
		if seen[of] {
			return false
		}
		seen[of] = true
	}
	return true
}

// memories yields the limits of reservedMemory, by the numbers of NUMA nodes.
func memories(v value) func(func(string, value) bool) {
	return func(yield func(string, value) bool) {
		nodes, _ := v.v.([]any)
		for _, node := range nodes {
			fields, _ := node.(map[string]any)
			limits, _ := fields["limits"].(map[string]any)
			id := numeral(fields["numaNode"])
			if id == "" {
				id = "0"
			}
			for name, limit := range limits {
				if !yield(id, value{v: limit, name: name}) {
					return
				}
			}
		}
	}
}

// The checks of an image credential provider.

func isUniqueNames(_ *judge, _ *rule, v value) bool {
	var names []any
	providers, _ := v.v.([]any)
	for _, provider := range providers {
		fields, _ := provider.(map[string]any)
		names = append(names, fields["name"])
	}
	return isUnique(nil, nil, value{v: names})
}

func isForV1(_ *judge, _ *rule, v value) bool {
	return v.v == nil || v.in["apiVersion"] == "credentialprovider.kubelet.k8s.io/v1"
}

func isForConfigV1(j *judge, _ *rule, v value) bool {
	return v.v == nil || j.config["apiVersion"] == "kubelet.config.k8s.io/v1"
}

func isApart(_ *judge, _ *rule, v value) bool {
	fields, _ := v.v.(map[string]any)
	required := value{v: fields["requiredServiceAccountAnnotationKeys"]}.list()
	return !slices.ContainsFunc(value{v: fields["optionalServiceAccountAnnotationKeys"]}.list(), func(key string) bool { return slices.Contains(required, key) })
}

func isRequired(_ *judge, _ *rule, v value) bool {
	return v.v != false || value{v: v.in["requiredServiceAccountAnnotationKeys"]}.isZero()
}

// The checks of reservations.

func hasGracePeriod(j *judge, r *rule, v value) bool {
	periods, _ := j.get(r.with).v.(map[string]any)
	return periods[v.name] != nil || isOff(v.text())
}

func hasThreshold(j *judge, r *rule, v value) bool {
	return slices.ContainsFunc(j.others(r), func(other value) bool {
		thresholds, _ := other.v.(map[string]any)
		return thresholds[v.name] != nil
	})
}

// hasAnyThreshold also counts the kubelet's default thresholds.
func hasAnyThreshold(j *judge, r *rule, v value) bool {
	const standard = " memory.available nodefs.available nodefs.inodesFree imagefs.available imagefs.inodesFree "
	return hasThreshold(j, r, v) || (j.get("evictionHard").v == nil || j.get("mergeDefaultEvictionSettings").v == true) && strings.Contains(standard, " "+v.name+" ")
}

// reserved is the sum of kubeReserved and systemReserved for a resource.
func (j *judge) reserved(resource string) (sum quantity.Quantity) {
	for _, field := range [...]string{"kubeReserved", "systemReserved"} {
		resources, _ := j.get(field).v.(map[string]any)
		q, _ := quantity.Parse(value{v: resources[resource]}.text())
		if resource == "cpu" && j.checker.minor >= 37 { // since 1.37 rounded to a thousandth
			q = quantity.NewMilli((q.Micro() + 500) / 1000)
		}
		sum.Add(&q)
	}
	return sum
}

// reservedCPUs are the reserved processors. Those that reservedSystemCPUs names win over amounts.
func (j *judge) reservedCPUs() quantity.Quantity {
	if set, ok := cpuSetOf(j.get("reservedSystemCPUs").text()); ok && set.count > 0 {
		return quantity.New(set.count)
	}
	return j.reserved("cpu")
}

// reservedMemory is the reserved memory, including the eviction threshold. ok is false if the threshold is a fraction of an unknown
// memory size.
func (j *judge) reservedMemory() (sum quantity.Quantity, ok bool) {
	sum = j.reserved("memory")
	if j.get("--experimental-allocatable-ignore-eviction").v == true {
		return sum, true
	}
	hard := j.get("evictionHard")
	thresholds, _ := hard.v.(map[string]any)
	text := value{v: thresholds["memory.available"]}.text()
	if text == "" && (hard.v == nil || j.get("mergeDefaultEvictionSettings").v == true && hard.flag == "") {
		text = "100Mi"
	}
	threshold, _ := quantity.Parse(text)
	if strings.HasSuffix(text, "%") && !isOff(text) {
		share, _ := percentage(text)
		threshold = quantity.New(int64(float64(j.machine.MemoryBytes) * float64(share)))
		if share != share && sum.Sign() == 0 { // NaN becomes the smallest 64-bit integer, and what remains without that is not a 64-bit integer
			threshold = quantity.New(math.MaxInt64)
		}
		if j.machine.MemoryBytes == 0 {
			return sum, false
		}
	}
	sum.Add(&threshold)
	return sum, true
}

// hasRoom reports whether the machine has as much of a resource as is reserved.
func hasRoom(j *judge, r *rule, _ value) bool {
	var sum quantity.Quantity
	total, ok := int64(j.machine.CPUs), true
	if r.words == "cpu" {
		sum = j.reservedCPUs()
	} else {
		total = j.machine.MemoryBytes
		sum, ok = j.reservedMemory()
	}
	all := quantity.New(total)
	return total == 0 || !ok || sum.Cmp(&all) <= 0
}

func hasReservedCPU(j *judge, _ *rule, v value) bool {
	cpus := j.reservedCPUs()
	return v.text() != "static" || cpus.Sign() > 0
}

// hasReservedMemory reports whether reservedMemory satisfies the memory manager.
func hasReservedMemory(j *judge, _ *rule, v value) bool {
	if v.text() != "Static" {
		return true
	}
	var sum quantity.Quantity
	for _, limit := range memories(j.get("reservedMemory")) {
		q, _ := quantity.Parse(strings.TrimSpace(limit.text()))
		if _, isWhole := q.Whole(); !isWhole || limit.name != "memory" {
			return false
		}
		sum.Add(&q)
	}
	want, ok := j.reservedMemory()
	return sum.Sign() > 0 && (!ok || sum.Cmp(&want) == 0)
}

func hasCPUs(j *judge, _ *rule, v value) bool {
	set, ok := cpuSetOf(v.text())
	return j.machine.CPUs == 0 || !ok || set.last < int64(j.machine.CPUs)
}

func isCPUSet(_ *judge, _ *rule, v value) bool {
	_, ok := cpuSetOf(v.text())
	return ok
}

// cpuSet is the relevant properties of a set of processors.
type cpuSet struct{ count, last int64 }

// cpuSetOf parses numbers and ranges with commas between (k8s.io/utils/cpuset, Parse).
func cpuSetOf(text string) (set cpuSet, ok bool) {
	set.last = -1
	if text == "" {
		return set, true
	}
	var ranges [][2]int64
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || low > high {
			return set, false
		}
		ranges = append(ranges, [2]int64{int64(low), int64(high)})
	}
	sort.SliceStable(ranges, func(i, j int) bool { return ranges[i][0] < ranges[j][0] })
	next := int64(math.MinInt64)
	for _, r := range ranges {
		low := max(r[0], next)
		set.count += max(0, r[1]-low+1)
		next, set.last = max(next, r[1]+1), max(set.last, r[1])
	}
	return set, true
}

func hasCgroupV2(j *judge, r *rule, v value) bool {
	return j.machine.CgroupVersion != 1 || v.v == nil || !r.hasWord(v.text())
}
