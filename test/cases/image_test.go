package cases

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/hosttest"
	"github.com/slipway-dev/slipway/test/nodetest"
)

// ofCluster are the settings that identify a node's cluster, and the node.
var ofCluster = []string{
	"$.cluster", "$.join", "$.cloud.azure", "$.kubelet.nodeName", "$.kubelet.nodeIPs", "$.kubelet.labels", "$.access.realm",
}

// imageHolds are values of such settings that an image may contain, with the reason.
var imageHolds = map[string]string{
	"$.cluster.kubernetesVersion": "an image is built for a version, which chooses its kubelet",
	"$.cluster.dnsDomain":         "every cluster has the same, unless it says another",
	"$.join.aws.region":           "the sandbox image is in the region's registry",
}

// rewritten are files that a node changes although its image has them, with the reason.
var rewritten = map[string]string{
	"Block:/etc/environment#proxy":                          "a node reaches its API server without the proxy, and an image knows none",
	"File:/etc/slipway/proxy.env":                           "as /etc/environment",
	"File:/etc/systemd/system.conf.d/10-slipway-proxy.conf": "as /etc/environment",
	"File:/etc/sysctl.d/99-slipway.conf":                    "the kubelet wants some parameters, and an image has no kubelet that runs",
	"File:/etc/sysctl.d/999-sysctl-aks.conf":                "as 99-slipway.conf",
}

// An image that is prepared with the contract of any case contains nothing of its cluster. A machine from this image that joins
// with the whole contract is the same node as one that is made at once, and only does the remaining work.
func TestImages(t *testing.T) {
	found, err := filepath.Glob("*/case.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var again sync.Map // the files that were rewritten
	t.Run("cases", func(t *testing.T) {
		for _, path := range found {
			t.Run(filepath.Dir(path), func(t *testing.T) {
				t.Parallel()
				var c spec
				readJSON(t, path, &c)
				if _, contract := c.contract(t); contract != nil {
					prepareAndJoin(t, &c, &again)
				}
			})
		}
	})
	for id := range rewritten {
		if _, used := again.Load(id); !used && !t.Failed() {
			t.Errorf("nothing rewrites %s", id)
		}
	}
}

func prepareAndJoin(t *testing.T, c *spec, again *sync.Map) {
	at, contract := c.contract(t)
	read := compile.ReadOne(at, contract)
	machine := c.facts(t)
	_, problems := read.Plan(machine)
	if len(nodeconfig.Fatal(problems)) > 0 || read.Config.Join.Method == nodeconfig.JoinNone {
		return
	}
	made, prepared := hosttest.TempDir(t), hosttest.TempDir(t)
	for _, root := range []string{made, prepared} {
		c.prepare(t, root)
	}
	if s := provision(t, made, machine); s.Outcome != status.OutcomeSuccess {
		return
	}

	if err := os.Remove(filepath.Join(prepared, at)); err != nil {
		t.Fatal(err)
	}
	const imageContract = "etc/slipway/config.yaml"
	write(t, filepath.Join(prepared, imageContract), withoutCluster(t, compile.NativeOf(read.Written())))
	builder := machine
	builder.MachineID, builder.DMI.ProductUUID = "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"
	if s := provision(t, prepared, builder); s.Outcome != status.OutcomeSuccess {
		t.Fatalf("the image is not prepared: %+v", s.Error)
	}
	if err := os.Remove(filepath.Join(prepared, imageContract)); err != nil {
		t.Fatal(err)
	}
	for value, setting := range clusterValues(t, read.Config, machine) {
		for name, content := range contents(t, prepared) {
			if strings.Contains(content, value) && c.Before["/"+strings.TrimPrefix(name, "/")] == "" {
				t.Errorf("the image has %s in %s", setting, name)
			}
		}
	}

	write(t, filepath.Join(prepared, at), contract)
	machine.MachineID, machine.DMI.ProductUUID = "fedcba9876543210fedcba9876543210", "fedcba98-7654-3210-fedc-ba9876543210"
	joined := provision(t, prepared, machine)
	if joined.Outcome != status.OutcomeSuccess {
		t.Fatalf("the machine does not join: %+v", joined.Error)
	}
	inImage, _ := compile.ReadOne(imageContract, withoutCluster(t, compile.NativeOf(read.Written()))).Plan(builder)
	has := make(map[string]bool)
	for _, r := range inImage.Resources {
		has[string(r.ID())] = true
	}
	for _, change := range joined.Changes {
		// A unit restarts if it reads a file that the join writes.
		if change.Action == status.ActionRestarted || !has[change.ID] {
			continue
		}
		if again.Store(change.ID, true); rewritten[change.ID] == "" {
			t.Errorf("the machine does again what its image has: %s %s", change.Action, change.ID)
		}
	}
	if diff := cmp.Diff(nodeFiles(t, made), nodeFiles(t, prepared)); diff != "" {
		t.Errorf("the node from an image is another one (-made at once +from the image):\n%s", diff)
	}
}

// withoutCluster is a native contract without a cluster.
func withoutCluster(t *testing.T, native []byte) []byte {
	var contract map[string]any
	if err := yaml.Unmarshal(native, &contract); err != nil {
		t.Fatal(err)
	}
	return marshal(t, merge(contract, map[string]any{"join": map[string]any{"method": "None"}}))
}

// clusterValues are the values that identify the cluster or the node, each with its setting. For a PEM it is one line.
func clusterValues(t *testing.T, config *nodeconfig.NodeConfig, known facts.Facts) map[string]string {
	tree, err := document.Parse(nodeconfig.Encode(config))
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]string)
	others := string(marshal(t, known))
	texts(tree, "$", func(path, text string) {
		own := slices.ContainsFunc(ofCluster, func(setting string) bool { return document.Within(path, setting) })
		if !own {
			others += "\n" + text
		}
		if !own || imageHolds[path] != "" {
			return
		}
		longest := ""
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > len(longest) && !strings.HasPrefix(line, "-----") {
				longest = line
			}
		}
		longest = strings.TrimPrefix(longest, "https://")
		if len(longest) > 7 { // a shorter one may also be a word of other values
			values[longest] = path
		}
	})
	maps.DeleteFunc(values, func(value, _ string) bool { return strings.Contains(others, value) }) // another setting has the same value
	return values
}

