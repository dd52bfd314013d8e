package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	apiName   = "aks-x.hcp.eastus.azmk8s.io"
	apiServer = apiName + ":443"
	resolver1 = "10.1.0.4"
	clusterIP = "10.0.0.10"
	nodePath  = "/api/v1/nodes/node1"
)

// now is the time on the fake machine.
var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// surrounded is a machine with fake surroundings. It is a healthy node until a test breaks something.
type surrounded struct {
	tree
	doctor.Insides
	cloud      string
	now        time.Time
	clock      host.ClockState
	interfaces []facts.Interface
	// resolvers answer questions, by their address.
	resolvers map[string]func(name string, kind dnsmessage.Type) ([]string, dnsmessage.RCode, error)
	// servers answer attempts, by HOST:PORT. proxies answer for the servers behind them.
	servers map[string]func(a *host.Attempt, path string) *host.Outcome
	proxies map[string]func(a *host.Attempt) *host.Outcome
	// api are the API server's answers, by path.
	api                      map[string]answer
	metadataError, wireError error
	held                     bool
	plugin                   func() ([]byte, error)

	mu   sync.Mutex
	sent []string // the texts of all secrets that were sent
}

type answer struct {
	status int
	body   string
}

func (m *surrounded) Platform() string                     { return m.cloud }
func (m *surrounded) ClockState() (host.ClockState, error) { return m.clock, nil }
func (m *surrounded) Interfaces() ([]facts.Interface, error) {
	return m.interfaces, nil
}

func (m *surrounded) AskMetadata(context.Context, string) (metadata.Seen, error) {
	return metadata.Seen{Date: now}, m.metadataError
}

func (m *surrounded) AskWireServer(context.Context) (metadata.Seen, error) {
	return metadata.Seen{Date: now}, m.wireError
}

func (m *surrounded) HasImage(context.Context, *resource.Image) (bool, error) { return m.held, nil }

func (m *surrounded) RunPlugin(context.Context, []string, map[string]string) ([]byte, error) {
	return m.plugin()
}

func (m *surrounded) Exchange(_ context.Context, server string, message []byte) ([]byte, error) {
	address, _, _ := net.SplitHostPort(server)
	answers := m.resolvers[address]
	if answers == nil {
		return nil, fmt.Errorf("%s: %w", server, context.DeadlineExceeded)
	}
	var asked dnsmessage.Message
	if err := asked.Unpack(message); err != nil {
		return nil, err
	}
	question := asked.Questions[0]
	addresses, code, err := answers(strings.TrimSuffix(question.Name.String(), "."), question.Type)
	if err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{Header: dnsmessage.Header{Response: true, RCode: code}, Questions: asked.Questions}
	for _, text := range addresses {
		address := netip.MustParseAddr(text)
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, Type: question.Type}
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: address.As4()}})
		case question.Type == dnsmessage.TypeAAAA && address.Is6():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
		}
	}
	return reply.Pack()
}

func (m *surrounded) Attempt(_ context.Context, a *host.Attempt) *host.Outcome {
	m.mu.Lock()
	m.sent = append(m.sent, a.Token.Reveal())
	m.mu.Unlock()
	u, err := url.Parse(a.URL)
	if err != nil {
		return &host.Outcome{Failed: host.Resolved, Err: err}
	}
	at := net.JoinHostPort(u.Hostname(), map[bool]string{true: u.Port(), false: "443"}[u.Port() != ""])
	if proxy := a.Proxy.Reveal(); proxy != "" {
		through, err := url.Parse(proxy)
		if err != nil {
			return &host.Outcome{Failed: host.Resolved, Err: err}
		}
		if o := m.proxies[through.Host](a); o != nil {
			return o
		}
	}
	server := m.servers[at]
	if server == nil {
		return &host.Outcome{Failed: host.Connected, Err: context.DeadlineExceeded}
	}
	return server(a, u.Path)
}

// apiAnswers is a healthy API server.
func (m *surrounded) apiAnswers(a *host.Attempt, path string) *host.Outcome {
	o := &host.Outcome{Address: netip.MustParseAddrPort("10.2.0.5:443"), MTU: 1500}
	if a.Stop != "" {
		return o
	}
	got, has := m.api[path]
	if !has {
		got = answer{http.StatusNotFound, `{"kind":"Status"}`}
	}
	o.Status, o.Body = got.status, []byte(got.body)
	o.Header = http.Header{"Date": {now.Format(http.TimeFormat)}, "Content-Type": {"application/json"}}
	return o
}

