package plan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// ofGroup is a node of one of eksctl's groups, in a version.
func ofGroup(t testing.TB, version string, change ...func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", append([]func(*nodeconfig.NodeConfig){func(c *nodeconfig.NodeConfig) {
		c.Cluster.KubernetesVersion, c.Components.Layout = version, nodeconfig.LayoutEksctl
		c.Join = nodeconfig.Join{Method: nodeconfig.JoinAWS, AWS: &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "eu-west-1"}}
		c.Cloud = nodeconfig.Cloud{Provider: "aws", AWS: &nodeconfig.AWS{Region: "eu-west-1"}}
		c.Kubelet.Labels = map[string]string{"role": "web"}
		c.Kubelet.Capacity = &nodeconfig.Capacity{Rule: nodeconfig.RuleEKS, InstanceTypes: []string{"m5.large", "c5.xlarge"}}
		c.Kubelet.MachineLabels = map[string]string{"alpha.eksctl.io/instance-id": nodeconfig.MachineInstanceID, "node-lifecycle": nodeconfig.MachineLifecycle}
	}}, change...)...)
}

// asking is what a node without an agent asks with.
type askingNode struct{ script, table string }

func askingOf(t testing.TB, c *nodeconfig.NodeConfig) askingNode {
	t.Helper()
	p, problems := WithoutAgent(c, facts.Facts{})
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	var node askingNode
	for _, r := range p.Resources {
		if f, ok := r.Spec.(*resource.File); ok {
			switch f.Path {
			case "/etc/slipway/machine-facts.sh":
				node.script = string(f.Content)
			case "/etc/eksctl/max_pods.map", "/etc/slipway/max_pods.map":
				node.table = string(f.Content)
			}
		}
	}
	return node
}