// contents are the files of a tree, by name.
func contents(t *testing.T, root string) map[string]string {
	files := make(map[string]string)
	for name := range (nodetest.Node{Root: root}).Stamps(t) {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() {
			files[name] = string(read(t, filepath.Join(root, name)))
		}
	}
	return files
}

// nodeFiles are the files and links of a node, without the records of how it was made.
func nodeFiles(t *testing.T, root string) map[string]string {
	files := make(map[string]string)
	for name := range (nodetest.Node{Root: root}).Stamps(t) {
		path := filepath.Join(root, name)
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(name, "/run/"), strings.HasPrefix(name, "/var/lib/slipway/"), strings.HasPrefix(name, "/var/log/"), info.IsDir(),
			strings.HasSuffix(name, "/base_prep.complete"):
		case info.Mode().IsRegular():
			files[name] = info.Mode().String() + "\n" + string(read(t, path))
		default:
			target, err := os.Readlink(path)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = "-> " + target
		}
	}
	return files
}

// texts calls do for every string of a document, with its path.
func texts(n *document.Node, path string, do func(path, text string)) {
	switch n.Kind {
	case document.Map:
		for i := range n.Fields {
			texts(&n.Fields[i].Value, document.FieldPath(path, n.Fields[i].Name), do)
		}
	case document.List:
		for i := range n.Items {
			texts(&n.Items[i], document.IndexPath(path, i), do)
		}
	case document.String:
		do(path, n.Text)
	}
}
