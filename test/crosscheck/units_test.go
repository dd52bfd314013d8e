//go:build crosscheck

package crosscheck

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/unitfile"
)

var units = flag.Int("units", 10_000, "how many units are made and given to systemd-analyze")

// unitFiles are the files of one unit.
type unitFiles struct {
	file    *unitfile.Source
	dropIns []unitfile.Source
}

// refusedUnit matches systemd-analyze's output for a unit that systemd would not start because of its files.
var refusedUnit = regexp.MustCompile(`(?m)^Unit (\S+) (?:has a bad unit file setting|failed to load properly)`)

// refusedBySystemd runs systemd-analyze, and returns the units that systemd would not start because of their files.
func refusedBySystemd(t *testing.T, all map[string]unitFiles) map[string]string {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("this machine has no systemd-analyze")
	}
	dir := t.TempDir()
	write := func(at, content string) {
		if err := os.MkdirAll(path.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range all {
		write(filepath.Join(dir, name), files.file.Content)
		for _, d := range files.dropIns {
			write(filepath.Join(dir, name+".d", path.Base(d.Path)), d.Content)
		}
	}
	refused := make(map[string]string)
	for some := range slices.Chunk(slices.Sorted(maps.Keys(all)), 200) {

		command := exec.Command(tool, append([]string{"verify", "--man=no", "--recursive-errors=no"}, some...)...)
		command.Dir = dir
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "SYSTEMD_UNIT_PATH=" + dir}
		output, err := command.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
			t.Fatalf("%v: %s", err, output)
		}
		for _, match := range refusedUnit.FindAllStringSubmatch(string(output), -1) {
			var lines []string
			for line := range strings.Lines(string(output)) {
				if strings.HasPrefix(line, match[1]+":") || strings.HasPrefix(path.Base(strings.SplitN(line, ":", 2)[0]), match[1]) || strings.Contains(line, "/"+match[1]+".d/") {
					lines = append(lines, line)
				}
			}
			refused[match[1]] = strings.Join(lines, "")
		}
	}
	return refused
}

// compareUnits compares Slipway's problems of units with systemd-analyze's, and returns how many units both refuse.
func compareUnits(t *testing.T, all map[string]unitFiles) (both int) {
	t.Helper()
	refused := refusedBySystemd(t, all)
	wrong := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		files := all[name]
		var reasons []string
		for _, f := range unitfile.Judge(name, files.file, files.dropIns) {
			if f.Refused {
				reasons = append(reasons, fmt.Sprintf("%s:%d: %s", path.Base(f.Path), f.Line, f.Reason))
			}
		}
		theirs, isTheirs := refused[name]
		if isTheirs == (len(reasons) > 0) {
			if isTheirs {
				both++
			}
			continue
		}
		if wrong++; wrong <= 20 {
			t.Errorf("%s: Slipway says %q, systemd says %t: %s\n%s\n%v", name, reasons, isTheirs, theirs, files.file.Content, files.dropIns)
		}
	}
	if wrong > 0 {
		t.Errorf("%d disagreements", wrong)
	}
	return both
}

// TestUnitsOfGoldenTreesAgreeWithSystemd compares each unit of each golden tree.
func TestUnitsOfGoldenTreesAgreeWithSystemd(t *testing.T) {
	trees, err := filepath.Glob("../cases/*/want.tree")
	if err != nil || len(trees) < 100 {
		t.Fatal(len(trees), err)
	}
	count := 0
	for _, tree := range trees {
		all := unitsOf(t, tree)
		count += len(all)
		if both := compareUnits(t, all); both > 0 {
			t.Errorf("%s: systemd refuses %d units", tree, both)
		}
	}
	if count < 500 {
		t.Errorf("only %d units", count)
	}
	t.Logf("%d units of %d trees, none refused", count, len(trees))
}

