package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

const (
	watchUnit = "../../dist/systemd/slipway-watch.service"
	// exposure is the most that "systemd-analyze security" may say, in tenths.
	exposure = "40"
)

// directives are those of a unit, by name; one that is given more than once is joined.
func directives(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := make(map[string]string)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), "=")
		if found && !strings.HasPrefix(name, "#") {
			all[name] = strings.TrimSpace(all[name] + " " + value)
		}
	}
	return all
}

func TestWatchUnitIsConfined(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	if out, err := exec.Command(analyze, "security", "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "--threshold") {
		t.Skip("systemd-analyze is older than version 250, and cannot analyze a file")
	}
	out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", "--threshold="+exposure, watchUnit).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}

// The sandbox lets the agent write all that any example's plan has.
func TestWatchUnitLetsPlansBeApplied(t *testing.T) {
	var writable []string
	for path := range strings.FieldsSeq(directives(t, watchUnit)["ReadWritePaths"]) {
		writable = append(writable, strings.TrimPrefix(path, "-")+"/")
	}
	allowed := func(path string) bool {
		for _, dir := range writable {
			if strings.HasPrefix(path+"/", dir) {
				return true
			}
		}
		return false
	}
	var contracts []string
	for _, pattern := range []string{"../../examples/*/*.yaml", "../../examples/aks/*.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		contracts = append(contracts, found...)
	}
	written := 0
	for _, factsPath := range []string{"../../examples/facts/ubuntu.json", ""} {
		known, err := readFacts(factsPath)
		if err != nil {
			t.Fatal(err)
		}
		if known == nil {
			known = new(facts.Facts)
		}
		for _, contract := range contracts {
			data, err := os.ReadFile(contract)
			if err != nil {
				t.Fatal(err)
			}
			decoded := dialect.Decode(data, "")
			if len(nodeconfig.Fatal(decoded.Problems)) > 0 {
				continue // it is of something else, or of what cannot be used
			}
			desired, _ := plan.New(decoded.Config, *known)
			for _, res := range desired.Resources {
				switch res.Spec.(type) {
				case *resource.File, *resource.Directory, *resource.Symlink:
					written++
					if path := res.Spec.Name(); !allowed(path) {
						t.Errorf("%s: %s cannot be written: ReadWritePaths has %q", contract, path, writable)
					}
				}
			}
		}
	}
	if written < 100 {
		t.Errorf("only %d files were looked at in %d contracts", written, len(contracts))
	}
}

// What the agent and its unit say about time fits together.
func TestWatchUnitGivesTime(t *testing.T) {
	unit := directives(t, watchUnit)
	stop, err := time.ParseDuration(unit["TimeoutStopSec"] + "s")
	if err != nil || stop < stopGrace+10*time.Second {
		t.Errorf("TimeoutStopSec=%s, and the agent takes up to %s", unit["TimeoutStopSec"], stopGrace)
	}
	if unit["Type"] != "notify" || unit["WatchdogSec"] == "" || unit["Restart"] != "on-failure" {
		t.Errorf("the service is not supervised: %v", unit)
	}
	if !strings.HasSuffix(unit["ExecStart"], "/slipway-node watch") {
		t.Errorf("ExecStart=%s", unit["ExecStart"])
	}
}
