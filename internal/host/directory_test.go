package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

func openDirectory(t *testing.T, root string) *Directory {
	t.Helper()
	d, err := OpenDirectory(root)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDirectoryRecords(t *testing.T) {
	root := filepath.Join(t.TempDir(), "not", "yet")
	d := openDirectory(t, root)
	old := unix.Umask(0o077)
	t.Cleanup(func() { unix.Umask(old) })
	ctx := t.Context()

	// Before the first record nothing is active or set.
	if state, err := d.UnitState(ctx, "containerd.service"); err != nil || state.ActiveState != "inactive" || state.LoadState != "not-found" {
		t.Errorf("state: %+v, %v", state, err)
	}
	if value, err := d.Sysctl("net.ipv4.ip_forward"); err != nil || value != "" {
		t.Errorf("sysctl: %q, %v", value, err)
	}
	if loaded, err := d.ModuleLoaded("br_netfilter"); err != nil || loaded {
		t.Errorf("module: %v, %v", loaded, err)
	}
	if entry, err := d.Stat(actionsPath); err != nil || entry.Kind != apply.Absent {
		t.Errorf("questions are recorded: %+v, %v", entry, err)
	}

	must(t, d.LoadModule(ctx, "br_netfilter"))
	must(t, d.SetSysctl("net.ipv4.ip_forward", "0"))
	must(t, d.SetSysctl("net.ipv4.ip_local_port_range", "1\t2"))
	must(t, d.SetSysctl("net.ipv4.ip_forward", "1"))
	must(t, d.ReloadUnits(ctx))
	must(t, d.StartUnit(ctx, "containerd.service"))
	must(t, d.RestartUnit(ctx, "kubelet.service"))
	output, err := d.Run(ctx, &resource.Command{
		Label: "first & <last>", Argv: []string{"/bin/sh", "-c", "a\nb"}, Env: map[string]string{"TOKEN": "secret"},
	})
	if err != nil || output != nil {
		t.Errorf("command: %q, %v", output, err)
	}

	want := `{"action":"module","module":"br_netfilter"}
{"action":"sysctl","key":"net.ipv4.ip_forward","value":"0"}
{"action":"sysctl","key":"net.ipv4.ip_local_port_range","value":"1 2"}
{"action":"sysctl","key":"net.ipv4.ip_forward","value":"1"}
{"action":"daemon-reload"}
{"action":"start","unit":"containerd.service"}
{"action":"restart","unit":"kubelet.service"}
{"action":"command","label":"first & <last>","argv":["/bin/sh","-c","a\nb"],"env":["TOKEN"]}
`
	got, err := os.ReadFile(filepath.Join(root, actionsPath))
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(root, actionsPath)); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %s, %v", info.Mode(), err)
	}

	d = openDirectory(t, root) // the next run
	for _, unit := range []string{"containerd.service", "kubelet.service"} {
		if state, err := d.UnitState(ctx, unit); err != nil || state.ActiveState != "active" || state.LoadState != "loaded" {
			t.Errorf("%s: %+v, %v", unit, state, err)
		}
		must(t, d.Probe(ctx, &resource.Check{UnitActive: unit}))
	}
	for key, want := range map[string]string{"net.ipv4.ip_forward": "1", "net.ipv4.ip_local_port_range": "1 2"} {
		if value, err := d.Sysctl(key); err != nil || value != want {
			t.Errorf("%s: %q, %v", key, value, err)
		}
	}
	if loaded, err := d.ModuleLoaded("br-netfilter"); err != nil || !loaded {
		t.Errorf("module: %v, %v", loaded, err)
	}
}

func TestDirectoryProbe(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	for _, check := range []*resource.Check{{PathExists: "/"}, {APIServer: &resource.APIServer{}}} {
		if err := d.Probe(t.Context(), check); !errors.Is(err, apply.ErrNotProbed) {
			t.Errorf("got %v", err)
		}
	}
	err := d.Probe(t.Context(), &resource.Check{UnitActive: "kubelet.service"})
	var checkErr *apply.CheckError
	if !errors.As(err, &checkErr) || checkErr.Cause != resource.CauseUnit || checkErr.Endpoint != "kubelet.service" {
		t.Errorf("got %v", err)
	}
	// A unit that another unit pulls in has no record.
	client := &resource.Check{UnitActive: "client.service"}
	must(t, d.StartUnit(t.Context(), "kubelet.service"))
	if err := d.Probe(t.Context(), client); !errors.As(err, &checkErr) {
		t.Errorf("nothing pulls it in: %v", err)
	}
	wants := filepath.Join(root, "etc/systemd/system/kubelet.service.wants")
	must(t, os.MkdirAll(wants, 0o755))
	must(t, os.Symlink("/etc/systemd/system/client.service", filepath.Join(wants, "client.service")))
	if err := d.Probe(t.Context(), client); !errors.Is(err, apply.ErrNotProbed) {
		t.Errorf("the kubelet pulls it in: %v", err)
	}
	must(t, d.StopUnit(t.Context(), "kubelet.service"))
	if err := d.Probe(t.Context(), client); !errors.As(err, &checkErr) {
		t.Errorf("the kubelet was stopped: %v", err)
	}
	if times, err := d.BootTimes(t.Context()); err != nil || times != (BootTimes{}) {
		t.Errorf("got %v, %v", times, err)
	}
	if start, err := d.ServiceStart(t.Context(), "x"); err != nil || !start.IsZero() {
		t.Errorf("got %v, %v", start, err)
	}
}

