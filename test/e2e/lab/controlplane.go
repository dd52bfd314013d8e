package lab

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Server is the API server's URL; AKS's contracts imply the port.
const Server = "https://" + HostAddress + ":443"

const etcd = "http://127.0.0.1:2379"

// serviceRange and clusterPodCIDR are the cluster's.
const (
	serviceRange   = "10.96.0.0/16"
	serviceAddress = "10.96.0.1" // of the API server's Service: the range's first one
	clusterPodCIDR = "10.88.0.0/16"
)

// controlPlane starts etcd, the API server, the controllers and the scheduler, and lets nodes join.
func (l *Lab) controlPlane(ctx context.Context) error {
	if err := l.certificates(); err != nil {
		return err
	}
	api, err := newAPI(l.PKI, Server)
	if err != nil {
		return err
	}
	l.API = api
	process, err := l.start(ctx, "etcd", nil, filepath.Join(l.Parts.Etcd, "server"), "--data-dir="+filepath.Join(l.dir, "etcd"),
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls=http://127.0.0.1:2380",
		"--unsafe-no-fsync", "--log-level=warn")
	if err != nil {
		return err
	}
	if err := process.await(ctx, listening("127.0.0.1:2379")); err != nil {
		return err
	}
	if l.webhook, err = l.identities(ctx); err != nil {
		return fmt.Errorf("identities: %w", err)
	}
	if err := l.StartAPIServer(ctx); err != nil {
		return err
	}
	l.Token = NewToken()
	if err := l.API.admitNodes(ctx, l.Token, time.Now().Add(24*time.Hour)); err != nil {
		return err
	}
	// The API server creates the namespace after its start.
	if err := l.servers[0].await(ctx, func(ctx context.Context) error { return l.API.Get(ctx, publicPath, nil) }); err != nil {
		return err
	}
	return l.API.showCluster(ctx, l.PKI.CA)
}

// NewToken makes a random bootstrap token.
func NewToken() string { return strings.ToLower(rand.Text()[:6] + "." + rand.Text()[:16]) }

// StopAPIServer stops the API server, the controllers and the scheduler. These end by themselves if the API server
// stops in their first seconds; later they wait up to a minute before they look for it again. If it is stopped already,
// StopAPIServer does nothing.
func (l *Lab) StopAPIServer() {
	for _, p := range slices.Backward(l.servers) {
		p.Stop(5 * time.Second)
	}
	l.servers = nil
}

// StartAPIServer starts the API server, the controllers and the scheduler, unless they run.
func (l *Lab) StartAPIServer(ctx context.Context) error {
	if l.servers != nil {
		return nil
	}
	if err := l.startServers(ctx); err != nil {
		return err
	}
	return l.servers[0].await(ctx, l.API.ready)
}

// startServers starts all that StopAPIServer stops, the API server first.
func (l *Lab) startServers(ctx context.Context) error {
	p := l.PKI.Path
	for _, server := range []struct {
		name string
		args []string
	}{
		{"kube-apiserver", []string{
			"--etcd-servers=" + etcd, "--bind-address=0.0.0.0", "--advertise-address=" + HostAddress, "--secure-port=443", "--permit-port-sharing=true",
			"--tls-cert-file=" + p("apiserver.crt"), "--tls-private-key-file=" + p("apiserver.key"), "--client-ca-file=" + p("ca.crt"),
			"--kubelet-client-certificate=" + p("kubelet-client.crt"), "--kubelet-client-key=" + p("kubelet-client.key"),
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + p("sa.pub"),
			"--service-account-signing-key-file=" + p("sa.key"), "--service-cluster-ip-range=" + serviceRange,
			"--authorization-mode=Node,RBAC", "--enable-bootstrap-token-auth=true", "--enable-admission-plugins=NodeRestriction",
			"--kubelet-preferred-address-types=InternalIP", "--allow-privileged=true", "--profiling=false",
			"--authentication-token-webhook-config-file=" + l.webhook,
		}},
		{"kube-controller-manager", []string{
			"--kubeconfig=" + p("controller-manager.kubeconfig"), "--cluster-signing-cert-file=" + p("ca.crt"),
			"--cluster-signing-key-file=" + p("ca.key"), "--root-ca-file=" + p("ca.crt"),
			"--service-account-private-key-file=" + p("sa.key"), "--use-service-account-credentials=true",
			"--controllers=*,bootstrapsigner,tokencleaner", "--allocate-node-cidrs=true", "--cluster-cidr=" + clusterPodCIDR,
			"--service-cluster-ip-range=" + serviceRange, "--leader-elect=false", "--profiling=false",
		}},
		{"kube-scheduler", []string{"--kubeconfig=" + p("scheduler.kubeconfig"), "--leader-elect=false", "--profiling=false"}},
	} {
		process, err := l.start(ctx, server.name, nil, append([]string{filepath.Join(l.Parts.Kubernetes, server.name)}, server.args...)...)
		if err != nil {
			return err
		}
		l.servers = append(l.servers, process)
	}
	return nil
}