// unitsOf returns the units in a golden tree, with their drop-ins.
func unitsOf(t *testing.T, tree string) map[string]unitFiles {
	t.Helper()
	text, err := os.ReadFile(tree)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]unitFiles)
	for _, entry := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, content, _ := strings.Cut(entry, "\n")
		_, at, _ := strings.Cut(head, " ")
		rest, isUnit := strings.CutPrefix(at, "/etc/systemd/system/")
		if !isUnit || strings.HasSuffix(at, "/") || strings.HasPrefix(head, "link ") || strings.HasPrefix(head, "no line break") {
			continue
		}
		name, dropIn, isDropIn := strings.Cut(rest, ".d/")
		files := all[name]
		if source := (unitfile.Source{Path: at, Content: content + "\n"}); !isDropIn {
			files.file = &source
		} else if strings.HasSuffix(dropIn, ".conf") {
			files.dropIns = append(files.dropIns, source)
		}
		all[name] = files
	}
	maps.DeleteFunc(all, func(name string, files unitFiles) bool { return files.file == nil || strings.Contains(name, "/") })
	return all
}

// TestMadeUnitsAgreeWithSystemd compares random units: of each kind, with and without drop-ins, with values that systemd accepts
// and values that it does not.
func TestMadeUnitsAgreeWithSystemd(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 44))
	all := make(map[string]unitFiles)
	for i := range *units {
		name, files := makeUnit(random, i)
		all[name] = files
	}
	both := compareUnits(t, all)
	if both < len(all)/10 || both > len(all)*9/10 {
		t.Errorf("systemd refuses %d of %d units", both, len(all))
	}
	t.Logf("seed %d: %d units, of which both refuse %d", *seed, len(all), both)
}

