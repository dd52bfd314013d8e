package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
)

// kubeconfig has the fields of a kubeconfig that reading an API server needs (k8s.io/client-go, tools/clientcmd/api/v1/types.go).
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster struct {
			Server        string
			Authority     []byte `json:"certificate-authority-data"`
			AuthorityFile string `json:"certificate-authority"`
			ServerName    string `json:"tls-server-name"`
		}
	}
	Users []struct {
		Name string
		User kubeconfigUser
	}
}

type kubeconfigUser struct {
	Token           string
	TokenFile       string
	Certificate     []byte `json:"client-certificate-data"`
	CertificateFile string `json:"client-certificate"`
	Key             []byte `json:"client-key-data"`
	KeyFile         string `json:"client-key"`
	Exec            json.RawMessage
}

// errExec is why a kubeconfig with a credential plug-in is not used: this program runs no other program.
var errExec = errors.New("its user has a credential plug-in, which this program does not run: " +
	"give it the output of \"kubectl get node,csr -o json\" as a file")

// apiServer is an API server with the credential for it.
type apiServer struct {
	url, token string
	client     *http.Client
}

// apiServerTimeout limits a request, and maxAnswer its answer.
const (
	apiServerTimeout = 30 * time.Second
	maxAnswer        = 64 << 20
)

// openKubeconfig reads the current context of a kubeconfig.
func openKubeconfig(path string) (*apiServer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tree, err := document.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var config kubeconfig
	if err := json.Unmarshal(tree.AppendJSON(nil), &config); err != nil {
		return nil, fmt.Errorf("%s: a field has another type than in a kubeconfig: %w", path, err)
	}
	server, err := config.server(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return server, nil
}

// server is the API server of the current context. Relative paths count from dir.
func (c *kubeconfig) server(dir string) (*apiServer, error) {
	for _, named := range c.Contexts {
		if named.Name != c.CurrentContext {
			continue
		}
		s := &apiServer{}
		settings := &tls.Config{MinVersion: tls.VersionTLS12}
		for _, cluster := range c.Clusters {
			if cluster.Name != named.Context.Cluster {
				continue
			}
			authority, err := inline(cluster.Cluster.Authority, dir, cluster.Cluster.AuthorityFile)
			if err != nil {
				return nil, err
			}
			s.url, settings.ServerName = strings.TrimSuffix(cluster.Cluster.Server, "/"), cluster.Cluster.ServerName
			if len(authority) > 0 {
				if settings.RootCAs = x509.NewCertPool(); !settings.RootCAs.AppendCertsFromPEM(authority) {
					return nil, errors.New("the cluster's certificate authority is not PEM")
				}
			}
		}
		if !strings.HasPrefix(s.url, "https://") {
			return nil, fmt.Errorf("the cluster %q has no https URL", named.Context.Cluster)
		}
		for _, user := range c.Users {
			if user.Name == named.Context.User {
				if err := user.User.use(s, settings, dir); err != nil {
					return nil, err
				}
			}
		}
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: settings, MaxResponseHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(true)
		s.client = &http.Client{Transport: transport, Timeout: apiServerTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the API server redirects to another one, which gets no credential")
		}}
		return s, nil
	}
	return nil, fmt.Errorf("the current context %q is not in it", c.CurrentContext)
}

// use adds a user's credential.
func (u *kubeconfigUser) use(s *apiServer, settings *tls.Config, dir string) error {
	token, err := inline([]byte(u.Token), dir, u.TokenFile)
	if err != nil {
		return err
	}
	s.token = strings.TrimSpace(string(token))
	certificate, err := inline(u.Certificate, dir, u.CertificateFile)
	if err != nil {
		return err
	}
	key, err := inline(u.Key, dir, u.KeyFile)
	if err != nil {
		return err
	}
	if len(certificate) > 0 {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return errors.New("the user's client certificate and key do not fit or are not PEM")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	if s.token == "" && len(certificate) == 0 && len(u.Exec) > 0 {
		return errExec
	}
	return nil
}

// inline is a value, or the content of the file that has it.
func inline(value []byte, dir, file string) ([]byte, error) {
	if len(value) > 0 || file == "" {
		return value, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return os.ReadFile(file)
}
