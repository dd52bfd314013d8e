// Package tlsbootstrap is what a kubelet does to get its first client certificate for a bootstrap token: the key, the
// certificate signing request as the API server takes it, what the server's answer says, and the file that the kubelet
// keeps the pair in. Everything is as the kubelet itself does it, so that the kubelet finds itself joined (Kubernetes: TLS
// bootstrapping; k8s.io/kubernetes pkg/kubelet/certificate, k8s.io/client-go util/certificate).
//
// It makes and reads values: it sends nothing, writes no file and reads no clock. internal/probe asks a server with it,
// and internal/apply names the files with it.
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
	// RequestsPath is where the API server takes the requests.
	RequestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

	apiVersion = "certificates.k8s.io/v1"
	kind       = "CertificateSigningRequest"
	// signer signs certificates by which a kubelet is a client of the API server (Kubernetes: certificate signing requests,
	// Kubernetes signers).
	signer = "kubernetes.io/kube-apiserver-client-kubelet"
	// NodeUser is what the names of Nodes' users begin with, nodesGroup the group of all of them: by both the Node authorizer
	// knows a kubelet (Kubernetes: node authorization).
	NodeUser   = "system:node:"
	nodesGroup = "system:nodes"
)

// Key is a private key that no file has yet.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey makes a key, of the type that the kubelet's are (client-go: keyutil.MakeEllipticPrivateKeyPEM).
func NewKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Key{private}, nil
}

// Request is a certificate signing request.
type Request struct {
	// Name is the object's. It depends on the key, the subject and the usages, so a request that is sent twice is one.
	Name string
	// Body is the object, in JSON.
	Body []byte
}

// Usages are what a kubelet's client certificate is for. A key on an elliptic curve enciphers nothing; kubelets before
// 1.27 ask for that all the same, and the signer of their clusters takes only the longer list (kubernetes/kubernetes#111660).
func Usages(encipherment bool) []string {
	if encipherment {
		return []string{"digital signature", "key encipherment", "client auth"}
	}
	return []string{"digital signature", "client auth"}
}

// Request asks for a certificate for a Node.
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
