package launch_test

import (
	"bytes"
	"encoding/base64"
	"os/exec"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// assigned are the variables that a shell has after the assignments of a script.
func assigned(t *testing.T, userData string) map[string]string {
	t.Helper()
	script, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		t.Fatal(err)
	}
	_, assignments, found := strings.Cut(string(script), "\ndone\n")
	assignments, _, found2 := strings.Cut(assignments, "\n/usr/bin/nohup ")
	if !found || !found2 {
		t.Fatalf("the script is another one:\n%s", script)
	}
	if i := strings.Index(assignments, "\nfor init in "); i >= 0 {
		assignments = assignments[:i]
	}
	cmd := exec.Command("/bin/bash", "-c", "set -o allexport\n"+assignments+"\nset +o allexport\nexec /usr/bin/env -0")
	cmd.Env = []string{}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		name, value, _ := strings.Cut(string(entry), "=")
		values[name] = value
	}
	return values
}

// TestScript: bash reads from the script of each template what the template says, and every variable of the report.
func TestScript(t *testing.T) {
	_, _, templates := rendered(t)
	for _, tpl := range templates {
		userData, report, err := azure.Script(tpl, nodeconfig.NewSecret("abcdef.0123456789abcdef"))
		if parts := tpl.Document.Machine.UserData; len(parts) > 0 {
			if err == nil || !strings.Contains(err.Error(), "$.machine.userData: ") {
				t.Errorf("%d parts have no place in the script, and the error is %v", len(parts), err)
			}
			continue
		}
		if own := tpl.Document.Machine.Image.Wanted == "Custom"; own != (err != nil) {
			t.Fatal(err)
		} else if own {
			continue
		}
		values := assigned(t, userData)
		n := &tpl.Document.Node
		token := "abcdef.0123456789abcdef"
		if !tpl.NeedsToken() {
			token = ""
		}
		for name, want := range map[string]string{
			"TLS_BOOTSTRAP_TOKEN": token, "KUBERNETES_VERSION": n.Cluster.KubernetesVersion, "SUBSCRIPTION_ID": n.Cloud.Azure.SubscriptionID,
			"RESOURCE_GROUP": n.Cloud.Azure.ResourceGroup, "SUBNET": n.Cloud.Azure.Subnet, "ROUTE_TABLE": n.Cloud.Azure.RouteTable,
			"NETWORK_SECURITY_GROUP": n.Cloud.Azure.SecurityGroup, "USER_ASSIGNED_IDENTITY_ID": n.Cloud.Azure.Identity.UserAssignedID,
		} {
			if values[name] != want {
				t.Errorf("%s is %q, want %q", name, values[name], want)
			}
		}
		for key, value := range n.Kubelet.Labels {
			if !strings.Contains(","+values["KUBELET_NODE_LABELS"]+",", ","+key+"="+value+",") {
				t.Errorf("KUBELET_NODE_LABELS lacks %s=%s: %s", key, value, values["KUBELET_NODE_LABELS"])
			}
		}
		for _, v := range report {
			if value, ok := values[v.Name]; !ok || len(value) != v.Bytes {
				t.Errorf("%s has %d bytes, and the report says %d", v.Name, len(value), v.Bytes)
			}
		}
	}
}

// FuzzScript: whatever is in a label, a tag or a name, bash reads it back, or the claim is refused.
func FuzzScript(f *testing.F) {
	f.Add("value")
	f.Add("a'b\"c$(touch x)`y`\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, _, templates := rendered(t, "example")
		d := launch.Copied(&templates[0].Document)
		d.Node.Cluster.Name, d.Node.Cloud.Azure.ResourceGroup = text, text
		userData, _, err := azure.Script(launch.TemplateOf(d), nodeconfig.NewSecret("abcdef.0123456789abcdef"))
		if err != nil || strings.ContainsAny(text, "\x00") {
			return
		}
		if got := assigned(t, userData)["RESOURCE_GROUP"]; got != text && got != "" {
			t.Errorf("%q is read back as %q", text, got)
		}
	})
}