// run runs the script against a service, in an empty directory. The environment is empty if the script failed.
func (n askingNode) run(t testing.TB, service, path string) (environment, said string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"script": n.script, "table": n.table} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if path == "" {
		path = dir + "/bin:" + os.Getenv("PATH")
		if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bin/systemctl"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath("curl"); err != nil {
			self, err := os.Executable()
			if err == nil {
				err = os.Symlink(self, filepath.Join(dir, "bin/curl"))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // its unit gives it 30 seconds, which may be too few on a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "script")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + path, "METADATA=" + service + "/latest/", "NODE_ENVIRONMENT=" + dir + "/run/node.env", "MAX_PODS_MAP=" + dir + "/table"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatal("the script does not end by itself")
	}
	content, readErr := os.ReadFile(dir + "/run/node.env")
	if (err == nil) != (readErr == nil) {
		t.Errorf("%v, and the environment file: %v; %s", err, readErr, stderr.String())
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 4 {
		t.Errorf("it has left something behind: %v, %v", left, err)
	}
	return string(content), stderr.String()
}

// TestMain is curl where this program is started by that name: an image has curl, and the machine that tests may have none.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "curl" {
		os.Exit(curl(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// curl does what curl(1) does with the options of the script, and refuses others. It returns curl's exit code.
func curl(args []string) int {
	method, address, header := http.MethodGet, "", http.Header{}
	var limit time.Duration
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		if option == "-q" || option == "-gsf" { // no configuration file; no globbing, silent, an error for a status of 400 and above
			continue
		}
		if len(args) == 0 {
			address = option
			break
		}
		value := args[0]
		args = args[1:]
		switch {
		case option == "--request":
			method = value
		case option == "--max-time":
			limit, _ = time.ParseDuration(value + "s")
		case option == "--header":
			name, text, _ := strings.Cut(value, ": ")
			header.Add(name, text)
		case option == "--noproxy" && value == "*", option == "--proto" && value == "=http":
		default:
			return 2
		}
	}
	asked, err := http.NewRequest(method, address, nil)
	if err != nil || limit == 0 {
		return 3
	}
	asked.Header = header
	client := &http.Client{
		Timeout:       limit,
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(asked)
	if err != nil {
		return 7
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		return 22
	}
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		return 23
	}
	return 0
}

// willing runs it against a service that answers, on a machine that may be too busy for the script's own limits.
func (n askingNode) willing(t testing.TB, service string) (environment, said string) {
	t.Helper()
	for range 5 {
		if environment, said = n.run(t, service, ""); environment != "" {
			break
		}
	}
	return environment, said
}

// answers are a service's answers, by the end of the path.
type answers map[string]string

func goodAnswers() answers {
	return answers{
		"token": "AQAAA-token_==", "local-ipv4": "10.0.0.5", "instance-id": "i-0123456789abcdef0", "instance-type": "m5.large",
		"availability-zone": "eu-west-1a", "instance-life-cycle": "spot", "local-hostname": "ip-10-0-0-5.eu-west-1.compute.internal",
	}
}

func (a answers) with(name, value string) answers {
	a = maps.Clone(a)
	a[name] = value
	return a
}

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch value, ok := a[name]; {
	case name == "token" && (r.Method != http.MethodPut || r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") == ""):
		w.WriteHeader(http.StatusMethodNotAllowed)
	case name != "token" && r.Header.Get("X-aws-ec2-metadata-token") != a["token"]:
		w.WriteHeader(http.StatusUnauthorized)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case value == "redirect":
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	case value == "silence":
		<-r.Context().Done()
	default:
		_, _ = w.Write([]byte(value))
	}
}

func serve(t testing.TB, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// A node of a cluster of IPv6 has the machine's IPv6 address.
func TestMachineFactsOfIPv6(t *testing.T) {
	n := ofGroup(t, "1.30.1")
	n.Network.IPFamilies, n.Cluster.ServiceCIDRs = []string{"IPv6"}, []string{"fd00:1::/108"}
	n.Cluster.DNSServiceIPs = nil
	node := askingOf(t, n)
	for value, want := range map[string]string{
		"2001:db8:1:2:3:4:5:6": "NODE_IP=2001:db8:1:2:3:4:5:6\n", "fd00::1": "NODE_IP=fd00::1\n",
		"fe80::1": "", "10.0.0.5": "", "2001:db8::1\n2001:db8::2": "", "2001:db8::1%eth0": "", "": "",
	} {
		service := serve(t, goodAnswers().with("ipv6", value))
		if want != "" {
			if got, said := node.willing(t, service); !strings.Contains(got, want) {
				t.Errorf("%q: %q, %s", value, got, said)
			}
		} else if got, said := node.run(t, service, ""); got != "" {
			t.Errorf("%q: %q, %s", value, got, said)
		}
	}
}

// The cloud's answers arrive unchanged, or the unit fails and names the fact.
func TestMachineFacts(t *testing.T) {
	node := askingOf(t, ofGroup(t, "1.30.1"))
	if lines := strings.Count(node.script, "\n"); lines > 44 {
		t.Errorf("the script has %d lines", lines)
	}
	good := "AVAILABILITY_ZONE=eu-west-1a\nINSTANCE_ID=i-0123456789abcdef0\nINSTANCE_LIFECYCLE=spot\nINSTANCE_TYPE=m5.large\nNODE_IP=10.0.0.5\nNODE_NAME=ip-10-0-0-5.eu-west-1.compute.internal\nMAX_PODS=29\n"
	if got, said := node.willing(t, serve(t, goodAnswers())); got != good || said != "" {
		t.Errorf("%q, %s", got, said)
	}
	for _, c := range []struct{ fact, value, want string }{
		{"token", "silence", "gives no token"},
		{"token", "a b", "what the metadata service gives is no token"},
		{"token", "a\r\nX: y", "is no token"},
		{"local-ipv4", "silence", "does not say the address of this machine (NODE_IP)"},
		{"local-ipv4", "redirect", "for the address of this machine is malformed"},
		{"local-ipv4", "", "the address of this machine is malformed (NODE_IP)"},
		{"local-ipv4", "10.0.0.5\n", "the address of this machine is malformed"},
		{"local-ipv4", "10.0.0.5\x00", "the address of this machine is malformed"},
		{"local-ipv4", "127.0.0.1", "the address of this machine is malformed"},
		{"local-ipv4", "10.0.0.256", "the address of this machine is malformed"},
		{"local-ipv4", "fd00::1", "the address of this machine is malformed"},
		{"instance-id", "<html>busy</html>", "the instance ID of this machine is malformed (INSTANCE_ID)"},
		{"instance-id", "i-0123456789abcdef0\nLD_PRELOAD=/tmp/x.so", "the instance ID of this machine is malformed"},
		{"instance-id", "$(touch pwned)", "the instance ID of this machine is malformed"},
		{"instance-id", "`touch pwned`;x", "the instance ID of this machine is malformed"},
		{"instance-id", strings.Repeat("a", 1<<20), "the instance ID of this machine"},
		{"instance-life-cycle", "spot|x", "the lifecycle of this machine is malformed (INSTANCE_LIFECYCLE)"},
		{"instance-type", "m5.huge", "has no number of pods for the instance type m5.huge"},
		{"instance-type", "m5_large", "the instance type of this machine is malformed (INSTANCE_TYPE)"},
		{"availability-zone", "\xff\xfe", "the zone of this machine is malformed (AVAILABILITY_ZONE)"},
		{"local-hostname", "node-7.eu-west-1.compute.internal", "the private DNS name of this machine is malformed (NODE_NAME)"},
		{"local-hostname", "ip-10-0-0-5.a\nB=c", "the private DNS name of this machine is malformed (NODE_NAME)"},
		{"local-hostname", "<html>ip-10-0-0-5</html>", "the private DNS name of this machine is malformed (NODE_NAME)"},
		{"local-hostname", "ip-10-0-0-5.$(id)", "the private DNS name of this machine is malformed (NODE_NAME)"},
	} {
		t.Run(c.fact+fmt.Sprintf("=%.30q", c.value), func(t *testing.T) {
			t.Parallel()
			service := serve(t, goodAnswers().with(c.fact, c.value))
			got, said := node.run(t, service, "")
			for i := 0; i < 5 && got == "" && !strings.Contains(said, c.want); i++ { // on a busy machine another answer may be too late
				got, said = node.run(t, service, "")
			}
			if got != "" || !strings.HasPrefix(said, "slipway: ") || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("%q, %q, want %q", got, said, c.want)
			}
		})
	}
	for said, want := range map[string]string{
		"ip-10-0-0-5":                  "ip-10-0-0-5.eu-west-1.compute.internal",
		"ip-10-0-0-5.corp.example.com": "ip-10-0-0-5.eu-west-1.compute.internal",
		"ip-10-0-0-5.corp.example.com ip-10-0-0-5.ec2.internal": "ip-10-0-0-5.eu-west-1.compute.internal",
		"ip-10-0-0-5.ec2.internal ip-10-0-0-5.corp.example.com": "ip-10-0-0-5.ec2.internal",
		"i-0123456789abcdef0.eu-west-1.compute.internal":        "i-0123456789abcdef0.eu-west-1.compute.internal",
	} {
		got, message := node.willing(t, serve(t, goodAnswers().with("local-hostname", said)))
		if !strings.Contains(got, "\nNODE_NAME="+want+"\n") || strings.Count(got, "NODE_NAME") != 1 {
			t.Errorf("%s: %q, %s", said, got, message)
		}
	}
	turn := 0
	changing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "local-ipv4") {
			turn++
		}
		goodAnswers().with("local-ipv4", fmt.Sprint("10.0.0.", turn)).ServeHTTP(w, r)
	})
	if got, said := node.run(t, serve(t, changing), ""); got != "" || !strings.Contains(said, "gives two answers for the address of this machine (NODE_IP)") {
		t.Errorf("%q, %s", got, said)
	}
	if got, said := node.run(t, "http://127.0.0.1:1", ""); got != "" || !strings.Contains(said, "gives no token") {
		t.Errorf("%q, %s", got, said)
	}
	if got, said := node.run(t, "http://127.0.0.1:1", t.TempDir()); got != "" || said != "slipway: the image lacks: systemctl curl head tr mkdir mv rm\n" {
		t.Errorf("%q, %q", got, said)
	}
}

