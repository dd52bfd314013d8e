package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const canaryOfFiles = "canary.of.files"

// ofUser is a contract with files and units.
func ofUser(t *testing.T, files []nodeconfig.File, units []nodeconfig.Unit, change ...func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", append(change, func(c *nodeconfig.NodeConfig) { c.Files, c.Units = files, units })...)
}

// forImage has a contract prepare an image.
func forImage(c *nodeconfig.NodeConfig) { c.Join = nodeconfig.Join{Method: nodeconfig.JoinNone} }

func resourceOf(t *testing.T, p resource.Plan, id resource.ID) resource.Resource {
	t.Helper()
	r, ok := p.ByID()[id]
	if !ok {
		t.Fatalf("the plan has no %s", id)
	}
	return r
}

func TestFiles(t *testing.T) {
	c := ofUser(t, []nodeconfig.File{
		{Path: "/etc/app.conf", Content: "a\n", Restarts: []string{"b.service", "a.service", "b.service"}, Reloads: []string{"c.service"}},
		{Path: "/opt/app", Base64: "AP8=", Mode: "755"},
		{Path: "/etc/token", Secret: nodeconfig.NewSecret(canaryOfFiles)},
		{Path: "/etc/key", Secret: nodeconfig.NewSecret(canaryOfFiles), Mode: "0400"},
		{Path: "/etc/empty"},
	}, nil)
	p, problems := New(c, ubuntu(t))
	if len(problems) > 0 {
		t.Error(problems)
	}
	for path, want := range map[string]struct {
		content string
		mode    uint32
		phase   resource.Phase
	}{
		"/etc/app.conf": {"a\n", 0o644, resource.Base},
		"/opt/app":      {"\x00\xff", 0o755, resource.Base},
		"/etc/token":    {canaryOfFiles, 0o600, resource.Join},
		"/etc/key":      {canaryOfFiles, 0o400, resource.Join},
		"/etc/empty":    {"", 0o644, resource.Base},
	} {
		r := resourceOf(t, p, resource.ID("File:"+path))
		if f := r.Spec.(*resource.File); string(f.Content) != want.content || f.Mode != want.mode || f.Secret != (want.phase == resource.Join) || r.Phase != want.phase {
			t.Errorf("%s: %+v of phase %s", path, f, r.Phase)
		}
	}
	r := resourceOf(t, p, "File:/etc/app.conf")
	if !slices.Equal(r.Restarts, []string{"a.service", "b.service"}) || !slices.Equal(r.Reloads, []string{"c.service"}) {
		t.Errorf("restarts %q, reloads %q", r.Restarts, r.Reloads)
	}
	shown, err := json.Marshal(p)
	if err != nil || bytes.Contains(shown, []byte("canary")) {
		t.Errorf("a secret is shown: %v", err)
	}
}

func TestUnits(t *testing.T) {
	const service, dropIn = "[Service]\nExecStart=/opt/app\n", "[Service]\nNice=1\n"
	c := ofUser(t, nil, []nodeconfig.Unit{
		{Name: "app.service", Content: service + "[Install]\nWantedBy=b.target a.target", Enabled: true, DropIns: []nodeconfig.DropIn{{Name: "10-a.conf", Content: dropIn}}},
		{Name: "now.service", Content: service},
		{Name: "timed.service", Content: service, State: nodeconfig.UnitNone},
		{Name: "each@.service", Content: service},
		{Name: "vendor.service", Enabled: true, State: nodeconfig.UnitStarted},
		{Name: "later.service", Enabled: true},
		{Name: "stopped.service", State: nodeconfig.UnitStopped, DropIns: []nodeconfig.DropIn{{Name: "10-a.conf", Content: dropIn}}},
		{Name: "disabled.service", State: nodeconfig.UnitDisabled},
		{Name: "masked.service", State: nodeconfig.UnitMasked},
		{Name: concern.KubeletUnit, DropIns: []nodeconfig.DropIn{{Name: "90-a.conf", Content: dropIn}}},
	})
	p, problems := New(c, ubuntu(t))
	if len(problems) > 0 {
		t.Error(problems)
	}
	const dir = "/etc/systemd/system/"
	for id, want := range map[resource.ID]struct {
		phase    resource.Phase
		restarts []string
		there    bool
	}{
		"File:" + dir + "app.service":                              {resource.Base, []string{"app.service"}, true},
		"File:" + dir + "app.service.d/10-a.conf":                  {resource.Base, []string{"app.service"}, true},
		"Symlink:" + dir + "a.target.wants/app.service":            {resource.Base, nil, true},
		"Symlink:" + dir + "b.target.wants/app.service":            {resource.Base, nil, true},
		"Symlink:" + dir + "multi-user.target.wants/app.service":   {},
		"Unit:app.service":                                         {resource.Base, nil, true},
		"Unit:now.service":                                         {resource.Join, nil, true},
		"Symlink:" + dir + "multi-user.target.wants/now.service":   {},
		"File:" + dir + "timed.service":                            {resource.Base, []string{"timed.service"}, true},
		"Unit:timed.service":                                       {},
		"File:" + dir + "each@.service":                            {resource.Base, nil, true},
		"Unit:each@.service":                                       {},
		"Unit:vendor.service":                                      {resource.Base, nil, true},
		"File:" + dir + "vendor.service":                           {},
		"Symlink:" + dir + "multi-user.target.wants/later.service": {resource.Base, nil, true},
		"Unit:later.service":                                       {},
		"UnitState:stopped.service":                                {resource.Join, nil, true},
		"File:" + dir + "stopped.service.d/10-a.conf":              {resource.Base, nil, true},
		"UnitState:disabled.service":                               {resource.Base, nil, true},
		"UnitState:masked.service":                                 {resource.Base, nil, true},
		"File:" + dir + "kubelet.service.d/90-a.conf":              {resource.Base, []string{concern.KubeletUnit}, true},
	} {
		r, there := p.ByID()[id]
		if there != want.there || there && (r.Phase != want.phase || !slices.Equal(r.Restarts, want.restarts)) {
			t.Errorf("%s: %t, %s, %q", id, there, r.Phase, r.Restarts)
		}
		if kind := r.Spec; there && (kind.Kind() == "Unit" || kind.Kind() == "UnitState") && (r.ExitCode != exitcode.UnitStartFailed || len(r.Requires) > 0) {
			t.Errorf("%s has exit code %d and requires %q", id, r.ExitCode, r.Requires)
		}
	}
	link := resourceOf(t, p, "Symlink:"+dir+"multi-user.target.wants/vendor.service").Spec.(*resource.Symlink)
	if link.Target != "/usr/lib/systemd/system/vendor.service" {
		t.Error(link)
	}
	if unit := fileAt(t, p, dir+"app.service"); !strings.HasSuffix(string(unit.Content), "a.target\n") {
		t.Errorf("%q is no whole line", unit.Content)
	}
	before, _ := New(contract(t, "native/minimal.yaml"), ubuntu(t))
	if !slices.EqualFunc(before.Health, p.Health, func(a, b resource.Resource) bool { return a.ID() == b.ID() }) {
		t.Error("a node's health is another")
	}
}

