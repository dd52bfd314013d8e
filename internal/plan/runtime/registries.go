package runtime

import (
	"encoding/base64"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// registries plans where images are pulled from: a directory for each registry, with a hosts.toml in it (containerd
// docs/hosts.md).
var registries = concern.Concern{
	Name:  "registries",
	Reads: []string{"$.cloud.azure.environment", setting.ComponentsRegistry, "$.runtime.registries"},
	Plan:  planRegistries,
}

// atNextPull is what a change of a registry takes.
var atNextPull = resource.Effects{
	Class:  resource.None,
	Why:    "containerd reads it at the next pull",
	Source: "containerd docs/hosts.md: updates do not require restarting the daemon",
}

func planRegistries(in *concern.Input, out *concern.Output) {
	for _, r := range registriesOf(in) {
		w := registryWriter{out: out, registry: &r, dir: concern.RegistriesDir + "/" + registryDirectory(r.host)}
		w.write()
		if r.asked == setting.ComponentsRegistry && in.Joins() {
			planRegistryReached(out, r.settings.Mirrors[0].URL)
		}
	}
}

// registryPatience is how long a registry is waited for (AKS: oras, 10 tries, 5 s apart, of images and of logins).
const registryPatience = resource.Duration(time.Minute)

// planRegistryReached waits until the registry of a cluster without a way out can be reached: the network may not be up yet. It is
// advisory, because a node that has its sandbox image can start without the registry.
func planRegistryReached(out *concern.Output, at string) {
	server, _, _ := strings.Cut(strings.TrimPrefix(at, "https://"), "/")
	out.AppendTo(concern.RegistryGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.TrustGroup.All()},
		ExitCode: exitcode.SandboxImageFailed,
		Reason:   "the node has its images from there: the registry's name, a connection, and TLS that the machine trusts",
		Spec: &resource.Check{
			Label: "registry", Advisory: true, Timeout: registryPatience,
			Reachable: &resource.Reachable{Server: concern.ServerAddress(&url.URL{Host: server})},
		},
	})
}

// registry is where the images of a host come from.
type registry struct {
	host     string
	settings nodeconfig.Registry
	// asked is the contract's setting that names the registry. Empty means that the family's table does. forwarded is the host name that
	// a mirror gets as the original target; empty if it gets none.
	asked, forwarded string
}

// registriesOf are the node's: the contract's by their hosts, then those that others stand in for. Those are the registry of a cluster
// without a way out, and a registry that the cloud has elsewhere.
func registriesOf(in *concern.Input) []registry {
	var all []registry
	named := in.Config.Runtime.Registries
	for _, host := range slices.Sorted(maps.Keys(named)) {
		all = append(all, registry{host: host, settings: named[host], asked: document.FieldPath("$.runtime.registries", host)})
	}
	standIn := func(host, asked, forwarded string, server nodeconfig.RegistryHost) {
		// The author's settings for the registry itself come first: they may have a certificate, or a login.
		if _, own := named[host]; !own {
			server.Capabilities = []string{"pull", "resolve"}
			all = append(all, registry{host, nodeconfig.Registry{Mirrors: []nodeconfig.RegistryHost{server}}, asked, forwarded})
		}
	}
	family := &in.Family.Runtime
	if own := in.Config.Components.Registry; own != "" && family.Registry != "" {
		// The API's path comes before the path prefix of the registry's images (OCI distribution specification,
		// endpoints).
		host, below, _ := strings.Cut(own, "/")
		standIn(family.Registry, setting.ComponentsRegistry, "", nodeconfig.RegistryHost{URL: "https://" + path.Join(host, "v2", below), OverridePath: true})
	}
	if moved, a := &family.Moved, in.Config.Cloud.Azure; moved.Registry != "" && a != nil && a.Environment == moved.Environment {
		standIn(moved.Registry, "", moved.Registry, nodeconfig.RegistryHost{URL: moved.Server})
	}
	return all
}

// registryDirectory is the name that containerd looks for first, so a directory with another name in the image does not hide it
// (containerd docs/hosts.md, "Port Handling in Registry Host").
func registryDirectory(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		return host[:i] + "_" + host[i+1:] + "_"
	}
	return host
}

// registryWriter writes a registry's directory.
type registryWriter struct {
	*registry
	out    *concern.Output
	dir    string
	doc    toml.Table
	secret bool
}

func (r *registryWriter) write() {
	// The directory is a separate resource, and is removed with the registry: if a directory exists, containerd looks no
	// further.
	r.add(&resource.Directory{Path: r.dir, Mode: 0o755}, "the settings of a registry, by the name that images have for it")
	if server := r.settings.Server; server != nil {
		r.doc.Set(server.URL, "server")
		r.server(&r.doc, server, "server.crt")
	}
	for i := range r.settings.Mirrors {
		h := &r.settings.Mirrors[i]
		// The tables' order is the mirrors' (containerd: core/remotes/docker/config/hosts.go, getSortedHosts).
		t := r.doc.At("host", h.URL)
		r.server(t, h, "mirror-"+strconv.Itoa(i+1)+".crt")
		if r.forwarded != "" {
			t.Set([]any{r.forwarded}, "header", "X-Forwarded-For")
		}
	}
	file := &resource.File{Path: r.dir + "/hosts.toml", Mode: 0o644, Content: r.doc.Bytes(), Secret: r.secret}
	if r.secret {
		file.Mode = 0o600
	}
	r.add(file, "the mirrors of a registry, and how each is reached")
}

// server describes a server in its table.
func (r *registryWriter) server(t *toml.Table, h *nodeconfig.RegistryHost, authority string) {
	capabilities := make([]any, len(h.Capabilities))
	for i, capability := range h.Capabilities {
		capabilities[i] = capability
	}
	t.Set(capabilities, "capabilities")
	if h.CertificateAuthority != "" {
		file := &resource.File{Path: r.dir + "/" + authority, Mode: 0o644, Content: []byte(h.CertificateAuthority)}
		r.add(file, "certificates that a registry's server is verified with")
		t.Set(file.Path, "ca")
	}
	if h.SkipVerify {
		t.Set(true, "skip_verify")
	}
	if h.OverridePath {
		t.Set(true, "override_path")
	}
	if !h.Password.IsZero() {
		// hosts.toml has no credentials but a header (RFC 7617, "The 'Basic' HTTP Authentication Scheme").
		r.secret = true
		login := h.Username.Reveal() + ":" + h.Password.Reveal()
		t.Set([]any{"Basic " + base64.StdEncoding.EncodeToString([]byte(login))}, "header", "Authorization")
	}
}

func (r *registryWriter) add(spec resource.Spec, reason string) {
	r.out.Append(resource.Resource{Phase: resource.Base, Effects: atNextPull, Reason: reason, Spec: spec})
	if r.asked != "" {
		r.out.AskedBy(r.asked)
	}
}