// failing is a server at which every attempt fails in a way.
func failing(step host.Step, err error) func(*host.Attempt, string) *host.Outcome {
	return func(a *host.Attempt, _ string) *host.Outcome {
		o := &host.Outcome{Address: netip.MustParseAddrPort("10.2.0.5:443"), MTU: 1500}
		switch {
		case a.Unverified && step == host.Secured && !isDeadline(err): // only the check of the certificate fails
			o.Status, o.Header = http.StatusOK, http.Header{"Date": {now.Format(http.TimeFormat)}}
		case a.Stop == host.Connected && step != host.Connected, strings.HasPrefix(a.URL, "http:") && step != host.Connected:
		default:
			o.Failed, o.Err = step, err
			if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
				o.Shown = refused.UnverifiedCertificates
			}
		}
		return o
	}
}

func isDeadline(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// registryAnswers wants a login, as registries do.
func registryAnswers(*host.Attempt, string) *host.Outcome {
	return &host.Outcome{Address: netip.MustParseAddrPort("10.3.0.9:443"), Status: http.StatusUnauthorized}
}

// knows is a DNS server that knows one name.
func knows(known, address string) func(string, dnsmessage.Type) ([]string, dnsmessage.RCode, error) {
	return func(name string, _ dnsmessage.Type) ([]string, dnsmessage.RCode, error) {
		if name == known {
			return []string{address}, dnsmessage.RCodeSuccess, nil
		}
		return nil, dnsmessage.RCodeNameError, nil
	}
}

// says is a DNS server that has one answer to all questions.
func says(code dnsmessage.RCode, err error) func(string, dnsmessage.Type) ([]string, dnsmessage.RCode, error) {
	return func(string, dnsmessage.Type) ([]string, dnsmessage.RCode, error) { return nil, code, err }
}

const machineUUID = "11111111-2222-3333-4444-555555555555"

// healthyNode is the Node of the healthy machine.
func healthyNode() map[string]any {
	return map[string]any{
		"kind": "Node", "metadata": map[string]any{"name": "node1", "creationTimestamp": now.Add(-time.Hour)},
		"spec": map[string]any{},
		"status": map[string]any{
			"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status", "lastTransitionTime": now.Add(-59 * time.Minute)}},
			"addresses":  []any{map[string]any{"type": "InternalIP", "address": "10.224.0.4"}},
			"nodeInfo":   map[string]any{"systemUUID": machineUUID},
		},
	}
}

// marshal is a value as JSON.
func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// authority is a CA, made once for all tests.
var authority = sync.OnceValue(func() *issuer { return newIssuer("kubernetes") })

type issuer struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newIssuer(name string) *issuer {
	i := &issuer{}
	i.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: now.AddDate(-5, 0, 0), NotAfter: now.AddDate(5, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &i.key.PublicKey, i.key)
	if err == nil {
		i.certificate, err = x509.ParseCertificate(der)
	}
	if err != nil {
		panic(err)
	}
	return i
}

func (i *issuer) pem() string { return encoded("CERTIFICATE", i.certificate.Raw) }

func encoded(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// pair is a client certificate with its key, for a user.
func (i *issuer) pair(user string, from, until time.Time) string {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: user, Organization: []string{"system:nodes"}}, NotBefore: from, NotAfter: until,
	}, i.certificate, &key.PublicKey, i.key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return encoded("CERTIFICATE", der) + encoded("PRIVATE KEY", private)
}

const (
	currentPair = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	kubeconfig  = "/etc/kubernetes/kubelet.conf"
	bootstrap   = "/etc/kubernetes/bootstrap-kubelet.conf"
)

// kubeconfigFor is a kubeconfig with a user's settings in YAML.
func kubeconfigFor(user string) string {
	return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n" +
		"clusters: [{name: k, cluster: {server: \"https://" + apiName + "\", certificate-authority-data: " +
		base64.StdEncoding.EncodeToString([]byte(authority().pem())) + "}}]\nusers: [{name: u, user: {" + user + "}}]\n"
}

