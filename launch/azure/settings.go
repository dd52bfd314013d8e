package azure

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Settings are those of the program that launches nodes: the options of Karpenter for Azure, of which [Settings.Options] lists all. They
// never change; [Reload] makes new ones.
type Settings struct {
	// Cluster is the cluster's name, Endpoint its API server's URL.
	Cluster, Endpoint string
	// KubernetesVersion is the version of new nodes; empty for the cluster's own. It is Slipway's own setting.
	KubernetesVersion string
	// JoinMethod is how nodes join: "BootstrapToken", or "Attested" without a token; empty for the first. It is Slipway's own, too.
	JoinMethod string
	// BootstrapToken is the one that nodes join with.
	BootstrapToken nodeconfig.Secret
	// NetworkPlugin and NetworkMode are the cluster's network, SubnetID is where its nodes are.
	NetworkPlugin, NetworkMode, SubnetID string
	ClusterID                            string
	NodeResourceGroup                    string
	// UseSIG takes images of AKS's own galleries, which are in SIGSubscription, in place of the community's.
	UseSIG          bool
	SIGSubscription string
	// Subscription and Location are the environment of the program.
	Subscription, Location string

	// given maps the options that a source sets to the source's name. places maps them to the line or variable in it.
	given, places map[string]string
	// raw are all values.
	raw map[string]string
	// layered are the layers of the settings. hashedID is the cluster ID that the API server's name has, hashErr why it has none.
	layered  []launch.Layer
	hashedID string
	hashErr  error
}

// Given returns the name of the source that sets an option. Empty means that the option has its default.
func (s *Settings) Given(option string) string { return s.given[option] }

// SettingsSource is one place that settings are from: a document, or the environment.
type SettingsSource struct {
	// Name is the place, for people.
	Name string
	// Document is a YAML or JSON document with the options by their names, or a ConfigMap of Kubernetes with options, their
	// former keys or their variables in its data.
	Document []byte
	// Variables are environment variables, by name. Others than those of the options are not looked at.
	Variables map[string]string
}

// Reload makes settings of sources; a later one goes before an earlier one. Where anything is wrong it returns all problems,
// and the old settings as they are: settings take effect as a whole or not at all. Old may be nil.
func Reload(old *Settings, sources ...SettingsSource) (*Settings, []nodeconfig.Problem) {
	s := &Settings{given: make(map[string]string), places: make(map[string]string), raw: make(map[string]string)}
	var all problems
	for _, source := range sources {
		p := problems{problem.Collector{Document: source.Name}}
		s.read(&p, &source)
		all.List = append(all.List, p.List...)
	}
	for i := range options {
		o := &options[i]
		v, found := s.raw[o.name]
		switch {
		case !found || v == "" && o.standard != "" && o.blank == isDefault:
			delete(s.given, o.name)
			v = o.standard
		case v == "" && o.blank == isWrong:
			all.Document = s.given[o.name]
			all.wrong(field("$", o.name), "is empty; leave it out for "+o.standard)
			continue
		case v != "" && o.check != nil:
			if reason := o.check(v); reason != "" {
				all.Document = s.given[o.name]
				all.wrong(field("$", o.name), reason)
				continue
			}
		}
		s.raw[o.name] = v
		if v == "" && o.required == always {
			all.Document = "settings"
			all.Report(true, nodeconfig.Missing, field("$", o.name), "is missing")
		}
		if o.set != nil {
			o.set(s, v)
		}
	}
	all.Document = "settings"
	all.together(s)
	nodeconfig.SortProblems(all.List)
	if len(nodeconfig.Fatal(all.List)) > 0 {
		return old, all.List
	}
	s.layered = s.layers()
	if u, err := url.Parse(s.Endpoint); err == nil {
		s.hashedID, s.hashErr = hashedClusterID(u.Hostname())
	}
	return s, all.List
}

