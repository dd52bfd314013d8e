package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/profile"
)

// unitChecks are those of systemd's units.
var unitChecks = []Check{
	{
		Name: "masked-units", Asks: "Can systemd start the node's units?", Look: lookMasked,
		Causes: []Cause{
			{"masked", "a unit of the node is masked, so systemd never starts it", "run systemctl unmask with the unit, and start it; find out what has masked it"},
		},
	},
	{
		Name: "ordering", Asks: "Has systemd started the boot's units in an order without a cycle?", Live: true, Look: lookOrdering,
		Causes: []Cause{
			{"cycle", "units wait for each other in a cycle, so systemd has left out a unit of the node", "remove one of the After= and Before= of the units in the verdict; systemd-analyze verify with the unit shows the cycle"},
		},
	},
	{
		Name: "failed-units", Asks: "Do the units run that the node rests on?", Live: true, Needs: []string{"masked-units", "ordering", "space", "inodes", "read-only"}, Look: lookFailed,
		Causes: []Cause{
			{"failed", "a unit that the node rests on has failed", "run systemctl status and journalctl -u with the unit, correct what its last words name, and run systemctl restart with it"},
		},
	},
}

// runtimeUnits are the units of container runtimes, by a part of their socket's path.
var runtimeUnits = []struct{ part, unit string }{
	{"containerd", profile.ContainerdUnit}, {"crio", "crio.service"}, {"cri-dockerd", "cri-docker.service"},
}

// runtimeUnitOf is the unit of the container runtime, or "".
func runtimeUnitOf(k *kubeletsetup.Kubelet) string {
	for _, r := range runtimeUnits {
		if strings.Contains(k.Runtime.Value, r.part) {
			return r.unit
		}
	}
	return ""
}

// ownUnits are the kubelet and its runtime, which have checks of their own.
func (p *Patient) ownUnits() []string {
	units := []string{profile.KubeletUnit}
	if unit := runtimeUnitOf(p.Kubelet()); unit != "" {
		units = append(units, unit)
	}
	return units
}

// started are the units that the node's plan starts.
func (p *Patient) started() ([]string, error) {
	planned, err := p.Planned()
	if planned == nil {
		return nil, err
	}
	return integrity.Of(planned.Plan).Started, nil
}

func lookMasked(_ context.Context, p *Patient) *Finding {
	started, err := p.started()
	if err != nil {
		return unknownFor(err)
	}
	for _, unit := range slices.Concat(p.ownUnits(), started) {
		// The first directory that has the unit decides (systemd.unit(5), "Unit File Load Path").
		for _, dir := range []string{"/etc/systemd/system", "/run/systemd/system"} {
			entry, err := p.Machine.Stat(dir + "/" + unit)
			if err != nil {
				return unknownFor(err)
			}
			// An empty file masks, too (systemd.unit(5)).
			if entry.Kind == apply.Symlink && entry.Target == "/dev/null" || entry.Kind == apply.RegularFile && entry.Size == 0 {
				return wrong("masked", "%s is masked: %s/%s is %s", unit, dir, unit, map[bool]string{true: "a link to /dev/null", false: "an empty file"}[entry.Kind == apply.Symlink])
			}
			if entry.Kind != "" {
				break
			}
		}
	}
	return fine("no unit of the node is masked")
}

// systemdScope is the unit of systemd itself, which has its lines in the journal.
const systemdScope = "init.scope"

func lookOrdering(ctx context.Context, p *Patient) *Finding {
	words := []string{"ordering cycle", "break cycle"}
	lines, err := p.Machine.Search(ctx, systemdScope, words...)
	if err != nil {
		return unknownFor(err)
	}
	f := fine("systemd has found no cycle")
	if len(lines) > 0 {
		f = fine("systemd has found a cycle, and all units of the node run").withLines("systemd", lines)
	}
	for _, line := range lines {
		unit := leftOut(line)
		if unit == "" || !p.rests(unit) && !slices.Contains(p.ownUnits(), unit) {
			continue
		}
		state, err := p.Machine.Examine(ctx, unit)
		if err != nil {
			return unknownFor(err)
		}
		if state.Running() {
			continue
		}
		// A unit that has changed its state since then has been started in spite of the cycle, and has stopped for another reason.
		newer, err := p.Machine.SearchSince(ctx, state.Since, systemdScope, words...)
		if err != nil {
			return unknownFor(err)
		}
		if slices.ContainsFunc(newer, func(line string) bool { return leftOut(line) == unit }) {
			f.wrong("cycle", "systemd has not started %s, to break a cycle of units that wait for each other: %s", unit, strings.Join(newer[max(0, len(newer)-3):], "; "))
			return f
		}
	}
	return f
}

