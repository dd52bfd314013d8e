package launch_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/cse"
	"github.com/slipway-dev/slipway/internal/facts"
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
	// Before the assignments is the first loop, and after them the last line. A loop between these two is that of another cloud. A
	// value may have any of these words, so they count at their place alone.
	_, assignments, found := strings.Cut(string(script), "\ndone\n")
	i := strings.LastIndex(assignments, "\n/usr/bin/nohup ")
	if !found || i < 0 {
		t.Fatalf("the script is another one:\n%s", script)
	}
	if assignments = assignments[:i]; strings.HasSuffix(assignments, "\ndone") {
		assignments = assignments[:strings.LastIndex(assignments, "\nfor init in ")]
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
	for _, made := range templates {
		userData, report, err := azure.Script(made, nodeconfig.NewSecret("abcdef.0123456789abcdef"))
		if _, isRefused := errors.AsType[launch.Problems](err); isRefused {
			continue // no node is made of it
		}
		if parts := made.Document().Machine.UserData; len(parts) > 0 {
			if err == nil || !strings.Contains(err.Error(), "$.machine.userData: ") {
				t.Errorf("%d parts have no place in the script, and the error is %v", len(parts), err)
			}
			continue
		}
		if own := made.Document().Machine.Image.Wanted == "Custom"; own != (err != nil) {
			t.Fatal(err)
		} else if own {
			continue
		}
		values := assigned(t, userData)
		n := &made.Document().Node
		token := "abcdef.0123456789abcdef"
		if !made.NeedsToken() {
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

// spoken are the variables that hold a field's text unchanged, each with its field.
var spoken = []struct {
	variable string
	field    func(*nodeconfig.NodeConfig) *string
}{
	{"RESOURCE_GROUP", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.ResourceGroup }},
	{"SUBSCRIPTION_ID", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.SubscriptionID }},
	{"TENANT_ID", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.TenantID }},
	{"LOCATION", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.Location }},
	{"VIRTUAL_NETWORK", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.VNet }},
	{"VIRTUAL_NETWORK_RESOURCE_GROUP", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.VNetResourceGroup }},
	{"SUBNET", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.Subnet }},
	{"ROUTE_TABLE", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.RouteTable }},
	{"NETWORK_SECURITY_GROUP", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.SecurityGroup }},
	{"USER_ASSIGNED_IDENTITY_ID", func(n *nodeconfig.NodeConfig) *string { return &n.Cloud.Azure.Identity.UserAssignedID }},
}

// fuzzedLabel is a label that a fuzzed text is the value of.
const fuzzedLabel = "example.com/fuzzed"

// FuzzScript: a text is in each name, in a label and in a sysctl. Where the contract is not refused for it, bash reads it back, and
// each other variable as the contract has it.
func FuzzScript(f *testing.F) {
	f.Add("value")
	f.Add("")
	f.Add("1.34.2")
	f.Add("a'b\"c$(touch x)`y`\\\n")
	f.Add("a\n/usr/bin/nohup b\ndone\nfor init in c\ndone\n")
	_, _, templates := rendered(f, "example")
	token := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // no document has it
		}
		d := launch.Copied(templates[0].Document())
		taken := make(map[string]bool) // the variables for which the contract is not refused
		set := func(name string, put func(*nodeconfig.NodeConfig)) {
			tried := launch.Copied(d)
			put(&tried.Node)
			if _, _, err := azure.Script(launch.Of(tried), token); err == nil {
				d, taken[name] = tried, true
			}
		}
		for _, s := range spoken {
			set(s.variable, func(n *nodeconfig.NodeConfig) { *s.field(n) = text })
		}
		set("KUBERNETES_VERSION", func(n *nodeconfig.NodeConfig) { n.Cluster.KubernetesVersion = text })
		set("API_SERVER_NAME", func(n *nodeconfig.NodeConfig) { n.Cluster.Server = text })
		set("KUBELET_NODE_LABELS", func(n *nodeconfig.NodeConfig) { n.Kubelet.Labels[fuzzedLabel] = text })
		set("SYSCTL_CONTENT", func(n *nodeconfig.NodeConfig) { n.System.Sysctls["kernel.fuzzed"] = text })

		made := launch.Of(d)
		userData, _, err := azure.Script(made, token)
		if err != nil {
			t.Fatal(err) // what is not refused alone is not refused together
		}
		got := assigned(t, userData)
		for _, s := range spoken {
			if taken[s.variable] && got[s.variable] != text {
				t.Errorf("%s is read back as %q, want %q", s.variable, got[s.variable], text)
			}
		}
		if label := "," + fuzzedLabel + "=" + text + ","; taken["KUBELET_NODE_LABELS"] && !strings.Contains(","+got["KUBELET_NODE_LABELS"]+",", label) {
			t.Errorf("the labels are read back as %q, without %q", got["KUBELET_NODE_LABELS"], label)
		}
		contract, err := made.Contract(token)
		if err != nil {
			t.Fatal(err)
		}
		variables, _ := cse.Variables(compile.ReadOne("contract", contract.Document), facts.Facts{Architecture: made.Document().Machine.Type.Architecture})
		for _, v := range cse.Assigned(variables) {
			if value, ok := got[v.Name]; !ok || value != v.Value {
				t.Errorf("%s is read back as %q, want %q", v.Name, value, v.Value)
			}
		}
		if text == "value" && len(taken) < len(spoken) { // a name and a label may have it
			t.Errorf("only %d places take an ordinary text", len(taken))
		}
	})
}
