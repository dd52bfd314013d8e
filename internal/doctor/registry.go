package doctor

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/redact"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
)

const (
	// usualRegistry has the sandbox image of a containerd without a setting, whose version has it as its default.
	usualRegistry = "registry.k8s.io"
	// maxMirrors limits the mirrors that are asked.
	maxMirrors = 8
	// registryPatience is how long a registry may take.
	registryPatience = 2 * time.Second
)

// registryChecks are those of the registry that the node itself needs.
var registryChecks = []Check{{
	Name: "registry", Asks: "Does the node get the sandbox image, without which no pod starts?",
	Needs: []string{"clock", "route", "names", "proxy"}, Live: true, Deadline: registryPatience + time.Second,
	Causes: []Cause{
		{"unreachable", "the node does not hold the image, and neither the registry nor a mirror can be reached", "let this machine reach the registry (firewall, proxy, private endpoint), or name a mirror in /etc/containerd/certs.d, or load the image beforehand (`ctr -n k8s.io images import`)"},
		{"certificate", "the registry's certificate is not trusted", "add the registry's CA to the machine's trusted certificates or to ca= in its hosts.toml; a proxy that inspects TLS has a CA, too"},
		{"denied-acr", "Azure's registry denies access to this network (HTTP status 403)", "add this machine's network to the registry's network rules, or use its private endpoint with the zone privatelink.azurecr.io"},
		{"denied-ecr", "Amazon's registry denies access (HTTP status 403)", "let the instance's role pull (policy AmazonEC2ContainerRegistryPullOnly), and check the endpoint policy of the VPC endpoints ecr.api, ecr.dkr and s3"},
		{"denied", "the registry denies access (HTTP status 403)", "ask the registry's owner to allow this machine's network"},
		{"failing", "the server does not answer as a registry does", "check the registry's URL, and look at the registry's log"},
		{"provider", "the kubelet's image credential provider is missing", "install the provider's program in the directory of --image-credential-provider-bin-dir, or remove it from the provider's configuration: the kubelet does not start without it"},
	},
	Look: lookRegistry,
}}

// registryHost is where a registry or a mirror listens.
type registryHost struct {
	url, host, port string
	authority       string
	unverified      bool
}

// sandbox is the sandbox image in containerd's configuration, with its registry.
type sandbox struct {
	image, host, port string
	dirs              []string // with the registries' settings
}

// sandboxRegistry reads containerd's configuration, of the versions 1 to 3 (containerd: docs/cri/config.md).
func sandboxRegistry(p *Patient) sandbox {
	top := p.containerd().merged
	var s sandbox
	for _, plugin := range []struct{ name, section, image string }{
		{"io.containerd.cri.v1.images", "pinned_images", "sandbox"},
		{"io.containerd.grpc.v1.cri", "", "sandbox_image"},
		{"cri", "", "sandbox_image"},
	} {
		at := []string{"plugins", plugin.name}
		image := slices.Clone(at)
		if plugin.section != "" {
			image = append(image, plugin.section)
		}
		text, _ := top.Get(append(image, plugin.image)...).(string)
		s.image = cmp.Or(s.image, text)
		if dirs, ok := top.Get(append(at, "registry", "config_path")...).(string); ok && s.dirs == nil && dirs != "" {
			s.dirs = strings.Split(dirs, ":")
		}
	}
	registry, _, hasPath := strings.Cut(s.image, "/")
	if !hasPath || registry == "localhost" || !strings.ContainsAny(registry, ".:") {
		return s // the image is local, or the registry is Docker's, which has other rules
	}
	name, port, _ := strings.Cut(registry, ":")
	s.host, s.port = name, cmp.Or(port, "443")
	return s
}

// hosts are the registry's mirrors, and then the registry itself.
func (s *sandbox) hosts(files Files) (all []registryHost) {
	name := s.host
	if s.port != "443" {
		name += ":" + s.port
	}
	own := registryHost{url: "https://" + name, host: s.host, port: s.port}
	for _, dir := range s.dirs {
		for _, at := range []string{name, "_default"} {
			content, err := files.ReadLinked(path.Join(dir, at, "hosts.toml"), kubeletsetup.MaxConfig)
			if err != nil {
				continue
			}
			mirrors, server := parseHostsToml(files, path.Join(dir, at), string(content))
			all = append(all, mirrors...)
			if server.url != "" {
				own = server
			}
			return append(all, own)
		}
	}
	return append(all, own)
}

// parseHostsToml reads the settings of a registry (containerd: docs/hosts.md).
func parseHostsToml(files Files, dir, content string) (mirrors []registryHost, server registryHost) {
	top, err := toml.Parse(content)
	if err != nil {
		return nil, server
	}
	if text, ok := top.Get("server").(string); ok {
		server, _ = registryAt(text)
		server.settings(files, dir, top)
	}
	table := top.At("host")
	for name, value := range table.All() {
		settings, ok := value.(*toml.Table)
		m, valid := registryAt(name)
		if !ok || !valid || len(mirrors) == maxMirrors {
			continue
		}
		m.settings(files, dir, settings)
		mirrors = append(mirrors, m)
	}
	return mirrors, server
}

func registryAt(text string) (r registryHost, valid bool) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return r, false
	}
	return registryHost{url: u.Scheme + "://" + u.Host, host: u.Hostname(), port: cmp.Or(u.Port(), defaultPorts[u.Scheme])}, true
}

