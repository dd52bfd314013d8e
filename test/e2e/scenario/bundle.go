package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/supportbundle"
	"github.com/slipway-dev/slipway/test/e2e/machineboot"
)

// bundleArgs are what a support bundle must say.
type bundleArgs struct {
	// Story are texts that the story of the boot must have.
	Story []string `yaml:"story"`
	// Limited are the parts of names of files of which only the newest lines may be in the bundle. All others must be whole.
	Limited []string `yaml:"limited"`
}

// The files of a collection, in the machine. They are in memory: the machine's disk can be full.
const (
	bundleName    = "bundle.tar.gz"
	collectedName = "collected.json"
	collecting    = "cd /run && /opt/slipway/bin/slipway-node collect --file " + bundleName + " -o json >" + collectedName
)

// supportBundle collects a support bundle in the machine, and reads the boot's timeline from it on the test's machine. The timeline must have
// each event that the machine's own records have, at the same time.
func (r *caseRun) supportBundle(ctx context.Context, args bundleArgs) error {
	if err := r.shell(ctx); err != nil {
		return err
	}
	own, err := machineboot.Read(ctx, r.vm, statusPath)
	if err != nil {
		return err
	}
	manifest, err := r.collectBundle(ctx)
	if err != nil {
		return err
	}
	document, err := r.slipway(ctx, "anatomy", filepath.Join(r.out, bundleName), "-o", "json")
	if err != nil {
		return err
	}
	if err := r.keep("bundle-timeline.json", document); err != nil {
		return err
	}
	read := new(anatomy.Timeline)
	if err := json.Unmarshal(document, read); err != nil {
		return err
	}
	return args.compare(manifest, own, read)
}

// hasty are why a collection leaves out what a slow machine did not say in time.
var hasty = []string{"does not answer in time", "the collection took longer than"}

// collectBundle collects a support bundle, and again as long as the machine is too slow for a whole one.
func (r *caseRun) collectBundle(ctx context.Context) (*supportbundle.Manifest, error) {
	patient, cancel := r.Pace.Within(ctx, patience)
	defer cancel()
	for {
		if _, err := r.vm.Shell.Output(ctx, collecting); err != nil {
			return nil, err
		}
		files, err := r.vm.Artifacts(ctx, map[string]string{collectedName: "cat /run/" + collectedName, bundleName: "cat /run/" + bundleName})
		if err != nil {
			return nil, err
		}
		for name, content := range files {
			if err := r.keep(name, content); err != nil {
				return nil, err
			}
		}
		var collected struct{ Manifest *supportbundle.Manifest }
		if err := json.Unmarshal(files[collectedName], &collected); err != nil {
			return nil, fmt.Errorf("slipway-node collect: %w: %.500s", err, files[collectedName])
		}
		late := slices.IndexFunc(collected.Manifest.Missing, func(m supportbundle.Missing) bool {
			return slices.ContainsFunc(hasty, func(reason string) bool { return strings.Contains(m.Reason, reason) })
		})
		if late < 0 || patient.Err() != nil {
			return collected.Manifest, nil
		}
		r.Log.Info("collected", "missing", collected.Manifest.Missing[late].Source, "reason", collected.Manifest.Missing[late].Reason)
	}
}

// sameTime is how much the same event may differ in two readings: the times of a journal's lines are placed by pairs of clocks, and
// each reading has other pairs.
const sameTime = 20 * time.Millisecond

// clockSet is the event of a machine whose clock was set.
const clockSet = "clock set"

// compare compares a bundle, and the timeline that was read from it, with the machine's own timeline.
func (want *bundleArgs) compare(m *supportbundle.Manifest, own, read *anatomy.Timeline) error {
	var wrong []string
	differ := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, f := range m.Files {
		limited := slices.ContainsFunc(want.Limited, func(part string) bool { return strings.Contains(f.Name, part) })
		if f.Truncated != "" != limited {
			differ("%s: truncated %q", f.Name, f.Truncated)
		}
	}
	for _, event := range own.Events {
		same := slices.ContainsFunc(read.Events, func(e anatomy.Event) bool {
			apart := time.Duration(e.AtUs-event.AtUs) * time.Microsecond
			// The clock was set before the first line after it, and a bundle has other lines.
			return e.Name == event.Name && (apart.Abs() <= sameTime || e.Name == clockSet && e.Detail == event.Detail)
		})
		if !same {
			differ("the timeline of the bundle has no %q at %.2f s", event.Name, float64(event.AtUs)/1e6)
		}
	}
	story := strings.Join(read.Story, "\n")
	for _, text := range want.Story {
		if !strings.Contains(story, text) {
			differ("the story has no %q: %s", text, story)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the bundle differs: %s", strings.Join(wrong, "; "))
	}
	return nil
}
