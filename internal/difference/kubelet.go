package difference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
)

// kubeletSettings are what one plan's kubelet is told.
type kubeletSettings struct {
	flags map[string]argument
	// config is the configuration file, nil where there is none or where it cannot be read.
	config     *document.Node
	configFile resource.ID
	unreadable bool
}

func settingsOf(p resource.Plan) kubeletSettings {
	s := kubeletSettings{flags: flagsOf(p)}
	for _, r := range p.Resources {
		file, ok := r.Spec.(*resource.File)
		if !ok || !slices.ContainsFunc(plan.AllPlaces(), func(l plan.Places) bool { return l.KubeletConfig == file.Path }) {
			continue
		}
		n, err := document.Parse(file.Content)
		s.config, s.configFile, s.unreadable = n, r.ID(), err != nil
	}
	return s
}

// value is a setting as the kubelet takes it: a flag goes before the file, and what is not set is its
// default (Kubernetes docs, "Set Kubelet Parameters Via A Configuration File"). Its name is that of the flag
// where it is one, and empty where it is not set.
func (s kubeletSettings) value(field, flag, byDefault string) (set argument, name string) {
	if set, ok := s.flags[flag]; ok && flag != "" && set.value != "" {
		return argument{plainList(set.value), set.from}, "--" + flag
	}
	n := s.config
	for name := range strings.SplitSeq(field, ".") {
		n, _ = n.Get(name)
	}
	if text := plainText(n); field != "" && text != "" {
		return argument{text, s.configFile}, field
	}
	return argument{value: byDefault}, ""
}

// plainText is a value of the file as the flag of the same setting would have it.
func plainText(n *document.Node) string {
	switch {
	case n == nil || n.Kind == document.Null:
		return ""
	case n.Kind == document.List && !slices.ContainsFunc(n.Items, isComposite):
		var words []string
		for _, item := range n.Items {
			words = append(words, item.Text)
		}
		return strings.Join(words, ",")
	case n.Kind == document.Map && !slices.ContainsFunc(n.Fields, func(f document.Field) bool { return isComposite(f.Value) }):
		var words []string
		for _, f := range n.Fields {
			words = append(words, f.Name+"="+f.Value.Text)
		}
		slices.Sort(words)
		return strings.Join(words, ",")
	case isComposite(*n):
		return string(n.AppendJSON(nil))
	}
	return n.Text
}

func isComposite(n document.Node) bool { return n.Kind == document.List || n.Kind == document.Map }

// plainList is a flag's value; a map has no order.
func plainList(value string) string {
	words := strings.Split(value, ",")
	if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(w, "=") }) {
		slices.Sort(words)
	}
	return strings.Join(words, ",")
}

// kubelet judges the changes of the kubelet's settings. A setting that moves between the file and the
// flags is no change.
func (j *judge) kubelet() {
	before, after := settingsOf(j.before), settingsOf(j.after)
	if before.unreadable || after.unreadable {
		for _, id := range slices.Compact([]resource.ID{before.configFile, after.configFile}) {
			j.add(id, unreadableConfig)
		}
	}
	for _, row := range kubeletTable {
		old, oldName := before.value(row.Field, row.Flag, row.Default)
		now, name := after.value(row.Field, row.Flag, row.Default)
		if old.value == now.value || !row.holds(before) {
			continue
		}
		j.blame([]resource.ID{old.from, now.from}, Reason{row.Class, cmp.Or(name, oldName), row.Reason, row.Source})
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