// An image holds what survives a boot, and no secret. What it does not get is reported.
func TestFilesAndUnitsOfAnImage(t *testing.T) {
	const service = "[Service]\nExecStart=/opt/app\n"
	c := ofUser(t,
		[]nodeconfig.File{{Path: "/etc/a", Content: "a"}, {Path: "/etc/b", Secret: nodeconfig.NewSecret("b")}},
		[]nodeconfig.Unit{
			{Name: "a.service", Content: service, Enabled: true}, {Name: "b.service", Content: service}, {Name: "c.service", State: nodeconfig.UnitStopped},
			{Name: "d.service", State: nodeconfig.UnitMasked},
		}, forImage)
	p, problems := New(c, ubuntu(t))
	var paths []string
	for _, problem := range problems {
		if problem.Fatal || problem.Kind != nodeconfig.NotApplied {
			t.Error(problem)
		}
		paths = append(paths, problem.Path)
	}
	if want := []string{"$.files[1]", "$.units[1].state", "$.units[2].state"}; !slices.Equal(paths, want) {
		t.Errorf("not applied: %q, want %q", paths, want)
	}
	for id, want := range map[resource.ID]bool{
		"File:/etc/a": true, "File:/etc/b": false, "Unit:a.service": true, "Unit:b.service": false, "File:/etc/systemd/system/b.service": true,
		"UnitState:c.service": false, "UnitState:d.service": true,
	} {
		if planned(p, id) != want {
			t.Errorf("%s: %t", id, !want)
		}
	}
}

// A contract must not replace what Slipway itself plans. The problem is at the contract's field.
func TestFilesAndUnitsOfSlipway(t *testing.T) {
	known := ubuntu(t)
	drop := func(unit, name string) []nodeconfig.Unit {
		return []nodeconfig.Unit{{Name: unit, DropIns: []nodeconfig.DropIn{{Name: name, Content: "[Service]\nNice=1\n"}}}}
	}
	for name, c := range map[string]*nodeconfig.NodeConfig{
		"$.files[0].path":            ofUser(t, []nodeconfig.File{{Path: concern.ContainerdConfig, Content: "x"}}, nil),
		"$.files[0].path, below":     ofUser(t, []nodeconfig.File{{Path: "/etc/a/b"}, {Path: "/etc/a"}}, nil),
		"$.units[0].dropIns[0].name": ofUser(t, nil, drop(concern.KubeletUnit, familyOf(contract(t, "native/minimal.yaml")).Kubelet.Config.File)),
	} {
		_, problems := New(c, known)
		path, _, _ := strings.Cut(name, ",")
		if fatal := nodeconfig.Fatal(problems); len(fatal) != 1 || fatal[0].Path != path {
			t.Errorf("%s: %v", name, problems)
		}
	}
	// The planner does not rely on validation: it is correct for a config that was not validated, too.
	unchecked := contract(t, "native/minimal.yaml")
	unchecked.Files = []nodeconfig.File{{Path: "/etc/hosts", Mode: "0644"}, {Path: "/etc/a", Mode: "x"}, {Path: "/etc/b", Mode: "0644", Base64: "?"}}
	unchecked.Units = []nodeconfig.Unit{{Name: concern.KubeletUnit, Content: "[Unit]\n"}, {Name: concern.ContainerdUnit, State: nodeconfig.UnitMasked}}
	_, problems := New(unchecked, known)
	var paths []string
	for _, p := range nodeconfig.Fatal(problems) {
		paths = append(paths, p.Path)
	}
	want := []string{"$.files[0].path", "$.files[1].mode", "$.files[2].base64", "$.units[0].content", "$.units[1].state"}
	if !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}