// healthy is a node of a private AKS cluster with kubeadm's paths.
func healthy() *surrounded {
	m := &surrounded{
		tree: tree{
			"/proc/812/comm": "kubelet\n", "/proc/812/cgroup": "0::/system.slice/kubelet.service\n",
			"/proc/812/cmdline":         "/usr/bin/kubelet\x00--kubeconfig=" + kubeconfig + "\x00--bootstrap-kubeconfig=" + bootstrap + "\x00--config=/var/lib/kubelet/config.yaml\x00",
			"/proc/812/environ":         "PATH=/usr/bin\x00",
			"/proc/812/stat":            "812 (kubelet) S 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 10 0 1000 123 456",
			"/proc/uptime":              "7200.00 7000.00\n",
			"/proc/sys/kernel/hostname": "node1\n",
			"/proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n" +
				"eth0\t00000000\t0100E00A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n",
			"/sys/class/net/eth0/operstate": "up\n", "/sys/class/net/eth0/mtu": "1500\n", "/sys/class/net/eth0/device/vendor": "x",
			"/sys/class/dmi/id/product_uuid": machineUUID + "\n",
			"/etc/resolv.conf":               "nameserver " + resolver1 + "\n", "/etc/hosts": "127.0.0.1 localhost\n",
			"/var/lib/kubelet/config.yaml": "clusterDNS: [\"" + clusterIP + "\"]\nclusterDomain: cluster.local\n",
			kubeconfig:                     kubeconfigFor("client-certificate: " + currentPair + ", client-key: " + currentPair),
			currentPair:                    authority().pair("system:node:node1", now.AddDate(0, -1, 0), now.AddDate(0, 11, 0)),
			"/etc/containerd/config.toml":  "version = 3\n[plugins.\"io.containerd.cri.v1.images\".pinned_images]\nsandbox = \"registry.example/pause:3.10\"\n",
		},
		cloud: facts.Azure, now: now, clock: host.ClockState{Synchronized: true, MaxError: time.Second}, held: true,
		interfaces: []facts.Interface{{Name: "eth0", Addresses: []string{"10.224.0.4/16"}}},
		resolvers: map[string]func(string, dnsmessage.Type) ([]string, dnsmessage.RCode, error){
			resolver1: knows(apiName, "10.2.0.5"), clusterIP: knows("kubernetes.default.svc.cluster.local", "10.0.0.1"),
		},
		api: map[string]answer{"/version": {200, `{"gitVersion":"v1.36.3"}`}, nodePath: {200, marshal(healthyNode())}},
	}
	m.servers = map[string]func(*host.Attempt, string) *host.Outcome{apiServer: m.apiAnswers, "registry.example:443": registryAnswers}
	return m
}

// own are the checks of the surroundings, without what they need of others.
func own() (checks []doctor.Check) {
	names := make(map[string]bool)
	for _, name := range strings.Fields("clock link route names proxy metadata wire-server registry kubeconfig api-server own-credential credential certificate-request node-owner node start-up-taints cluster-dns") {
		names[name] = true
	}
	for _, check := range doctor.Checks {
		if !names[check.Name] {
			continue
		}
		var needs []string
		for _, need := range check.Needs {
			if names[need] {
				needs = append(needs, need)
			}
		}
		check.Needs = needs
		checks = append(checks, check)
	}
	return checks
}

// examine examines a machine, and returns the result as text: all that is not fine, in the order of the table.
func (m *surrounded) examine(t *testing.T) (text string, report *doctor.Report) {
	t.Helper()
	report = doctor.Examine(t.Context(), own(), &doctor.Patient{Machine: m, Now: func() time.Time { return m.now }})
	waits := make(map[string][]string)
	for _, r := range report.Checks {
		if r.Because != "" {
			waits[r.Because] = append(waits[r.Because], r.Check)
		}
	}
	for _, r := range report.Checks {
		switch {
		case r.State == doctor.Wrong:
			text += fmt.Sprintf("%s, %s: %s\n  next: %s\n", r.Check, r.Cause, r.Verdict, r.Action)
			if list := waits[r.Check]; list != nil {
				text += "  not looked at: " + strings.Join(list, ", ") + "\n"
			}
		case r.State != doctor.Fine && r.Because == "":
			text += fmt.Sprintf("%s, %s: %s\n", r.Check, r.State, r.Verdict)
		}
	}
	return string(report.Health) + "\n" + text, report
}

// errRefused is the kernel's answer from a port without a listener.
var errRefused = fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)
