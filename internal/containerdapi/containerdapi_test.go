package containerdapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/toml"
)

// The table is what the generator writes, whole.
func TestTable(t *testing.T) {
	k := known()
	if !slices.Equal(k.minors, []string{"1.7", "2.0", "2.1", "2.2", "2.3", "2.4"}) {
		t.Errorf("the table has %q", k.minors)
	}
	keys := 0
	for name, p := range k.plugins {
		if p.first < 0 || p.last < p.first {
			t.Errorf("%s has the releases %v", name, p.span)
		}
		for path, of := range p.keys {
			keys++
			for _, key := range of {
				if key.first < p.first || key.last > p.last || key.last < key.first || inWords(key.kind) == "" {
					t.Errorf("%s, %s: %v", name, path, key)
				}
			}
		}
	}
	if len(k.plugins) < 70 || keys < 300 {
		t.Errorf("%d plug-ins, %d keys", len(k.plugins), keys)
	}
	// These facts are from containerd's documentation (docs/cri/config.md, RELEASES.md) and source.
	for _, c := range []struct {
		plugin, path, version string
		want                  bool
	}{
		{CRI1, "sandbox_image", "1.7", true},
		{CRI1, "sandbox_image", "2.0", false},
		{CRI1, "stream_idle_timeout", "2.4", true},
		{Images, "pinned_images.*", "2.0", true},
		{Images, "use_local_image_pull", "2.0", false},
		{Images, "use_local_image_pull", "2.1", true},
		{Runtime, "cni.bin_dirs", "2.0", false},
		{Runtime, "cni.bin_dirs", "2.1", true},
		{Runtime, "cni.bin_dir", "2.4", false},
		{Runtime, "containerd.runtimes.*.runtime_type", "2.2", true},
		{serverGRPC, "address", "2.2", false},
		{serverGRPC, "address", "2.3", true},
		{"", "grpc.address", "2.4", true},
		{"", "plugin_dir", "1.7", true},
		{"io.containerd.snapshotter.v1.erofs", "", "2.0", false},
		{"io.containerd.snapshotter.v1.erofs", "", "2.1", true},
		{"io.containerd.content.v1.content", "", "1.7", true},
		{runcOptions, "SystemdCgroup", "1.7", true},
	} {
		if got := Of(c.version).has(c.plugin, c.path); got != c.want {
			t.Errorf("containerd %s has %s %s: %v", c.version, c.plugin, c.path, got)
		}
	}
}

