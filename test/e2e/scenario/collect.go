package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// kept are the commands whose output a case keeps from its machine, by file name.
var kept = map[string]string{
	"journal.txt":    "journalctl --no-pager -q -o short-precise",
	"provision.json": "cat /var/log/azure/aks/provision.json",
	"status.json":    "cat /var/lib/slipway/status.json",
	"facts.json":     "cat /run/slipway/facts.json",
	"slipway.log":    "cat /var/log/slipway.log",
	"cloud-init.log": "cat /var/log/cloud-init.log /var/log/cloud-init-output.log",
	"events.jsonl":   "cat /var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/*",
}

// keptOfFailures are further ones that run only after a failure, because they take seconds.
var keptOfFailures = map[string]string{
	"network.txt":         "ip address; ip route",
	"units.txt":           "systemctl --no-pager list-units; systemctl list-jobs",
	"systemd-analyze.txt": "systemd-analyze --no-pager critical-chain; systemd-analyze --no-pager blame",
	"all-units.txt":       "systemctl --no-pager --all list-units; networkctl --no-pager -a status",
	// A run's log may be all that is left of it.
	Findings: "/opt/slipway/bin/slipway-node doctor; journalctl --no-pager -b -q -n 20 -o cat -u kubelet",
}

// Findings is the name of the file, in the directory of a failed case, that says what the machine itself knows about the failure.
const Findings = "findings.txt"

// collect keeps all data about the machine, and returns its timeline. It omits what it cannot get,
// because it is needed most when the machine is broken. It asks nothing of a machine that hangs.
func (r *caseRun) collect(ctx context.Context, failed, hung bool) bootTimeline {
	console, err := os.ReadFile(r.vm.ConsolePath())
	if err == nil {
		err = r.keep("console.log", console)
	}
	if err != nil {
		r.Log.Warn("the console log is not kept", "case", r.Name, "error", err)
	}
	if hung {
		return bootTimeline{}
	}
	begin := time.Now()
	commands := maps.Clone(kept)
	if failed {
		maps.Copy(commands, keptOfFailures)
	}
	files, err := r.vm.Artifacts(ctx, commands)
	if err != nil {
		r.Log.Warn("the machine's own files are not kept", "case", r.Name, "error", err)
	}
	for name, content := range files {
		if err := r.keep(name, content); err != nil {
			r.Log.Warn("not kept", "case", r.Name, "file", name, "error", err)
		}
	}
	r.Log.Info("collected", "case", r.Name, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
	// If the contract is unusable, the agent gathers no facts and plans nothing.
	if json.Valid(files["facts.json"]) {
		if err := r.keepPlan(ctx); err != nil {
			r.Log.Warn("the plan is not kept", "case", r.Name, "error", err)
		}
	}
	r.keepDocument("cloud-requests.json", r.Lab.Cloud.Requests())
	r.keepDocument("registry-requests.json", r.Lab.Registries.Requests.All())
	if r.lastBoot == nil {
		b := r.timeline(ctx)
		r.lastBoot = &b
	}
	r.keepDocument("timeline.json", r.lastBoot.Events)
	if r.lastBoot.Anatomy != nil {
		r.keepDocument("anatomy.json", r.lastBoot.Anatomy)
	}
	return *r.lastBoot
}

// hangs reports whether the machine runs and answers nothing, or QEMU has aborted. It keeps what the emulator says about the machine.
func (r *caseRun) hangs(ctx context.Context) bool {
	if r.vm.Healthy() != nil {
		return r.vm.Aborted()
	}
	asked, cancel := r.Pace.Within(ctx, silence)
	defer cancel()
	_, err := r.vm.Shell.Output(asked, "true")
	if err == nil {
		return false
	}
	if err := r.keep(Findings, fmt.Appendf(nil, "the machine does not answer: %v\n%s", err, r.vm.Emulator(ctx))); err != nil {
		r.Log.Warn("not kept", "case", r.Name, "error", err)
	}
	return true
}

// silence is how long a machine may take to run a command that does nothing.
const silence Boots = 5

// keepDocument keeps a value as JSON.
func (r *caseRun) keepDocument(name string, value any) {
	document, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = r.keep(name, append(document, '\n'))
	}
	if err != nil {
		r.Log.Warn("not kept", "case", r.Name, "file", name, "error", err)
	}
}

// keepPlan keeps the plan of the last contract for the machine's facts.
func (r *caseRun) keepPlan(ctx context.Context) error {
	plan, err := r.slipway(ctx, "plan", "-f", r.contract, "--facts", filepath.Join(r.out, "facts.json"))
	if err != nil {
		return err
	}
	return r.keep("plan.txt", plan)
}

func (r *caseRun) keep(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}
