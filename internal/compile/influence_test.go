package compile_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

// tls are the settings of AKS's contracts that name the certificate of AKS's own scripts. A kubelet without such a name makes its
// own certificate.
var tls = []string{
	`$.kubelet_config.kubelet_flags["--tls-cert-file"]`, `$.kubelet_config.kubelet_flags["--tls-private-key-file"]`,
	"$.kubelet_config.kubelet_config_file_config.tls_cert_file", "$.kubelet_config.kubelet_config_file_config.tls_private_key_file",
}

// Every leaf of the examples, if it is removed or changed, changes the plan, causes a warning, or is in a short list. Unlike a test
// of each field alone, this one finds a field that another one hides.
func TestEveryLeafCounts(t *testing.T) {
	known, err := facts.Parse([]byte(read(t, "../../examples/facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	known.Components = append(known.Components, components.Component{Name: "aws", Path: "/usr/bin/aws"}, components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/ecr-credential-provider"}) // for EKS's nodes
	known.Instance.ID, known.Instance.Zone, known.Instance.Lifecycle = "i-0", "1", "spot"
	documents := fullDocuments(t)
	for _, name := range contracts.Examples(t, "../..") {
		documents[filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name)] = parsed(t, name)
	}
	for name, tree := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine := known
			if strings.HasPrefix(name, "eksctl/") { // its group has one type
				instance := *known.Instance
				instance.Type, instance.Hostname = "m5.large", "ip-10-0-0-5.eu-west-1.compute.internal"
				machine.Instance = &instance
			}
			everyLeafCounts(t, tree, machine)
		})
	}
}

// parsed is a document of any dialect as a tree.
func parsed(t *testing.T, name string) *document.Node {
	t.Helper()
	tree, problems := dialect.Parse([]byte(read(t, name)), "")
	if len(problems) > 0 {
		t.Fatal(name, problems)
	}
	return tree
}

func everyLeafCounts(t *testing.T, tree *document.Node, known facts.Facts) {
	t.Helper()
	base := compiled(tree, known)
	if base.ExitCode != 0 {
		t.Fatalf("is not valid:\n%s", contracts.List(nodeconfig.Fatal(base.Problems)))
	}
	leaves := 0
	contracts.Walk(tree, func(path string, n *document.Node) {
		if n.Kind == document.Map || n.Kind == document.List || excused(base.Plan.Dialect, path) {
			return
		}
		leaves++
		for how, replacement := range map[string]*document.Node{"removed": nil, "changed": another(n)} {
			if told(base, path) {
				continue
			}
			edited := compiled(contracts.Replace(tree, path, replacement), known)
			if !reflect.DeepEqual(edited.Plan.Resources, base.Plan.Resources) || told(edited, path) ||
				how == "removed" && (edited.Plan.Config == base.Plan.Config || n.Text == "NETWORK_PLUGIN_NONE" || // its value was the default
					document.Within(path, "$.access.ssh") || path == "$.enable_ssh" || // as the image has it
					document.Within(path, "$.components.artifacts") || document.Within(path, "$.components.os")) { // the machine has the requested version
				continue
			}
			t.Errorf("%s is %s, and nothing changes", path, how)
		}
	})
	if leaves < 3 {
		t.Errorf("only %d leaves", leaves)
	}
}

// result is the plan of a contract, with its problems.
type result struct {
	Plan     resource.Plan
	Problems []nodeconfig.Problem
	ExitCode int
}

func compiled(tree *document.Node, known facts.Facts) result {
	c := compile.ReadOne("", tree.AppendJSON(nil))
	c.AllowUnapplied("components", "network", "runtime", "system")
	return planned(c, known)
}

func planned(c *compile.Contract, known facts.Facts) result {
	desired, problems := c.Plan(known)
	return result{desired, problems, c.ExitCode(problems)}
}

// spelling normalizes a path with AKS's names in either spelling.
func spelling(path string) string { return strings.ToLower(strings.ReplaceAll(path, "_", "")) }

// excused reports whether a path changes no node, or is read by another program than the planner.
func excused(name, path string) bool {
	excuses := slices.Clone(tls)
	for _, r := range dialect.Unplanned(name) {
		excuses = append(excuses, r.Path)
	}
	for excuse := range silent {
		if strings.HasPrefix(path, excuse) {
			return true
		}
	}
	return slices.ContainsFunc(excuses, func(excuse string) bool { return document.Within(spelling(path), spelling(excuse)) })
}

// silent are the settings without a warning in the contracts of this test, with the reason.
var silent = map[string]string{
	"$.checks.allowAdditions":               "it changes what is drift, and no plan",
	"$.cluster.certificateAuthorityHashes":  "the CA is given, and they are compared with it",
	"$.metadata.version":                    "the installed kubelet is of that minor version",
	"$.components.artifacts.containerd.url": "the machine has that version",
	"$.network.hostsAgent":                  "the API server has no private name",
	"$.enable_hosts_config_agent":           "the API server has no private name",
	"$.http_proxy_config.no_proxy_entries":  "there is no proxy that could be used",
	"$.runc_config.runc_version":            "the image is finished",
	"$.containerd_config":                   "the image is finished",
	"$.bootstrapping_config.secure_tls":     "the node joins with a token",
	"$.custom_search_domain_config":         "domain_name is warned of",
	"$.gpu_config":                          "some go before others",
	"$.system.gpu.devicePlugin":             "with managed the plug-in runs in any event",
	"$.system.gpu.instanceProfile":          "the layout goes before it",
}

// told reports whether a problem concerns a path, or a path above it.
func told(r result, path string) bool {
	return slices.ContainsFunc(r.Problems, func(p nodeconfig.Problem) bool {
		return p.Path != "$" && document.Within(spelling(path), spelling(p.Path))
	})
}

// another is a different value of a leaf's type.
func another(n *document.Node) *document.Node {
	switch n.Kind {
	case document.Bool:
		return &document.Node{Kind: document.Bool, Text: map[string]string{"true": "false", "false": "true"}[n.Text]}
	case document.Number:
		return &document.Node{Kind: document.Number, Text: "7"}
	}
	return &document.Node{Kind: document.String, Text: n.Text + "x"}
}
