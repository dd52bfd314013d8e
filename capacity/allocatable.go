package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/quantity"
)

// The kubelet's settings that reserve resources for Kubernetes and for the rest of the system.
var keeping = []string{"kubeReserved", "systemReserved"}

// signals are the eviction signals whose thresholds a kubelet subtracts from the pods' share, by resource (Kubernetes:
// pkg/kubelet/cm, node allocatable reservation). It subtracts nothing for other signals.
var signals = map[string]string{"memory": "memory.available", "ephemeral-storage": "nodefs.available"}

// Kept returns how much of a resource pods cannot use, for a node's total, in bytes or, for "cpu", in millicores: the reservations
// of a kubelet with this configuration, and the eviction threshold. It is never more than the total.
func Kept(kubelet map[string]any, resource string, total int64) (int64, error) {
	kept, err := Threshold(kubelet, resource, total)
	if err != nil {
		return 0, err
	}
	for _, setting := range keeping {
		part, err := part(kubelet, setting, resource, resource, total)
		if err != nil {
			return 0, err
		}
		kept = min(kept+part, total)
	}
	return kept, nil
}

// Threshold returns the part of [Kept] that is the eviction threshold.
func Threshold(kubelet map[string]any, resource string, total int64) (int64, error) {
	signal, has := signals[resource]
	if !has {
		return 0, nil
	}
	return part(kubelet, "evictionHard", signal, resource, total)
}

// part returns the amount in an entry of a kubelet setting, or 0.
func part(kubelet map[string]any, setting, entry, resource string, total int64) (int64, error) {
	entries, _ := kubelet[setting].(map[string]any)
	value, said := entries[entry]
	if !said {
		return 0, nil
	}
	text, ok := value.(string)
	if ok {
		var amount int64
		if amount, ok = amountOf(text, resource, total); ok {
			return min(amount, total), nil
		}
	}
	return 0, fmt.Errorf("%s.%s is %q, and want a quantity such as 512Mi, or a percentage", setting, entry, fmt.Sprint(value))
}

// amountOf parses a quantity, or a percentage of a total as the kubelet computes it: with a precision of 32 bits.
func amountOf(text, resource string, total int64) (int64, bool) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		share, err := strconv.ParseFloat(percent, 32)
		if err != nil || !(share >= 0 && share <= 100) {
			return 0, false
		}
		return int64(float64(total) * float64(float32(share)/100)), true
	}
	q, ok := quantity.Parse(text)
	switch {
	case !ok || q.Sign() < 0:
		return 0, false
	case resource == "cpu":
		return q.Milli(), true
	}
	return q.Value(), true
}

// Bytes parses a whole number of bytes with a Kubernetes unit, such as 512Mi.
func Bytes(text string) (int64, bool) {
	unit := strings.TrimLeft(text, "0123456789")
	q, ok := quantity.Parse(text)
	n := q.Value()
	return n, ok && n < math.MaxInt64 && unit != "" && unit != text && !strings.Contains("num", unit) && strings.Trim(unit, "kKMGTPEi") == ""
}
