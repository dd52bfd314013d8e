package plan

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	golden "github.com/slipway-dev/slipway/test/contracts"
)

// mapKeys are names that the entries of a map must have.
var mapKeys = map[string]string{
	"$.runtime.containerd.limits":   "MEMLOCK",
	"$.runtime.registries":          "docker.io",
	"$.system.sysctls":              "vm.swappiness",
	"$.components.artifacts":        "containerd",
	"$.components.features":         "FEATURE",
	"$.kubelet.labels":              "team",
	"$.kubelet.machineLabels":       "zone",
	"$.system.transparentHugePages": "enabled",
	"$.join.attested.timeouts":      "nonce",
	"$.system.environment":          "containerd",
	"$.network.localDNS.host":       "example.com",
	"$.network.localDNS.pods":       "example.com",
}

// values are those that a leaf can have, where not every text does.
var values = map[string]any{
	"$.checks.allowAdditions[0]":                                   "/etc/cni/net.d/",
	"$.cluster.kubernetesVersion":                                  "1.30.1",
	"$.cluster.kubernetesMinor":                                    "1.30",
	"$.cluster.server":                                             "https://other.example:6443",
	"$.cluster.certificateAuthorityHashes[0]":                      "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"$.cluster.dnsDomain":                                          "other.local",
	"$.join.aws.region":                                            "eu-west-1",
	"$.join.attested.timeouts.nonce":                               nodeconfig.Duration(time.Minute),
	"$.cloud.azure.custom.endpoints":                               `{"name": "other"}`,
	"$.cloud.azure.custom.repositoryEndpoint":                      "https://packages.example",
	"$.cluster.dnsServiceIPs[0]":                                   "10.9.9.9",
	"$.cluster.serviceCIDRs[0]":                                    "10.9.0.0/16",
	"$.join.bootstrapToken":                                        nodeconfig.NewSecret("fedcba.fedcba9876543210"),
	"$.join.discoveryToken":                                        nodeconfig.NewSecret("fedcba.fedcba9876543210"),
	"$.join.method":                                                nodeconfig.JoinNone,
	"$.join.exec.command":                                          "/opt/bin/plugin",
	"$.join.exec.apiVersion":                                       "client.authentication.k8s.io/v1beta1",
	"$.join.exec.env[0].name":                                      "NAME",
	"$.kubelet.capacity.rule":                                      nodeconfig.RuleEKS,
	"$.components.os.id":                                           "debian",
	"$.components.os.versionID":                                    "13",
	"$.kubelet.capacity.instanceTypes[0]":                          "m5.large",
	"$.kubelet.machineLabels.zone":                                 nodeconfig.MachineZone,
	"$.kubelet.nodeIPs[0]":                                         "10.1.2.3",
	"$.kubelet.taints[0].effect":                                   "NoExecute",
	"$.kubelet.imageCredentialProvider.binDir":                     "/opt/other/bin",
	"$.kubelet.imageCredentialProvider.configFile":                 "/etc/kubernetes/other.yaml",
	"$.kubelet.dataDisk":                                           "Temporary",
	"$.runtime.cgroupDriver":                                       "cgroupfs",
	"$.runtime.lazyPull":                                           "overlaybd",
	"$.runtime.sandboxes[0]":                                       "kata",
	"$.system.gpu.vendor":                                          "amd",
	"$.system.gpu.strategy":                                        "Mixed",
	"$.system.gpu.instanceProfile":                                 "MIG1g",
	"$.system.gpu.profileLayout[0]":                                "1g.10gb",
	"$.cloud.instanceType":                                         "Standard_NM16ads_MA35D",
	"$.runtime.containerd.baseRuntimeSpec":                         map[string]any{"process": map[string]any{"noNewPrivileges": false}},
	"$.runtime.containerd.config":                                  nodeconfig.NewSecret("oom_score = -500"),
	"$.runtime.containerd.dataDir":                                 "/mnt/other",
	"$.runtime.containerd.metricsAddress":                          "127.0.0.1:9999",
	"$.runtime.containerd.limits.MEMLOCK":                          "infinity",
	`$.runtime.registries["docker.io"].mirrors[0].url`:             "https://other.example",
	`$.runtime.registries["docker.io"].mirrors[0].capabilities[0]`: "resolve",
	`$.runtime.registries["docker.io"].server.url`:                 "https://other.example",
	`$.runtime.registries["docker.io"].server.capabilities[0]`:     "resolve",
	"$.network.plugin":                                             "kubenet",
	"$.network.metadataRestriction.table":                          "mangle",
	"$.access.realm.domain":                                        "other.example",
	"$.network.localDNS.hosts.refreshSeconds":                      int32(60),
	`$.network.localDNS.host["example.com"].queryLogging`:          "Log",
	`$.network.localDNS.host["example.com"].protocol`:              "ForceTCP",
	`$.network.localDNS.host["example.com"].forwardTo`:             "ClusterCoreDNS",
	`$.network.localDNS.host["example.com"].forwardPolicy`:         "Random",
	`$.network.localDNS.host["example.com"].serveStale`:            "Verify",
	`$.network.localDNS.host["example.com"].serveStalePolicy`:      "PreferPositive",
	`$.network.localDNS.pods["example.com"].queryLogging`:          "Log",
	`$.network.localDNS.pods["example.com"].protocol`:              "ForceTCP",
	`$.network.localDNS.pods["example.com"].forwardTo`:             "ClusterCoreDNS",
	`$.network.localDNS.pods["example.com"].forwardPolicy`:         "Random",
	`$.network.localDNS.pods["example.com"].serveStale`:            "Verify",
	`$.network.localDNS.pods["example.com"].serveStalePolicy`:      "PreferPositive",
	"$.access.ssh.enabled":                                         false,
	"$.access.ssh.publicKeyAuthentication":                         false,
	"$.network.policy":                                             "calico",
	"$.network.ipFamilies[0]":                                      "IPv6",
	"$.network.nameservers[0]":                                     "10.9.9.9",
	"$.network.searchDomains[0]":                                   "example.com",
	"$.system.swapDisk":                                            nodeconfig.PreferTemporary,
	"$.system.modules[0]":                                          "ip_vs",
	"$.system.transparentHugePages.enabled":                        "never",
	"$.proxy.http":                                                 nodeconfig.NewSecret("http://proxy.example:3128"),
	"$.proxy.https":                                                nodeconfig.NewSecret("http://proxy.example:3128"),
	"$.cloud.provider":                                             "aws",
	"$.cloud.azure.vmType":                                         "standard",
	"$.cloud.azure.loadBalancer.sku":                               "basic",
	"$.cloud.azure.backoff.mode":                                   "default",
	"$.files[0].path":                                              "/etc/other.conf",
	"$.files[0].mode":                                              "0755",
	"$.files[0].base64":                                            "AAE=",
	"$.files[0].restarts[0]":                                       "other.service",
	"$.files[0].reloads[0]":                                        "other.service",
	"$.units[0].name":                                              "other.service",
	"$.units[0].content":                                           "[Service]\nExecStart=/bin/false\n",
	"$.units[0].dropIns[0].name":                                   "20-other.conf",
	"$.units[0].dropIns[0].content":                                "[Service]\nNice=5\n",
	"$.units[0].state":                                             nodeconfig.UnitDisabled,
	"$.components.artifacts.containerd.url":                        "https://example.com/x.tgz",
	"$.components.artifacts.containerd.file":                       "/opt/x.tgz",
	"$.components.manifest.sha256":                                 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"$.components.manifest.signers[0]":                             "images@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKE1jIIqr/yNt3Zqeey2CTC8fhtKEWtpaDk32gL9ugFi",
	"$.components.artifacts.containerd.sha256":                     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}

