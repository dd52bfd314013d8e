package scenario

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// contractArgs select a machine's contract.
type contractArgs struct {
	// Contract is a file beside case.yaml. Empty means the contract that all cases share.
	Contract string `yaml:"contract"`
	// Change is merged over it: null removes a field, any other value replaces the contract's.
	Change map[string]any `yaml:"change"`
}

// kubernetesPlaceholder stands for the version of the image's kubelet, in contracts and in what a Node is compared with.
const kubernetesPlaceholder = "@KUBERNETES@"

// fill copies a contract of the case to the output directory, with the values of this run:
//
//	@CA@              the cluster's certificate authority, in base64
//	@CA_PEM@          the same as PEM, in the escapes of a JSON string
//	@CA_HASH@         the hash by which it is pinned, as kubeadm prints it
//	@OTHER_CA@        another one, of the same name
//	@SERVER@          the API server's address
//	@OTHER_SERVER@    another address of the API server's
//	@PRIVATE_SERVER@  the API server's name, as of a private link
//	@ROUTED_SERVER@   its name in the network's DNS server; its address is behind the default route
//	@CLUSTER_DNS@     a DNS server that knows the API server's Service
//	@NOBODY@          an unused address in the same network
//	@TOKEN@           a bootstrap token
//	@EXPIRED@         one that has expired
//	@MIRROR@          the address and port of the registries' mirror
//	@MIRROR_CA_PEM@   the authority of its certificate, as @CA_PEM@
//	@MIRROR_PASSWORD@ the password of its one user
//	@PROXY@           the address and port of the HTTP proxy
//	@TLS_PROXY@       the same of the proxy that wants TLS
//	@PROXY_CA_PEM@    the authority of its certificate, as @CA_PEM@
//	@REGISTRY_CA_PEM@ the authority of the registry that it leads to, as @CA_PEM@
//	@KUBERNETES@      the version of the image's kubelet
//	@MANIFEST@        the SHA-256 digest of the component manifest in the machine's image
//	@2 boots@         the seconds that two boots take
func (r *caseRun) fill(ctx context.Context, args contractArgs) (string, error) {
	name := args.Contract
	if name == "" {
		name = filepath.Join("..", "contract.json")
	}
	template, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return "", err
	}
	if args.Change != nil {
		if template, err = change(template, args.Change); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	filled, err := r.filled(ctx, name, string(template))
	if err != nil {
		return "", err
	}
	r.contracts++
	r.contract = filepath.Join(r.out, fmt.Sprintf("contract-%d.json", r.contracts))
	return r.contract, os.WriteFile(r.contract, []byte(filled), 0o600)
}

// filled replaces the placeholders in a text; name is for errors.
func (r *caseRun) filled(ctx context.Context, name, filled string) (string, error) {
	values := map[string]func() (string, error){
		"@CA@":                func() (string, error) { return base64.StdEncoding.EncodeToString(r.Lab.PKI.CA), nil },
		"@CA_PEM@":            func() (string, error) { return escaped(r.Lab.PKI.CA), nil },
		"@CA_HASH@":           r.authorityHash,
		"@OTHER_CA@":          r.otherAuthority,
		"@SERVER@":            func() (string, error) { return lab.HostAddress, nil },
		"@OTHER_SERVER@":      func() (string, error) { return lab.MirrorAddress, nil },
		"@PRIVATE_SERVER@":    func() (string, error) { return lab.PrivateServer, nil },
		"@ROUTED_SERVER@":     func() (string, error) { return lab.RoutedServer, nil },
		"@CLUSTER_DNS@":       func() (string, error) { return lab.ClusterDNS, nil },
		"@NOBODY@":            func() (string, error) { return lab.NobodysAddress, nil },
		"@TOKEN@":             func() (string, error) { return r.Lab.Token, nil },
		"@EXPIRED@":           func() (string, error) { return r.expiredToken(ctx) },
		"@MIRROR@":            func() (string, error) { return r.Lab.Registries.Mirror, nil },
		"@MIRROR_CA_PEM@":     func() (string, error) { return escaped(r.Lab.Registries.MirrorPKI.CA), nil },
		"@MIRROR_PASSWORD@":   func() (string, error) { return r.Lab.Registries.MirrorPassword, nil },
		"@PROXY@":             func() (string, error) { return r.Lab.Registries.Proxy, nil },
		"@TLS_PROXY@":         func() (string, error) { return r.Lab.Registries.TLSProxy, nil },
		"@PROXY_CA_PEM@":      func() (string, error) { return escaped(r.Lab.Registries.ProxyPKI.CA), nil },
		"@ISOLATED@":          func() (string, error) { return lab.IsolatedRegistry, nil },
		"@ISOLATED_CA@":       func() (string, error) { return base64.StdEncoding.EncodeToString(r.Lab.Isolated.PKI.CA), nil },
		kubernetesPlaceholder: func() (string, error) { return r.Kubelet, nil },
		"@MANIFEST@":          func() (string, error) { return r.manifestDigest(ctx) },
		"@REGISTRY_CA_PEM@":   func() (string, error) { return escaped(r.Lab.Registries.PKI.CA), nil },
	}
	for placeholder, value := range values {
		if !strings.Contains(filled, placeholder) {
			continue
		}
		text, err := value()
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", name, placeholder, err)
		}
		filled = strings.ReplaceAll(filled, placeholder, text)
	}
	filled, err := r.Pace.Seconds(filled)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return filled, nil
}

// manifestDigest is the digest of the component manifest in the machine's image.
func (r *caseRun) manifestDigest(ctx context.Context) (string, error) {
	manifest, err := parts.ReadDisk(ctx, r.machine().Disk, "cat "+components.Path)
	if err == nil && manifest == "" {
		err = errors.New("the image has no manifest")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(manifest))), err
}

// escaped returns a text with the escapes of a JSON string.
func escaped(text []byte) string { return strings.Trim(strconv.Quote(string(text)), `"`) }

// change merges a change over a document of JSON or YAML, and returns JSON.
func change(document []byte, with map[string]any) ([]byte, error) {
	var base map[string]any
	if err := yaml.Unmarshal(document, &base); err != nil { // every JSON document is also YAML
		return nil, err
	}
	return json.MarshalIndent(merge(base, with), "", "  ")
}

func merge(base, change map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = make(map[string]any)
	}
	for name, value := range change {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isMap:
			there, _ := merged[name].(map[string]any)
			merged[name] = merge(there, below)
		default:
			merged[name] = value
		}
	}
	return merged
}

func (r *caseRun) authorityHash() (string, error) {
	block, _ := pem.Decode(r.Lab.PKI.CA)
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(authority.RawSubjectPublicKeyInfo)), nil
}

func (r *caseRun) otherAuthority() (string, error) {
	other, err := lab.NewPKI(filepath.Join(r.dir, "other-pki"), "e2e-ca")
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(other.CA), nil
}

func (r *caseRun) expiredToken(ctx context.Context) (string, error) {
	token := lab.NewToken()
	return token, r.Lab.API.MakeToken(ctx, token, time.Now().Add(-time.Hour))
}