// Azure's service answers with text, and needs no token.
func TestMachineFactsOfAzure(t *testing.T) {
	c := ofGroup(t, "1.30.1", func(c *nodeconfig.NodeConfig) {
		c.Components.Layout, c.Cloud, c.Kubelet.Capacity = nodeconfig.LayoutAKS, nodeconfig.Cloud{Provider: "azure"}, nil
		c.Kubelet.MachineLabels = map[string]string{"zone": nodeconfig.MachineZone}
	})
	node := askingOf(t, c)
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata") != "true" || r.URL.Query().Get("format") != "text" || r.URL.Query().Get("api-version") == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(map[string]string{
			"/latest/compute/zone": "2", "/latest/network/interface/0/ipv4/ipAddress/0/privateIpAddress": "10.224.0.4",
		}[r.URL.Path]))
	})
	if got, said := node.willing(t, serve(t, service)); got != "AVAILABILITY_ZONE=2\nNODE_IP=10.224.0.4\n" {
		t.Errorf("%q, %s", got, said)
	}
}

// plainFact is what a label's value may be (Kubernetes docs, Labels and Selectors).
var plainFact = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// Whatever a service answers, systemd reads that answer from the file, or there is no file.
func FuzzMachineFacts(f *testing.F) {
	node := askingOf(f, ofGroup(f, "1.30.1"))
	for i, hostile := range []string{"10.0.0.5", "m5.large", "$(id)", "a\nb=c", "\\", `"`, "'", "#", "%n", "\x00", "\xff", "", " ", "i-0123456789"} {
		seed := []string{"10.0.0.5", "i-0123456789abcdef0", "m5.large", "eu-west-1a", "spot", "ip-10-0-0-5.corp.example.com b"}
		seed[i%len(seed)] = hostile
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], seed[5])
	}
	f.Fuzz(func(t *testing.T, address, id, kind, zone, life, name string) {
		said := answers{"token": "t", "local-ipv4": address, "instance-id": id, "instance-type": kind, "availability-zone": zone, "instance-life-cycle": life, "local-hostname": name}
		for _, value := range said {
			if value == "redirect" || value == "silence" {
				t.Skip()
			}
		}
		content, _ := node.run(t, serve(t, said), "")
		if content == "" {
			return
		}
		got := readEnvironment(content)
		first, _, _ := strings.Cut(name, " ")
		want := map[string]string{
			"NODE_IP": address, "INSTANCE_ID": id, "INSTANCE_TYPE": kind, "AVAILABILITY_ZONE": zone, "INSTANCE_LIFECYCLE": life, "NODE_NAME": awsname.Machine(first, "eu-west-1"),
			"MAX_PODS": map[string]string{"m5.large": "29", "c5.xlarge": "58"}[kind],
		}
		if !maps.Equal(got, want) {
			t.Errorf("%q is read as %q, want %q", content, got, want)
		}
		if _, err := netip.ParseAddr(address); err != nil || slices.ContainsFunc([]string{id, kind, zone, life}, func(s string) bool { return !plainFact.MatchString(s) }) {
			t.Errorf("%q is taken", content)
		}
	})
}