// containerdOf names a place of containerd in a version; the machine has 2.2.4.
func containerdOf(version string) func(*nodeconfig.NodeConfig) {
	return func(c *nodeconfig.NodeConfig) {
		a := c.Components.Artifacts["containerd"]
		a.URL = "https://example.com/containerd-" + version + "-linux-amd64.tar.gz"
		c.Components.Artifacts["containerd"] = a
	}
}

// needs sets what a leaf depends on to have an effect.
var needs = map[string]func(*nodeconfig.NodeConfig){
	"$.join.clientCertificate":                 func(c *nodeconfig.NodeConfig) { c.Join.Method = nodeconfig.JoinClientCertificate },
	"$.cluster.dnsServiceIPs":                  func(c *nodeconfig.NodeConfig) { c.Cluster.ServiceCIDRs = nil },
	"$.cluster.serviceCIDRs":                   func(c *nodeconfig.NodeConfig) { c.Cluster.ServiceCIDRs = nil },
	"$.cluster.unsafeSkipCAVerification":       func(c *nodeconfig.NodeConfig) { c.Cluster.CertificateAuthority = "" },
	"$.join.discoveryToken":                    acceptAnyAuthority,
	"$.cluster.certificateAuthorityHashes":     func(c *nodeconfig.NodeConfig) { c.Cluster.CertificateAuthority = "" },
	"$.components.artifacts.containerd.force":  containerdOf("2.2.4"),
	"$.components.artifacts.containerd.sha256": containerdOf("2.0.4"),
	setting.AWSFIPS: func(c *nodeconfig.NodeConfig) {
		c.Cluster.KubernetesVersion = "1.31.2" // whose kubelets have the sandbox image as a flag
		c.Join = nodeconfig.Join{Method: nodeconfig.JoinAWS, AWS: &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "us-east-1"}}
	},
	"$.join.aws":                                func(c *nodeconfig.NodeConfig) { c.Join.Method = nodeconfig.JoinAWS },
	"$.join.exec":                               func(c *nodeconfig.NodeConfig) { c.Join.Method = nodeconfig.JoinExec; c.Join.Exec.Command = "/bin/true" },
	"$.join.exec.env":                           func(c *nodeconfig.NodeConfig) { c.Join.Exec.Env[0].Name = "X" },
	"$.kubelet.capacity.instanceTypes":          func(c *nodeconfig.NodeConfig) { c.Kubelet.Capacity.Rule = nodeconfig.RuleEKS },
	"$.kubelet.taints":                          func(c *nodeconfig.NodeConfig) { c.Kubelet.Taints[0] = nodeconfig.Taint{Key: "a", Effect: "NoSchedule"} },
	"$.kubelet.flags":                           func(c *nodeconfig.NodeConfig) { c.Kubelet.Flags[0].Name = "x" },
	`$.runtime.registries["docker.io"].mirrors`: func(c *nodeconfig.NodeConfig) { login(&c.Runtime.Registries["docker.io"].Mirrors[0]) },
	`$.runtime.registries["docker.io"].server`:  func(c *nodeconfig.NodeConfig) { login(c.Runtime.Registries["docker.io"].Server) },
	"$.kubelet.imageCredentialProvider": func(c *nodeconfig.NodeConfig) {
		c.Kubelet.ImageCredentialProvider.BinDir = "/opt/bin"
		c.Kubelet.ImageCredentialProvider.Config = map[string]any{}
	},
	"$.access.realm": func(c *nodeconfig.NodeConfig) {
		*c.Access.Realm = nodeconfig.Realm{Domain: "corp.example", User: "x", Password: nodeconfig.NewSecret("y")}
	},
	"$.system.swapDisk": func(c *nodeconfig.NodeConfig) {
		c.System.SwapMB, c.Kubelet.Config = 512, map[string]any{"failSwapOn": false}
	},
	"$.system.swapMB": func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = map[string]any{"failSwapOn": false} },
	"$.system.gpu": func(c *nodeconfig.NodeConfig) {
		*c.System.GPU = nodeconfig.GPU{Vendor: "nvidia", ProfileLayout: c.System.GPU.ProfileLayout}
	},
	"$.network.hostsAgent":                                func(c *nodeconfig.NodeConfig) { c.Cluster.Server = "https://a.privatelink.eastus.azmk8s.io" },
	`$.network.localDNS.host["example.com"].staleSeconds`: func(c *nodeconfig.NodeConfig) { servesStale(c.Network.LocalDNS.Host) },
	`$.network.localDNS.pods["example.com"].staleSeconds`: func(c *nodeconfig.NodeConfig) { servesStale(c.Network.LocalDNS.Pods) },
	`$.network.localDNS.host["example.com"].healthCheck`:  func(c *nodeconfig.NodeConfig) { asksServers(c.Network.LocalDNS.Host) },
	`$.network.localDNS.pods["example.com"].healthCheck`:  func(c *nodeconfig.NodeConfig) { asksServers(c.Network.LocalDNS.Pods) },
	"$.network.localDNS.hosts.refreshSeconds":             func(c *nodeconfig.NodeConfig) { c.Network.LocalDNS.Hosts.Names = []string{"a.example"} },
	"$.proxy.noProxy": func(c *nodeconfig.NodeConfig) { c.Proxy.HTTP = nodeconfig.NewSecret("http://proxy.example:1") },
	"$.files":         func(c *nodeconfig.NodeConfig) { c.Files[0].Path = "/etc/app.conf" },
	"$.units": func(c *nodeconfig.NodeConfig) {
		c.Units[0].Name, c.Units[0].Content = "app.service", "[Service]\nExecStart=/bin/true\n"
	},
	"$.units[0].dropIns": func(c *nodeconfig.NodeConfig) {
		c.Units[0].DropIns = []nodeconfig.DropIn{{Name: "10-app.conf", Content: "[Service]\nNice=1\n"}}
	},
}