// A version is read as the release of the table that is nearest to it, and a version without a minor as all of its main version.
func TestReleasesOfVersion(t *testing.T) {
	for version, want := range map[string][3]string{
		"1.6.36": {"1.7", "1.7", "containerd 1.6"}, "1.7.28-0ubuntu1": {"1.7", "1.7", "containerd 1.7"}, "v2.0.4": {"2.0", "2.0", "containerd 2.0"},
		"2.2.4": {"2.2", "2.2", "containerd 2.2"}, "2.9.0": {"2.4", "2.4", "containerd 2.9"}, "1": {"1.7", "1.7", "containerd 1"},
		"2": {"2.0", "2.4", "containerd 2"}, "": {"2.0", "2.4", "containerd 2"}, "none": {"2.0", "2.4", "containerd 2"},
	} {
		r := Of(version)
		if got := [3]string{known().minors[r.first], known().minors[r.last], r.String()}; got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}

func parse(t testing.TB, text string) *toml.Table {
	t.Helper()
	doc, err := toml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

const (
	cri1    = `plugins."io.containerd.grpc.v1.cri"`
	images  = `plugins."io.containerd.cri.v1.images"`
	runtime = `plugins."io.containerd.cri.v1.runtime"`
)

// Each key is where the release reads it, whichever version of the configuration it was written for.
func TestTranslate(t *testing.T) {
	for _, c := range []struct{ version, text, want string }{
		{"2.2", cri1 + ".sandbox_image = \"a\"", images + ".pinned_images.sandbox = \"a\""},
		{"2.2", cri1 + ".containerd.snapshotter = \"a\"", images + ".snapshotter = \"a\""},
		{"2.2", "version = 2\n" + cri1 + ".containerd.default_runtime_name = \"a\"", runtime + ".containerd.default_runtime_name = \"a\""},
		{"2.2", cri1 + ".registry.config_path = \"a\"", images + ".registry.config_path = \"a\""},
		{"2.2", cri1 + ".stream_server_port = \"a\"", cri1 + ".stream_server_port = \"a\""},
		{"2.0", cri1 + ".cni.bin_dir = \"a\"", runtime + ".cni.bin_dir = \"a\""},
		{"2.1", cri1 + ".cni.bin_dir = \"a\"", runtime + ".cni.bin_dirs = [\"a\"]"},
		{"2.3", runtime + ".cni.bin_dir = \"a\"", runtime + ".cni.bin_dir = \"a\""},
		{"2.4", runtime + ".cni.bin_dir = \"a\"", runtime + ".cni.bin_dirs = [\"a\"]"},
		{"2.0", runtime + ".cni.bin_dirs = [\"a\"]", runtime + ".cni.bin_dir = \"a\""},
		{"1.7", runtime + ".stats_collect_period = \"10s\"", runtime + ".stats_collect_period = \"10s\""},
		{"2.3", cri1 + ".stats_collect_period = 10", images + ".stats_collect_period = 10"},
		{"2.2", cri1 + ".max_concurrent_downloads = \"many\"", images + ".max_concurrent_downloads = \"many\""},
		{"2.0", runtime + ".cni.bin_dirs = [\"a\", \"b\"]", runtime + ".cni.bin_dirs = [\"a\", \"b\"]"},
		{"2.3", cri1 + ".enable_cdi = true", runtime + ".enable_cdi = true"},
		{"2.4", cri1 + ".enable_cdi = true", ""},
		{"2.4", cri1 + ".enable_cdi = false", cri1 + ".enable_cdi = false"},
		{"2.2", cri1 + ".max_concurrent_downloads = 1\n" + images + ".max_concurrent_downloads = 2", images + ".max_concurrent_downloads = 2"},
		{"2.2", cri1 + ".registry.mirrors.a.endpoint = [\"b\"]\n" + images + ".registry.config_path = \"c\"", images + ".registry.mirrors.a.endpoint = [\"b\"]\n" + images + ".registry.config_path = \"c\""},
		{"2.2", `plugins."io.containerd.monitor.v1.cgroups".no_prometheus = true`, `plugins."io.containerd.monitor.task.v1.cgroups".no_prometheus = true`},
		{"1.7", `plugins."io.containerd.monitor.container.v1.restart".interval = "1s"`, `plugins."io.containerd.internal.v1.restart".interval = "1s"`},
		{"1.7", "version = 3\n" + images + ".pinned_images.sandbox = \"a\"\n" + images + ".snapshotter = \"b\"", cri1 + ".sandbox_image = \"a\"\n" + cri1 + ".containerd.snapshotter = \"b\""},
		{"1.7", runtime + ".containerd.runtimes.own.runtime_type = \"a\"", cri1 + ".containerd.runtimes.own.runtime_type = \"a\""},
		{"1.7", runtime + ".cni.bin_dirs = [\"a\"]", cri1 + ".cni.bin_dir = \"a\""},
		{"1.7", images + ".use_local_image_pull = true", images + ".use_local_image_pull = true"},
		{"2.2", "version = 4\n" + `plugins."io.containerd.server.v1.grpc".address = "a"`, "grpc.address = \"a\""},
		{"2.2", `plugins."io.containerd.server.v1.grpc-tcp".tls_ca = "a"`, "grpc.tcp_tls_ca = \"a\""},
		{"2.2", `plugins."io.containerd.server.v1.metrics".address = "a"`, "metrics.address = \"a\""},
		{"2.2", `plugins."io.containerd.metrics.v1.grpc-prometheus".grpc_histogram = true`, "metrics.grpc_histogram = true"},
		{"1.7", `plugins."io.containerd.server.v1.debug".address = "a"`, "debug.address = \"a\""},
		{"2.3", "version = 4\n" + `plugins."io.containerd.server.v1.grpc".address = "a"`, `plugins."io.containerd.server.v1.grpc".address = "a"`},
		{"2.2", `disabled_plugins = ["io.containerd.internal.v1.restart", "io.containerd.snapshotter.v1.zfs"]`, `disabled_plugins = ["io.containerd.monitor.container.v1.restart", "io.containerd.snapshotter.v1.zfs"]`},
		{"2.2", images + ".Snapshotter = \"a\"\n" + runtime + ".containerd.runtimes.Own.OPTIONS.systemdCgroup = true", images + ".snapshotter = \"a\"\n" + runtime + ".containerd.runtimes.Own.options.systemdCgroup = true"},
		{"2.2", cri1 + ".snapshoter = \"a\"", cri1 + ".snapshoter = \"a\""},
		{"2", cri1 + ".sandbox_image = \"a\"", images + ".pinned_images.sandbox = \"a\""},
	} {
		got := string(Of(c.version).Translate(parse(t, c.text)).Bytes())
		if want := string(parse(t, c.want).Bytes()); string(parse(t, got).Bytes()) != want {
			t.Errorf("%s: %s\ngives %s\nwant %s", c.version, c.text, got, want)
		}
	}
}

// What a release does not read is found, and what it does not start with is an error.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ version, text, want string }{ // want begins with "error" for an error; empty if there is no finding
		{"2.2", images + ".snapshoter = \"overlayfs\"", `has plugins."io.containerd.cri.v1.images".snapshoter, which containerd 2.2 does not know: it has no effect; did you mean snapshotter?`},
		{"2.2", cri1 + ".sandbox_imag = \"a\"", "did you mean sandbox_image?"},
		{"2.0", images + ".use_local_image_pull = true", "it is a setting of containerd 2.1 and newer"},
		{"2.2", cri1 + ".max_container_log_line = 1", "did you mean max_container_log_line_size?"},
		{"1.7", images + ".use_local_image_pull = true", "which containerd 1.7 does not know: it has no effect; it is a setting of containerd 2.1 and newer"},
		{"1.7", "plugins.\"io.containerd.nri.v1.nri\".plugin_request_timeout = \"2s\"", ""},
		{"2.2", "oom_skore = 1", "has oom_skore, which containerd 2.2 does not know: it has no effect; did you mean oom_score?"},
		{"2.2", "[plugin.a]\nb = 1", "has plugin, which containerd 2.2 does not know: it has no effect; did you mean plugins?"},
		{"2.2", runtime + ".containerd.runtimes.own.runtime_typ = \"a\"", `containerd.runtimes.*.runtime_typ, which`},
		{"2.2", runtime + ".containerd.runtimes.own.options.Anything = 1", ""},
		{"2.2", `plugins."io.containerd.cri.v1.image".snapshotter = "a"`, `has plugins."io.containerd.cri.v1.image", which is no plug-in of containerd 2.2: it has no effect; did you mean io.containerd.cri.v1.images?`},
		{"2.0", `plugins."io.containerd.snapshotter.v1.erofs".root_path = "/a"`, "is no plug-in of containerd 2.0, but of 2.1 and newer: it has no effect"},
		{"2.2", "[proxy_plugins.own]\ntype = \"snapshot\"\naddress = \"/a\"\n[plugins.\"io.containerd.snapshotter.v1.own\"]\na = 1", ""},
		{"2.2", "plugins.cri.a = 1", "is no plug-in of containerd 2.2: it has no effect"},
		{"1.7", "plugins.cri.a = 1", "error has plugins.\"cri\", which is not the whole name of a plug-in: containerd 1 does not start with it"},
		{"2.2", "\"hunter2 \" = 1", "has *, which containerd 2.2 does not know"},
		{"2.2", images + ".snapshotter = 1", `error has a number at plugins."io.containerd.cri.v1.images".snapshotter, where containerd 2.2 takes a text: it does not start with it`},
		{"2.2", images + ".registry.mirrors.\"hunter2\".endpoint = \"a\"", `error has a text at plugins."io.containerd.cri.v1.images".registry.mirrors.*.endpoint, where containerd 2.2 takes a list, each item a text`},
		{"2.2", "plugins.\"io.containerd.gc.v1.scheduler\".startup_delay = \"soon\"", "takes a duration such as 10s"},
		{"2.2", "plugins.\"io.containerd.gc.v1.scheduler\".startup_delay = \"1s\"", ""},
		{"2.2", "timeouts.\"io.containerd.timeout.shim.load\" = \"soon\"", "error has a value at timeouts.* that is not a duration such as 10s: containerd does not start with it"},
		{"2.2", cri1 + ".stream_idle_timeout = \"soon\"", "error has a value at"},
		{"2.2", cri1 + ".stream_idle_timeout = \"\"", ""},
		{"2.3", runtime + ".stats_collect_period = \"soon\"", "error has a value at"},
		{"2.2", runtime + ".containerd.runtimes.a.io_type = \"pipe\"", "fifo or streaming"},
		{"2.2", "disabled_plugins = [\"cri\"]", "error has a name in disabled_plugins that is not the whole name"},
		{"1.7", "disabled_plugins = [\"a.b\"]", "error has a name in disabled_plugins"},
		{"2.2", "disabled_plugins = [\"io.containerd.snapshotter.v1.zf\"]", "did you mean io.containerd.snapshotter.v1.zfs?"},
		{"2.2", "required_plugins = [\"io.containerd.snapshotter.v1.zf\"]", "error requires a plug-in"},
		{"2.2", "required_plugins = [\"io.containerd.snapshotter.v1.zfs\"]", ""},
		{"2.2", "disabled_plugins = 1", "error has a number at disabled_plugins"},
		{"2.2", "[[plugins.\"io.containerd.transfer.v1.local\".unpack_config]]\nplatfrom = \"linux\"", "did you mean platform?"},
		{"2", images + ".use_local_image_pull = true", ""},
		{"2", images + ".use_local_image_pul = true", "which containerd 2 does not know"},
	} {
		r := Of(c.version)
		found := r.Check(r.Translate(parse(t, c.text)))
		if c.want == "" {
			if len(found) > 0 {
				t.Errorf("%s: %s\n%v", c.version, c.text, found)
			}
			continue
		}
		want, fatal := strings.CutPrefix(c.want, "error ")
		if len(found) != 1 || !strings.Contains(found[0].Reason, want) || fatal && !found[0].Fatal || strings.Contains(found[0].Reason, "hunter2") {
			t.Errorf("%s: %s\n%v\nwant %s", c.version, c.text, found, c.want)
		}
	}
	for text, want := range map[string]string{"SystemdCgoup = true": "has options.SystemdCgoup, which containerd 2.2 does not know: it has no effect; did you mean SystemdCgroup?", "SystemdCgroup = true": "", "systemdCgroup = true": "", "SystemdCgroup = 1": "no pod of the runtime starts with it"} {
		found := Of("2.2").CheckOptions(parse(t, text))
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0].Reason, want)) {
			t.Errorf("%s: %v, want %s", text, found, want)
		}
	}
}

