// Package tlsbootstrap has the parts of a kubelet's TLS bootstrap, by which it gets its first client certificate for a
// bootstrap token: the key, the certificate signing request, the server's answer, and the file with the pair.
// Everything is as the kubelet itself does it, so that the kubelet finds itself joined (Kubernetes: TLS bootstrapping;
// k8s.io/kubernetes pkg/kubelet/certificate, k8s.io/client-go util/certificate).
//
// It creates and parses values: it sends nothing, writes no file and reads no clock. internal/probe sends the request
// to a server, and internal/apply names the files with it.
package tlsbootstrap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
)

const (
	// RequestsPath is the API server's path for requests.
	RequestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

	apiVersion = "certificates.k8s.io/v1"
	kind       = "CertificateSigningRequest"
	// RequestsOf is the query for the requests that the signer gets.
	RequestsOf = "?fieldSelector=spec.signerName=" + signer + "&limit=500"
	// signer signs the certificates with which a kubelet is a client of the API server (Kubernetes: certificate signing
	// requests, Kubernetes signers).
	signer = "kubernetes.io/kube-apiserver-client-kubelet"
	// NodeUser is the prefix of Nodes' user names, nodesGroup their group: by both the Node authorizer recognizes a
	// kubelet (Kubernetes: node authorization).
	NodeUser   = "system:node:"
	nodesGroup = "system:nodes"
)

// Key is a private key that is not in a file yet.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey creates a key of the type of the kubelet's keys (client-go: keyutil.MakeEllipticPrivateKeyPEM).
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Key{private}, nil
}

// Request is a certificate signing request.
type Request struct {
	// Name is the object's name. It depends on the key, the subject and the usages, so a request that is sent twice is
	// the same.
	Name string
	// Body is the object in JSON.
	Body []byte
}

// Usages are the key usages of a kubelet's client certificate. An elliptic curve key enciphers nothing; kubelets before
// 1.27 request that all the same, and their clusters' signer accepts only the longer list
// (kubernetes/kubernetes#111660).
func Usages(encipherment bool) []string {
	if encipherment {
		return []string{"digital signature", "key encipherment", "client auth"}
	}
	return []string{"digital signature", "client auth"}
}

// Request creates a request for a Node's certificate.
func (k *Key) Request(node string, usages []string) (Request, error) {
	subject := pkix.Name{Organization: []string{nodesGroup}, CommonName: NodeUser + node}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, k.private)
	if err != nil {
		return Request{}, err
	}
	name, err := k.digest(subject, usages)
	if err != nil {
		return Request{}, err
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": apiVersion,
		"kind":       kind,
		"metadata":   map[string]string{"name": name},
		"spec": map[string]any{
			"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), "signerName": signer, "usages": usages,
		},
	})
	return Request{name, body}, err
}

// digest is the name that a kubelet gives such a request (pkg/kubelet/certificate/bootstrap: digestedName).
func (k *Key) digest(subject pkix.Name, usages []string) (string, error) {
	public, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		return "", err
	}
	hash := sha512.New512_256()
	for _, part := range append([]string{string(public), subject.CommonName, subject.Organization[0]}, usages...) {
		fmt.Fprintf(hash, "%s|", base64.RawURLEncoding.EncodeToString([]byte(part)))
	}
	return "node-csr-" + base64.RawURLEncoding.EncodeToString(hash.Sum(nil)), nil
}