// servesStale has the cache give answers that are out of date.
func servesStale(zones map[string]nodeconfig.LocalDNSZone) {
	for domain, zone := range zones {
		zone.ServeStale = "Verify"
		zones[domain] = zone
	}
}

// asksServers has the cache ask whether the servers are there.
func asksServers(zones map[string]nodeconfig.LocalDNSZone) {
	for _, zone := range zones {
		zone.HealthCheck.Interval = nodeconfig.Duration(time.Second)
	}
}

// login makes an image server one that the node logs in to.
func login(h *nodeconfig.RegistryHost) {
	h.URL, h.Capabilities, h.Username, h.Password = "https://mirror.example", []string{"pull"}, nodeconfig.NewSecret("a"), nodeconfig.NewSecret("b")
}

// certificates gives the leaves that are certificates values that they can have.
func certificates(t *testing.T) {
	t.Helper()
	pair := contract(t, "aks/client-certificate.json").Join.ClientCertificate
	values["$.join.clientCertificate.key"] = pair.Key
	for _, path := range []string{
		"$.cluster.certificateAuthority", "$.cluster.serverCertificate", "$.join.clientCertificate.certificate",
		"$.trust.certificates[0]", "$.proxy.certificateAuthority",
		`$.runtime.registries["docker.io"].mirrors[0].certificateAuthority`, `$.runtime.registries["docker.io"].server.certificateAuthority`,
	} {
		values[path] = pair.Certificate
	}
}

