package kubelet

import (
	"net/netip"
	"slices"
	"strings"
)

func sameText(a, b string) bool { return a == b }

// sameHost compares as kubelets do (k8s.io/kubernetes v1.36.3 pkg/util/node, GetHostname).
func sameHost(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// sameAddresses compares lists, in which the first address is the node's main one.
func sameAddresses(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, ","), strings.Split(b, ","), func(a, b string) bool {
		one, err := netip.ParseAddr(strings.TrimSpace(a))
		other, no := netip.ParseAddr(strings.TrimSpace(b))
		return err == nil && no == nil && one.Unmap() == other.Unmap()
	})
}

// hasLabels reports whether all labels of a are among those of b. The kubelet adds the labels of its flags up
// (k8s.io/component-base cli/flag, ConfigurationMap), so the rest is there too.
func hasLabels(a, b string) bool {
	all := items(b)
	return !slices.ContainsFunc(items(a), func(label string) bool {
		key, value, _ := strings.Cut(label, "=")
		return !slices.Contains(all, strings.TrimSpace(key)+"="+strings.TrimSpace(value))
	})
}

// sameTaints compares sets. A taint without a value has an equals sign or none.
func sameTaints(a, b string) bool {
	return slices.Equal(items(strings.ReplaceAll(a, "=:", ":")), items(strings.ReplaceAll(b, "=:", ":")))
}

// items are those of a list with commas, sorted, each once.
func items(list string) []string {
	all := slices.DeleteFunc(strings.Split(list, ","), func(item string) bool { return item == "" })
	slices.Sort(all)
	return slices.Compact(all)
}
