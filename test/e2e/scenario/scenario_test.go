package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/status"
	"github.com/slipway-dev/slipway/test/e2e/lab"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// TestCasesCanBeRead reads all cases, with the arguments of every step.
func TestCasesCanBeRead(t *testing.T) {
	cases, err := Load(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.About == "" || len(c.Steps) == 0 {
			t.Errorf("%s says nothing, or does nothing", c.Name)
		}
		if c.Containerd != parts.ContainerdBuilt && c.Containerd != parts.ContainerdDebian {
			t.Errorf("%s wants containerd %q", c.Name, c.Containerd)
		}
	}
}

func writeCase(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "case.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInvalidCases(t *testing.T) {
	for text, want := range map[string]string{
		"about: x\nstepps: []":                            "stepps",
		"steps: [{explode: {}}]":                          `no step "explode"`,
		"steps: [{wait: {}, ready: {}}]":                  "2 names",
		"steps: [{status: {took: soon}}]":                 "soon",
		"steps: [{status: {took: 7s}}]":                   "in boots",
		"steps: [{wait: {patience: 3 boots}}]":            "patience",
		"timeout: 10m":                                    "in boots",
		"kind: party":                                     `no kind "party"`,
		"inputs: [/etc/passwd]":                           "/etc/passwd",
		"inputs: [../x]":                                  "../x",
		"inputs: [\"a[\"]":                                "a[",
		"steps:\n- boot: {}\n- node: {maxPods: [1, 2]}\n": "step 2",
	} {
		_, err := load(writeCase(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

func TestStepArguments(t *testing.T) {
	c, err := load(writeCase(t, "about: x\nsteps: [{status: {code: 51, took: 2 boots, changed: [a, b]}}]"))
	if err != nil {
		t.Fatal(err)
	}
	var args statusArgs
	node := c.Steps[0]["status"]
	if err := decodeArgs(&node, &args); err != nil {
		t.Fatal(err)
	}
	if args.Code != 51 || args.Took != 2 || !slices.Equal(args.Changed, []string{"a", "b"}) {
		t.Errorf("the arguments are %+v", args)
	}
}

func TestChange(t *testing.T) {
	var with map[string]any
	if err := yaml.Unmarshal([]byte("{a: {b: 2, d: null}, e: {f: {g: [1]}}, h: x}"), &with); err != nil {
		t.Fatal(err)
	}
	out, err := change([]byte("{\"a\":{\"b\":1,\"c\":3,\"d\":4}, # YAML\nh: {i: 1}}"), with)
	if err != nil {
		t.Fatal(err)
	}
	var compact any
	if err := json.Unmarshal(out, &compact); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(compact)
	if want := `{"a":{"b":2,"c":3},"e":{"f":{"g":[1]}},"h":"x"}`; err != nil || string(got) != want {
		t.Errorf("the change gives %s, %v, want %s", got, err, want)
	}
}

func TestPlaceEvents(t *testing.T) {
	started := time.Unix(1000, 0)
	at := map[string]time.Time{
		"agent start":  time.Unix(1010, 500e6),
		"kubelet exec": time.Unix(1012, 0),
		"kernel":       time.Unix(500, 0), // before the machine was saved
	}
	events := placeEvents(at, started, time.Unix(1014, 0), time.Time{})
	var text strings.Builder
	for _, e := range events {
		text.WriteString(e.Name + "@" + time.Duration(e.At*float64(time.Second)).String() + " ")
	}
	if want := "QEMU start@0s agent start@10.5s kubelet exec@12s Node registered@14s "; text.String() != want {
		t.Errorf("the events are %q, want %q", text.String(), want)
	}
}

func TestWhichNode(t *testing.T) {
	var n node
	n.Metadata.Name, n.Status.NodeInfo = "node", map[string]any{"bootID": "b1"}
	for name, c := range map[string]struct {
		is   func(node) bool
		want bool
	}{
		"any": {newNode(nil), true}, "another": {newNode([]string{"node"}), false},
		"this boot": {bootedNode("b1"), true}, "the next boot": {bootedNode("b2"), false},
	} {
		if c.is(n) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}

func TestUnknownDelivery(t *testing.T) {
	var r caseRun
	_, err := r.delivered(t.Context(), bootArgs{Deliver: "pigeon"}, lab.Machine{}, &lab.Guest{}, "contract.json")
	if err == nil || !strings.Contains(err.Error(), "contract, cse-script, custom-data, disk, files, ignition, kubeadm, launch, metadata, nothing, script") {
		t.Errorf("an unknown delivery: %v", err)
	}
}

func TestDatapoints(t *testing.T) {
	document := []byte(`{"A":"x","B":{"C":"y","D":"n/a"},"E":""}`)
	if err := datapoints(document, []string{"A", "B.C"}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"B.D", "E", "F", "B", "A.B"} {
		if datapoints(document, []string{path}) == nil {
			t.Errorf("%s passes for filled", path)
		}
	}
}

func TestParseUnit(t *testing.T) {
	if u := parseUnit("ActiveState=active\nInvocationID=0123\n"); u != (unit{"active", "0123"}) {
		t.Errorf("the unit is %+v", u)
	}
}

func TestStatusDiffers(t *testing.T) {
	have := &status.Status{ExitCode: 51, CodeName: "X", DurationMs: 5000,
		Error:   &status.Failure{Cause: "tls", Endpoint: "https://a:443 (1.2.3.4:443)", Message: "m"},
		Changes: []status.Change{{ID: "File:/etc/a", Action: "created"}}, Steps: []status.Step{{Name: "plan", DurationMs: 3000}}}
	fits := statusArgs{Code: 51, Name: "X", Cause: "tls", Endpoint: "https://a:443", Took: 2.5, Changed: []string{"/etc/a"},
		Lasted: map[string]Boots{"plan": 1.5}}
	pace := NewPace(2 * time.Second)
	if err := fits.compare(have, pace); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*statusArgs){
		"code":     func(a *statusArgs) { a.Code = 0 },
		"name":     func(a *statusArgs) { a.Name = "Y" },
		"cause":    func(a *statusArgs) { a.Cause = "dns" },
		"endpoint": func(a *statusArgs) { a.Endpoint = "https://b" },
		"took":     func(a *statusArgs) { a.Took = 0.5 },
		"changed":  func(a *statusArgs) { a.Changed = []string{"/etc/b"} },
		"change":   func(a *statusArgs) { a.ChangedOnly = []string{} },
		"duration": func(a *statusArgs) { a.Lasted = map[string]Boots{"plan": 2} },
		"step":     func(a *statusArgs) { a.Lasted = map[string]Boots{"wait": 1} },
	} {
		args := fits
		spoil(&args)
		if args.compare(have, pace) == nil {
			t.Errorf("another %s passes", name)
		}
	}
}

func TestAsked(t *testing.T) {
	have := []lab.Request{{Service: "mirror", Line: "GET /v2/: 401"}, {Service: "proxy", Line: "CONNECT a:443: 200"}}
	for _, c := range []struct {
		want askedArgs
		ok   bool
	}{
		{askedArgs{}, true},
		{askedArgs{Mirror: []string{"/v2/: 401"}, Proxy: []string{"CONNECT a:443: 200"}}, true},
		{askedArgs{Mirror: []string{"/v2/: 401", "/v2/: 200"}}, false},
		{askedArgs{Registry: []string{"GET /v2/"}}, false},
		{askedArgs{Proxy: []string{"GET /v2/"}}, false},
	} {
		if err := c.want.compare(have); (err == nil) != c.ok {
			t.Errorf("%+v: %v, want %v", c.want, err, c.ok)
		}
	}
}

func TestSpread(t *testing.T) {
	list := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, want := range map[int][]int{3: {1, 5, 9}, 9: list, 20: list, 2: {1, 9}} {
		if got := spread(list, n); !slices.Equal(got, want) {
			t.Errorf("%d of the list are %v, want %v", n, got, want)
		}
	}
}

func TestSizeAt(t *testing.T) {
	growth := []size{{time.Unix(1, 0), 10}, {time.Unix(2, 0), 20}, {time.Unix(3, 0), 30}}
	for at, want := range map[int64]int64{0: 0, 1: 10, 2: 20, 9: 30} {
		if got := sizeAt(growth, time.Unix(at, 0)); got != want {
			t.Errorf("at second %d the log has %d bytes, want %d", at, got, want)
		}
	}
}

func TestSizeOf(t *testing.T) {
	const stat = "Inode: 12   Type: regular    Mode:  0644   Flags: 0x80000\nGeneration: 0    Version: 0x00000000:00000000\n" +
		"User:     0   Group:     0   Project:     0   Size: 2048\nFile ACL: 0\nLinks: 1   Blockcount: 8\n" +
		"Fragment:  Address: 0    Number: 0    Size: 0\n"
	if n := sizeOf(stat); n != 2048 {
		t.Errorf("the size is %d, want 2048", n)
	}
	if n := sizeOf(strings.Replace(stat, "2048", "0", 1)); n != 0 {
		t.Errorf("an empty file's size is %d", n)
	}
	if n := sizeOf(""); n != 0 {
		t.Errorf("the size of a file that is not there is %d", n)
	}
}
