package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	containerdSocket  = "unix:///run/containerd/containerd.sock"
	containerdDropIns = resource.UnitDir + "/" + containerdUnit + ".d/"
)

// containerd plans the container runtime: its configuration, its unit and its start.
var containerd = concern{
	name: "containerd",
	reads: []string{
		"$.components.artifacts.*.version",
		"$.network.plugin",
		"$.network.policy",
		"$.runtime.cgroupDriver",
		"$.runtime.containerd.dataDir",
		"$.runtime.containerd.limits",
		"$.runtime.containerd.metricsAddress",
		"$.runtime.containerd.registryHeaders",
		"$.runtime.sandboxImage",
	},
	plan: planContainerd,
}

func planContainerd(in *input, out *output) {
	out.directory("/etc/containerd/certs.d", 0o755, "registries are configured here, one directory for each")
	out.guarded(secretHeaders(in.config.Runtime.Containerd.RegistryHeaders), resource.Base, ContainerdConfig, 0o644, containerdConfig(in), "containerd's configuration", containerdUnit)
	out.file(resource.Base, resource.UnitDir+"/"+containerdUnit, 0o644, containerdUnitFile(in.family.Paths.Containerd), "containerd's whole unit", containerdUnit)
	out.file(resource.Base, containerdDropIns+in.family.Runtime.Forward.File, 0o644, unitFile(
		"[Service]",
		"# Pods are forwarded even where a distribution's firewall would not; a host without iptables has none.",
		"ExecStartPost=-iptables -w -P FORWARD ACCEPT",
		"LimitNOFILE=1048576",
	), sourced("forwards pods' packets", in.family.Runtime.Forward.Source), containerdUnit)
	if limits := in.config.Runtime.Containerd.Limits; len(limits) > 0 {
		lines := []string{"[Service]"}
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			lines = append(lines, "Limit"+name+"="+unitValue(limits[name]))
		}
		out.file(resource.Base, containerdDropIns+in.family.Runtime.Limits.File, 0o600, unitFile(lines...),
			sourced("the contract's limits", in.family.Runtime.Limits.Source), containerdUnit)
	}
	out.enable(resource.Base, containerdUnit)
	out.add(resource.Resource{
		Phase:    resource.Base,
		Requires: []resource.ID{resource.IDOf(&resource.Module{Module: "overlay"}), imageGroup.all(), trustGroup.all()},
		ExitCode: exitcode.UnitStartFailed,
		Reason:   "the container runtime runs",
		Spec:     &resource.Unit{Unit: containerdUnit},
	})
	out.repeatedBy(wants(containerdUnit))
}

// publicHeaders say which product a request comes from, and with these values they hold no credential (AKS node
// contract, containerd configuration: X-Meta-Source-Client).
var publicHeaders = map[string]string{"X-Meta-Source-Client": "azure/aks"}

// secretHeaders reports whether a header of containerd's requests may be a credential.
func secretHeaders(headers map[string]nodeconfig.Secret) bool {
	for name, value := range headers {
		if public, ok := publicHeaders[name]; !ok || value.Reveal() != public {
			return true
		}
	}
	return false
}

// containerdUnitFile is the unit, after containerd's own: ready when it says so, shims survive it.
// It waits for no network, which containerd needs only once it pulls.
func containerdUnitFile(binary string) []byte {
	return unitFile(
		"[Unit]",
		"Description=containerd container runtime",
		"Documentation=https://containerd.io",
		"# It needs the disk and nothing else of the boot.",
		"DefaultDependencies=no",
		"After=local-fs.target",
		"Conflicts=shutdown.target",
		"Before=shutdown.target",
		"",
		"[Service]",
		"Type=notify",
		"ExecStart="+binary,
		"Restart=always",
		"RestartSec=5",
		"Delegate=yes",
		"KillMode=process",
		"OOMScoreAdjust=-999",
		"LimitNPROC=infinity",
		"LimitCORE=infinity",
		"TasksMax=infinity",
		"",
		"[Install]",
		"WantedBy=multi-user.target",
	)
}

