package lab

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// ClusterName is the cluster's name for machines that join by their AWS identity, and Region is its region.
const (
	ClusterName = "e2e"
	Region      = "us-east-1"
	// nodeRole is the role of the machines in EC2, which the cluster maps to nodes.
	nodeRole = "e2e-node"
)

// authenticatorConfig maps the machines' role to Nodes, as EKS does for a cluster's own nodes (aws-iam-authenticator, README, "Full
// Configuration Format"). A Node has EC2's name for the instance.
const authenticatorConfig = `clusterID: ` + ClusterName + `
server:
  mapRoles:
  - roleARN: arn:aws:iam::` + fakecloud.Account + `:role/` + nodeRole + `
    username: system:node:{{EC2PrivateDNSName}}
    groups: [system:bootstrappers, system:nodes]
`

// stsHost is the server in a machine's signed request.
const stsHost = "sts." + Region + ".amazonaws.com"

// identities starts the servers that verify machines' AWS identities: the real aws-iam-authenticator, which the API server calls by
// webhook, and fakes of AWS's STS and EC2 for it. It returns the webhook's kubeconfig, or "" if no case uses such an identity.
func (l *Lab) identities(ctx context.Context) (webhook string, err error) {
	program := l.Parts.Programs[Authenticator]
	if program == "" {
		return "", nil
	}
	dir := filepath.Join(l.dir, "authenticator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	pki, err := NewPKI(filepath.Join(dir, "sts-pki"), "e2e-sts-ca")
	if err != nil {
		return "", err
	}
	sts, err := serveTLS(l.Cloud.STS(), "127.0.0.1:0", pki, stsHost)
	if err != nil {
		return "", err
	}
	// No name server knows STS, so the authenticator reaches it through a proxy, which leads nowhere else.
	proxy, err := serveLocally(forwardProxy{stsHost + ":443": sts})
	if err != nil {
		return "", err
	}
	ec2, err := serveLocally(l.Cloud.EC2())
	if err != nil {
		return "", err
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(authenticatorConfig), 0o600); err != nil {
		return "", err
	}
	webhook = filepath.Join(dir, "webhook.kubeconfig")
	env := []string{
		"HTTPS_PROXY=http://" + proxy, "SSL_CERT_FILE=" + pki.Path("ca.crt"), "AWS_ENDPOINT_URL_EC2=http://" + ec2, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_REGION=" + Region, "AWS_ACCESS_KEY_ID=e2e", "AWS_SECRET_ACCESS_KEY=e2e",
	}
	process, err := l.start(ctx, Authenticator, env, program, "server",
		"--config="+config, "--backend-mode=MountedFile", "--state-dir="+dir, "--generate-kubeconfig="+webhook)
	if err != nil {
		return "", err
	}
	return webhook, process.await(ctx, listening("127.0.0.1:21362")) // its own port
}

// serveLocally serves HTTP to the sandbox itself, and returns the address with its port.
func serveLocally(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("serve AWS: %w", err)
	}
	go http.Serve(listener, handler)
	return listener.Addr().String(), nil
}