func TestDirectoryRefusesWhatAMachineWould(t *testing.T) {
	d := openDirectory(t, t.TempDir())
	for name, err := range map[string]error{
		"sysctl":  d.SetSysctl("../x", "1"),
		"module":  d.LoadModule(t.Context(), "../x"),
		"unit":    d.StartUnit(t.Context(), ""),
		"command": func() error { _, err := d.Run(t.Context(), &resource.Command{Label: "x"}); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if entry, _ := d.Stat(actionsPath); entry.Kind != apply.Absent {
		t.Error("what was refused is recorded")
	}
}

func TestDamagedActions(t *testing.T) {
	const good = `{"action":"daemon-reload"}` + "\n"
	for name, line := range map[string]string{
		"torn":           `{"action":"start","unit":"a.ser` + "\n",
		"not JSON":       "start a.service\n",
		"empty":          "\n",
		"null":           "null\n",
		"two values":     `{"action":"daemon-reload"}{"action":"daemon-reload"}` + "\n",
		"unknown action": `{"action":"explode"}` + "\n",
		"unknown field":  `{"action":"daemon-reload","when":"now"}` + "\n",
		"no unit":        `{"action":"start"}` + "\n",
		"no value":       `{"action":"sysctl","key":"a.b"}` + "\n",
		"no argv":        `{"action":"command","label":"x"}` + "\n",
		"too much":       `{"action":"start","unit":"a.service","key":"a.b"}` + "\n",
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, actionsPath), good+good+line)
		d := openDirectory(t, root)
		_, unitErr := d.UnitState(t.Context(), "a.service")
		_, sysctlErr := d.Sysctl("a.b")
		_, moduleErr := d.ModuleLoaded("a")
		for _, err := range []error{unitErr, sysctlErr, moduleErr} {
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if want := filepath.Join(root, actionsPath) + " line 3 is damaged: "; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %q, want it to begin with %q", name, err, want)
			}
		}
	}
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "run/slipway"), 0o755))
	must(t, unix.Mkfifo(filepath.Join(root, actionsPath), 0o600))
	d := openDirectory(t, root)
	if _, err := d.Sysctl("a.b"); err == nil {
		t.Error("a pipe is read")
	}
	wantError(t, d.ReloadUnits(t.Context()), "record daemon-reload in /run/slipway/actions.jsonl")
}

// A line without its line end is incomplete: a run died, or the disk was full. Its action is not done, and the next
// action begins a new line.
func TestTornAction(t *testing.T) {
	const good = `{"action":"daemon-reload"}` + "\n"
	for _, torn := range []string{"", "{", `{"action":"start","unit":"a.ser`, `{"action":"start","unit":"a.service"}`} {
		for _, before := range []string{"", good} {
			root := t.TempDir()
			write(t, filepath.Join(root, actionsPath), before+torn)
			d := openDirectory(t, root)
			if state, err := d.UnitState(t.Context(), "a.service"); err != nil || state.ActiveState != "inactive" {
				t.Errorf("%q: %+v, %v", torn, state, err)
			}
			must(t, d.ReloadUnits(t.Context()))
			got, err := os.ReadFile(filepath.Join(root, actionsPath))
			if err != nil || string(got) != before+good {
				t.Errorf("%q: recorded %q, %v", torn, got, err)
			}
		}
	}
}

// The cost of a question does not depend on the size of the earlier record.
func TestQuestionsReadOnlyWhatWasAdded(t *testing.T) {
	ctx := t.Context()
	cost := func(before int) map[string]float64 {
		root := t.TempDir()
		var lines strings.Builder
		for i := range before {
			fmt.Fprintf(&lines, "{\"action\":\"sysctl\",\"key\":\"net.ipv4.conf.eth%04d.rp_filter\",\"value\":\"1\"}\n", i)
		}
		write(t, filepath.Join(root, actionsPath), lines.String())
		d := openDirectory(t, root)
		costs := map[string]float64{}
		for name, question := range map[string]func() error{
			"unit":      func() error { _, err := d.UnitState(ctx, "a.service"); return err },
			"enabled":   func() error { _, err := d.UnitEnabled(ctx, "a.service"); return err },
			"parameter": func() error { _, err := d.Sysctl("net.ipv4.conf.eth0000.rp_filter"); return err },
			"attribute": func() error { _, err := d.Attribute("/sys/a"); return err },
			"module":    func() error { _, err := d.ModuleLoaded("overlay"); return err },
			"mount":     func() error { _, err := d.Mounted(&resource.Mount{What: "/a", Where: "/b"}); return err },
			"swap":      func() error { _, err := d.SwapFile(&resource.Swap{Path: "/swap"}); return err },
			"image":     func() error { _, err := d.HasImage(ctx, &resource.Image{Image: "a"}); return err },
			"command":   func() error { d.IsDone(ctx, &resource.Command{Label: "a"}); return nil },
			"check":     func() error { return d.Probe(ctx, &resource.Check{PathExists: "/a"}) },
			"record": func() error {
				must(t, d.SetSysctl("net.ipv4.ip_forward", "1"))
				_, err := d.Sysctl("net.ipv4.ip_forward")
				return err
			},
		} {
			costs[name] = testing.AllocsPerRun(20, func() {
				if err := question(); err != nil && !errors.Is(err, apply.ErrNotProbed) {
					t.Error(name, err)
				}
			})
		}
		return costs
	}
	small, large := cost(1), cost(1000)
	for name, allocations := range large {
		if allocations > small[name]+5 { // maps and slices grow now and then
			t.Errorf("%s: %v allocations after 1000 actions, %v after one", name, allocations, small[name])
		}
	}
}

