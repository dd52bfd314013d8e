package anatomy

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

// A provisioning script names no program that runs it. The path leads through its steps, then through what ran it, and comes back to each
// span after each of its parts.
func TestPathLeadsThroughScripts(t *testing.T) {
	const second = 1_000_000
	span := func(stage record.Stage, name string, begin, end int64) Span {
		return Span{Stage: stage, Name: name, StartUs: begin * second, EndUs: end * second}
	}
	in := func(s Span, name string) Span { s.In = name; return s }
	before := span(record.UnitStage, "cloud-config.service", 1, 3)
	skipped := span(record.UnitStage, "skipped.service", 4, 4)
	final := span(record.UnitStage, "cloud-final.service", 4, 30)
	final.After = []string{"cloud-config.service", "skipped.service"}
	last := in(span(record.Extension, "AKS.CSE.ensureKubelet", 12, 15), customScript)
	last.Starts = kubeletUnit
	kubelet := span(record.Kubelet, "kubelet", 14, 20)
	kubelet.By = kubeletUnit
	timeline := &Timeline{GoalUs: 20 * second, Spans: []Span{
		span(record.Kernel, "kernel", 0, 1), before, in(span(record.CloudInit, "modules-config", 2, 3), "cloud-config.service"), skipped, final,
		in(span(record.CloudInit, "modules-final", 5, 29), "cloud-final.service"),
		in(span(record.CloudInit, "modules-final/config-scripts_user", 6, 28), "modules-final"),
		in(span(record.Extension, "AKS.CSE.configCNI", 8, 10), customScript), last, kubelet,
	}}
	timeline.adopt()
	timeline.findPath()
	var path []string
	for _, l := range timeline.Path {
		if l.Kind != Idle {
			path = append(path, timeline.Spans[l.Span].Name)
		}
	}
	want := []string{
		"kernel", "cloud-config.service", "modules-config", "cloud-final.service", "modules-final", "modules-final/config-scripts_user",
		"AKS.CSE.configCNI", "modules-final/config-scripts_user", "AKS.CSE.ensureKubelet", "kubelet",
	}
	if !slices.Equal(path, want) {
		t.Errorf("the path is %q, want %q", path, want)
	}
}
