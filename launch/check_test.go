package launch_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// manifest is the example, with a part replaced.
func manifest(t testing.TB, old, changed string) *components.Manifest {
	t.Helper()
	text := string(read(t, filepath.Join(examples, "components.json")))
	if !strings.Contains(text, old) {
		t.Fatalf("the manifest has no %s", old)
	}
	m, err := components.Parse([]byte(strings.Replace(text, old, changed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// TestCheck compares nodes with images, before there is a machine.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		template     string
		old, changed string
		allowed      []string
		want         []string // path: part of the reason
	}{
		"fits":                  {template: "example"},
		"another kubelet":       {template: "example", old: `"kubelet", "version": "1.34.2"`, changed: `"kubelet", "version": "1.34.1"`, want: []string{"error: $.node.cluster.kubernetesVersion: wants kubelet 1.34.2, and the machine has 1.33.6, 1.34.1"}},
		"no containerd":         {template: "example", old: `"name": "containerd"`, changed: `"name": "docker"`, want: []string{"warning: $.machine.image: has a manifest without containerd"}},
		"no agent":              {template: "example", old: `["aks", "native"]`, changed: `[]`, want: []string{"error: $.node.apiVersion: needs an agent that reads contracts of the dialect native, and the image with agent 0.9.0 has none"}},
		"an agent of another":   {template: "example", old: `["aks", "native"]`, changed: `["aks"]`, want: []string{"error: $.node.apiVersion: needs an agent that reads contracts of the dialect native, and the image with agent 0.9.0 has aks"}},
		"another layout":        {template: "example", old: `["aks"],`, changed: `["standard"],`, want: []string{"error: $.node.components.layout: needs the layout aks"}},
		"layouts are not known": {template: "example", old: `"layouts": ["aks"],`},
		"abilities not known":   {template: "streaming", old: `"abilities"`, changed: `"future"`},
		"no snapshotter":        {template: "streaming", old: `["overlaybd"]`, changed: `["soci"]`, want: []string{"error: $.node.runtime.lazyPull: needs the snapshotter overlaybd"}},
		"no GPU driver":         {template: "gpu", old: `["nvidia"]`, changed: `["amd"]`, want: []string{"error: $.node.system.gpu.vendor: needs the GPU driver of nvidia"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, templates := rendered(t, c.template)
			var got []string
			for _, p := range templates[0].Check(manifest(t, c.old, c.changed), c.allowed...) {
				got = append(got, p.String())
			}
			for _, want := range c.want {
				if !strings.Contains(strings.Join(got, "\n"), want) {
					t.Errorf("lacks %q", want)
				}
			}
			if len(c.want) == 0 && len(got) > 0 || len(got) > len(c.want)+1 {
				t.Errorf("there is more: %s", strings.Join(got, "\n"))
			}
		})
	}
}

// TestCheckWithoutManifest: what an image can do is not guessed, and no node is refused for it.
func TestCheckWithoutManifest(t *testing.T) {
	_, _, templates := rendered(t, "example")
	problems := templates[0].Check(nil)
	if len(problems) != 1 || problems[0].Fatal || problems[0].Path != "$.machine.image" || problems[0].Kind != nodeconfig.Missing {
		t.Errorf("%v", problems)
	}
}

// TestCheckNamesTheClass: if the planner refuses a value of the class, the problem names the value's field in the class, also if the
// value is in the class's user data.
func TestCheckNamesTheClass(t *testing.T) {
	const document = `userData: "apiVersion: slipway.dev/v1\nkind: NodeConfig\nkubelet: {config: {imageGCHighThresholdPercent: 75}}\n"`
	for spec, want := range map[string]string{
		"kubelet: {imageGCHighThresholdPercent: 75}":                   "kubelet.imageGCHighThresholdPercent: want more than imageGCLowThresholdPercent",
		"kubelet: {allowedUnsafeSysctls: [net.core.*, vm.swappiness]}": "kubelet.allowedUnsafeSysctls[1]: is no kernel parameter that the kernel has for each pod",
		document: "userData: at $.kubelet.config.imageGCHighThresholdPercent: want more than imageGCLowThresholdPercent",
		"kubelet: {imageGCHighThresholdPercent: 70}, " + document: "kubelet.imageGCHighThresholdPercent: want more than imageGCLowThresholdPercent",
	} {
		in := with(t, parse(t, []byte("nodeclass: {spec: {"+spec+"}}")))
		cloud, request, _ := in.decode(t)
		template := launch.Render(cloud, request)
		problems := template.Check(manifest(t, "aks", "aks"))
		want = "error: AKSNodeClass default (generation 3): $.spec." + want
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) {
			t.Errorf("%v, want %s", problems, want)
		}
	}
}

// TestCheckSecureBoot: firmware that demands signatures does not start an image that is known to have none.
func TestCheckSecureBoot(t *testing.T) {
	const field = "error: AKSNodeClass default (generation 3): $.spec.security.trustedLaunch.secureBoot: the image's boot loader and kernel are not signed"
	for _, c := range []struct {
		made string
		want bool
	}{{`"made": {"secureBoot": false}`, true}, {`"made": {"secureBoot": true}`, false}, {`"made": {"builder": "another"}`, false}} {
		in := with(t, parse(t, []byte("nodeclass: {spec: {security: {trustedLaunch: {secureBoot: true, vtpm: true}}}}")))
		cloud, request, _ := in.decode(t)
		problems := launch.Render(cloud, request).Check(manifest(t, `"abilities"`, c.made+`, "abilities"`))
		if got := len(problems) == 1 && strings.HasPrefix(problems[0].String(), field); got != c.want || !got && len(problems) > 0 {
			t.Errorf("%s: %v", c.made, problems)
		}
	}
}

// TestCheckRepeatsNothing: a wrong label or taint of a claim is reported once, with its path in the claim.
func TestCheckRepeatsNothing(t *testing.T) {
	cloud, request, _ := with(t, parse(t, read(t, "testdata/bad-claim.yaml"))).decode(t)
	made := launch.Render(cloud, request)
	found := made.Problems()
	if len(nodeconfig.Fatal(found)) < 5 {
		t.Fatalf("only %v", found)
	}
	if again := nodeconfig.Fatal(made.Check(nil)); len(again) > 0 {
		t.Errorf("reported again: %v", again)
	}
}