// Two processes record in one tree, and an editor changes the record.
func TestQuestionsSeeWhatOthersRecorded(t *testing.T) {
	root, ctx := t.TempDir(), t.Context()
	one, other := openDirectory(t, root), openDirectory(t, root)
	want := func(active ...string) {
		t.Helper()
		for _, d := range []*Directory{one, other} {
			for _, unit := range []string{"a.service", "b.service"} {
				state, err := d.UnitState(ctx, unit)
				if err != nil || (state.ActiveState == "active") != slices.Contains(active, unit) {
					t.Errorf("%s is %+v, %v; want %q active", unit, state, err, active)
				}
			}
		}
	}
	want()
	must(t, one.StartUnit(ctx, "a.service"))
	want("a.service")
	must(t, other.StartUnit(ctx, "b.service"))
	must(t, one.StopUnit(ctx, "a.service"))
	want("b.service")
	path := filepath.Join(root, actionsPath)
	recorded, err := os.ReadFile(path)
	must(t, err)
	write(t, path, strings.ReplaceAll(string(recorded), "b.service", "a.service"))
	want()
	must(t, os.Remove(path))
	must(t, other.StartUnit(ctx, "a.service"))
	want("a.service")
	must(t, os.Remove(path))
	want()
}

// The error names the line of the file, even if earlier lines were read before. A repaired file is read.
func TestDamagedLineAfterGoodOnes(t *testing.T) {
	const good = `{"action":"start","unit":"a.service"}` + "\n"
	root, ctx := t.TempDir(), t.Context()
	d := openDirectory(t, root)
	path := filepath.Join(root, actionsPath)
	write(t, path, good)
	_, err := d.UnitState(ctx, "a.service")
	must(t, err)
	for range 2 {
		write(t, path, good+good+"{}\n")
		_, err = d.UnitState(ctx, "a.service")
		wantError(t, err, "line 3 is damaged")
	}
	write(t, path, good)
	if state, err := d.UnitState(ctx, "a.service"); err != nil || state.ActiveState != "active" {
		t.Errorf("after it was mended: %+v, %v", state, err)
	}
}

// A record that is a hard link to another file is not written to.
func TestRecordWithAnotherName(t *testing.T) {
	root := t.TempDir()
	d := openDirectory(t, root)
	must(t, os.MkdirAll(filepath.Dir(root+actionsPath), 0o755))
	must(t, os.WriteFile(root+"/victim", []byte("v"), 0o600))
	must(t, os.Link(root+"/victim", root+actionsPath))
	wantError(t, d.ReloadUnits(t.Context()), "record daemon-reload in "+actionsPath+": has more than one hard link")
	if content, err := os.ReadFile(root + "/victim"); err != nil || string(content) != "v" {
		t.Errorf("the victim is %q, %v", content, err)
	}
}

func FuzzParseActions(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", "null\n", "[]\n",
		`{"action":"daemon-reload"}` + "\n",
		`{"action":"start","unit":"containerd.service"}` + "\n" + `{"action":"restart","unit":"kubelet.service"}` + "\n",
		`{"action":"sysctl","key":"net.ipv4.ip_forward","value":""}` + "\n",
		`{"action":"module","module":"br_netfilter"}` + "\n",
		`{"action":"command","label":"é\u0000","argv":["","\ud800"]}` + "\n",
		`{"ACTION":"start","Unit":"a"}` + "\n",
		`{"action":"start","action":"restart","unit":"a"}` + "\r\n",
		`{"action":"start","unit":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		actions, err := parseActions("file", 0, data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "file line ") {
				t.Fatalf("error %q names no line", err)
			}
			return
		}
		var again []byte
		for _, a := range actions {
			line, err := a.line()
			must(t, err)
			again = append(again, line...)
		}
		reread, err := parseActions("file", 0, again)
		if err != nil || len(reread) != len(actions) {
			t.Fatalf("%q is read, but not as written again, %q: %v", data, again, err)
		}
		for i := range reread {
			first, _ := actions[i].line()
			second, _ := reread[i].line()
			if string(first) != string(second) {
				t.Fatalf("%s becomes %s", first, second)
			}
		}
	})
}
