package commands

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/kubeletsetup"
)

// errPlugin is why a kubeconfig with a credential plug-in is not used: this program runs no other program.
var errPlugin = errors.New("its user has a credential plug-in, which this program does not run: " +
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
	access, err := kubeletsetup.ReadKubeconfig(workstation{}, path)
	if err != nil {
		return nil, err
	}
	server, err := connected(access)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return server, nil
}

// workstation has the files of the machine on which the program runs.
type workstation struct{}

// ReadLinked reads a file of at most limit bytes.
func (workstation) ReadLinked(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s is larger than the limit of %d bytes", path, limit)
	}
	return content, err
}

// connected is the API server that a kubeconfig leads to.
func connected(access *kubeletsetup.Access) (*apiServer, error) {
	if !strings.HasPrefix(access.Server, "https://") {
		return nil, errors.New("its cluster has no https URL")
	}
	var parts [4]string
	var errs []error
	for i, part := range []struct{ value, file string }{
		{access.Authority, access.AuthorityFile}, {access.Token.Reveal(), access.TokenFile},
		{access.Certificate.Reveal(), access.CertificateFile}, {access.Key.Reveal(), access.KeyFile},
	} {
		parts[i] = part.value
		if part.value == "" && part.file != "" {
			content, err := workstation{}.ReadLinked(part.file, kubeletsetup.MaxKubeconfig)
			parts[i], errs = string(content), append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	authority, token, certificate, key := parts[0], strings.TrimSpace(parts[1]), parts[2], parts[3]
	settings := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: access.Name, InsecureSkipVerify: access.Insecure}
	if authority != "" {
		if settings.RootCAs = x509.NewCertPool(); !settings.RootCAs.AppendCertsFromPEM([]byte(authority)) {
			return nil, errors.New("the cluster's certificate authority is not PEM")
		}
	}
	if certificate != "" {
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			return nil, errors.New("the user's client certificate and key do not fit or are not PEM")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	if token == "" && certificate == "" && len(access.Plugin) > 0 {
		return nil, errPlugin
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: settings, MaxResponseHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true)
	if proxy := access.Proxy.Reveal(); proxy != "" {
		server, err := url.Parse(proxy)
		if err != nil {
			return nil, errors.New("its proxy-url is no URL")
		}
		transport.Proxy = http.ProxyURL(server)
	}
	return &apiServer{
		url: strings.TrimSuffix(access.Server, "/"), token: token,
		client: &http.Client{Transport: transport, Timeout: apiServerTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the API server redirects to another one, which gets no credential")
		}},
	}, nil
}
