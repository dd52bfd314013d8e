package cse_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
)

// aksOnly are parts of paths in containerd's configuration that differ between the scripts' variable and the plan's file:
// docs/compatibility.md lists them, or this version does not apply the setting, or the image has the default.
var aksOnly = []string{"version", "sandbox", "SystemdCgroup", ".cni.", "config_path", "max_container_log_line_size"}

// The scripts get the same containerd settings as the planner decides: no value has two sources.
func TestContainerdIsThePlans(t *testing.T) {
	compared := 0
	for _, e := range examples(t) {
		values := variables(t, e)
		if values["IS_KATA"] == "true" || values["ARTIFACT_STREAMING_ENABLED"] == "true" || values["GPU_NODE"] == "true" || e.name == "native" {
			continue // no plan has these yet
		}
		if values["CONTAINERD_PACKAGE_URL"] != "" || values["RUNC_PACKAGE_URL"] != "" {
			continue // the scripts install the package at the image's own path, and the plan does not
		}
		for _, version := range []string{"1.7.28", "2.1.4"} {
			known := facts.Facts{Components: []components.Component{{Name: "containerd", Version: version}}}
			planned, _ := e.contract.Plan(known)
			file, ok := planned.ByID()[resource.IDOf(&resource.File{Path: concern.ContainerdConfig})]
			if !ok {
				continue
			}
			list, _ := cse.Variables(e.contract, known)
			text, err := base64.StdEncoding.DecodeString(cse.Map(list)["CONTAINERD_CONFIG_CONTENT"])
			if err != nil {
				t.Fatal(err)
			}
			scripts, agents := flat(t, string(text)), flat(t, string(file.Spec.(*resource.File).Content))
			for path, value := range scripts {
				if other, ok := agents[path]; !ok || other != value {
					t.Errorf("%s, containerd %s: the scripts have %s = %s, the plan %q", e.name, version, path, value, other)
				}
			}
			for path, value := range agents {
				if _, ok := scripts[path]; !ok {
					t.Errorf("%s, containerd %s: the plan alone has %s = %s", e.name, version, path, value)
				}
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d are compared", compared)
	}
}

// flat are the values of a document by path, without those that may differ.
func flat(t testing.TB, text string) map[string]string {
	t.Helper()
	table, err := toml.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	values := make(map[string]string)
	var walk func(table *toml.Table, path string)
	walk = func(table *toml.Table, path string) {
		for key, value := range table.All() {
			at := path + "." + key
			if below, ok := value.(*toml.Table); ok {
				walk(below, at)
			} else if !slices.ContainsFunc(aksOnly, func(part string) bool { return strings.Contains(at, part) }) {
				values[at] = fmt.Sprint(value)
			}
		}
	}
	walk(table, "")
	return values
}

// For every contract, each document is TOML, with each table once.
func TestContainerdIsTOML(t *testing.T) {
	for _, e := range examples(t) {
		values := variables(t, e)
		for _, name := range []string{"CONTAINERD_CONFIG_CONTENT", "CONTAINERD_CONFIG_NO_GPU_CONTENT"} {
			text, err := base64.StdEncoding.DecodeString(values[name])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := toml.Parse(string(text)); err != nil {
				t.Errorf("%s of %s: %v\n%s", name, e.name, err, text)
			}
		}
	}
}
