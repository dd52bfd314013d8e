package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// violations are the rules that a plan breaks which hold for every plan.
func violations(c *nodeconfig.NodeConfig, known facts.Facts) []string {
	var found []string
	fail := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	before := nodeconfig.Encode(c)
	p, _ := New(c, known)
	if again, _ := New(c, known); !reflect.DeepEqual(p, again) {
		fail("the same config makes two plans")
	}
	if !bytes.Equal(before, nodeconfig.Encode(c)) {
		fail("planning changes the config")
	}
	if p.Config != nodeconfig.Digest(c) {
		fail("the plan is not named after its config")
	}
	ids := make(map[resource.ID]bool)
	files := make(map[string]bool)
	for _, r := range p.Resources {
		if ids[r.ID()] {
			fail("%s is in the list twice", r.ID())
		}
		ids[r.ID()] = true
		switch r.Spec.(type) {
		case *resource.File, *resource.Symlink:
			if files[r.Spec.Name()] {
				fail("%s is a file and a link", r.Spec.Name())
			}
			files[r.Spec.Name()] = true
		}
	}
	if !slices.IsSortedFunc(p.Resources, func(a, b resource.Resource) int {
		return strings.Compare(string(a.Phase)+" "+string(a.ID()), string(b.Phase)+" "+string(b.ID()))
	}) {
		fail("the plan is not sorted")
	}
	for _, r := range p.Resources {
		for _, problem := range resourceViolations(c, r) {
			fail("%s %s", r.ID(), problem)
		}
		for _, required := range r.Requires {
			if !ids[required] {
				fail("%s requires %s, which is not there", r.ID(), required)
			}
		}
		for dir := path.Dir(r.Spec.Name()); dir != "/" && dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				fail("%s is below a file", r.ID())
			}
		}
		if files[r.Spec.Name()] && ids[resource.ID("Directory:"+r.Spec.Name())] {
			fail("%s is a directory too", r.ID())
		}
	}
	return append(found, jsonViolations(p)...)
}

func resourceViolations(c *nodeconfig.NodeConfig, r resource.Resource) []string {
	var found []string
	fail := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if r.Phase != resource.Base && r.Phase != resource.Join {
		fail("has phase %q", r.Phase)
	}
	if c.Join.Method == nodeconfig.JoinNone && r.Phase == resource.Join {
		fail("is part of a plan that does not join")
	}
	if _, known := exitcode.Lookup(r.ExitCode); !known {
		fail("has exit code %d, which the table does not have", r.ExitCode)
	}
	for _, unit := range r.Restarts {
		own := []string{concern.KubeletUnit, familyOf(c).Kubelet.Prepare, concern.ContainerdUnit, "slipway-retire-credential" + ".path"}
		if !slices.Contains(own, unit) && !slices.Contains(affected(c), unit) {
			fail("restarts %s", unit)
		}
	}
	switch spec := r.Spec.(type) {
	case *resource.File:
		found = append(found, pathViolations(spec.Path)...)
		if spec.Mode&^0o755 != 0 || spec.UID != 0 || spec.GID != 0 {
			fail("has mode %04o and owner %d:%d", spec.Mode, spec.UID, spec.GID)
		}
		if spec.Secret && spec.Mode&^0o600 != 0 {
			fail("is secret and has mode %04o", spec.Mode)
		}
		if strings.HasPrefix(spec.Path, resource.UnitDir) && !authored(c, spec.Path) {
			found = append(found, unitViolations(string(spec.Content))...)
		}
	case *resource.Directory:
		found = append(found, pathViolations(spec.Path)...)
		if spec.Mode&^0o755 != 0 || spec.UID != 0 || spec.GID != 0 {
			fail("has mode %04o and owner %d:%d", spec.Mode, spec.UID, spec.GID)
		}
	case *resource.Symlink:
		found = append(found, pathViolations(spec.Path)...)
		if !path.IsAbs(spec.Target) || path.Clean(spec.Target) != spec.Target {
			fail("leads to %q", spec.Target)
		}
	case *resource.Command:
		if spec.Label != "import-sandbox-image" { // no API for it is CRI's
			fail("is run")
		}
	case *resource.Sysctl:
		if spec.Key == "" || strings.ContainsAny(spec.Key, "*?[") || strings.ContainsAny(spec.Value, "\n\r\x00") || spec.Value == "" {
			fail("has value %q", spec.Value)
		}
	}
	return found
}

