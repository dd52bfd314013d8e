package difference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

// setting is a value of a node, by the name that its author knows, with the file that it is in; the name is empty where it is not set.
type setting struct {
	value, name string
	in          resource.ID
}

// settingOf is a setting as the kubelet takes it: a flag goes before the file, and what is not set is its default (Kubernetes
// docs, "Set Kubelet Parameters Via A Configuration File").
func settingOf(n *resource.Node, row *kubeletRow) setting {
	if a := n.Arguments[row.Flag]; a.Value != "" {
		return setting{plainList(a.Value), "--" + row.Flag, a.In}
	}
	if value := n.Kubelet[row.Field]; value != "" {
		return setting{plainList(value), row.Field, n.FileOf(row.Field)}
	}
	return setting{value: row.Default}
}

// plainList is a list of names with their values, which has no order, in one; any other value is as it is.
func plainList(value string) string {
	words := strings.Split(value, ",")
	if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(w, "=") }) {
		slices.Sort(words)
	}
	return strings.Join(words, ",")
}

// kubelet judges the changes of the kubelet's settings. It ignores a setting that moves between the file and
// the flags.
func (j *judge) kubelet() {
	for i := range kubeletTable {
		row := &kubeletTable[i]
		old, now := settingOf(&j.before.Node, row), settingOf(&j.after.Node, row)
		if old.value != now.value && row.holds(&j.before.Node) {
			j.blame([]resource.ID{old.in, now.in}, Reason{row.Class, cmp.Or(now.name, old.name), row.Reason, row.Source})
		}
	}
}

// blame gives a reason to those changes that it comes from. Where a setting is gone though the file that
// held it is as it was, it is the command line that reads it no more.
func (j *judge) blame(from []resource.ID, reason Reason) {
	found := false
	for _, id := range slices.Compact(from) {
		found = j.add(id, reason) || found
	}
	if found {
		return
	}
	for _, d := range j.deltas {
		if unitOf(d.spec()) == plan.KubeletUnit {
			j.add(d.id, reason)
		}
	}
}