// certificates makes the cluster's authority, certificates and kubeconfigs.
func (l *Lab) certificates() error {
	pki, err := NewPKI(filepath.Join(l.dir, "pki"), "e2e-ca")
	if err != nil {
		return err
	}
	l.PKI = pki
	for _, c := range []struct {
		name, commonName, organization string
		addresses                      []string
	}{
		{"apiserver", "kube-apiserver", "", []string{HostAddress, PrivateServer, RoutedServer, "127.0.0.1", serviceAddress, "kubernetes", "kubernetes.default.svc"}},
		{"kubelet-client", "kube-apiserver-kubelet-client", "system:masters", nil},
		{"admin", "e2e-admin", "system:masters", nil},
		{"controller-manager", "system:kube-controller-manager", "", nil},
		{"scheduler", "system:kube-scheduler", "", nil},
	} {
		if err := pki.issue(c.name, c.commonName, c.organization, c.addresses...); err != nil {
			return err
		}
	}
	for _, name := range []string{"admin", "controller-manager", "scheduler"} {
		if err := pki.kubeconfig(name, Server); err != nil {
			return err
		}
	}
	return pki.serviceAccountKey()
}

// Kubectl is a kubectl command line, as the cluster's administrator.
func (l *Lab) Kubectl(args ...string) []string {
	return append([]string{filepath.Join(l.Parts.Kubernetes, "kubectl"), "--kubeconfig=" + l.PKI.Path("admin.kubeconfig"),
		"--cache-dir=" + filepath.Join(l.dir, "kubectl")}, args...)
}

// listening returns a check that a program listens at an address.
func listening(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// ready checks the API server's readiness.
func (a *API) ready(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/readyz", "", nil, nil)
}

// admitNodes makes a bootstrap token and lets its users request a node's certificate.
func (a *API) admitNodes(ctx context.Context, token string, expires time.Time) error {
	if err := a.MakeToken(ctx, token, expires); err != nil {
		return err
	}
	for _, binding := range []binding{
		{"e2e-bootstrap", Bootstrappers, "system:node-bootstrapper"},
		approval,
		{"e2e-renew", "system:nodes", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"},
	} {
		if err := a.bind(ctx, binding); err != nil {
			return err
		}
	}
	return nil
}

// Bootstrappers is the group of the users with a bootstrap token.
const Bootstrappers = "system:bootstrappers:e2e"

// binding gives a group a role in the whole cluster.
type binding struct{ name, group, role string }

// approval lets the controller manager approve the first certificate of a node.
var approval = binding{"e2e-approve", Bootstrappers, "system:certificates.k8s.io:certificatesigningrequests:nodeclient"}

const bindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"

func (a *API) bind(ctx context.Context, b binding) error {
	return a.Create(ctx, bindingsPath, map[string]any{
		"metadata": map[string]any{"name": b.name},
		"subjects": []any{map[string]any{"kind": "Group", "name": b.group, "apiGroup": "rbac.authorization.k8s.io"}},
		"roleRef":  map[string]any{"kind": "ClusterRole", "name": b.role, "apiGroup": "rbac.authorization.k8s.io"},
	})
}

// publicPath is the namespace that all users may read.
const publicPath = "/api/v1/namespaces/kube-public"

// showCluster publishes the cluster's address and CA for all users, as kubeadm does. The controller manager signs them
// for each token (k8s.io/kubernetes, cmd/kubeadm/app/phases/bootstraptoken/clusterinfo).
func (a *API) showCluster(ctx context.Context, authority []byte) error {
	const name, rbac = "cluster-info", "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/"
	kubeconfig := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters:\n- name: \"\"\n  cluster:\n    server: %s\n    certificate-authority-data: %s\n",
		Server, base64.StdEncoding.EncodeToString(authority))
	metadata := map[string]any{"name": name}
	for path, object := range map[string]map[string]any{
		publicPath + "/configmaps": {"metadata": metadata, "data": map[string]any{"kubeconfig": kubeconfig}},
		rbac + "roles": {"metadata": metadata, "rules": []any{map[string]any{
			"apiGroups": []any{""}, "resources": []any{"configmaps"}, "resourceNames": []any{name}, "verbs": []any{"get"},
		}}},
		rbac + "rolebindings": {
			"metadata": metadata,
			"subjects": []any{map[string]any{"kind": "User", "name": "system:anonymous", "apiGroup": "rbac.authorization.k8s.io"}},
			"roleRef":  map[string]any{"kind": "Role", "name": name, "apiGroup": "rbac.authorization.k8s.io"},
		},
	} {
		if err := a.Create(ctx, path, object); err != nil {
			return err
		}
	}
	return nil
}

// MakeToken makes a bootstrap token that is valid until it expires.
func (a *API) MakeToken(ctx context.Context, token string, expires time.Time) error {
	id, secret, _ := strings.Cut(token, ".")
	return a.call(ctx, http.MethodPost, "/api/v1/namespaces/kube-system/secrets", jsonType, map[string]any{
		"metadata": map[string]any{"name": "bootstrap-token-" + id},
		"type":     "bootstrap.kubernetes.io/token",
		"stringData": map[string]any{
			"token-id": id, "token-secret": secret, "expiration": expires.UTC().Format(time.RFC3339),
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": Bootstrappers,
		},
	}, nil)
}
