package agentless

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// onceName is the unit that runs the run-once commands at the first boot.
	onceName = "slipway-commands.service"
	oncePath = resource.UnitDir + "/" + onceName
	// onceDone is the beginning of the file's path that exists when they have run; the name of the last one follows.
	onceDone = "/var/lib/slipway/commands-"
)

// runOnce adds a run-once command. The units that it requires are started for it.
func (b *builder) runOnce(r *resource.Resource) {
	c := r.Spec.(*resource.Command)
	b.once = append(b.once, command{argv: c.Argv, env: c.Env})
	b.OnceDone = onceDone + c.Once
	for _, id := range r.Requires {
		if unit, ok := strings.CutPrefix(string(id), "Unit:"); ok && !slices.Contains(b.forOnce, unit) {
			b.forOnce = append(b.forOnce, unit)
		}
	}
}

// onceUnit adds the unit of the run-once commands. The kubelet waits for it, unless a command starts the kubelet. The
// container runtime does not wait: a command that restarted it would wait for a unit that waits for the command.
func (b *builder) onceUnit() {
	if len(b.once) == 0 {
		return
	}
	after := append([]string{setupName, "network-online.target"}, b.forOnce...)
	lines := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Run the commands of the contract's author, once"),
		unitfile.Set("ConditionPathExists", "!"+unitfile.Quote(b.OnceDone)),
		unitfile.Set("DefaultDependencies", "no"),
		unitfile.Comment("Not required: who restarts what applies the settings does not end a command in the middle."),
		unitfile.Set("Wants", unitfile.Quote(strings.Join(after, " "))),
		unitfile.Set("After", unitfile.Quote(strings.Join(after, " "))),
		unitfile.Set("Conflicts", "shutdown.target"),
		unitfile.Set("Before", "shutdown.target"),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Set("TimeoutStartSec", unitfile.Number(int(nodeconfig.DefaultTimeout.Std().Seconds()))),
		unitfile.Set("Environment", "HOME=/root LANG=C"),
	}
	// Their output is on the disk before they are recorded as done.
	done := command{argv: []string{facts.Bash, "-c", "sync && mkdir -p /var/lib/slipway && touch " + b.OnceDone + " && sync"}}
	for _, c := range append(b.once, done) {
		lines = append(lines, c.line())
	}
	b.addFile(oncePath, append(lines, unitfile.Section("Install"), unitfile.Set("WantedBy", "multi-user.target")))
	b.Links = append(b.Links, &resource.Symlink{Path: resource.UnitDir + "/multi-user.target.wants/" + onceName, Target: oncePath})
}
