package akstext_test

import (
	"maps"
	"testing"

	"github.com/slipway-dev/slipway/internal/akstext"
	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestFlags(t *testing.T) {
	k := nodeconfig.Kubelet{
		NodeName: "n", NodeIPs: []string{"10.0.0.4", "fd00::4"}, Taints: []nodeconfig.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "b", Value: "c", Effect: "NoExecute"}},
		Flags: []nodeconfig.Flag{{Name: "v", Value: "1"}, {Name: "streaming-connection-idle-timeout", Value: "4h"}, {Name: "v", Value: "2"}},
	}
	const before, after = "--hostname-override=n --node-ip=10.0.0.4,fd00::4 --register-with-taints=a:NoSchedule,b=c:NoExecute ", "--v=2"
	for version, want := range map[string]string{
		"1.33.0": before + "--streaming-connection-idle-timeout=4h " + after, "": before + "--streaming-connection-idle-timeout=4h " + after, "1.34.0": before + after,
	} {
		if got := akstext.Flags(akstext.FlagsOf(&k), version); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// Flags are a kubelet's if their map is equal.
func TestAreFlagsOf(t *testing.T) {
	k := nodeconfig.Kubelet{NodeName: "n", Flags: []nodeconfig.Flag{{Name: "v", Value: "2"}}}
	for _, c := range []struct {
		flags map[string]string
		want  bool
	}{
		{map[string]string{"--hostname-override": "n", "--v": "2"}, true},
		{map[string]string{"--hostname-override": "n", "--v": "3"}, false},
		{map[string]string{"--hostname-override": "n", "v": "2"}, false},
		{map[string]string{"--v": "2"}, false},
		{map[string]string{"--hostname-override": "n", "--v": "2", "--node-ip": ""}, false},
		{nil, false},
	} {
		if got := akstext.AreFlagsOf(c.flags, &k); got != c.want || got != maps.Equal(c.flags, akstext.FlagsOf(&k)) {
			t.Errorf("%v: %t", c.flags, got)
		}
	}
}

func TestKubeletConfig(t *testing.T) {
	for _, c := range []struct {
		config map[string]any
		want   string
	}{
		{nil, "{}"},
		{map[string]any{}, "{}"},
		{map[string]any{"staticPodPath": "", "readOnlyPort": int64(0), "seccompDefault": false, "tlsCipherSuites": []any{}, "featureGates": map[string]any{}, "x": nil}, "{}"},
		{map[string]any{"maxPods": int64(0)}, "{\n    \"maxPods\": 0\n}"},
		{map[string]any{"authentication": map[string]any{}}, "{\n    \"authentication\": {}\n}"},
		{map[string]any{"evictionHard": map[string]any{}}, "{\n    \"evictionHard\": {}\n}"},
		{map[string]any{"zz": 1, "maxPods": 2, "kind": "K"}, "{\n    \"kind\": \"K\",\n    \"maxPods\": 2,\n    \"zz\": 1\n}"},
	} {
		if got := akstext.KubeletConfig(c.config, "1.33.0"); got != c.want {
			t.Errorf("%v: %s", c.config, got)
		}
	}
	if got := akstext.KubeletConfig(map[string]any{"streamingConnectionIdleTimeout": "4h"}, "1.34.0"); got != "{}" {
		t.Error(got)
	}
}
