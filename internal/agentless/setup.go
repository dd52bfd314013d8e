package agentless

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

const (
	// setupName is the unit that runs the commands, at each boot and before everything that the plan starts.
	setupName = "slipway-setup.service"
	setupPath = resource.UnitDir + "/" + setupName
	// kubeletDropIn makes the kubelet wait for it, so that a command for security is never skipped unnoticed.
	kubeletDropIn = resource.UnitDir + "/" + kubeletUnit + ".d/05-slipway.conf"
	kubeletUnit   = "kubelet.service"
	// setupPatience is how long the unit may take in addition to its commands' limits.
	setupPatience = time.Minute
)

// command is a program that the unit runs.
type command struct {
	argv     []string
	env      map[string]string
	timeout  time.Duration
	optional bool
}

// setupUnit adds the unit and what starts it.
func (b *builder) setupUnit() {
	before, patience := slices.Concat(b.Started, b.Restarted), setupPatience
	slices.Sort(before)
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Apply what files alone do not: kernel settings, modules, commands"),
		unitfile.Comment("It does not wait for the rest of the boot, of which cloud-init can be a part."),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Set("After", "local-fs.target systemd-modules-load.service systemd-sysctl.service systemd-tmpfiles-setup.service"),
		unitfile.Set("Before", unitfile.Quote(strings.Join(slices.Compact(before), " "))),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		{},
	}
	start := len(lines) - 1
	for _, c := range b.setup {
		patience += c.timeout
		lines = append(lines, c.line())
	}
	lines[start] = unitfile.Set("TimeoutStartSec", unitfile.Number(int(patience.Seconds())))
	lines = append(lines, unitfile.Section("Install"), unitfile.Set("WantedBy", "multi-user.target"))
	b.addFile(setupPath, lines)
	b.Links = append(b.Links, &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + setupName, Target: setupPath})
	starts := slices.Contains(b.Started, kubeletUnit)
	if !starts && len(b.once) == 0 {
		return
	}
	var after unitfile.Text = setupName
	if starts && len(b.once) > 0 { // otherwise one of them starts the kubelet, and would wait for itself
		after += " " + onceName
	}
	kubelet := []unitfile.Line{unitfile.Section("Unit"), unitfile.Set("Requires", after)}
	if b.network {
		after += " network-online.target"
		kubelet = append(kubelet, unitfile.Set("Wants", "network-online.target"))
	}
	b.addFile(kubeletDropIn, append(kubelet, unitfile.Set("After", after)))
}

func (b *builder) addFile(path string, lines []unitfile.Line) {
	b.Files = append(b.Files, &resource.File{Path: path, Mode: 0o644, Content: unitfile.File(lines...)})
}

// line is the command in systemd's syntax (systemd.service(5), "Command lines").
func (c command) line() unitfile.Line {
	argv := c.argv
	if len(c.env) > 0 {
		argv = []string{"env"}
		for _, name := range slices.Sorted(maps.Keys(c.env)) {
			argv = append(argv, name+"="+c.env[name])
		}
		argv = append(argv, c.argv...)
	}
	words := make([]unitfile.Text, len(argv))
	for i, arg := range argv {
		words[i] = unitfile.Word(arg)
	}
	if c.optional {
		words[0] = "-" + words[0]
	}
	return unitfile.Set("ExecStart", unitfile.Words(words...))
}