// unchanged are settings that two plans with different values of them do not differ by, with the reason.
var unchanged = map[string]string{
	"$.access.realm.password":                                 "a machine that has joined its realm does not use it again, and no plan shows it",
	"$.checks.allowAdditions[0]":                              "it changes what is reported of the node, and not the node",
	"$.cloud.aws.outpostID":                                   notYet,
	"$.cloud.provider":                                        "the nodes of EKS are in AWS without it, and those of other families do not depend on it there",
	"$.cloud.azure.backoff.exponent":                          notYet,
	"$.cloud.azure.backoff.jitter":                            notYet,
	"$.cloud.azure.custom.registryDNSSuffix":                  "a provider's configuration names the registries",
	"$.cloud.azure.privateRegistry":                           notYet,
	"$.cluster.kubernetesMinor":                               "the node is planned for the kubelet that is installed",
	"$.components.os.id":                                      "the machine's own counts, and another one is an error",
	"$.components.os.versionID":                               "the machine's own counts, and another one is an error",
	"$.components.artifacts.containerd.version":               "the machine has another one, and no node is made",
	"$.kubelet.maxPodsExpression":                             notYet,
	`$.network.localDNS.host["example.com"].serveStalePolicy`: "it counts for the domain . alone",
	`$.network.localDNS.pods["example.com"].serveStalePolicy`: "it counts for the domain . alone",
	"$.system.gpu.strategy":                                   "no device is partitioned",
	"$.system.localStorage.disabledMounts[0]":                 notYet,
	"$.system.localStorage.mountPath":                         notYet,
	"$.system.localStorage.strategy":                          notYet,
}

const notYet = "this version does not apply it, and says so"

