package kubeletsetup

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Access is how a kubeconfig reaches a cluster, and with which credential. Its parts that are files are not read yet.
type Access struct {
	// File is the kubeconfig, or the contract in its place.
	File string
	// Server is the API server's URL, Name the name in its certificate, if it is not the host, and Proxy an HTTP proxy.
	Server, Name string
	Proxy        nodeconfig.Secret
	// Authority is the server's CA in PEM, or AuthorityFile has it.
	Authority, AuthorityFile string
	// Insecure reports that the server's certificate is not checked.
	Insecure bool
	// Token is a token, or TokenFile has it.
	Token     nodeconfig.Secret
	TokenFile string
	// Certificate and Key are a client certificate in PEM, or the files have them.
	Certificate, Key         nodeconfig.Secret
	CertificateFile, KeyFile string
	// Plugin is a credential plug-in with its arguments and its environment. It may be empty.
	Plugin    []string
	PluginEnv map[string]string
}

// MaxKubeconfig limits a kubeconfig.
const MaxKubeconfig = document.MaxBytes

// ReadKubeconfig reads the current context of a kubeconfig. Paths in it are relative to it (Kubernetes docs, Organizing
// Cluster Access Using kubeconfig Files).
func ReadKubeconfig(files interface {
	ReadLinked(path string, limit int64) ([]byte, error)
}, file string) (*Access, error) {
	content, err := files.ReadLinked(file, MaxKubeconfig)
	if err != nil {
		return nil, err
	}
	a, err := parseKubeconfig(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	a.File = file
	for _, at := range []*string{&a.AuthorityFile, &a.TokenFile, &a.CertificateFile, &a.KeyFile} {
		if *at != "" && !path.IsAbs(*at) {
			*at = path.Join(path.Dir(file), *at)
		}
	}
	return a, nil
}

func parseKubeconfig(content []byte) (*Access, error) {
	top, err := document.Parse(content)
	if err != nil {
		return nil, fmt.Errorf("is no kubeconfig: %w", err)
	}
	current := top.GetText("current-context")
	use := entry(top, "contexts", current, "context")
	if use == nil {
		return nil, fmt.Errorf("has no context %q, which is its current one", current)
	}
	cluster := entry(top, "clusters", use.GetText("cluster"), "cluster")
	if cluster == nil {
		return nil, errors.New("has no cluster for its current context")
	}
	user := entry(top, "users", use.GetText("user"), "user") // a kubeconfig without users has no credential
	a := &Access{
		Server: cluster.GetText("server"), Name: cluster.GetText("tls-server-name"), Proxy: nodeconfig.NewSecret(cluster.GetText("proxy-url")),
		AuthorityFile: cluster.GetText("certificate-authority"),
		Token:         nodeconfig.NewSecret(user.GetText("token")), TokenFile: user.GetText("tokenFile"),
		CertificateFile: user.GetText("client-certificate"), KeyFile: user.GetText("client-key"),
	}
	if n, ok := cluster.Get("insecure-skip-tls-verify"); ok {
		a.Insecure = n.Kind == document.Bool && n.Text == "true"
	}
	if u, err := url.Parse(a.Server); err != nil || u.Hostname() == "" || u.User != nil {
		return nil, errors.New("has no server with a URL")
	}
	for _, data := range []struct {
		in   *document.Node
		name string
		set  func(text string)
	}{
		{cluster, "certificate-authority-data", func(text string) { a.Authority = text }},
		{user, "client-certificate-data", func(text string) { a.Certificate = nodeconfig.NewSecret(text) }},
		{user, "client-key-data", func(text string) { a.Key = nodeconfig.NewSecret(text) }},
	} {
		text, err := base64.StdEncoding.DecodeString(data.in.GetText(data.name))
		if err != nil {
			return nil, fmt.Errorf("has a %s that is not base64", data.name)
		}
		data.set(string(text))
	}
	a.readPlugin(user)
	return a, nil
}

// readPlugin reads the credential plug-in of a user (k8s.io/client-go, tools/clientcmd/api/v1, ExecConfig).
func (a *Access) readPlugin(user *document.Node) {
	plugin, ok := user.Get("exec")
	if !ok || plugin.GetText("command") == "" {
		return
	}
	a.Plugin = []string{plugin.GetText("command")}
	if args, ok := plugin.Get("args"); ok {
		for i := range args.Items {
			a.Plugin = append(a.Plugin, args.Items[i].Text)
		}
	}
	a.PluginEnv = map[string]string{
		"KUBERNETES_EXEC_INFO": `{"kind":"ExecCredential","apiVersion":"` + plugin.GetText("apiVersion") + `","spec":{"interactive":false}}`,
	}
	if env, ok := plugin.Get("env"); ok {
		for i := range env.Items {
			a.PluginEnv[env.Items[i].GetText("name")] = env.Items[i].GetText("value")
		}
	}
}

// entry is the named entry of a list in a kubeconfig, or nil.
func entry(top *document.Node, list, name, holds string) *document.Node {
	entries, ok := top.Get(list)
	if !ok {
		return nil
	}
	for i := range entries.Items {
		if entries.Items[i].GetText("name") == name {
			n, _ := entries.Items[i].Get(holds)
			return n
		}
	}
	return nil
}

// Kind names the credential for people: what it is, and where.
func (a *Access) Kind() string {
	switch {
	case !a.Certificate.IsZero():
		return "the client certificate in " + a.File
	case a.CertificateFile != "":
		return "the client certificate " + a.CertificateFile
	case len(a.Plugin) > 0:
		return "the credential plug-in " + a.Plugin[0]
	case a.TokenFile != "":
		return "the token in " + a.TokenFile
	case !a.Token.IsZero():
		return "the token in " + a.File
	}
	return ""
}
