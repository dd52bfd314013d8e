package difference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

// setting is a value of a node, with its name for people and its file. The name is empty if the value is not set.
type setting struct {
	value, name string
	in          resource.ID
}

// settingOf returns a setting with the kubelet's precedence: flag, file, default (Kubernetes docs, "Set Kubelet Parameters Via A
// Configuration File").
func settingOf(n *resource.Node, row *kubeletRow) setting {
	if a := n.Arguments[row.Flag]; a.Value != "" {
		return setting{plainList(a.Value), "--" + row.Flag, a.In}
	}
	if value := n.Kubelet[row.Field]; value != "" {
		return setting{plainList(value), row.Field, n.FileOf(row.Field)}
	}
	return setting{value: row.Default}
}

// plainList returns a list of names and values, which has no order, in sorted order; it returns other values unchanged.
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

// blame adds a reason to the changes that cause it. If a setting is gone and the file that held it is unchanged, the command line
// does not read the file any more.
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
