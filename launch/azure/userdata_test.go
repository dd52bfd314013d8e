package azure_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// classWith reads a class with user data.
func classWith(t testing.TB, text string) (*azure.NodeClass, []nodeconfig.Problem) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return azure.ReadNodeClass(fmt.Appendf(nil, `{"apiVersion": %q, "kind": %q, "metadata": {"name": "a"}, "spec": {"userData": %s}}`, azure.ClassVersion, azure.ClassKind, quoted))
}

// many is a MIME document of so many scripts.
func many(parts int) string {
	return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n" + strings.Repeat("\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n", parts) + "\n--b--\n"
}

// TestUserDataLimits: invalid user data is refused, and the reason does not repeat its text.
func TestUserDataLimits(t *testing.T) {
	for text, want := range map[string]string{
		"#!/bin/sh\n# " + strings.Repeat("canary", 6000): "has 36012 bytes, want at most 32768",
		"#!/bin/sh\ncanary\x00":                          "is not text in UTF-8",
		"canary":                                         "is neither a NodeConfig of slipway.dev/v1, nor a shell script",
		"kind: NodeConfig\ncanary: 1\n":                  "is neither a NodeConfig",
		"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ncanary": "cannot be taken apart: user data, mime: the multipart body does not end",
		many(51): "has 51 parts, want at most 50",
		many(50): "",
		"":       "",
		"apiVersion: slipway.dev/v1\nkind: NodeConfig\ncanary: 1\n":                                "at $.canary: unknown field",
		"apiVersion: slipway.dev/v1\nkind: NodeConfig\nsystem: {sysctls: canary}\n":                "at $.system.sysctls: ",
		"apiVersion: slipway.dev/v1\nkind: NodeConfig\ncomponents: {layout: canary}\n":             "sets $.components.layout, which is not the class's to set",
		"apiVersion: slipway.dev/v1\nkind: NodeConfig\nmetadata: {name: a}\nchecks: {timeout: 1m}": "",
	} {
		_, problems := classWith(t, text)
		got := strings.ReplaceAll(fmt.Sprint(problems), "$.canary", "")
		if want == "" && len(problems) > 0 || !strings.Contains(fmt.Sprint(problems), "$.spec.userData: "+want) && want != "" || strings.Contains(got, "canary") {
			t.Errorf("%.40q: %v, want %q", text, problems, want)
		}
	}
}

// FuzzUserData: a launch uses or refuses any user data of a class, and no problem repeats a line of it.
func FuzzUserData(f *testing.F) {
	f.Add("#!/bin/sh\n")
	f.Add(many(2))
	f.Add("apiVersion: slipway.dev/v1\nkind: NodeConfig\nfiles: [{path: /etc/a, content: b}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		class, problems := classWith(t, text)
		in := azure.Input{Class: class, Settings: new(azure.Settings)}
		layers, found := in.Layers()
		for _, p := range append(problems, found...) {
			if p.Path == "" || p.Reason == "" {
				t.Errorf("%+v", p)
			}
		}
		if len(nodeconfig.Fatal(problems)) > 0 {
			return
		}
		for i := range layers {
			if layers[i].Source == launch.Class {
				if foreign := layers[i].Foreign(in.Fields()); len(foreign) > 0 {
					t.Errorf("the class sets %v", foreign)
				}
			}
		}
	})
}
