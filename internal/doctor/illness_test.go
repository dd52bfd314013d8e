package doctor_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/metadata"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// illness is one thing that is wrong with a machine, or a difference that is not.
type illness struct {
	name  string
	apply func(m *surrounded)
}

// nodeWith is the healthy Node with a change.
func nodeWith(change func(n map[string]any)) answer {
	n := healthyNode()
	change(n)
	return answer{http.StatusOK, marshal(n)}
}

func condition(status, reason, message string) func(n map[string]any) {
	return func(n map[string]any) {
		n["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": now.Add(-10 * time.Minute)}}
	}
}

func taint(key string, age time.Duration) func(n map[string]any) {
	return func(n map[string]any) {
		n["metadata"].(map[string]any)["creationTimestamp"] = now.Add(-age)
		n["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": key, "effect": "NoSchedule"}}
	}
}

// joining is a machine that has only its bootstrap credential, with an answer to the list of requests.
func joining(m *surrounded, list answer) {
	delete(m.tree, kubeconfig)
	delete(m.tree, currentPair)
	m.tree[bootstrap] = kubeconfigFor("token: abcdef.0123456789abcdef")
	m.api[nodePath] = answer{http.StatusForbidden, `{"kind":"Status"}`}
	m.api["/apis/certificates.k8s.io/v1/certificatesigningrequests"] = list
}

// requests is a list with one request of this machine's, and one of another's.
func requests(age time.Duration, status string) answer {
	return answer{http.StatusOK, `{"kind":"CertificateSigningRequestList","items":[` +
		`{"metadata":{"name":"csr-own","creationTimestamp":"` + now.Add(-age).Format(time.RFC3339) + `"},"spec":{"signerName":"kubernetes.io/kube-apiserver-client-kubelet","request":"` + csrFor("node1") + `"},"status":` + status + `},` +
		`{"metadata":{"name":"csr-other","creationTimestamp":"` + now.Format(time.RFC3339) + `"},"spec":{"signerName":"kubernetes.io/kube-apiserver-client-kubelet","request":"` + csrFor("node2") + `"},"status":{}}]}`}
}

func conditions(kinds ...string) string {
	var all []string
	for _, kind := range kinds {
		all = append(all, `{"type":"`+kind+`","reason":"Because","message":"of a rule"}`)
	}
	return `{"conditions":[` + strings.Join(all, ",") + `]}`
}

// plugged is a node of EKS whose credential is a plug-in's.
func plugged(m *surrounded) {
	m.cloud = facts.EC2
	m.tree[kubeconfig] = kubeconfigFor(`exec: {apiVersion: client.authentication.k8s.io/v1, command: /usr/bin/aws, args: [eks, get-token]}`)
	m.plugin = func() ([]byte, error) {
		return []byte(`{"kind":"ExecCredential","status":{"token":"k8s-aws-v1.secret"}}`), nil
	}
}

func proxied(m *surrounded, noProxy string, proxy func(a *host.Attempt) *host.Outcome) {
	m.tree["/proc/812/environ"] = "HTTPS_PROXY=http://user:hunter2@proxy.example:3128\x00NO_PROXY=" + noProxy + "\x00"
	m.proxies = map[string]func(a *host.Attempt) *host.Outcome{"proxy.example:3128": proxy}
	m.resolvers[resolver1] = func(name string, _ dnsmessage.Type) ([]string, dnsmessage.RCode, error) {
		if name == "proxy.example" {
			return []string{"10.9.9.9"}, dnsmessage.RCodeSuccess, nil
		}
		return nil, dnsmessage.RCodeNameError, nil
	}
}

func connectStatus(status int) func(*host.Attempt) *host.Outcome {
	return func(*host.Attempt) *host.Outcome {
		return &host.Outcome{Failed: host.Tunneled, Status: status, Err: fmt.Errorf("it does not lead there (HTTP status %d)", status)}
	}
}

