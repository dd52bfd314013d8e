package plan

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// registriesDir is where containerd looks for the settings of registries.
const registriesDir = "/etc/containerd/certs.d"

// registries plans where images are pulled from: a directory for each registry, with a hosts.toml in it (containerd
// docs/hosts.md).
var registries = concern{
	name:  "registries",
	reads: []string{"$.runtime.registries"},
	plan:  planRegistries,
}

// atNextPull is what a change of a registry takes.
var atNextPull = resource.Effects{
	Class:  resource.None,
	Why:    "containerd reads it at the next pull",
	Source: "containerd docs/hosts.md: updates do not require restarting the daemon",
}

func planRegistries(in *input, out *output) {
	all := in.config.Runtime.Registries
	for _, host := range slices.Sorted(maps.Keys(all)) {
		r := registry{out: out, dir: registriesDir + "/" + registryDirectory(host), path: document.FieldPath("$.runtime.registries", host)}
		r.plan(all[host])
	}
}

// registryDirectory is the name that containerd looks for first: another one that the image has brought does not hide it
// (containerd docs/hosts.md, "Port Handling in Registry Host").
func registryDirectory(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		return host[:i] + "_" + host[i+1:] + "_"
	}
	return host
}

// registry plans one registry's directory.
type registry struct {
	out       *output
	dir, path string
	doc       toml.Table
	secret    bool
}

func (r *registry) plan(registry nodeconfig.Registry) {
	// It is a resource of its own, and goes with the registry: containerd looks no further than to a directory that is
	// there.
	r.add(&resource.Directory{Path: r.dir, Mode: 0o755}, "the settings of a registry, by the name that images have for it")
	if registry.Server != nil {
		r.doc.Set(registry.Server.URL, "server")
		r.host(&r.doc, registry.Server, "server.crt")
	}
	for i := range registry.Mirrors {
		h := &registry.Mirrors[i]
		// The tables' order is the mirrors' (containerd: core/remotes/docker/config/hosts.go, getSortedHosts).
		r.host(r.doc.At("host", h.URL), h, "mirror-"+strconv.Itoa(i+1)+".crt")
	}
	file := &resource.File{Path: r.dir + "/hosts.toml", Mode: 0o644, Content: r.doc.Bytes(), Secret: r.secret}
	if r.secret {
		file.Mode = 0o600
	}
	r.add(file, "the mirrors of a registry, and how each is reached")
}

// host describes a server in its table.
func (r *registry) host(t *toml.Table, h *nodeconfig.RegistryHost, authority string) {
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

func (r *registry) add(spec resource.Spec, reason string) {
	r.out.add(resource.Resource{Phase: resource.Base, Effects: atNextPull, Reason: reason, Spec: spec})
	r.out.askedBy(r.path)
}
