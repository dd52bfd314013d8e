package kubeletapi

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for path, want := range map[string]Setting{
		"maxPods":          {Takes: "a whole number of 32 bits"},
		"maxPod":           {Unknown: "no kubelet has such a field; did you mean maxPods?"},
		"crashLoopBackOff": {Takes: "a map (since Kubernetes 1.32)"},
		"crashLoopBackOff.maxContainerRestartPeriod": {Takes: `a duration such as "30s" (since Kubernetes 1.32)`},
		"authentication.webhook.enabled":             {Takes: "true or false"},
		"clusterDNS.":                                {Takes: "text"},
		"clusterDNS.x":                               {Unknown: "the field takes a list, and has nothing below it"},
		"evictionHard.memory":                        {Takes: "text"},
		"featureGates.KubeletPSI":                    {Takes: "true or false (since Kubernetes 1.33)"},
		"featureGates.KubeletPSII":                   {Unknown: "no kubelet has such a feature gate; did you mean KubeletPSI?"},
		"maxPods.x":                                  {Unknown: "the field takes a whole number of 32 bits, and has nothing below it"},
	} {
		if got := DescribeField(strings.Split(path, ".")); got != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for path, want := range map[string]Inside{
		"clusterDNS": Items, "reservedMemory": Items, "reservedMemory.": Other, "reservedMemory..limits": Values,
		"evictionHard": Values, "featureGates": Values, "systemReserved": Values, "authentication": Other, "maxPods": Other,
		"maxPod": Other, "clusterDNS.x": Other, "evictionHard.memory.available": Other,
	} {
		if got := InsideField(strings.Split(path, ".")); got != want {
			t.Errorf("inside %s: %d", path, got)
		}
	}
	for name, want := range map[string]Setting{
		"max_pods":          {Takes: "a whole number of 32 bits"},
		"max-pod":           {Unknown: "no kubelet has such a flag; did you mean max-pods?"},
		"container-runtime": {Takes: "text (until Kubernetes 1.26)"},
	} {
		if got := DescribeFlag(name); got != want {
			t.Errorf("--%s: %+v", name, got)
		}
	}
}