// onlyThroughProxy lets a server be reached through a proxy alone.
func onlyThroughProxy(m *surrounded, at string) {
	answers := m.servers[at]
	m.servers[at] = func(a *host.Attempt, path string) *host.Outcome {
		if a.Proxy.IsZero() {
			return &host.Outcome{Failed: host.Connected, Err: context.DeadlineExceeded}
		}
		return answers(a, path)
	}
}

// needsNoName lets the kubelet reach the API server by its address.
func needsNoName(m *surrounded) {
	m.tree[kubeconfig] = strings.ReplaceAll(m.tree[kubeconfig], apiName, "10.2.0.5")
	m.servers["10.2.0.5:443"] = m.apiAnswers
}

func untrusted(err error, shown ...*x509.Certificate) error {
	return &tls.CertificateVerificationError{UnverifiedCertificates: shown, Err: err}
}

var illnesses = []illness{
	{"a healthy node", func(*surrounded) {}},
	{"a healthy node whose clock no program keeps", func(m *surrounded) { m.clock = host.ClockState{MaxError: 16 * time.Second} }},
	{"a healthy node on EC2", func(m *surrounded) { plugged(m) }},
	{"a healthy node whose API server wants a credential for everything", func(m *surrounded) { m.api["/version"] = answer{401, `{"kind":"Status"}`} }},
	{"a healthy node by the file of hosts", func(m *surrounded) {
		m.tree["/etc/hosts"] = "10.2.0.5 " + apiName + " # private link\n"
		m.resolvers[resolver1] = says(dnsmessage.RCodeNameError, nil)
	}},
	{"a healthy node of which one DNS server is silent", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 10.1.0.9\nnameserver " + resolver1 + "\n"
	}},
	{"a healthy node behind systemd-resolved", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "-> /run/systemd/resolve/stub-resolv.conf"
		m.tree["/run/systemd/resolve/stub-resolv.conf"] = "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n"
		m.resolvers["127.0.0.53"] = knows(apiName, "10.2.0.5")
	}},
	{"a healthy node that needs no name, whose systemd-resolved has no DNS server", func(m *surrounded) {
		needsNoName(m)
		m.tree["/etc/resolv.conf"] = "nameserver 127.0.0.53\n"
		m.resolvers["127.0.0.53"] = says(dnsmessage.RCodeServerFailure, nil)
	}},
	{"a healthy node of a network without a default route", func(m *surrounded) { m.tree["/proc/net/route"] = "Iface\n" }},
	{"a healthy node behind a proxy", func(m *surrounded) {
		proxied(m, "", func(*host.Attempt) *host.Outcome { return nil })
		onlyThroughProxy(m, apiServer)
	}},
	{"a healthy node of an isolated network whose registry is not reached", func(m *surrounded) { delete(m.servers, "registry.example:443") }},
	{"a node that is joining", func(m *surrounded) { joining(m, requests(time.Second, "{}")) }},
	{"a kubelet that has just started", func(m *surrounded) {
		delete(m.api, nodePath)
		m.tree["/proc/uptime"] = "12.00 1.00\n"
	}},
	{"a new Node with a start-up taint", func(m *surrounded) {
		m.api[nodePath] = nodeWith(taint("node.cilium.io/agent-not-ready", time.Minute))
	}},
	{"a machine without a kubelet", func(m *surrounded) {
		m.tree = tree{"/proc/net/route": m.tree["/proc/net/route"], "/etc/resolv.conf": "nameserver " + resolver1 + "\n", "/proc/sys/kernel/hostname": "node1\n"}
	}},
	{"a machine with a contract only", func(m *surrounded) {
		m.tree = tree{
			"/proc/net/route": m.tree["/proc/net/route"], "/etc/resolv.conf": "nameserver " + resolver1 + "\n", "/proc/sys/kernel/hostname": "node1\n",
			"/etc/slipway/config.yaml": "apiVersion: slipway.dev/v1\nkind: NodeConfig\ncluster: {server: \"https://" + apiName + "\"}\n",
		}
		m.servers[apiServer] = failing(host.Connected, errRefused)
	}},

	{"a clock a year ahead", func(m *surrounded) { m.now = now.AddDate(1, 0, 0) }},
	{"a clock a day behind", func(m *surrounded) { m.now = now.AddDate(0, 0, -1); m.clock = host.ClockState{} }},
	{"a clock behind, and no other clock answers", func(m *surrounded) {
		m.now = now.AddDate(-1, 0, 0)
		m.cloud = ""
		delete(m.servers, apiServer)
	}},
	{"a clock ahead of an API server in no cloud, with a certificate that it calls expired", func(m *surrounded) {
		m.now, m.cloud = now.AddDate(6, 0, 0), ""
		m.servers[apiServer] = failing(host.Secured, untrusted(x509.CertificateInvalidError{Cert: authority().certificate, Reason: x509.Expired}))
	}},

	{"no interface", func(m *surrounded) { m.interfaces = nil }},
	{"an interface without a link", func(m *surrounded) {
		m.interfaces[0].Addresses = nil
		m.tree["/sys/class/net/eth0/operstate"] = "down\n"
	}},
	{"an interface without an address", func(m *surrounded) { m.interfaces[0].Addresses = []string{"fe80::1/64"} }},
	{"a small MTU of the interface", func(m *surrounded) { m.tree["/sys/class/net/eth0/mtu"] = "600\n" }},
	{"no default route", func(m *surrounded) {
		m.tree["/proc/net/route"] = "Iface\n"
		m.servers[apiServer] = failing(host.Connected, fmt.Errorf("dial tcp 10.2.0.5:443: connect: %w", syscall.ENETUNREACH))
	}},

	{"no DNS server", func(m *surrounded) { delete(m.tree, "/etc/resolv.conf") }},
	{"a DNS server that does not know the name", func(m *surrounded) { m.resolvers[resolver1] = says(dnsmessage.RCodeNameError, nil) }},
	{"a DNS server that knows the name without an address", func(m *surrounded) { m.resolvers[resolver1] = says(dnsmessage.RCodeSuccess, nil) }},
	{"a silent DNS server", func(m *surrounded) { delete(m.resolvers, resolver1) }},
	{"an address without a DNS server", func(m *surrounded) { m.resolvers[resolver1] = says(0, errRefused) }},
	{"a DNS server that refuses", func(m *surrounded) { m.resolvers[resolver1] = says(dnsmessage.RCodeRefused, nil) }},
	{"a DNS server that fails", func(m *surrounded) { m.resolvers[resolver1] = says(dnsmessage.RCodeServerFailure, nil) }},
	{"a wrong first DNS server", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 10.1.0.9\nnameserver " + resolver1 + "\n"
		m.resolvers["10.1.0.9"] = says(dnsmessage.RCodeNameError, nil)
	}},
	{"two DNS servers that fail in two ways", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 10.1.0.9\nnameserver " + resolver1 + "\n"
		m.resolvers[resolver1] = says(dnsmessage.RCodeServerFailure, nil)
	}},
	{"a wrong DNS server behind systemd-resolved", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 127.0.0.53\n"
		m.tree["/run/systemd/resolve/resolv.conf"] = "nameserver " + resolver1 + "\n"
		m.resolvers["127.0.0.53"] = says(dnsmessage.RCodeNameError, nil)
		m.resolvers[resolver1] = says(dnsmessage.RCodeNameError, nil)
	}},
	{"systemd-resolved without a DNS server", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 127.0.0.53\n"
		m.resolvers["127.0.0.53"] = says(dnsmessage.RCodeServerFailure, nil)
	}},
	{"systemd-resolved that fails itself", func(m *surrounded) {
		m.tree["/etc/resolv.conf"] = "nameserver 127.0.0.53\n"
		m.tree["/run/systemd/resolve/resolv.conf"] = "nameserver " + resolver1 + "\n"
		m.resolvers["127.0.0.53"] = says(dnsmessage.RCodeServerFailure, nil)
	}},
	{"a silent DNS server of a node that needs no name", func(m *surrounded) {
		needsNoName(m)
		delete(m.resolvers, resolver1)
	}},

	{"a proxy that is not there", func(m *surrounded) {
		proxied(m, "", func(*host.Attempt) *host.Outcome {
			return &host.Outcome{Failed: host.Connected, Err: errRefused, Address: netip.MustParseAddrPort("10.9.9.9:3128")}
		})
	}},
	{"a proxy that refuses CONNECT", func(m *surrounded) {
		proxied(m, "", connectStatus(http.StatusForbidden))
		delete(m.servers, apiServer)
	}},
	{"a proxy that wants a password", func(m *surrounded) {
		proxied(m, "", connectStatus(http.StatusProxyAuthRequired))
		delete(m.servers, apiServer)
	}},
	{"a proxy that does not reach the server", func(m *surrounded) {
		proxied(m, "", connectStatus(http.StatusBadGateway))
		delete(m.servers, apiServer)
	}},
	{"NO_PROXY that lacks the API server", func(m *surrounded) { proxied(m, "10.0.0.0/8", connectStatus(http.StatusForbidden)) }},

	{"a silent metadata service", func(m *surrounded) {
		m.metadataError = &metadata.Error{URL: "http://169.254.169.254/metadata/instance", Kind: metadata.Timeout, Last: "no connection in time"}
	}},
	{"a metadata service that denies", func(m *surrounded) {
		m.cloud = facts.EC2
		m.metadataError = &metadata.Error{URL: "http://169.254.169.254/latest/api/token", Kind: metadata.Denied, Last: "answers 403 Forbidden", Connected: true}
	}},
	{"a metadata service whose token does not arrive", func(m *surrounded) {
		m.cloud = facts.EC2
		m.metadataError = &metadata.Error{URL: "http://169.254.169.254/latest/api/token", Kind: metadata.Timeout, Last: "no answer in time", Connected: true}
	}},
	{"a page in the place of the metadata service", func(m *surrounded) {
		m.metadataError = &metadata.Error{URL: "http://169.254.169.254/metadata/instance", Kind: metadata.WrongType, Last: "answers with text/html, which is not the requested document"}
	}},
	{"a silent wire server", func(m *surrounded) {
		m.wireError = &metadata.Error{URL: "http://168.63.129.16/machine/?comp=goalstate", Kind: metadata.Timeout, Last: "no answer in time"}
	}},

	{"a registry that cannot be reached, and no sandbox image", func(m *surrounded) {
		m.held = false
		delete(m.servers, "registry.example:443")
	}},
	{"Azure's registry that denies", func(m *surrounded) {
		m.held = false
		m.tree["/etc/containerd/config.toml"] = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"own.azurecr.io/pause:3.6\"\n"
		m.servers["own.azurecr.io:443"] = func(*host.Attempt, string) *host.Outcome { return &host.Outcome{Status: 403} }
	}},
	{"Amazon's registry that denies", func(m *surrounded) {
		m.held = false
		m.tree["/etc/containerd/config.toml"] = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5\"\n"
		m.servers["602401143452.dkr.ecr.us-west-2.amazonaws.com:443"] = func(*host.Attempt, string) *host.Outcome { return &host.Outcome{Status: 403} }
	}},
	{"a mirror that answers for a registry that does not", func(m *surrounded) {
		m.held = false
		m.tree["/etc/containerd/config.toml"] += "[plugins.\"io.containerd.cri.v1.images\".registry]\nconfig_path = \"/etc/containerd/certs.d:/etc/docker/certs.d\"\n"
		m.tree["/etc/containerd/certs.d/registry.example/hosts.toml"] = "server = \"https://registry.example\"\n[host.\"https://mirror.example:5000\"]\ncapabilities = [\"pull\"]\nskip_verify = true\n"
		delete(m.servers, "registry.example:443")
		m.servers["mirror.example:5000"] = registryAnswers
	}},
	{"a registry with a certificate that is not trusted", func(m *surrounded) {
		m.held = false
		m.servers["registry.example:443"] = failing(host.Secured, untrusted(x509.UnknownAuthorityError{}))
	}},
	{"an image credential provider that is missing", func(m *surrounded) {
		m.tree["/proc/812/cmdline"] += "--image-credential-provider-config=/etc/p.yaml\x00--image-credential-provider-bin-dir=/opt/bin\x00"
		m.tree["/etc/p.yaml"] = "kind: CredentialProviderConfig\nproviders: [{name: ecr-credential-provider}]\n"
	}},

	{"no kubeconfig", func(m *surrounded) { delete(m.tree, kubeconfig) }},
	{"an empty kubeconfig", func(m *surrounded) { m.tree[kubeconfig] = "" }},
	{"an API server that is down", func(m *surrounded) { m.servers[apiServer] = failing(host.Connected, errRefused) }},
	{"a silent API server on Azure", func(m *surrounded) { delete(m.servers, apiServer) }},
	{"a silent API server on EC2", func(m *surrounded) { m.cloud = facts.EC2; delete(m.servers, apiServer) }},
	{"a path that loses large packets", func(m *surrounded) {
		m.servers[apiServer] = failing(host.Secured, context.DeadlineExceeded)
	}},
	{"a program that ends the handshake", func(m *surrounded) {
		m.servers[apiServer] = failing(host.Secured, syscall.ECONNRESET)
	}},
	{"another cluster's CA", func(m *surrounded) {
		m.servers[apiServer] = failing(host.Secured, untrusted(x509.UnknownAuthorityError{}, newIssuer("other-cluster").certificate))
	}},
	{"an expired certificate of the API server", func(m *surrounded) {
		m.servers[apiServer] = failing(host.Secured, untrusted(x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{NotBefore: now.AddDate(-1, 0, -3), NotAfter: now.AddDate(0, 0, -3)}}))
	}},
	{"a certificate for another name", func(m *surrounded) {
		m.servers[apiServer] = failing(host.Secured, untrusted(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"other.example"}}, Host: apiName}))
	}},
	{"an API server that fails", func(m *surrounded) { m.api["/version"] = answer{503, "etcd"} }},
	{"a page in the place of the API server", func(m *surrounded) { m.api["/version"] = answer{200, "<html>"} }},

	{"a missing client certificate", func(m *surrounded) { delete(m.tree, currentPair) }},
	{"an empty client certificate", func(m *surrounded) { m.tree[currentPair] = "" }},
	{"an expired client certificate", func(m *surrounded) {
		m.tree[currentPair] = authority().pair("system:node:node1", now.AddDate(-2, 0, 0), now.AddDate(-1, 0, 0))
	}},
	{"another Node's client certificate", func(m *surrounded) {
		m.tree[currentPair] = authority().pair("system:node:golden-image", now.AddDate(0, -1, 0), now.AddDate(1, 0, 0))
	}},
	{"a client certificate that is refused", func(m *surrounded) { m.api[nodePath] = answer{401, `{"kind":"Status"}`} }},
	{"a bootstrap token that is refused", func(m *surrounded) { joining(m, answer{}); m.api[nodePath] = answer{401, `{"kind":"Status"}`} }},
	{"a token that has expired", func(m *surrounded) {
		joining(m, answer{})
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":` + fmt.Sprint(now.Add(-time.Hour).Unix()) + `}`))
		m.tree[bootstrap] = kubeconfigFor("token: eyJhbGciOiJSUzI1NiJ9." + claims + ".c2lnbmF0dXJl")
	}},
	{"a plug-in that fails", func(m *surrounded) {
		plugged(m)
		m.plugin = func() ([]byte, error) { return nil, errors.New("exit status 255") }
	}},
	{"an identity that EKS does not know", func(m *surrounded) { plugged(m); m.api[nodePath] = answer{401, `{"kind":"Status"}`} }},
	{"an identity that EKS maps to another name", func(m *surrounded) {
		plugged(m)
		m.api[nodePath] = answer{403, `{"kind":"Status"}`}
		m.api["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = answer{201, `{"status":{"userInfo":{"username":"system:node:ip-10-224-0-4.ec2.internal"}}}`}
	}},
	{"an identity that EKS gives no node's rights", func(m *surrounded) {
		plugged(m)
		m.api[nodePath] = answer{403, `{"kind":"Status"}`}
		m.api["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = answer{201, `{"status":{"userInfo":{"username":"arn:aws:sts::1:assumed-role/node/i-1"}}}`}
	}},

	{"a request that waits", func(m *surrounded) { joining(m, requests(5*time.Minute, "{}")) }},
	{"a request that is denied", func(m *surrounded) { joining(m, requests(5*time.Minute, conditions("Denied"))) }},
	{"a request that is not signed", func(m *surrounded) { joining(m, requests(5*time.Minute, conditions("Approved"))) }},
	{"a request that the signer fails", func(m *surrounded) {
		joining(m, requests(5*time.Minute, conditions("Approved", "Failed")))
	}},

	{"a deleted Node", func(m *surrounded) { delete(m.api, nodePath) }},
	{"a foreign Node of the same name", func(m *surrounded) {
		m.api[nodePath] = nodeWith(func(n map[string]any) {
			status := n["status"].(map[string]any)
			status["nodeInfo"] = map[string]any{"systemUUID": "99999999-8888-7777-6666-555555555555"}
			status["addresses"] = []any{map[string]any{"type": "InternalIP", "address": "10.224.0.77"}}
		})
	}},
	{"a Node that is not Ready", func(m *surrounded) {
		m.api[nodePath] = nodeWith(condition("False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"))
	}},
	{"a kubelet that does not report", func(m *surrounded) {
		m.api[nodePath] = nodeWith(condition("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."))
	}},
	{"a start-up taint that stands", func(m *surrounded) {
		m.api[nodePath] = nodeWith(taint("node.cloudprovider.kubernetes.io/uninitialized", 20*time.Minute))
	}},
	{"a silent DNS server of the cluster", func(m *surrounded) { delete(m.resolvers, clusterIP) }},
	{"a DNS server of the cluster without endpoints", func(m *surrounded) { m.resolvers[clusterIP] = says(0, errRefused) }},
	{"another DNS server at the cluster's address", func(m *surrounded) { m.resolvers[clusterIP] = says(dnsmessage.RCodeNameError, nil) }},
}

// Each illness has its verdict first, and no independent one beside it. What follows from it is not looked at.
func TestIllnessesOfTheSurroundings(t *testing.T) {
	const golden = "testdata/surroundings.txt"
	var all strings.Builder
	for _, i := range illnesses {
		m := healthy()
		i.apply(m)
		text, report := m.examine(t)
		fmt.Fprintf(&all, "# %s\n%s\n", i.name, text)
		if healthy := strings.HasPrefix(i.name, "a healthy node"); healthy && report.Health != doctor.Healthy {
			t.Errorf("%s is %s:\n%s", i.name, report.Health, text)
		}
		if got := report.Wrong(); len(got) > 1 {
			t.Errorf("%s has %d verdicts:\n%s", i.name, len(got), text)
		}
		m.checkSecrets(t, i.name, report)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("%s differs; -update rewrites it:\n%s", golden, diff)
	}
}

// checkSecrets checks that no part of a report has a secret.
func (m *surrounded) checkSecrets(t *testing.T, name string, report *doctor.Report) {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range append(m.sent, "hunter2", "0123456789abcdef", "PRIVATE KEY") {
		if secret != "" && strings.Contains(string(text), secret) {
			t.Errorf("%s: the report has the secret %q", name, secret)
		}
	}
}

// Every cause that a check can name is one of its row, and has its next step.
func TestCausesHaveActions(t *testing.T) {
	for _, check := range own() {
		for _, cause := range check.Causes {
			if cause.Name == "" || cause.Means == "" || cause.Action == "" {
				t.Errorf("%s: the cause %q is not complete", check.Name, cause.Name)
			}
		}
	}
}