// affected are the units that the contract's own files and units are about.
func affected(c *nodeconfig.NodeConfig) []string {
	var units []string
	for _, f := range c.Files {
		units = append(units, slices.Concat(f.Restarts, f.Reloads)...)
	}
	for _, u := range c.Units {
		units = append(units, u.Name)
	}
	return units
}

// authored reports whether a file is one of the contract's own units: the contract decides what it runs.
func authored(c *nodeconfig.NodeConfig, name string) bool {
	return slices.ContainsFunc(c.Units, func(u nodeconfig.Unit) bool {
		return name == nodeconfig.UnitPath(u.Name) && u.Content != "" || slices.ContainsFunc(u.DropIns, func(d nodeconfig.DropIn) bool {
			return name == nodeconfig.DropInPath(u.Name, d.Name)
		})
	})
}

func pathViolations(name string) []string {
	if reason := place.Check(name); reason != "" {
		return []string{fmt.Sprintf("has path %q, which %s", name, reason)}
	}
	return nil
}

// shells are programs that would make text of commands.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "env", "eval", "xargs"}

// unitViolations are what is wrong with a unit file or drop-in.
func unitViolations(content string) []string {
	var found []string
	if !utf8.ValidString(content) || !strings.HasSuffix(content, "\n") {
		found = append(found, "is no text")
	}
	for line := range strings.SplitSeq(content, "\n") {
		if at := strings.IndexFunc(line, unicode.IsControl); at >= 0 {
			found = append(found, fmt.Sprintf("has a control character in line %q", line))
		}
		name, value, isSetting := strings.Cut(line, "=")
		if !isSetting || !strings.HasPrefix(name, "Exec") {
			continue
		}
		program := strings.TrimLeft(strings.Fields(value + " .")[0], "-+!@:")
		if slices.Contains(shells, path.Base(program)) || strings.Contains(value, "bash -c") || strings.Contains(value, "sh -c") {
			found = append(found, "runs a shell: "+line)
		}
	}
	return found
}

// jsonViolations wants a plan's JSON to be read as it was written, and to show no secret.
func jsonViolations(p resource.Plan) []string {
	var found []string
	written, err := json.Marshal(p)
	if err != nil {
		return []string{"has no JSON: " + err.Error()}
	}
	var readBack resource.Plan
	if err := json.Unmarshal(written, &readBack); err != nil {
		return []string{"cannot be read: " + err.Error()}
	}
	if again, err := json.Marshal(readBack); err != nil || !bytes.Equal(written, again) {
		found = append(found, fmt.Sprintf("is another plan when it is read back: %v", err))
	}
	for i, r := range p.Resources {
		f, isFile := r.Spec.(*resource.File)
		if isFile && !f.Secret && !reflect.DeepEqual(f.Content, readBack.Resources[i].Spec.(*resource.File).Content) {
			found = append(found, string(r.ID())+" has other content when it is read back")
		}
	}
	return found
}

func TestInvariants(t *testing.T) {
	known := ubuntu(t)
	elsewhere := known
	elsewhere.OS.ID, elsewhere.Components = "alpine", nil
	for name, c := range contracts(t) {
		for _, f := range []facts.Facts{known, elsewhere, {}} {
			for _, layout := range profile.Names() {
				c.Components.Layout = layout
				for _, v := range violations(c, f) {
					t.Errorf("%s, layout %s, %s: %s", name, layout, f.OS.ID, v)
				}
			}
		}
	}
}