// The kubelet gets the same arguments, whether the agent has the facts or the machine reads them itself.
func TestFactsOnTheCommandLine(t *testing.T) {
	known := facts.Facts{OS: facts.OS{ID: "amzn"}, CPUs: 2, NodeIPs: []string{"10.0.0.5"}, Instance: &facts.Instance{
		Platform: facts.EC2, ID: "i-0123456789abcdef0", Type: "m5.large", Zone: "eu-west-1a", Lifecycle: "spot", Hostname: "ip-10-0-0-5",
	}}
	want := []string{
		"--node-ip=10.0.0.5", "--node-labels=role=web,alpha.eksctl.io/instance-id=i-0123456789abcdef0,node-lifecycle=spot", "--max-pods=29",
		"--provider-id=aws:///eu-west-1a/i-0123456789abcdef0", "--hostname-override=ip-10-0-0-5.eu-west-1.compute.internal",
		"--pod-infra-container-image=602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5",
	}
	c := ofGroup(t, "1.30.1")
	planned, problems := New(c, known)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	argv, _, err := kubeletCommand(planned)
	for _, word := range want {
		if !slices.Contains(argv, word) {
			t.Errorf("with an agent: %q, %v, want %s", argv, err, word)
		}
	}
	node := askingOf(t, c)
	content, said := node.willing(t, serve(t, goodAnswers()))
	planned, _ = WithoutAgent(c, facts.Facts{OS: facts.OS{ID: "amzn"}})
	planned.Resources = append(planned.Resources, resource.Resource{Spec: &resource.File{Path: profile.NodeEnvironment, Content: []byte(content)}})
	without, _, err := kubeletCommand(planned)
	if !slices.Equal(argv, without) {
		t.Errorf("without an agent: %q, %v, %s, want %q", without, err, said, argv)
	}
	// The machine does not read facts that are known beforehand.
	planned, _ = WithoutAgent(c, known)
	argv, _, err = kubeletCommand(planned)
	for i, word := range argv { // the known labels are in the variable, with the others
		argv[i] = strings.Replace(word, "--node-labels=alpha.eksctl.io/instance-id=i-0123456789abcdef0,node-lifecycle=spot,role=web", want[1], 1)
	}
	if !slices.Equal(argv, without) {
		t.Errorf("with facts: %q, %v, want %q", argv, err, without)
	}
	for _, r := range planned.Resources {
		if path := r.Spec.Name(); strings.Contains(path, "machine-facts") || path == "/etc/eksctl/kubelet.local.env" {
			t.Errorf("everything is known, and there is %s", r.ID())
		}
	}
}

// Facts of an image are not those of a machine that is made from it.
func TestFactsOfAnImage(t *testing.T) {
	planned, _ := WithoutAgent(ofGroup(t, "1.30.1"), facts.Facts{OS: facts.OS{ID: "amzn"}, NodeIPs: []string{"10.9.9.9"}})
	for _, r := range planned.Resources {
		if f, ok := r.Spec.(*resource.File); ok && bytes.Contains(f.Content, []byte("10.9.9.9")) {
			t.Errorf("%s has the address of the machine that the image was made on", f.Path)
		}
	}
}