// variant is a setting and values for it.
type variant struct {
	section, key string
	values       []string
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

var (
	commandValues = []string{
		"", "/bin/x", "/bin/x a b", "-/bin/x", "@/bin/x x", "@/bin/x", ":/bin/x", "+/bin/x", "!/bin/x", "!!/bin/x", "!!!/bin/x", "+!/bin/x", "-@:/bin/x y", "--/bin/x", "::/bin/x",
		"x", "bin/x", "-bin/x", "./x", "/bin/", "/bin/..", "/", ".", `"/bin/x" a`, `"/bin/x`, `'/bin/x' "a b"`, `/bin/x "a`, `/bin/x 'a`, `/bin/x a"b`, `/bin/x "a"b"`, `/bin/x \q`, `/bin/x \x41 \x00 \u00e9 \101 \777`,
		`/bin/x\x2fy`, `/bin/x\qy`, "/bin/x ; /bin/y", "/bin/x ;", "/bin/x ; y/z", "-/bin/x ; y/z", "/bin/x a;b", `/bin/x \; y`, `/bin/x ";" y`, "/bin/x ; ; /bin/y", "%i", "%q/x", "%t/x", "%h/x %i", "/bin/%n", "/bin/x %q %%", "%%/x",
		"/bin/x \\\n  a", "/bin/x \\\n# comment\n  a", "/bin/x $A ${B}", `""`, `"" x`, "@ x", "-", "-@", "/bin/" + strings.Repeat("n", 256), strings.Repeat("n", 256), "\t/bin/x\t",
	}
	pathValues = []string{"", "/a", "/a/b/", "/a/../b", "/a/./b", "a", "./a", "-/a", "~", "-a", "%i", "/%i", "%t/a", "%q", "/" + strings.Repeat("n", 256), "/a b", `"/a"`, "..", "//a//b", "/a/.."}
	userValues = []string{"", "root", "a-b", "a.b", "a b", "a:b", "/a", "0", "007", "1000", "65535", "4294967295", "4294967296", "-1", "-", "-a", ".", "..", "%i", "%u", "a$", `"a"`, "é", "99999999999999999999"}
	boolValues = []string{"", "yes", "No", "1", "0", "TRUE", "maybe", "%i", "on", "off", "t", "f", "y", "n", "2"}
	timeValues = []string{
		"", "1h", "5", "1h 30min", "1.5h", "infinity", "1foo", "h", "-1", "1 h", "1h foo", "1 foo", ".5s", "1.s", "1..2", "12.34.56", "12.34 .56", "12.34s.56", "%i", "1us2ms3s", "2weeks3days", "1M", "1y", "0", "1h,2h", "1:30", "100ms",
	}
	calendarValues = []string{
		"", "daily", "Daily", "weekly", "every day", "*-*-* 10:00", "*-*-* 10:00:00", "10:00", "10", "Mon", "Mon..Fri", "Mon-Fri 10:00", "mon,tue 5:00", "Mon, 10:00", "Mon.. 10:00", "Fri..Mon 10:00", "Foo 10:00",
		"2026-01-01", "2026-13-01", "26-01-01", "*-1-32", "1-1", "*-*~1", "*-*~40", "*:0/15", "*/15", "*:*", "*:*:*", "24:00", "23:60", "23:59:60", "10:00:00.5", "10:00 UTC", "10:00 utc", "10:00 Europe/Berlin", "10:00 UTC",
		"@1", "@x", "0/2:00", "10..12:00", "12..10:00", "10..12/2:00", "10/0:00", "10/30:00", "1,2,3:00", "1,,2:00", "1,:00", "*-*-01,15 10:00", "hourly 10:00", "10:00:00:00", "-1:00", "Monday 10:00", "Mon,Wed..Fri", "Mon  10:00", "2199-1-1 10:00", "2200-1-1 10:00",
		"annually", "semi-annually", "quarterly", "minutely", "hourly", "biannually", "fortnightly", "*-*-1/7 4:00", "Sat *-*-1..7 18:00", "cron", "0 5 * * *", "5m",
	}
	socketValues = []string{
		"", "/run/a", "a", "@a", "@", "80", "0", "65535", "65536", "1.2.3.4:80", "1.2.3.4", "1.2.3:80", "localhost:80", "[::1]:80", "[::1]", "::1", "[1.2.3.4]:80", "[::1]:0", "1.2.3.4:0", "vsock:2:1234", "vsock::1234", "vsock:2", "vsock:a:b",
		"/" + strings.Repeat("n", 120), "%i", "%t/a", "foo bar", "/a b", "080", "+80", "[::1]:80 ", "@" + strings.Repeat("n", 120), "*:80",
	}
)

// variants are settings of each kind of unit, with values.
var variants = map[string][]variant{
	"service": {
		{"Service", "ExecStart", commandValues}, {"Service", "ExecStart", commandValues}, {"Service", "ExecStart", []string{"/bin/x", "", "/bin/y"}}, {"Service", "ExecStop", commandValues}, {"Service", "ExecStartPre", commandValues},
		{"Service", "ExecStartPost", commandValues}, {"Service", "ExecReload", commandValues}, {"Service", "ExecCondition", commandValues}, {"Service", "ExecStopPost", commandValues},
		{"Service", "Type", []string{"simple", "exec", "forking", "oneshot", "oneshot", "dbus", "notify", "idle", "bogus", "", "OneShot"}}, {"Service", "RemainAfterExit", boolValues},
		{"Service", "Restart", []string{"no", "always", "on-success", "on-failure", "on-abort", "bogus", ""}}, {"Service", "ExitType", []string{"main", "cgroup", "bogus", ""}},
		{"Service", "BusName", []string{"org.example.A#", "a", "", "a..b", "a.1b", "a.b-c#", "%i.b#", ".a.b"}}, {"Service", "PAMName", []string{"login", ""}}, {"Service", "KillMode", []string{"control-group", "process", "mixed", "none", "bogus", ""}},
		{"Unit", "SuccessAction", []string{"none", "reboot", "poweroff-force", "exit", "bogus", ""}}, {"Service", "User", userValues}, {"Service", "Group", userValues}, {"Service", "SupplementaryGroups", []string{"", "a", "a b", "a b:c", `"a b"`, `a "b`, "1 2", "65535"}},
		{"Service", "WorkingDirectory", pathValues}, {"Service", "RootDirectory", pathValues}, {"Service", "PIDFile", pathValues}, {"Service", "DynamicUser", boolValues},
		{"Service", "Environment", []string{"", "A=b", "A", `A="b`, "1A=b", "A=b C=d"}}, {"Service", "EnvironmentFile", pathValues}, {"Service", "RestartSec", timeValues}, {"Service", "Foo", []string{"a"}}, {"Install", "WantedBy", []string{"a.target"}},
		{"Service", "NoNewPrivileges", boolValues}, {"service", "ExecStart", []string{"/bin/x"}}, {"X-Own", "A", []string{"b"}}, {"Unit", "ExecStart", []string{"/bin/x"}}, {"Unit", "After", []string{"a.service", "a", ""}},
	},
	"socket": {
		{"Socket", "ListenStream", socketValues}, {"Socket", "ListenStream", socketValues}, {"Socket", "ListenDatagram", socketValues}, {"Socket", "ListenSequentialPacket", []string{"/run/a", "@a", ""}}, {"Socket", "ListenFIFO", pathValues},
		{"Socket", "ListenSpecial", pathValues}, {"Socket", "ListenMessageQueue", []string{"/a", "a", ""}}, {"Socket", "ListenNetlink", []string{"kobject-uevent 1", "kobject-uevent", "bogus 1", "route x", "audit 0", ""}},
		{"Socket", "Accept", boolValues}, {"Socket", "MaxConnections", []string{"0", "1", "00", "-1", "a", ""}}, {"Socket", "Service", []string{"a.service", "a", "", "a.mount"}}, {"Socket", "Symlinks", []string{"/a", "a", "", "/a /b", `"/a`}},
		{"Socket", "SocketUser", userValues}, {"Socket", "SocketGroup", userValues}, {"Socket", "ExecStartPre", commandValues}, {"Socket", "ExecStopPre", commandValues}, {"Socket", "User", userValues}, {"Socket", "WorkingDirectory", pathValues},
	},
	"mount": {
		{"Mount", "What", []string{"/dev/x", "", "%i", "none", "UUID=a", "a b"}}, {"Mount", "Where", nil}, {"Mount", "Where", nil}, {"Mount", "Type", []string{"ext4", ""}}, {"Mount", "Options", []string{"ro", ""}}, {"Mount", "User", userValues}, {"Mount", "LazyUnmount", boolValues},
	},
	"automount": {{"Automount", "Where", nil}, {"Automount", "Where", nil}, {"Automount", "TimeoutIdleSec", timeValues}},
	"swap":      {{"Swap", "What", nil}, {"Swap", "What", nil}, {"Swap", "Options", []string{"a", ""}}, {"Swap", "WorkingDirectory", pathValues}},
	"timer": {
		{"Timer", "OnCalendar", calendarValues}, {"Timer", "OnCalendar", calendarValues}, {"Timer", "OnBootSec", timeValues}, {"Timer", "OnUnitActiveSec", timeValues}, {"Timer", "OnClockChange", boolValues}, {"Timer", "OnTimezoneChange", boolValues},
		{"Timer", "Unit", []string{"a.service", ""}}, {"Timer", "Persistent", boolValues},
	},
	"path": {
		{"Path", "PathExists", pathValues}, {"Path", "PathExistsGlob", pathValues}, {"Path", "PathChanged", pathValues}, {"Path", "PathModified", pathValues}, {"Path", "DirectoryNotEmpty", pathValues}, {"Path", "MakeDirectory", boolValues}, {"Path", "Unit", []string{"a.service", ""}},
	},
	"slice":  {{"Slice", "CPUWeight", []string{"100", "a"}}, {"Unit", "Description", []string{"a"}}},
	"target": {{"Unit", "Requires", []string{"a.service", "a"}}, {"Unit", "AllowIsolate", boolValues}, {"Target", "A", []string{"b"}}},
}

// mountPoints are paths for units whose names depend on a path.
var mountPoints = []string{
	"/mnt/a", "/srv/a-b", "/var/lib/a.b", "/.hidden", "/mnt/a b", "/mnt/é", "/mnt/a_b.c", "/a/b/c/d", "/proc", "/sys", "/dev", "/run", "/dev/shm", "/run/lock", "/sys/fs/cgroup/a", "/tmp", "/dev/mqueue", "/proc/sys/fs", "/sys/kernel/debug", "/run/user", "/etc", "/mnt/@a",
}

// oddLines are lines that are not settings.
var oddLines = []string{"foo", "= x", "# comment", "; comment", "[Ser\"vice]", "[Unit", "[]", "[X-Own]", "\xff\xfe=a", "", "Foo = bar", "[Service]", "[service]", " [Install] ", "\\", "a\\"}

// makeUnit makes a unit.
func makeUnit(random *rand.Rand, i int) (string, unitFiles) {
	kind := pick(random, []string{"service", "service", "service", "service", "socket", "socket", "timer", "timer", "path", "mount", "mount", "automount", "swap", "slice", "target"})
	stem := fmt.Sprintf("u%d%s", i, pick(random, []string{"", "", "-a-b", "@in-st", "@a"}))
	if kind == "slice" || kind == "target" {
		stem = fmt.Sprintf("u%d", i)
	}
	var wheres []string
	if kind == "mount" || kind == "automount" || kind == "swap" {
		at := fmt.Sprintf("%s/u%d", pick(random, mountPoints), i)
		if random.IntN(4) == 0 {
			at = pick(random, mountPoints)
		}
		stem = unitfile.PathName(at)
		if random.IntN(12) == 0 {
			stem = pick(random, []string{fmt.Sprintf("a--u%d", i), fmt.Sprintf("u%d-", i), fmt.Sprintf(`u%d\x2f`, i), fmt.Sprintf(`u%d\x5a`, i), fmt.Sprintf("u%d-.a", i)})
		}
		wheres = []string{at, at, at, at + "/", at + "/x", path.Dir(at), "", "a", at + "/../x", at + "/.", "//" + at, "%i", "UUID=a"}
	}
	name := stem + "." + kind
	files := unitFiles{file: &unitfile.Source{Path: name, Content: makeText(random, kind, i, wheres, true)}}
	for d := range random.IntN(3) {
		if random.IntN(2) == 0 {
			files.dropIns = append(files.dropIns, unitfile.Source{Path: fmt.Sprintf("%s.d/%d.conf", name, d), Content: makeText(random, kind, i, wheres, false)})
		}
	}
	return name, files
}

// usual is the beginning of a unit of a kind, so that not every other unit is refused.
var usual = map[string]string{
	"service": "[Service]\nExecStart=/bin/x\n", "socket": "[Socket]\nListenStream=/run/x\n", "timer": "[Timer]\nOnBootSec=1h\n", "path": "[Path]\nPathExists=/x\n", "mount": "[Mount]\nWhat=/dev/x\n",
}

// makeText makes a file of unit i. No two units may have one name on D-Bus.
func makeText(random *rand.Rand, kind string, i int, wheres []string, isWhole bool) string {
	var text strings.Builder
	if isWhole && random.IntN(3) > 0 {
		text.WriteString(usual[kind])
	}
	section := ""
	for range 1 + random.IntN(4) {
		if random.IntN(15) == 0 {
			text.WriteString(pick(random, oddLines) + "\n")
			section = ""
			continue
		}
		v := pick(random, variants[kind])
		if v.section != section {
			section = v.section
			text.WriteString("[" + section + "]\n")
		}
		values := v.values
		if values == nil {
			values = wheres
		}
		text.WriteString(v.key + pick(random, []string{"=", " = "}) + strings.ReplaceAll(pick(random, values), "#", strconv.Itoa(i)) + "\n")
	}
	return text.String()
}
