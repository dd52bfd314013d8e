package node_test

import (
	"fmt"
	"os"

	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// contract is an autoscaler's contract for its nodes.
const contract = `
apiVersion: slipway.dev/v1
kind: NodeConfig
cluster:
  server: https://api.example:6443
  certificateAuthority: ""
  kubernetesVersion: 1.36.3
system: {swapMB: 512}
`

// A contract's problems are known before the machine exists.
func ExampleContract_Problems() {
	read := node.Read(node.Document{Name: "pool.yaml", Data: []byte(contract)})
	for _, p := range read.Problems() {
		fmt.Println(p)
	}
	// Output:
	// error: $.cluster.certificateAuthority: is missing; give the cluster's CA certificate, as PEM or the base64 of it
	// error: $.join.bootstrapToken: is missing, and there is no other credential, so the node could not join
}

// A contract consists of a document for all nodes and one for a pool. The later one's values win, including a false.
func ExampleRead() {
	everywhere := node.Document{Name: "base.yaml", Data: examples.Contract("native")}
	pool := node.Document{Name: "pool.yaml", Data: []byte(`
kubelet:
  labels: {team: blue}
  config: {failSwapOn: false}
`)}
	config := node.Read(everywhere, pool).Config()
	fmt.Println(config.Cluster.KubernetesVersion, config.Kubelet.Labels, config.Kubelet.Config)
	// Output:
	// 1.36.3 map[team:blue] map[failSwapOn:false]
}

// A plan is data: this lists the files whose change restarts the kubelet.
func ExampleContract_Plan() {
	planned, _ := node.Read(node.Document{Data: examples.Contract("native")}).Plan(node.Facts{})
	for _, f := range planned.Files {
		if f.Secret {
			fmt.Printf("%04o %s\n", f.Mode, f.Path)
		}
	}
	// Output:
	// 0600 /etc/kubernetes/bootstrap-kubelet.conf
}

// A plan for one machine needs the facts that "slipway-node facts" has recorded there.
func ExampleParseFacts() {
	read := node.Read(node.Document{Data: examples.Contract("native")})
	recorded, err := os.ReadFile("../examples/facts/ubuntu.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	known, err := node.ParseFacts(recorded)
	if err != nil {
		fmt.Println(err)
		return
	}
	anywhere, _ := read.Plan(node.Facts{})
	here, _ := read.Plan(known)
	d, err := node.Diff(anywhere, here)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range d.Changes {
		fmt.Println(c.How, c.Kind, c.Name)
	}
	// Output:
	// changed File /var/lib/kubelet/config.yaml
}

// A change of the contract has a class: what it requires of a running node.
func ExampleDiff() {
	read := node.Read(node.Document{Data: examples.Contract("native")})
	before, _ := read.Plan(node.Facts{})

	changed := *read.Config()
	changed.Kubelet.Config = map[string]any{"maxPods": 50}
	after, _ := node.FromConfig(&changed).Plan(node.Facts{})

	d, err := node.Diff(before, after)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Class)
	for _, c := range d.Changes {
		fmt.Println(c.How, c.Kind, c.Name)
	}
	// Output:
	// restart
	// changed File /var/lib/kubelet/config.yaml
}

// A rotated token does not change a node's digest.
func ExampleNodeDigest() {
	config := node.Read(node.Document{Data: examples.Contract("native")}).Config()
	digest := node.NodeDigest(config)
	config.Join.BootstrapToken = nodeconfig.NewSecret("fedcba.fedcba9876543210")
	fmt.Println(node.NodeDigest(config) == digest)
	config.Kubelet.Labels = map[string]string{"team": "blue"}
	fmt.Println(node.NodeDigest(config) == digest)
	// Output:
	// true
	// false
}