// Every setting of a contract changes the plan or causes a warning, in each layout. The test sets it alone, in the smallest
// contract that makes a node. testdata/classes.txt has the class of a change of each setting. The class is the same in every
// layout that applies the setting.
func TestNothingIsDroppedInSilence(t *testing.T) {
	certificates(t)
	all := leaves(reflect.TypeFor[nodeconfig.NodeConfig](), "$")
	if len(all) < 150 {
		t.Fatalf("only %d leaves", len(all))
	}
	for _, r := range dialect.Unplanned(dialect.Native) {
		if r.Path != "$.metadata.generation" && !slices.ContainsFunc(all, func(l leaf) bool { return covers(r.Path, l.path) }) {
			t.Errorf("there is no %s", r.Path)
		}
	}
	for path := range values {
		if !slices.ContainsFunc(all, func(l leaf) bool { return path == l.path }) {
			t.Errorf("there is no %s", path)
		}
	}
	classes, complete := make(map[string]string), true
	for _, layout := range profile.Names() {
		for _, l := range all {
			if _, elsewhere := dialect.ReaderOf(dialect.Native, l.path); !elsewhere {
				t.Run(layout+l.path[1:], func(t *testing.T) { applies(t, layout, l, classes) })
				_, ran := classes[l.path]
				complete = complete && ran
			}
		}
	}
	if complete { // the command line left none out
		checkClasses(t, classes)
	}
}

// checkClasses compares the classes of all settings with the recorded ones.
func checkClasses(t *testing.T, classes map[string]string) {
	t.Helper()
	var list strings.Builder
	for _, path := range slices.Sorted(maps.Keys(classes)) {
		if _, none := unchanged[path]; none != (classes[path] == "") {
			t.Errorf("%s: class %q, and in the table of what changes nothing: %t", path, classes[path], none)
		}
		if class := classes[path]; class != "" {
			list.WriteString(path + " " + class + "\n")
		}
	}
	golden.GoldenText(t, "testdata/classes.txt", []byte(list.String()))
}

// applies wants a leaf to change the plan, or to be warned of. It keeps what a change takes.
func applies(t *testing.T, layout string, l leaf, classes map[string]string) {
	before, after := pair(t, layout, l)
	machine := withTemporaryDisk(ubuntu(t))
	old, _ := New(before, machine)
	planned, problems := New(after, machine)
	class, err := ClassOf(old, planned)
	known := classes[l.path]
	switch {
	case known == "none" && class == "reload" || known == "reload" && class == "none":
		class = "reload" // one family has it in a unit, which systemd reads again
	case err != nil || known != "" && class != "" && known != class:
		t.Errorf("class %s in this layout, %s in another: %v", class, known, err)
	}
	classes[l.path] = cmp.Or(class, known)
	for _, problem := range problems {
		if covers(problem.Path, l.path) {
			return
		}
	}
	if reflect.DeepEqual(old.Resources, planned.Resources) && reflect.DeepEqual(old.Node, planned.Node) {
		t.Error("changes nothing, and is not warned of")
	}
}

// withTemporaryDisk is a machine with a large temporary disk, which cloud-init mounts.
func withTemporaryDisk(f facts.Facts) facts.Facts {
	f.CloudInit, f.Disks = true, []facts.Disk{{Name: "sdb", SizeBytes: 1 << 40, Temporary: true}}
	return f
}

// pair is the least contract in which a leaf means anything, and the same with another value of the leaf.
func pair(t *testing.T, layout string, l leaf) (before, after *nodeconfig.NodeConfig) {
	t.Helper()
	least := func() *nodeconfig.NodeConfig {
		tree, err := document.Parse(read(t, examples+"native/minimal.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c, problems := nodeconfig.FromTree(tree)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		c.Components.Layout = layout
		l.parents(c)
		for path, f := range needs {
			if covers(path, l.path) {
				f(c)
			}
		}
		return c
	}
	before, after = least(), least()
	nodeconfig.Default(before)
	nodeconfig.Repair(before)
	value, ok := values[l.path]
	if !ok {
		value = other(l.get(before))
	}
	if l.path == "$.components.layout" {
		value = otherLayout(layout)
	}
	before = least() // get may have made what it looked for
	nodeconfig.Default(before)
	nodeconfig.Repair(before)
	l.set(after, value)
	nodeconfig.Default(after)
	for _, problem := range nodeconfig.Repair(after) {
		if covers(problem.Path, l.path) || covers(l.path, problem.Path) {
			t.Fatalf("%s has a value that it cannot have: %s", l.path, problem)
		}
	}
	return before, after
}

// otherLayout is a family of nodes that is not the one of that name.
func otherLayout(name string) string {
	names := profile.Names()
	return names[(slices.Index(names, name)+1)%len(names)]
}

// acceptAnyAuthority has a contract accept any CA that the cluster has signed.
func acceptAnyAuthority(c *nodeconfig.NodeConfig) {
	c.Cluster.CertificateAuthority, c.Cluster.UnsafeSkipCAVerification = "", true
}
