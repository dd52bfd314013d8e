package profile_test

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// cells are the cells of a family, by name: all that is in the table but the reasons.
func cells(p *profile.Profile) map[string]reflect.Value {
	all := make(map[string]reflect.Value)
	var walk func(v reflect.Value, name string)
	walk = func(v reflect.Value, name string) {
		if v.Kind() != reflect.Struct {
			all[name] = v
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			below := name
			if !field.Anonymous {
				below = strings.TrimPrefix(name+"."+field.Name, ".")
			}
			if below != "Empty" {
				walk(v.Field(i), below)
			}
		}
	}
	walk(reflect.ValueOf(p).Elem(), "")
	return all
}

// All families in one table: a cell that is empty has a reason, and a reason is one of an empty cell.
func TestCells(t *testing.T) {
	for _, p := range profile.All() {
		all := cells(p)
		used := make(map[string]bool)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			reasons := slices.DeleteFunc(slices.Collect(maps.Keys(p.Empty)), func(of string) bool {
				return of != name && !strings.HasPrefix(name, of+".")
			})
			switch empty := all[name].IsZero(); {
			case empty && len(reasons) == 0:
				t.Errorf("%s: %s is empty, and there is no reason", p.Name, name)
			case !empty && len(reasons) > 0:
				t.Errorf("%s: %s is %v, and there is a reason why it is empty: %s", p.Name, name, all[name], p.Empty[reasons[0]])
			}
			for _, reason := range reasons {
				used[reason] = true
			}
		}
		for name, reason := range p.Empty {
			if !used[name] || reason == "" {
				t.Errorf("%s: %s: a reason without an empty cell, or none: %q", p.Name, name, reason)
			}
		}
	}
}

// Every path can be written into a unit, and all of a node's paths differ.
func TestPathsAreUniqueAndPlain(t *testing.T) {
	for _, p := range profile.All() {
		places := make(map[string]string)
		for name, cell := range cells(p) {
			place := ""
			if cell.Kind() == reflect.String {
				place = cell.String()
			}
			if !strings.HasPrefix(place, "/") {
				if strings.HasPrefix(name, "Paths.") && cell.Kind() == reflect.String && place != "" {
					t.Errorf("%s: %s is %q", p.Name, name, place)
				}
				continue
			}
			if path.Clean(place) != place || strings.ContainsAny(place, " \t\"'\\%$") {
				t.Errorf("%s: %s is %q", p.Name, name, place)
			}
			if other := places[place]; other != "" {
				t.Errorf("%s: %s and %s are one place", p.Name, name, other)
			}
			places[place] = name
		}
		if p.Paths.CAMode != 0o600 && p.Paths.CAMode != 0o644 {
			t.Errorf("%s: CAMode is %04o", p.Name, p.Paths.CAMode)
		}
		for _, v := range p.Kubelet.Environment {
			if v.Value != "" && v.Holds != profile.Fixed {
				t.Errorf("%s: %s holds two things", p.Name, v.Name)
			}
		}
		for _, holds := range []profile.Content{profile.Flags, profile.CustomCloud} {
			if p.Kubelet.Variable(holds) == "" {
				t.Errorf("%s: no variable holds %d", p.Name, holds)
			}
		}
		if files := p.Paths.Files(); len(files) == 0 || slices.Contains(files, "") || slices.Contains(p.Paths.Directories(), "") {
			t.Errorf("%s: %q, %q", p.Name, files, p.Paths.Directories())
		}
		if own := p.Agent.Root + "/"; !strings.HasPrefix(p.Agent.Program, own) {
			t.Errorf("%s: the agent is at %s, and not below %s", p.Name, p.Agent.Program, own)
		}
	}
}

