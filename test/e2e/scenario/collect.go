package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// kept are what a case keeps of its machine, by file name: commands that print it.
var kept = map[string]string{
	"journal.txt":         "journalctl --no-pager -q -o short-precise",
	"provision.json":      "cat /var/log/azure/aks/provision.json",
	"status.json":         "cat /var/lib/slipway/status.json",
	"facts.json":          "cat /run/slipway/facts.json",
	"slipway.log":         "cat /var/log/slipway.log",
	"cloud-init.log":      "cat /var/log/cloud-init.log /var/log/cloud-init-output.log",
	"units.txt":           "systemctl --no-pager list-units; systemctl list-jobs",
	"systemd-analyze.txt": "systemd-analyze --no-pager critical-chain",
	"network.txt":         "ip address; ip route",
}

// collect keeps what there is to know about the machine, and returns its timeline. What cannot be
// had is left out: it is wanted most when the machine is in a bad way.
func (r *caseRun) collect(ctx context.Context) []Event {
	console, err := os.ReadFile(r.vm.ConsolePath())
	if err == nil {
		err = r.keep("console.log", console)
	}
	if err != nil {
		r.Log.Warn("the console log is not kept", "case", r.Name, "error", err)
	}
	begin := time.Now()
	files, err := r.vm.Artifacts(ctx, kept)
	if err != nil {
		r.Log.Warn("the machine's own files are not kept", "case", r.Name, "error", err)
	}
	for name, content := range files {
		if err := r.keep(name, content); err != nil {
			r.Log.Warn("not kept", "case", r.Name, "file", name, "error", err)
		}
	}
	r.Log.Info("collected", "case", r.Name, "seconds", fmt.Sprintf("%.1f", time.Since(begin).Seconds()))
	requests, err := json.MarshalIndent(r.Lab.Cloud.Requests(), "", "  ")
	if err == nil {
		err = r.keep("cloud-requests.json", requests)
	}
	if err != nil {
		r.Log.Warn("the cloud's requests are not kept", "case", r.Name, "error", err)
	}
	events := r.events
	if events == nil {
		events = r.timeline(ctx)
	}
	document, err := json.MarshalIndent(events, "", "  ")
	if err == nil {
		err = r.keep("timeline.json", append(document, '\n'))
	}
	if err != nil {
		r.Log.Warn("the timeline is not kept", "case", r.Name, "error", err)
	}
	return events
}

func (r *caseRun) keep(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}
