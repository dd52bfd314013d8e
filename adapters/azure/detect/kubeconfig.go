package detect

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kubeconfig has the fields of a kubeconfig that this package reads (k8s.io/client-go, tools/clientcmd/api/v1), without kubectl's
// own.
type kubeconfig struct {
	CurrentContext string         `json:"current-context"`
	Contexts       []namedContext `json:"contexts"`
	Clusters       []namedServer  `json:"clusters"`
	Users          []namedUser    `json:"users"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

type namedServer struct {
	Name    string `json:"name"`
	Cluster server `json:"cluster"`
}

type namedUser struct {
	Name string `json:"name"`
	User user   `json:"user"`
}

// server is the way to an API server.
type server struct {
	Server        string `json:"server"`
	Authority     string `json:"certificate-authority-data"`
	AuthorityFile string `json:"certificate-authority"`
	ServerName    string `json:"tls-server-name"`
	Proxy         string `json:"proxy-url"`
	Insecure      bool   `json:"insecure-skip-tls-verify"`
}

// user is the credential.
type user struct {
	Token           nodeconfig.Secret `json:"token"`
	TokenFile       string            `json:"tokenFile"`
	Certificate     string            `json:"client-certificate-data"`
	CertificateFile string            `json:"client-certificate"`
	Key             nodeconfig.Secret `json:"client-key-data"`
	KeyFile         string            `json:"client-key"`
	Exec            *plugin           `json:"exec"`
	// The fields below are refused.
	Provider any               `json:"auth-provider"`
	Name     string            `json:"username"`
	Password nodeconfig.Secret `json:"password"`
	As       string            `json:"as"`
}

// settings are one context of a kubeconfig.
type settings struct {
	// context is its name, directory the base of relative paths.
	context, directory string
	server             server
	user               user
}

// readKubeconfig reads a context of a kubeconfig. Empty means the current one. No error repeats a value that may be secret.
func readKubeconfig(data []byte, directory, context string) (*settings, error) {
	tree, err := document.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("is not a kubeconfig: %w", err)
	}
	var config kubeconfig
	var wrong []error
	document.Decode(tree, &config, document.Options{Names: document.JSONNames, Report: func(f document.Fault) {
		if f.Kind == document.WrongType || f.Kind == document.Invalid {
			wrong = append(wrong, fmt.Errorf("%s: %s", f.Path, f.Reason))
		}
	}})
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	s := &settings{context: cmp.Or(context, config.CurrentContext), directory: directory}
	if s.context == "" {
		return nil, errors.New("names no current context; name one with --context")
	}
	i := slices.IndexFunc(config.Contexts, func(c namedContext) bool { return c.Name == s.context })
	if i < 0 {
		return nil, fmt.Errorf("has no context %q", s.context)
	}
	pair := config.Contexts[i].Context
	i = slices.IndexFunc(config.Clusters, func(c namedServer) bool { return c.Name == pair.Cluster })
	if i < 0 {
		return nil, fmt.Errorf("the context %q names the cluster %q, which is not in the kubeconfig", s.context, pair.Cluster)
	}
	s.server = config.Clusters[i].Cluster
	// Without a user the request is anonymous, which may at least read the version.
	if i = slices.IndexFunc(config.Users, func(u namedUser) bool { return u.Name == pair.User }); i >= 0 {
		s.user = config.Users[i].User
	}
	return s, nil
}

// authority returns the cluster's CA as PEM.
func (s *settings) authority() ([]byte, error) {
	if s.server.Insecure {
		return nil, errors.New("insecure-skip-tls-verify: takes any server for the cluster's; give the cluster's CA instead")
	}
	data, err := s.content("certificate-authority", s.server.Authority, s.server.AuthorityFile)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, errors.New("certificate-authority-data: is missing; a node must know the CA of its cluster")
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return nil, errors.New("certificate-authority-data: is not a PEM certificate")
	}
	return data, nil
}

// content returns a value that is in the kubeconfig in base64, or in a file.
func (s *settings) content(field, inline, file string) ([]byte, error) {
	switch {
	case inline != "":
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(inline))
		if err != nil {
			return nil, fmt.Errorf("%s-data: is not base64", field)
		}
		return data, nil
	case file != "":
		return s.file(field, file)
	}
	return nil, nil
}

// file reads a file that the kubeconfig names.
func (s *settings) file(field, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.directory, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return data, nil
}

// refused rejects fields that today's Kubernetes clients do not have, and fields for impersonation.
func (s *settings) refused() error {
	var wrong []error
	for _, row := range []struct {
		set           bool
		field, reason string
	}{
		{s.user.Provider != nil, "auth-provider", "is not in Kubernetes any more; use exec"},
		{s.user.Name != "" || !s.user.Password.IsZero(), "username", "is no credential that an API server takes"},
		{s.user.As != "", "as", "impersonates another user; use a context that does not"},
	} {
		if row.set {
			wrong = append(wrong, fmt.Errorf("%s: %s", row.field, row.reason))
		}
	}
	return errors.Join(wrong...)
}

// endpoint is the API server's URL.
func (s *settings) endpoint() (string, error) {
	u, err := url.Parse(s.server.Server)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", errors.New("server: want a URL such as https://HOST:443")
	}
	return strings.TrimSuffix(s.server.Server, "/"), nil
}

// certificate returns the client certificate, or nil.
func (s *settings) certificate() (*tls.Certificate, error) {
	certificate, err := s.content("client-certificate", s.user.Certificate, s.user.CertificateFile)
	if err != nil {
		return nil, err
	}
	key, err := s.content("client-key", s.user.Key.Reveal(), s.user.KeyFile)
	if err != nil {
		return nil, err
	}
	if certificate == nil && key == nil {
		return nil, nil
	}
	return pair(certificate, key)
}

// pair parses a certificate with its key.
func pair(certificate, key []byte) (*tls.Certificate, error) {
	c, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errors.New("the client's certificate and key are not a pair in PEM")
	}
	return &c, nil
}

// token returns the client's token, or an empty one.
func (s *settings) token() (nodeconfig.Secret, error) {
	if !s.user.Token.IsZero() || s.user.TokenFile == "" {
		return s.user.Token, nil
	}
	data, err := s.file("tokenFile", s.user.TokenFile)
	return nodeconfig.NewSecret(strings.TrimSpace(string(data))), err
}
