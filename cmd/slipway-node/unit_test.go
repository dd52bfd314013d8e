package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
)

const (
	unitDir       = "../../dist/systemd/"
	watchUnit     = unitDir + "slipway-watch.service"
	provisionUnit = unitDir + "slipway-provision.service"
)

// exposures are the highest allowed results of "systemd-analyze security" for the services, in tenths.
var exposures = map[string]string{watchUnit: "40", provisionUnit: "45"}

// directives are a unit's directives, by name; repeated ones are joined.
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

// analyze runs systemd-analyze, if it can analyze a file.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	if out, err := exec.Command(program, "security", "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "--threshold") {
		t.Skip("systemd-analyze is older than version 250, and cannot analyze a file")
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestUnitsAreConfined(t *testing.T) {
	for path, exposure := range exposures {
		out := analyze(t, "security", "--offline=yes", "--no-pager", "--threshold="+exposure, path)
		last := out[strings.LastIndex(out, "\n")+1:]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(`"systemd-analyze security" says ([0-9.]+)`).FindSubmatch(text)
		if said == nil || !strings.Contains(last, " "+string(said[1])+" ") {
			t.Errorf("%s says %q of itself, and systemd-analyze: %s", path, said, last)
		}
	}
}

// newer are settings that the oldest supported systemd, 249, does not know, and ignores with a warning.
var newer = regexp.MustCompile(`(?m)^.*Unknown key( name)? '(RestartSteps|RestartMaxDelaySec)' in section .*\n?`)

// systemd understands everything in the units.
func TestUnitsAreValid(t *testing.T) {
	units, err := filepath.Glob(unitDir + "*")
	if err != nil || len(units) < 3 {
		t.Fatal(units, err)
	}
	// The program that a unit starts need not be installed here.
	dir := t.TempDir()
	args := []string{"verify", "--man=no"}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, filepath.Base(unit))
		if err := os.WriteFile(copied, bytes.ReplaceAll(text, []byte("/opt/slipway/bin/slipway-node"), []byte("/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, copied)
	}
	if said := newer.ReplaceAllString(analyze(t, args...), ""); strings.Contains(said, "slipway") {
		t.Error(said)
	}
}

// more is what the provisioning service's sandbox has in addition to the watcher's.
var more = map[string][]string{
	"CapabilityBoundingSet": {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_RAWIO", "CAP_SYS_RESOURCE"},
	"ReadWritePaths":        {"-/usr"},
	"DeviceAllow":           {"block-*", "r"},
}

// less is what it lacks of the watcher's.
var less = map[string][]string{
	"ReadWritePaths": {"-/usr/bin", "-/usr/libexec", "-/usr/local/bin", "-/usr/local/share"}, "PrivateTmp": {"yes"}, "PrivateDevices": {"yes"},
}

// other are directives outside the sandbox, separate for each service.
var other = []string{
	"Description", "Documentation", "DefaultDependencies", "After", "Before", "Wants", "Conflicts", "RequiresMountsFor", "ConditionPathExists",
	"StartLimitIntervalSec", "StartLimitBurst", "Type", "RemainAfterExit", "ExecStart", "TimeoutStartSec", "TimeoutStopSec", "RuntimeMaxSec",
	"WatchdogSec", "Restart", "RestartSec", "RestartSteps", "RestartMaxDelaySec", "RestartPreventExitStatus", "RestartForceExitStatus", "WantedBy",
	"CPUWeight", "IOWeight",
}

// The two services have the same sandbox, except for the lists above.
func TestOneSandbox(t *testing.T) {
	watch, provision := directives(t, watchUnit), directives(t, provisionUnit)
	names := maps.Clone(watch)
	maps.Copy(names, provision)
	for name := range names {
		if slices.Contains(other, name) {
			continue
		}
		want := slices.DeleteFunc(strings.Fields(watch[name]), func(word string) bool { return slices.Contains(less[name], word) })
		want = append(want, more[name]...)
		have := strings.Fields(provision[name])
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(have, want) {
			t.Errorf("%s=%q, want %q", name, have, want)
		}
	}
}

// The first boot can write where a plan may write, and nowhere else except on the temporary disk, where a swap file may
// be.
func TestProvisionUnitLetsPlansBeApplied(t *testing.T) {
	writable := writablePaths(t, provisionUnit)
	for _, dir := range []string{
		"/bin", "/boot", "/data", "/dev", "/etc", "/home", "/lib", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp",
		"/usr", "/usr/lib", "/usr/local", "/var", "/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp",
	} {
		name := dir + "/x/y"
		if may := place.Check(name) == "" || dir == "/mnt"; may != writable(name) {
			t.Errorf("a plan may write %s: %t; the service can: %t", name, may, writable(name))
		}
	}
}

// writablePaths reports for each path whether a unit can write there.
func writablePaths(t *testing.T, unit string) func(path string) bool {
	t.Helper()
	dirs := strings.Fields(directives(t, unit)["ReadWritePaths"])
	return func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path+"/", strings.TrimPrefix(dir, "-")+"/") })
	}
}