// criSchema is how containerd's configuration spells the CRI plug-in, by containerd's main version.
type criSchema struct {
	version string // of the document
	images  string // table of the image settings
	runtime string // table of the runtime settings
	// sandbox is the key of the pause image, relative to images.
	sandboxTable, sandboxKey string
	// systemdCgroup says that the driver is systemd's even where the contract names none.
	systemdCgroup bool
}

// criSchemas by main version (containerd: docs/cri/config.md; AKS node contract, containerd
// configuration rules).
var criSchemas = map[string]criSchema{
	"1": {
		version:    "2",
		images:     `plugins."io.containerd.grpc.v1.cri"`,
		runtime:    `plugins."io.containerd.grpc.v1.cri"`,
		sandboxKey: "sandbox_image",
	},
	"2": {
		version:       "3",
		images:        `plugins."io.containerd.cri.v1.images"`,
		runtime:       `plugins."io.containerd.cri.v1.runtime"`,
		sandboxTable:  ".pinned_images",
		sandboxKey:    "sandbox",
		systemdCgroup: true,
	},
}

// containerdMajor is the main version of containerd: the installed one, else the one the contract
// expects, else the current one.
func containerdMajor(c *nodeconfig.NodeConfig, f facts.Facts) string {
	for _, version := range []string{f.Version("containerd"), c.Components.Artifacts["containerd"].Version} {
		major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
		if _, known := criSchemas[major]; known {
			return major
		}
	}
	return "2"
}

// toml writes tables of keys, in the order in which they are given.
type toml struct{ lines []string }

func (t *toml) table(name string, pairs ...string) {
	if len(pairs) == 0 {
		return
	}
	if len(t.lines) > 0 {
		t.lines = append(t.lines, "")
	}
	if name != "" {
		t.lines = append(t.lines, "["+name+"]")
	}
	for i := 0; i < len(pairs); i += 2 {
		t.lines = append(t.lines, pairs[i]+" = "+pairs[i+1])
	}
}

func containerdConfig(in *input) []byte {
	var (
		schema = in.schema
		r      = in.config.Runtime
		doc    toml
	)
	top := []string{"version", schema.version, "oom_score", "-999"}
	if r.Containerd.DataDir != "" {
		top = append(top, "root", tomlString(r.Containerd.DataDir))
	}
	doc.table("", top...)
	doc.table(schema.images+schema.sandboxTable, schema.sandboxKey, tomlString(r.SandboxImage))
	doc.table(schema.images+".registry", "config_path", tomlString("/etc/containerd/certs.d"))
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(r.Containerd.RegistryHeaders)) {
		headers = append(headers, tomlString(name), "["+tomlString(r.Containerd.RegistryHeaders[name].Reveal())+"]")
	}
	doc.table(schema.images+".registry.headers", headers...)
	runtimes(in, &doc)
	if kubenet(in.config) {
		doc.table(schema.runtime+".cni", "conf_template", tomlString(kubenetTemplate))
	}
	if address := r.Containerd.MetricsAddress; address != "" {
		doc.table("metrics", "address", tomlString(address))
	}
	return []byte(strings.Join(doc.lines, "\n") + "\n")
}

// runtimeDriver is containerd's cgroup driver.
func runtimeDriver(c *nodeconfig.NodeConfig, schema criSchema) string {
	switch driver := c.Runtime.CgroupDriver; {
	case driver != "":
		return driver
	case schema.systemdCgroup:
		return "systemd"
	}
	return "cgroupfs"
}

// runtimes are runc, by each name that the family's pods may ask for.
func runtimes(in *input, doc *toml) {
	schema := in.schema
	doc.table(schema.runtime+".containerd", "default_runtime_name", tomlString(in.family.Runtime.Names[0]))
	options := []string{"BinaryName", tomlString(in.family.Paths.Runc)}
	if in.driver == "systemd" {
		options = append(options, "SystemdCgroup", "true")
	}
	for _, name := range in.family.Runtime.Names {
		table := schema.runtime + ".containerd.runtimes." + name
		doc.table(table, "runtime_type", tomlString("io.containerd.runc.v2"))
		doc.table(table+".options", options...)
	}
}
