package doctor

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/containerdapi"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/toml"
)

// containerdConfig is containerd's configuration, with the files that it imports.
type containerdConfig struct {
	paths  []string
	merged *toml.Table
}

// maxImports limits the files that a configuration imports.
const maxImports = 32

// containerd is containerd's configuration. What cannot be read is not in it.
func (p *Patient) containerd() *containerdConfig {
	return p.known.containerd.get(func() *containerdConfig {
		c := &containerdConfig{merged: new(toml.Table)}
		service := kubeletsetup.ConfiguredService(p.Machine, profile.ContainerdUnit)
		file := concern.ContainerdConfig // without a flag (containerd: defaults/defaults_unix.go, DefaultConfigDir)
		if value, has := service.Flag("config"); has {
			file = value
		} else if i := slices.Index(service.Words, "-c"); i > 0 && i+1 < len(service.Words) {
			file = service.Words[i+1]
		}
		table := c.add(p.Machine, file)
		if table == nil {
			return c
		}
		imports, _ := table.Get("imports").([]any)
		for _, pattern := range imports[:min(len(imports), maxImports)] {
			text, _ := pattern.(string)
			if !path.IsAbs(text) {
				text = path.Join(path.Dir(file), text)
			}
			c.addMatching(p.Machine, text)
		}
		return c
	})
}

// add merges a file over the configuration.
func (c *containerdConfig) add(files Files, name string) *toml.Table {
	content, err := files.ReadLinked(name, kubeletsetup.MaxConfig)
	if err == nil {
		c.paths = append(c.paths, name)
	}
	if err != nil {
		return nil
	}
	table, err := toml.Parse(string(content))
	if err != nil {
		return nil
	}
	c.merged.Merge(table)
	return table
}

// addMatching merges the files that a pattern matches, by name.
func (c *containerdConfig) addMatching(files Files, pattern string) {
	names, err := files.ReadDir(path.Dir(pattern))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	added := 0
	for _, name := range names {
		if matches, err := path.Match(path.Base(pattern), name); err == nil && matches && added < maxImports {
			c.add(files, path.Join(path.Dir(pattern), name))
			added++
		}
	}
}

// disablesCRI reports whether a file disables the CRI plug-in, by one of its names.
func disablesCRI(content []byte) bool {
	table, err := toml.Parse(string(content))
	if err != nil {
		return false
	}
	disabled, _ := table.Get("disabled_plugins").([]any)
	return slices.ContainsFunc(disabled, func(name any) bool {
		text, _ := name.(string)
		return text == "cri" || text == containerdapi.CRI1 || strings.HasPrefix(text, "io.containerd.cri.")
	})
}

// runtimePlugins are the names of the plug-in that has the settings of runtimes, of each version of the configuration
// (containerd: docs/cri/config.md).
var runtimePlugins = []string{"io.containerd.cri.v1.runtime", containerdapi.CRI1, "cri"}

// text is a setting of the first of these plug-ins that has it.
func (c *containerdConfig) text(keys ...string) string {
	for _, plugin := range runtimePlugins {
		if value, ok := c.merged.Get(append([]string{"plugins", plugin}, keys...)...).(string); ok && value != "" {
			return value
		}
	}
	return ""
}

// from is where the configuration is from.
func (c *containerdConfig) from() string { return strings.Join(c.paths, ", ") }

// driver is the cgroup driver of the default runtime, "" if the configuration does not have it.
func (c *containerdConfig) driver() (driver, from string) {
	name := c.text("containerd", "default_runtime_name")
	if name == "" {
		name = "runc"
	}
	for _, plugin := range runtimePlugins {
		switch c.merged.Get("plugins", plugin, "containerd", "runtimes", name, "options", "SystemdCgroup") {
		case true:
			return "systemd", "SystemdCgroup in " + c.from()
		case false:
			return "cgroupfs", "SystemdCgroup in " + c.from()
		}
	}
	return "", ""
}

// The directories of network plug-ins (containerd: docs/cri/config.md, conf_dir and bin_dir).
const cniConfDir, cniBinDir = "/etc/cni/net.d", "/opt/cni/bin"

// network are the directories of the network plug-ins' configurations and programs.
func (c *containerdConfig) network() (configs string, programs []string) {
	configs = c.text("cni", "conf_dir")
	if configs == "" {
		configs = cniConfDir
	}
	for _, plugin := range runtimePlugins {
		list, _ := c.merged.Get("plugins", plugin, "cni", "bin_dirs").([]any)
		for _, dir := range list {
			if text, ok := dir.(string); ok {
				programs = append(programs, text)
			}
		}
	}
	if dir := c.text("cni", "bin_dir"); dir != "" && len(programs) == 0 {
		programs = []string{dir}
	}
	if len(programs) == 0 {
		programs = []string{cniBinDir, "/usr/libexec/cni", "/usr/lib/cni"}
	}
	return configs, programs
}