// read reads the options of a source.
func (s *Settings) read(p *problems, source *SettingsSource) {
	for i := range options {
		for _, name := range slices.Backward(options[i].variables) {
			if v, ok := source.Variables[name]; ok {
				s.raw[options[i].name], s.given[options[i].name], s.places[options[i].name] = v, p.Document, name
			}
		}
	}
	if source.Document == nil {
		return
	}
	tree, err := document.Parse(source.Document)
	if err != nil {
		unreadable := nodeconfig.Unreadable(err)
		unreadable.Document = p.Document
		p.List = append(p.List, unreadable)
		return
	}
	fields, path, own := tree, "$", true
	if kind, ok := tree.Get("kind"); ok && kind.Text == "ConfigMap" {
		if fields, ok = tree.Get("data"); !ok {
			p.Report(true, nodeconfig.Missing, "$.data", "is missing; the ConfigMap has no settings")
			return
		}
		path, own = "$.data", false // other programs may read it, too
	}
	for i := range fields.Fields {
		f := &fields.Fields[i]
		at := field(path, f.Name)
		o := optionOf(f.Name)
		switch {
		case o == nil:
			p.Report(own, nodeconfig.Unknown, at, "unknown setting"+document.Suggestion(f.Name, optionNames()))
		case f.Value.Kind == document.List || f.Value.Kind == document.Map:
			p.Report(true, nodeconfig.WrongType, at, "is "+f.Value.Kind.String()+", want a text")
		case f.Value.Kind != document.Null:
			text := f.Value.Text
			if gate, ok := strings.CutPrefix(f.Name, strings.TrimSuffix(anyGate, "*")); ok {
				text = gate + "=" + text
				if s.given[o.name] == p.Document {
					text = s.raw[o.name] + "," + text
				}
			}
			s.raw[o.name], s.given[o.name], s.places[o.name] = text, p.Document, lineOf(&f.Value)
		}
	}
}

// optionOf is the option that has a name, a former key or a variable.
func optionOf(name string) *option {
	i := slices.IndexFunc(options, func(o option) bool {
		gates, ok := strings.CutSuffix(o.former, "*")
		return o.name == name || o.former == name || slices.Contains(o.variables, name) || ok && strings.HasPrefix(name, gates)
	})
	if i < 0 || name == "" {
		return nil
	}
	return &options[i]
}

// together checks what concerns several options.
func (p *problems) together(s *Settings) {
	at := func(name string) string { return field("$", name) }
	raw := s.raw
	if s.NetworkPlugin == "none" && s.NetworkMode != "" {
		p.wrong(at("network-plugin-mode"), `must be "" where network-plugin is none`)
	}
	for _, name := range []string{"sig-subscription-id", "sig-access-token-server-url"} {
		if s.UseSIG && raw[name] == "" {
			p.Report(true, nodeconfig.Missing, at(name), "is missing; use-sig takes it")
		}
	}
	idle, err := time.ParseDuration(raw["provider-batch-idle-duration"])
	longest, err2 := time.ParseDuration(raw["provider-batch-max-duration"])
	if err == nil && err2 == nil && longest < idle {
		p.wrong(at("provider-batch-max-duration"), "want at least provider-batch-idle-duration")
	}
}

// optionNames are the names of all settings, sorted.
var optionNames = sync.OnceValue(func() []string {
	names := make([]string, 0, len(options))
	for _, o := range options {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
})

// Option describes one of the settings, with its value.
type Option struct {
	// Name is the option's, Variables are its names in the environment, Former its key in the ConfigMap of 2023.
	Name      string   `json:"name"`
	Variables []string `json:"variables,omitempty"`
	Former    string   `json:"former,omitempty"`
	Default   string   `json:"default,omitempty"`
	// Required reports whether a launch needs it. The subnet and the node resource group may be detected instead.
	Required bool `json:"required,omitempty"`
	// Effect is the purpose of an option that changes no node. Empty means that the option can change a node.
	Effect string `json:"effect,omitempty"`
	// Value is the effective value; a secret is "[redacted]". Given is the source that sets it. Empty means that Value is the default.
	Value string `json:"value,omitempty"`
	Given string `json:"given,omitempty"`
}

// Options are all settings by name, with the values of s, which may be nil.
func (s *Settings) Options() []Option {
	all := make([]Option, 0, len(options))
	for i := range options {
		o := &options[i]
		shown := Option{Name: o.name, Variables: slices.Clone(o.variables), Former: o.former, Default: o.standard, Required: o.required != 0, Effect: o.effect}
		if s != nil {
			shown.Value, shown.Given = s.raw[o.name], s.given[o.name]
		}
		if o.secret && shown.Value != "" {
			shown.Value = nodeconfig.Redacted
		}
		all = append(all, shown)
	}
	slices.SortFunc(all, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return all
}