// leftOut is the unit that systemd does not start for a cycle, from its line in the journal (systemd src/core/transaction.c,
// transaction_verify_order_one), or "".
func leftOut(line string) string {
	for _, form := range []struct{ before, after string }{
		{"Job ", " deleted to break ordering cycle"}, {"Unable to break cycle starting with ", ""},
	} {
		_, rest, found := strings.Cut(line, form.before)
		job, _, ends := strings.Cut(rest, form.after)
		if !found || !ends {
			continue
		}
		if form.after == "" {
			job = rest
		}
		unit, _, _ := strings.Cut(strings.TrimSpace(job), "/")
		if !strings.ContainsAny(unit, " \t") && strings.Contains(unit, ".") {
			return unit
		}
	}
	return ""
}

// basic are the units that each node rests on, if it has them.
var basic = []string{"systemd-networkd.service", "NetworkManager.service", "systemd-resolved.service", "var-lib-kubelet.mount", "var-lib-containerd.mount"}

// rests reports whether the node rests on a unit, beside the kubelet and its runtime.
func (p *Patient) rests(unit string) bool {
	started, _ := p.started()
	return (slices.Contains(basic, unit) || slices.Contains(started, unit)) && !slices.Contains(p.ownUnits(), unit)
}

func lookFailed(ctx context.Context, p *Patient) *Finding {
	failed, err := p.Machine.FailedUnits(ctx)
	if err != nil {
		return unknownFor(err)
	}
	f := fine("no unit has failed")
	if len(failed) > 0 {
		f = fine("no unit of the node has failed")
	}
	for _, unit := range failed {
		if f.State == Wrong || !p.rests(unit) {
			f.with(unit, "failed")
			continue
		}
		state, err := p.Machine.Examine(ctx, unit)
		if err != nil {
			return unknownFor(err)
		}
		lines, _ := p.Machine.Search(ctx, unit)
		f.with(unit, unitText(state)).withLines(unit, lines)
		f.wrong("failed", "%s is %s%s", unit, unitText(state), colonWords(lines))
	}
	return f
}

// unitText describes a unit's state.
func unitText(unit *host.ExaminedUnit) string {
	text := unit.ActiveState
	if unit.SubState != "" && unit.SubState != unit.ActiveState {
		text += " (" + unit.SubState + ")"
	}
	switch {
	case unit.LoadState == "not-found":
		return "missing"
	case unit.LoadState == "masked":
		return "masked"
	case unit.Killed:
		text += fmt.Sprintf(", killed by signal %d", unit.ExitCode)
	case unit.ExitCode != 0:
		text += fmt.Sprintf(", exit status %d", unit.ExitCode)
	}
	if unit.Result != "" && unit.Result != "success" && unit.Result != "exit-code" && unit.Result != "signal" {
		text += ", result " + unit.Result
	}
	if unit.Restarts > 0 {
		text += fmt.Sprintf(", restarted %d times", unit.Restarts)
	}
	return text
}

// managerWords are in the lines that systemd itself writes about a service, which do not say why it has ended.
var managerWords = []string{
	"Main process exited", "Failed with result", "Scheduled restart job", "Deactivated successfully", "Consumed ", "Start request repeated too quickly",
	"Starting ", "Started ", "Stopped ", "Stopping ", "Failed to start ", "Triggering OnFailure",
}

// lastWords is the last line of a program before its end.
func lastWords(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if !slices.ContainsFunc(managerWords, func(word string) bool { return strings.Contains(line, word) }) {
			return line
		}
	}
	return ""
}