// A path from the contract leads neither out of the directories that are meant for it, which validation
// refuses, nor over a file of this node, which the planner warns of.
func TestConfigFileOfCredentialProvider(t *testing.T) {
	const at = "$.kubelet.imageCredentialProvider.configFile"
	const taken, refused, warned = "taken", "refused", "warned"
	for _, layout := range profile.Names() {
		l := profile.Of(layout).Paths
		cases := map[string]string{
			"/etc/kubernetes/other.yaml":                       taken,
			"/etc/kubernetes/provider/config.json":             taken,
			"/var/lib/kubelet/credential-provider-config.yaml": taken,
			"/etc/eks/image-credential-provider/config.json":   taken,
			"/etc/kubernetes/plugins/x.yaml":                   warned, // the contract's own --volume-plugin-dir
			"/etc/kubernetes/static/x.yaml":                    warned, // the contract's own staticPodPath
		}
		for _, name := range []string{l.KubeletConfig, l.CA, l.Kubeconfig, l.BootstrapConfig, l.CloudConfig, l.CustomCloud, l.ClientKey, l.ClientKey + "/below"} {
			cases[name] = warned
			if place.CredentialProviderConfig.Check(name) != "" {
				cases[name] = refused
			}
		}
		for _, name := range []string{
			"/", "/etc", "/etc/kubernetes", "/etc/systemd", "/usr/share/provider.yaml", "/proc/sys/kernel/core_pattern", "/root/.ssh/authorized_keys",
			"/opt/slipway/bin/slipway-node", "/etc/slipway/config.yaml", "/opt/azure/containers/aks-node-controller", "/etc/shadow", "/etc/ld.so.preload",
			"/etc/kubernetes/manifests/pod.yaml", "/var/lib/slipway/x", "/var/lib/slipway/generations/index.json", "/run/slipway/x", "/run/x",
			"/opt/cni/bin/bridge", "/etc/cni/net.d/00.conf", "/etc/kubernetes/volumeplugins/x/y", "/var/lib/kubelet/pods/x", "/var/lib/kubelet/cpu_manager_state",
			l.KubeletEnv, resource.UnitDir + "/" + concern.KubeletUnit, resource.UnitDir + "/multi-user.target.wants/" + concern.KubeletUnit,
		} {
			cases[name] = refused
		}
		for name, want := range cases {
			config := contract(t, "aks/azure-cni.json", func(n *nodeconfig.NodeConfig) {
				n.Components.Layout = layout
				n.Kubelet.Config = map[string]any{"staticPodPath": "/etc/kubernetes/static/"}
				n.Kubelet.Flags = slices.DeleteFunc(n.Kubelet.Flags, func(f nodeconfig.Flag) bool { return f.Name == "pod-manifest-path" })
				n.Kubelet.Flags = append(n.Kubelet.Flags, nodeconfig.Flag{Name: "volume-plugin-dir", Value: "/etc/kubernetes/plugins"})
			})
			config.Kubelet.ImageCredentialProvider.ConfigFile = name
			got := taken
			if found := nodeconfig.Fatal(nodeconfig.Repair(config)); len(found) > 0 {
				got = refused
				if found[0].Path != at {
					t.Errorf("%s: %v", name, found)
				}
			}
			// The planner does not rely on validation: it is correct for a config that was not validated, too.
			for _, v := range violations(config, ubuntu(t)) {
				t.Errorf("%s: %s", name, v)
			}
			p, problems := New(config, ubuntu(t))
			used := l.CredentialConfig
			if want == taken {
				used = name
			}
			if slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == at }) {
				if got == taken {
					got = warned
				}
			} else if got == refused {
				t.Errorf("%s: is refused, and the planner takes it", name)
			}
			if got != want {
				t.Errorf("layout %s: %s is %s, want %s", layout, name, got, want)
			}
			if !planned(p, resource.ID("File:"+used)) || !strings.Contains(string(fileAt(t, p, l.KubeletEnv).Content), "--image-credential-provider-config="+used) {
				t.Errorf("%s: the configuration is not at %s", name, used)
			}
		}
	}
}