// In the sandbox the agent can write all files of any example's plan.
func TestWatchUnitLetsPlansBeApplied(t *testing.T) {
	allowed, all := writablePaths(t, watchUnit), contracts.Examples(t, "../..")
	written := 0
	for _, factsPath := range []string{"../../examples/facts/ubuntu.json", ""} {
		known, err := readFacts(factsPath)
		if err != nil {
			t.Fatal(err)
		}
		if known == nil {
			known = new(facts.Facts)
		}
		for _, contract := range all {
			data, err := os.ReadFile(contract)
			if err != nil {
				t.Fatal(err)
			}
			decoded := dialect.Decode(data, "")
			if len(nodeconfig.Fatal(decoded.Problems)) > 0 {
				continue // it is of another kind, or cannot be used
			}
			desired, _ := plan.New(decoded.Config, *known)
			for _, res := range desired.Resources {
				switch res.Spec.(type) {
				case *resource.File, *resource.Directory, *resource.Symlink:
					written++
					if path := res.Spec.Name(); !allowed(path) {
						t.Errorf("%s: %s cannot be written", contract, path)
					}
				}
			}
		}
	}
	if written < 100 {
		t.Errorf("only %d files were looked at in %d examples", written, len(all))
	}
}

// The time limits of the agent and of its unit match.
func TestWatchUnitGivesTime(t *testing.T) {
	unit := directives(t, watchUnit)
	stop, err := time.ParseDuration(unit["TimeoutStopSec"] + "s")
	if err != nil || stop < stopGrace+10*time.Second {
		t.Errorf("TimeoutStopSec=%s, and the agent takes up to %s", unit["TimeoutStopSec"], stopGrace)
	}
	if unit["Type"] != "notify" || unit["WatchdogSec"] == "" {
		t.Errorf("the service is not supervised: %v", unit)
	}
	if !strings.HasSuffix(unit["ExecStart"], "/slipway-node watch") {
		t.Errorf("ExecStart=%s", unit["ExecStart"])
	}
}

// panicked is the exit code of a Go program that panics, or that SIGSEGV, SIGABRT or the watchdog ends.
const panicked = 2

// A crash does not prevent a restart, and neither does a signal that systemd treats as a normal end
// (systemd.service(5), Restart=): only the agent's exit code for that does. A loop of crashes ends, or becomes slow.
func TestUnitsComeBack(t *testing.T) {
	watch, provision := directives(t, watchUnit), directives(t, provisionUnit)
	for name, c := range map[string]struct{ have, want string }{
		"the watcher is started again":                   {watch["Restart"], "always"},
		"but for these":                                  {watch["RestartPreventExitStatus"], fmt.Sprintf("%d %d", exitcode.Success, exitcode.Usage)},
		"a provisioning is, that came to no end":         {provision["Restart"], "on-abnormal"},
		"and with these":                                 {provision["RestartForceExitStatus"], fmt.Sprintf("%d %d", panicked, exitcode.Interrupted)},
		"no code of a provisioning that failed prevents": {provision["RestartPreventExitStatus"], ""},
	} {
		if c.have != c.want {
			t.Errorf("%s: %q, want %q", name, c.have, c.want)
		}
	}
	for _, unit := range []map[string]string{watch, provision} {
		if unit["StartLimitBurst"] != "10" || unit["StartLimitIntervalSec"] == "" || unit["RestartSec"] == "" || unit["KillMode"] != "mixed" {
			t.Errorf("%s: nothing limits a loop of crashes, or who is killed", unit["Description"])
		}
	}
	if code, known := exitcode.Lookup(panicked); known && code.Source == exitcode.Slipway {
		t.Errorf("%d is %s, too", panicked, code.Name)
	}
}