// A translated configuration is TOML, keeps each key that its release reads, and is translated no further.
func FuzzTranslate(f *testing.F) {
	for _, text := range []string{
		cri1 + ".sandbox_image = \"a\"\n" + images + ".pinned_images.sandbox = \"b\"",
		cri1 + ".cni.bin_dir = \"a\"\n" + runtime + ".cni.bin_dirs = [\"b\"]",
		cri1 + ".containerd = 1\n" + runtime + ".containerd.default_runtime_name = \"b\"",
		"version = 4\n[plugins.\"io.containerd.server.v1.grpc\"]\naddress = \"a\"\nuid = 1\n[grpc]\nADDRESS = \"b\"",
		"plugins = 1", "grpc = 1", "disabled_plugins = [\"io.containerd.internal.v1.restart\", 1]",
		images + ".Registry.mirrors.a.Endpoint = []\n" + cri1 + ".registry.mirrors.a.endpoint = [\"b\"]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := toml.Parse(text)
		if err != nil {
			return
		}
		for _, version := range []string{"1.7", "2.0", "2.2", "2.3", "2.4", "2"} {
			r := Of(version)
			before := string(doc.Bytes())
			once := r.Translate(doc)
			if string(doc.Bytes()) != before {
				t.Fatalf("%s: the document was changed", version)
			}
			written := string(once.Bytes())
			again, err := toml.Parse(written)
			if err != nil {
				t.Fatalf("%s: %v\n%s", version, err, written)
			}
			if twice := string(r.Translate(again).Bytes()); twice != string(again.Bytes()) {
				t.Fatalf("%s: once\n%s\ntwice\n%s", version, again.Bytes(), twice)
			}
			r.Check(once)
			kept(t, r, doc, once)
		}
	})
}

// kept fails if a plug-in's key that the releases have is not in a translation with the same value.
func kept(t *testing.T, r Releases, doc, translated *toml.Table) {
	plugins, _ := doc.Get("plugins").(*toml.Table)
	if plugins == nil {
		return
	}
	for id, settings := range plugins.All() {
		table, _ := settings.(*toml.Table)
		if table == nil {
			continue
		}
		for name, value := range table.All() {
			if _, isTable := value.(*toml.Table); isTable || !r.has(id, name) {
				continue
			}
			got := translated.Get("plugins", id, name)
			if got == nil || string(toml.AppendValue(nil, got)) != string(toml.AppendValue(nil, value)) {
				t.Errorf("%s lost %s of %s: %v", r, name, id, got)
			}
		}
	}
}
