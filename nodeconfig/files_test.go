package nodeconfig_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Files and units are limited, each and in total; values at the limit are accepted.
func TestLimitsOfFiles(t *testing.T) {
	files := func(n, size int) (all []nodeconfig.File) {
		for i := range n {
			all = append(all, nodeconfig.File{Path: fmt.Sprintf("/etc/app/%d", i), Content: strings.Repeat("x", size)})
		}
		return all
	}
	units := func(n, size int) (all []nodeconfig.Unit) {
		for i := range n {
			all = append(all, nodeconfig.Unit{Name: fmt.Sprintf("a%d.service", i), Content: "[Unit]\n" + strings.Repeat("\n", size)})
		}
		return all
	}
	dropIns := func(n int) []nodeconfig.Unit {
		u := nodeconfig.Unit{Name: "a.service"}
		for i := range n {
			u.DropIns = append(u.DropIns, nodeconfig.DropIn{Name: fmt.Sprintf("%d.conf", i), Content: "[Unit]"})
		}
		return []nodeconfig.Unit{u}
	}
	for name, c := range map[string]struct {
		files []nodeconfig.File
		units []nodeconfig.Unit
		path  string
	}{
		"most files":         {files: files(128, 1)},
		"too many files":     {files: files(129, 1), path: "$.files"},
		"a large file":       {files: files(1, 256<<10)},
		"too large a file":   {files: files(1, 256<<10+1), path: "$.files[0]"},
		"large files":        {files: files(4, 256<<10)},
		"too large together": {files: files(4, 256<<10), units: units(1, 0), path: "$.files"},
		"most units":         {units: units(64, 0)},
		"too many units":     {units: units(65, 0), path: "$.units"},
		"too large a unit":   {units: units(1, 64<<10), path: "$.units[0].content"},
		"most drop-ins":      {units: dropIns(16)},
		"too many drop-ins":  {units: dropIns(17), path: "$.units[0].dropIns"},
	} {
		config := new(nodeconfig.NodeConfig)
		config.Files, config.Units = c.files, c.units
		nodeconfig.Default(config)
		var paths []string
		for _, p := range nodeconfig.Fatal(nodeconfig.Repair(config)) {
			if strings.HasPrefix(p.Path, "$.files") || strings.HasPrefix(p.Path, "$.units") {
				paths = append(paths, p.Path)
			}
		}
		if len(paths) > 0 != (c.path != "") || c.path != "" && !slices.Equal(paths, []string{c.path}) {
			t.Errorf("%s: %q, want %q", name, paths, c.path)
		}
	}
}

// WantedBy reads a unit file as systemd does: sections, comments, continued lines, and lists that an empty value clears.
func TestWantedBy(t *testing.T) {
	for content, want := range map[string]string{
		"":                               "multi-user.target",
		"[Unit]\nWantedBy=a.target":      "multi-user.target",
		"[Install]\nWantedBy=a.target\n": "a.target",
		"[Install]\n WantedBy = b.target a.target b.target ":                "a.target b.target",
		"[Install]\nWantedBy=a.target\nWantedBy=b.target":                   "a.target b.target",
		"[Install]\nWantedBy=a.target\nWantedBy=\nWantedBy=b.target":        "b.target",
		"[Install]\n#WantedBy=a.target\n;WantedBy=b.target":                 "multi-user.target",
		"[Install]\nWantedBy=a.target \\\n# between\n  b.target\nAlias=x.y": "a.target b.target",
		"[Install]\nWantedBy=a.target\\":                                    "a.target",
		"[Install]\nWantedBy=a.target\n[Unit]\nWantedBy=b.target":           "a.target",
	} {
		u := nodeconfig.Unit{Content: content}
		if got := strings.Join(u.WantedBy(), " "); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}

// Commands are limited, each and in number; values at the limit are accepted.
func TestLimitsOfCommands(t *testing.T) {
	commands := func(n, size int) (all []nodeconfig.ShellCommand) {
		for range n {
			all = append(all, nodeconfig.ShellCommand{Text: strings.Repeat("x", size)})
		}
		return all
	}
	for _, c := range []struct {
		commands []nodeconfig.ShellCommand
		path     string
	}{{commands(64, 1), ""}, {commands(65, 1), "$.commands"}, {commands(1, 16<<10), ""}, {commands(1, 16<<10+1), "$.commands[0].text"}} {
		config := &nodeconfig.NodeConfig{Commands: c.commands}
		nodeconfig.Default(config)
		var found string
		for _, p := range nodeconfig.Fatal(nodeconfig.Repair(config)) {
			if strings.HasPrefix(p.Path, "$.commands") {
				found += p.Path
			}
		}
		if found != c.path {
			t.Errorf("%d of %d bytes: %q, want %q", len(c.commands), len(c.commands[0].Text), found, c.path)
		}
	}
}
