package plan

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// terms are the texts of a family's cells that are in a plan: paths, names and sources.
func terms(p *profile.Profile) []string {
	var all []string
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				walk(key)
			}
		case reflect.String:
			all = append(all, v.String())
		}
	}
	for _, group := range []any{p.Paths, p.Kubelet, p.Attested, p.Runtime.Names, p.Runtime.Forward, p.Runtime.Limits, p.Sources} {
		walk(reflect.ValueOf(group))
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 5 }) // "true", "runc"
}

// ownTerms are what the kubelet itself writes on nodes of every family (writeKubeconfigFromBootstrapping), and words of every plan.
var ownTerms = []string{"default-cluster", "default-context", "kubelet", "kubernetes"}

// foreign are the terms that other families have and this one has not.
func foreign(t *testing.T, of *profile.Profile) []string {
	own := append(terms(of), ownTerms...)
	var all []string
	for _, p := range profile.All() {
		all = append(all, slices.DeleteFunc(terms(p), func(term string) bool { return slices.Contains(own, term) })...)
	}
	if len(all) < 20 {
		t.Fatalf("there are only %d terms that %s has not", len(all), of.Name)
	}
	return all
}

// says reports whether a text has a term that is no part of a longer term.
func says(text, term string) bool {
	for {
		before, after, found := strings.Cut(text, term)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !partOfTerm(last) && !partOfTerm(next) {
			return true
		}
		text = after
	}
}

func partOfTerm(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_/-", r)
}

// said returns all texts of a plan, secrets included, and of its problems.
func said(t *testing.T, p resource.Plan, problems []nodeconfig.Problem) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range slices.Concat(p.Resources, p.Health) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
		if f, ok := r.Spec.(*resource.File); ok {
			b.Write(append(f.Content, '\n'))
		}
	}
	for _, problem := range problems {
		b.WriteString(problem.Reason + "\n")
	}
	return b.String()
}

// A family's plan has no terms of other families, and Azure's terms only on Azure: the test covers the golden cases, and every
// setting alone.
func TestFamiliesUseOnlyTheirTerms(t *testing.T) {
	certificates(t)
	checked, strange := make(map[string]int), make(map[string][]string)
	for _, p := range profile.All() {
		strange[p.Name] = foreign(t, p)
	}
	check := func(name string, c *nodeconfig.NodeConfig, known facts.Facts) {
		family := familyOf(c)
		onAzure := c.Cloud.Provider == "azure" || c.Network.Plugin == "azure"
		p, problems := New(c, known)
		text := said(t, p, problems)
		for _, term := range strange[family.Name] {
			if says(text, term) {
				t.Errorf("%s: a plan of family %s says %q", name, family.Name, term)
			}
		}
		if lower := strings.ToLower(text); family.Name != nodeconfig.LayoutAKS && (says(lower, "aks") || !onAzure && strings.Contains(lower, "azure")) {
			t.Errorf("%s: a plan of family %s speaks of AKS or Azure", name, family.Name)
		}
		checked[family.Name]++
	}
	for name, c := range goldenContracts(t) {
		check(name, c, ubuntu(t))
	}
	for name, c := range contracts(t) {
		check(name, c, facts.Facts{})
	}
	for _, l := range leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$") {
		if _, elsewhere := dialect.ReaderOf(dialect.Native, l.path); elsewhere || l.path == "$.network.policy" {
			continue // "azure" is one of the engines' names
		}
		for _, family := range profile.Names() {
			_, after := pair(t, family, l)
			check(l.path, after, facts.Facts{})
		}
	}
	for _, family := range profile.Names() {
		if checked[family] < 150 {
			t.Errorf("%d plans of %s were looked at", checked[family], family)
		}
	}
}

// goldenContracts are the documents of the golden cases from which a node can be made, by the case's name.
func goldenContracts(t *testing.T) map[string]*nodeconfig.NodeConfig {
	t.Helper()
	found, err := filepath.Glob("../../test/cases/*/case.json")
	if err != nil || len(found) == 0 {
		t.Fatal("no cases", err)
	}
	all := make(map[string]*nodeconfig.NodeConfig)
	for _, path := range found {
		var c struct{ Document *string }
		if err := json.Unmarshal(read(t, path), &c); err != nil {
			t.Fatal(err)
		}
		if c.Document == nil {
			continue // an example, or one with changes
		}
		decoded := dialect.Decode([]byte(*c.Document), "")
		if len(nodeconfig.Fatal(decoded.Problems)) == 0 {
			nodeconfig.Default(decoded.Config)
			nodeconfig.Repair(decoded.Config)
			all[filepath.Base(filepath.Dir(path))] = decoded.Config
		}
	}
	return all
}