// A contract may name every family, and every dialect has a family.
func TestFamilies(t *testing.T) {
	if names := profile.Names(); names[0] != nodeconfig.DefaultLayout || profile.Default().Name != names[0] {
		t.Errorf("the default is %s, and the families are %q", profile.Default().Name, names)
	}
	for _, name := range []string{nodeconfig.LayoutStandard, nodeconfig.LayoutAKS} {
		if profile.Named(name) == nil {
			t.Errorf("there is no family %s", name)
		}
	}
	for _, name := range profile.Names() {
		if p := profile.Of(name); p.Name != name || profile.Named(name) != p {
			t.Errorf("%s is %s", name, p.Name)
		}
	}
	if profile.Named("other") != nil || profile.Of("other") != profile.Default() {
		t.Error("there is a family of any name")
	}
	for _, name := range dialect.Names() {
		var families []string
		for _, p := range profile.All() {
			if slices.Contains(p.Contract.Dialects, name) {
				families = append(families, p.Name)
			}
		}
		if len(families) == 0 {
			families = []string{profile.Default().Name}
		}
		if len(families) != 1 || profile.OfDialect(name).Name != families[0] {
			t.Errorf("the families of contracts in %s are %v, want one", name, families)
		}
	}
	if profile.OfDialect("") != nil {
		t.Error("no dialect has a family")
	}
	for _, p := range profile.All() {
		for _, place := range p.Contract.Paths() {
			if profile.OfContract(place) != p {
				t.Errorf("the contract at %s is not one of %s", place, p.Name)
			}
		}
		if p.Agent != profile.Default().Agent && profile.OfProgram(p.Agent.Called) != p {
			t.Errorf("%s does not call the agent %s", p.Name, p.Agent.Called)
		}
	}
	if profile.OfContract("") != nil || profile.OfContract("/etc/other.yaml") != nil || profile.OfProgram("a.test") != profile.Default() {
		t.Error("any place, or any program, is a family's")
	}
}

// A result is published where the sender of the contract waits for it.
func TestPublisher(t *testing.T) {
	const aks, standard = nodeconfig.LayoutAKS, nodeconfig.LayoutStandard
	for _, c := range []struct{ dialect, program, contract, want string }{
		{dialect.AKS, "slipway-node", "/etc/slipway/config.json", aks},
		{dialect.AKS, "", "", aks},
		{dialect.Native, "slipway-node", "/etc/slipway/config.yaml", standard},
		{dialect.Native, "aks-node-controller", "/opt/azure/containers/aks-node-controller-config.json", standard},
		{"", "slipway-node", "/etc/slipway/config.yaml", standard},
		{"", "slipway-node", "/opt/azure/containers/aks-node-controller-config.json", aks},
		{"", "slipway-node", "/opt/azure/x", aks},
		{"", "slipway-node", "/opt/azurex", standard},
		{"", "aks-node-controller", "/etc/slipway/config.yaml", aks},
		{"", "aks-node-controller", "", aks},
		{"", "", "", standard},
	} {
		if got := profile.Publisher(c.dialect, c.program, c.contract); got.Name != c.want {
			t.Errorf("%+v: got %s", c, got.Name)
		}
	}
}

func TestPlaceOfContract(t *testing.T) {
	for _, c := range []struct{ family, document, want string }{
		{nodeconfig.LayoutAKS, `{}`, "/opt/azure/containers/aks-node-controller-config.json"},
		{nodeconfig.LayoutAKS, "version: v1", "/opt/azure/containers/aks-node-controller-config.json"},
		{nodeconfig.LayoutStandard, `{}`, "/etc/slipway/config.json"},
		{nodeconfig.LayoutStandard, "kind: NodeConfig", "/etc/slipway/config.yaml"},
		{nodeconfig.LayoutStandard, "", "/etc/slipway/config.yaml"},
	} {
		p := profile.Of(c.family)
		if got := p.Contract.Place([]byte(c.document)); got != c.want {
			t.Errorf("%s: %q is at %s", c.family, c.document, got)
		}
	}
}

// The numbers of a failure are those that the family's consumers know.
func TestExitCodes(t *testing.T) {
	for name, want := range map[string]int{nodeconfig.LayoutAKS: exitcode.AKSNodeController, nodeconfig.LayoutStandard: exitcode.ContractInvalid} {
		if got := profile.Of(name).Publication.Code(exitcode.ContractInvalid); got != want {
			t.Errorf("%s: got %d", name, got)
		}
	}
}
