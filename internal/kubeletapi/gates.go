package kubeletapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// gate is a feature gate that the author has set.
type gate struct {
	on bool
	at string
	// flag reports whether a flag sets it: it then wins over the file.
	flag bool
}

// givenGates are the feature gates that the author has set, by name. It may be nil.
type givenGates map[string]gate

func (g *givenGates) set(name string, given gate) {
	if *g == nil {
		*g = make(givenGates)
	}
	(*g)[name] = given
}

// ofStage are the names that stand for all gates of a stage, by the stage's letter in the table.
var ofStage = map[byte]string{'a': "AllAlpha", 'b': "AllBeta"}

// at returns the path at which the author sets one of the gates with names, or "".
func (g givenGates) at(names ...string) string {
	for _, name := range append(names, ofStage['a'], ofStage['b']) {
		if given, ok := g[name]; ok && given.at != "" {
			return given.at
		}
	}
	return ""
}

// addFile adds the gates of a configuration that no flag sets.
func (g *givenGates) addFile(config map[string]any, at ...string) {
	gates, _ := config["featureGates"].(map[string]any)
	for name, v := range gates {
		on, ok := v.(bool)
		if _, isFlag := (*g)[name]; !ok && v != nil || isFlag { // null is false
			continue
		}
		given := gate{on: on}
		if len(at) > 0 {
			given.at = document.FieldPath(at[0]+".featureGates", name)
		}
		g.set(name, given)
	}
}

// enabled reports whether a feature gate is on: because the author has set it, because all gates of its stage are on, or by
// default. A gate that the table does not have is on, because its feature is now a fixed part of Kubernetes.
func (c *checker) enabled(given givenGates, name string) bool {
	if g, ok := given[name]; ok {
		return g.on
	}
	state := c.find(c.gates, "", name, "feature gate", c.minor).kind
	if state == "" {
		return true
	}
	if all, ok := given[ofStage[state[0]]]; ok {
		return all.on
	}
	return state[1] == '+'
}

// fileAlone is the version since which a file's feature gates are validated over those of the flags, which win over them later, when the
// file's defaults are set (pkg/kubelet/apis/config/v1beta1/defaults.go: SetDefaults_KubeletConfiguration, Kubernetes 1.32). A flag's
// value for all gates of a stage has then set each, and another value for all of them sets only gates that have none yet (component-base
// featuregate, feature_gate.go: setUnsetAlphaGates).
const fileAlone = 32

// judgeGates validates the feature gates: a locked gate accepts no other value, and a gate may require others (component-base
// featuregate, feature_gate.go: unsafeSetFromMap). The kubelet also validates those of its flags before it reads its file.
func (j *judge) judgeGates() {
	flags := maps.Clone(j.gates)
	j.gates.addFile(j.config, j.at)
	if len(j.gates) == 0 {
		return
	}
	views := []givenGates{flags, j.gates}
	if j.checker.minor >= fileAlone {
		var file givenGates
		file.addFile(j.config, j.at)
		all := make(givenGates)
		maps.Copy(all, flags)
		maps.Copy(all, file)
		for _, name := range ofStage {
			if given, isFlag := flags[name]; isFlag {
				all[name] = given
			}
		}
		views = append(views, all)
	}
	seen := make(map[string]bool)
	for _, view := range views[1:] { // the second view includes the flags
		j.judgeValues(view, seen)
	}
	for _, view := range views {
		if len(view) > 0 {
			j.judgeRequired(view, seen)
		}
	}
}

// judgeValues reports the gates with a value that the version does not accept.
func (j *judge) judgeValues(given givenGates, seen map[string]bool) {
	c := j.checker
	for _, name := range slices.Sorted(maps.Keys(given)) {
		state, g := c.find(c.gates, "", name, "feature gate", c.minor).kind, given[name]
		refused := ""
		switch {
		case strings.HasSuffix(state, "!") && g.on != (state[1] == '+'):
			want := map[bool]string{true: "want true", false: "want false"}[!g.on]
			refused = want + ", the only value that this version has of the feature gate"
		case state != "" && state[0] == 'p':
			refused = "no value of the feature gate is taken yet; leave it out"
		}
		if key := name + " at " + g.at; refused != "" && !seen[key] {
			seen[key] = true
			j.refuseGate(g.at, name, refused)
		}
	}
}

// judgeRequired reports the gates that are on and require others that are off.
func (j *judge) judgeRequired(given givenGates, seen map[string]bool) {
	minor := j.checker.clamp(j.checker.minor)
	for line := range strings.SplitSeq(strings.Trim(j.checker.requires, "\n"), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		s := j.checker.span(rest)
		if !s.has(minor) || seen[line] || !j.checker.enabled(given, name) || j.checker.enabled(given, s.kind) {
			continue
		}
		seen[line] = true
		j.refuseGate(cmp.Or(given.at(name, s.kind), j.at+".featureGates"), name, "the feature gate takes "+s.kind+" to be enabled too")
	}
}

// refuseGate reports a feature gate, with its name if the path does not end in it.
func (j *judge) refuseGate(at, name, reason string) {
	if !strings.HasSuffix(at, "."+name) {
		reason = name + ": " + reason
	}
	j.checker.Report(true, nodeconfig.Invalid, at, reason+"; the kubelet would not start")
}