// settings reads how a host's certificate is checked.
func (r *registryHost) settings(files Files, dir string, table *toml.Table) {
	r.unverified, _ = table.Get("skip_verify").(bool)
	file, ok := table.Get("ca").(string)
	if !ok {
		return
	}
	if !path.IsAbs(file) {
		file = path.Join(dir, file)
	}
	if content, err := files.ReadLinked(file, kubeletsetup.MaxKubeconfig); err == nil {
		r.authority = string(content)
	}
}

// holdsSandboxImage reports whether the container runtime holds the sandbox image. If the runtime does not answer, the
// runtime's check reports that, and the registry counts as not needed.
func (p *Patient) holdsSandboxImage(ctx context.Context) bool {
	s := sandboxRegistry(p)
	if s.host == "" {
		return true
	}
	held, err := p.Machine.HasImage(ctx, &resource.Image{Image: s.image, Socket: p.Kubelet().Socket(), Timeout: resource.Duration(p.Patience(time.Second))})
	return held || err != nil
}

func lookRegistry(ctx context.Context, p *Patient) *Finding {
	if missing := missingProvider(p); missing != "" {
		return wrong("provider", "the kubelet's image credential provider %s does not exist", missing)
	}
	s := sandboxRegistry(p)
	if s.host == "" {
		return fine("the sandbox image needs no registry")
	}
	limited, cancel := context.WithTimeout(ctx, p.Patience(registryPatience))
	defer cancel()
	f := new(Finding)
	var last *host.Outcome
	hosts := s.hosts(p.Machine)
	share := p.Patience(registryPatience) / time.Duration(len(hosts))
	for i, h := range hosts {
		each, done := context.WithTimeout(limited, share*time.Duration(i+1))
		o := p.Machine.Attempt(each, &host.Attempt{
			URL: h.url + "/v2/", Authority: h.authority, Unverified: h.unverified, Proxy: proxyOf(p.runtimeService(), h.host, h.port), Limit: 4 << 10,
		})
		done()
		f.with("GET "+h.url+"/v2/", describe(o))
		// The distribution specification: 200, or 401 with a challenge for a login.
		if o.Failed == "" && (o.Status == http.StatusOK || o.Status == http.StatusUnauthorized) {
			return f.fine("the registry %s of the sandbox image answers (HTTP status %d)", h.url, o.Status)
		}
		last = o
	}
	own := hosts[len(hosts)-1]
	if p.holdsSandboxImage(ctx) {
		return f.fine("the registry %s does not answer, and the node does not need it: it holds the sandbox image", own.url)
	}
	return judgeRegistry(f, p, s.image, own, last)
}

// judgeRegistry is the verdict about the registry itself; its mirrors have failed, too.
func judgeRegistry(f *Finding, p *Patient, image string, h registryHost, o *host.Outcome) *Finding {
	what := fmt.Sprintf("the node does not hold the sandbox image %s, and %s", redact.Line(image, 120), h.url)
	var unknownCA x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	switch {
	case o.Failed == host.Secured && (errors.As(o.Err, &unknownCA) || errors.As(o.Err, &invalid) || errors.As(o.Err, &name)):
		return f.wrong("certificate", "%s has a certificate that this machine does not trust: %s", what, redact.Line(reason(o.Err), 120))
	case o.Failed != "" && errors.Is(o.Err, syscall.ECONNREFUSED):
		return f.wrong("unreachable", "%s refuses the connection (%s)", what, o.Address)
	case o.Failed != "" && isTimeout(o.Err):
		return f.wrong("unreachable", "%s does not answer within %s", what, p.Patience(registryPatience).Round(time.Second))
	case o.Failed != "":
		return f.wrong("unreachable", "%s cannot be reached: %s", what, redact.Line(reason(o.Err), 120))
	case o.Status == http.StatusForbidden:
		return f.wrong(deniedBy(h.host), "%s answers HTTP status 403", what)
	}
	return f.wrong("failing", "%s answers GET /v2/ with HTTP status %d", what, o.Status)
}

// deniedBy is the cause of a 403, by the registry's domain.
func deniedBy(name string) string {
	switch {
	case strings.Contains(name, ".azurecr."):
		return "denied-acr"
	case strings.Contains(name, ".dkr.ecr") || strings.Contains(name, ".dkr-ecr."):
		return "denied-ecr"
	}
	return "denied"
}

// missingProvider is the program of an image credential provider that does not exist, or "".
func missingProvider(p *Patient) string {
	k := p.Kubelet()
	config, _ := k.Flag("image-credential-provider-config")
	dir, _ := k.Flag("image-credential-provider-bin-dir")
	if config == "" || dir == "" {
		return ""
	}
	content, err := p.Machine.ReadLinked(config, kubeletsetup.MaxConfig)
	if err != nil {
		return ""
	}
	tree, err := document.Parse(content)
	if err != nil {
		return ""
	}
	providers, _ := tree.Get("providers")
	if providers == nil {
		return ""
	}
	for i := range providers.Items {
		name := providers.Items[i].GetText("name")
		if name == "" || strings.Contains(name, "/") {
			continue
		}
		at := path.Join(dir, name)
		if entry, err := p.Machine.Stat(at); err == nil && entry.Kind == "" {
			return at
		}
	}
	return ""
}
