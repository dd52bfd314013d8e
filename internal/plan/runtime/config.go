package runtime

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/toml"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// containerdConfig is containerd's configuration, with the contract's own merged over it.
func containerdConfig(in *concern.Input, out *concern.Output) *toml.Table {
	var (
		schema  = in.Schema
		r       = in.Config.Runtime
		doc     toml.Table
		images  = []string{"plugins", schema.Images}
		runtime = []string{"plugins", schema.Runtime}
	)
	doc.Set(schema.Version, "version")
	doc.Set(int64(-999), "oom_score")
	if r.Containerd.DataDir != "" {
		doc.Set(r.Containerd.DataDir, "root")
	}
	doc.At(images...).Set(in.SandboxImage(), schema.Sandbox...)
	if schema.CDI && (in.RunsNVIDIA() || in.Family.Runtime.CDI && !concern.SkipsGPU(in.Facts)) {
		doc.At(runtime...).Set(true, "enable_cdi")
	}
	registry := doc.At(images...).At("registry")
	registry.Set(strings.Join(append([]string{concern.RegistriesDir}, in.Family.Runtime.RegistryDirs...), ":"), "config_path")
	for _, name := range slices.Sorted(maps.Keys(r.Containerd.RegistryHeaders)) {
		headers := registry.At("headers")
		headers.Quoted = true
		headers.Set([]any{r.Containerd.RegistryHeaders[name].Reveal()}, name)
	}
	runtimes(in, doc.At(runtime...).At("containerd"))
	planSnapshotters(in, &doc, planSandboxRuntimes(in, &doc))
	if in.Family.Runtime.DiscardLayers {
		doc.At(schema.Snapshotters...).Set(true, "discard_unpacked_layers")
	}
	if Kubenet(in.Config) {
		doc.At(runtime...).Set(concern.KubenetFile, "cni", "conf_template")
	}
	if address := r.Containerd.MetricsAddress; address != "" {
		doc.Set(address, "metrics", "address")
	}
	own := runtimeValues(in, &doc)
	mergeConfig(in, out, &doc)
	out.Node.Runtime = runtimeValues(in, &doc)
	for name, value := range out.Node.Runtime {
		if value != own[name] { // the contract's text is secret
			out.Node.Runtime[name] = resource.Fingerprint([]byte(value))
		}
	}
	return &doc
}

// runtimeSetting is a setting of containerd's that pods which run depend on, or that people ask for.
type runtimeSetting struct {
	name string
	// otherwise is containerd's default.
	otherwise string
	// path leads to it.
	path func(schema *concern.CRISchema) []string
}

// runtimeSettings have the same names whichever version of containerd spells them (containerd: docs/ops.md, docs/cri/config.md and
// defaults).
var runtimeSettings = []runtimeSetting{
	{"version", "", func(*concern.CRISchema) []string { return []string{"version"} }},
	{"root", "/var/lib/containerd", func(*concern.CRISchema) []string { return []string{"root"} }},
	{"state", "/run/containerd", func(*concern.CRISchema) []string { return []string{"state"} }},
	{"snapshotter", "overlayfs", func(s *concern.CRISchema) []string { return append(slices.Clone(s.Snapshotters), "snapshotter") }},
	{"cni.conf_template", "", func(s *concern.CRISchema) []string { return []string{"plugins", s.Runtime, "cni", "conf_template"} }},
	{"sandbox image", "", func(s *concern.CRISchema) []string { return append([]string{"plugins", s.Images}, s.Sandbox...) }},
	{"registry.config_path", "", func(s *concern.CRISchema) []string { return []string{"plugins", s.Images, "registry", "config_path"} }},
}

// runtimeValues are their values, and the cgroup driver of all runtimes, which no setting may differ from ([checkDrivers]).
func runtimeValues(in *concern.Input, doc *toml.Table) map[string]string {
	values := map[string]string{"cgroup driver": in.Driver}
	for _, s := range runtimeSettings {
		value := doc.Get(s.path(&in.Schema)...)
		text, isText := value.(string)
		if value != nil && !isText {
			text = string(toml.AppendValue(nil, value))
		}
		if text = cmp.Or(text, s.otherwise); text != "" {
			values[s.name] = text
		}
	}
	return values
}

// Runtimes are the names that a family's pods may ask for a runtime by, the default one first, and its program: runc, or NVIDIA's
// wrapper of it.
func Runtimes(family *profile.Profile, runc string, nvidia bool) (names []string, binary string) {
	names, binary = slices.Clone(family.Runtime.Names), runc
	if nvidia {
		names[0], binary = family.Runtime.NVIDIA, nvidiaRuntime
	}
	return names, binary
}

// runtimes writes them.
func runtimes(in *concern.Input, config *toml.Table) {
	names, binary := Runtimes(in.Family, in.Runc, in.RunsNVIDIA())
	config.Set(names[0], "default_runtime_name")
	for _, name := range names {
		runtime := config.At("runtimes", name)
		runtime.Set(runcRuntime, "runtime_type")
		if hasRuntimeSpec(in) {
			runtime.Set(runtimeSpecFile, "base_runtime_spec")
		}
		runtime.Set(binary, "options", "BinaryName")
		if in.Driver == "systemd" {
			runtime.Set(true, "options", "SystemdCgroup")
		}
	}
}

// containerdConfigPath is the setting that is merged over containerd's configuration.
const containerdConfigPath = "$.runtime.containerd.config"

// mergeConfig merges the contract's own settings over containerd's configuration. It has the last word but where that
// would surely make no node.
func mergeConfig(in *concern.Input, out *concern.Output, doc *toml.Table) {
	text := in.Config.Runtime.Containerd.Config
	if text.IsZero() {
		return
	}
	refuse := func(format string, args ...any) {
		out.Fatal(nodeconfig.Invalid, containerdConfigPath, format, args...)
	}
	over, err := toml.Parse(text.Reveal())
	if syntax, ok := errors.AsType[*toml.SyntaxError](err); ok {
		refuse("is not TOML, at its line %d, column %d", syntax.Line, syntax.Column)
		return
	} else if err != nil {
		refuse("%s", err)
		return
	}
	if version := over.Get("version"); version != nil && !slices.Contains(configVersions, version) {
		refuse("is of a version of the configuration that is not known: use version = %d, or leave it out", in.Schema.Version)
		return
	}
	over = in.Releases.Translate(over)
	refused := false
	report := func(found []containerdapi.Finding) {
		for _, f := range found {
			refused = refused || f.Fatal
			out.Report(f.Fatal, f.Kind, containerdConfigPath, f.Reason)
		}
	}
	report(in.Releases.Check(over))
	if conflict := doc.Merge(over); conflict != nil {
		if !refused { // or else the reason is in what was found
			refuse("has a value in place of a table, or a table in place of a value, at %s", strings.Join(conflict, "."))
		}
		return
	}
	for _, check := range configChecks {
		report(check(in, doc))
	}
}

// configVersions are the versions of configuration that are translated into that of the machine's containerd.
var configVersions = []any{int64(2), int64(3), int64(4)}

// nvidiaRuntime runs containers with NVIDIA's devices, in place of runc (NVIDIA Container Toolkit).
const nvidiaRuntime = "/usr/bin/nvidia-container-runtime"
