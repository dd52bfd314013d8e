package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// reserving returns a contract with settings for its kubelet.
func reserving(t *testing.T, example string, config map[string]any, flags []nodeconfig.Flag) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, example, func(c *nodeconfig.NodeConfig) {
		// A kubelet enforces no reservation that is empty.
		c.Kubelet.Config = kubeletsetting.Merge(map[string]any{"kubeReserved": map[string]any{"cpu": "100m"}, "systemReserved": map[string]any{"cpu": "100m"}}, config)
		c.Kubelet.Flags = append(c.Kubelet.Flags, flags...)
	})
}

type reservationCase struct {
	example string
	config  map[string]any
	flags   []nodeconfig.Flag
	version int    // of the machine's control groups
	in      string // the slice of containerd and the kubelet
	below   string // the control groups of the slices around that
	made    string // slices
	refused string // the setting, the last of its path
}

// reservations are kubelet settings with their effect on the plan.
func reservations() []reservationCase {
	const aks, native = "aks/minimal.json", "native/minimal.yaml"
	kube := func(value string) map[string]any {
		return map[string]any{"kubeReservedCgroup": value, "enforceNodeAllocatable": []any{"pods", "kube-reserved"}}
	}
	system := func(value string) map[string]any {
		return map[string]any{"systemReservedCgroup": value, "enforceNodeAllocatable": []any{"system-reserved-compressible"}}
	}
	flag := func(name, value string) []nodeconfig.Flag { return []nodeconfig.Flag{{Name: name, Value: value}} }
	only := func(config map[string]any) map[string]any { // without what enforces it
		config = maps.Clone(config)
		delete(config, "enforceNodeAllocatable")
		return config
	}
	enforced := map[string]any{"enforceNodeAllocatable": []any{"pods", "kube-reserved", "system-reserved"}}
	return []reservationCase{
		{example: aks, in: "system.slice"},
		{example: aks, config: kube("/kubereserved.slice"), in: "kubereserved.slice", made: "kubereserved.slice"},
		{example: aks, config: kube("kubereserved.slice"), version: 2, in: "kubereserved.slice", made: "kubereserved.slice"},
		{example: aks, flags: flag("kube-reserved-cgroup", "/kubereserved.slice"), in: "kubereserved.slice", made: "kubereserved.slice"},
		{example: aks, config: kube("/x.slice"), flags: flag("kube-reserved-cgroup", "/kubereserved.slice"), in: "kubereserved.slice", made: "kubereserved.slice"},
		{example: aks, config: kube("/kubereserved.slice"), flags: flag("kube-reserved-cgroup", "/x.slice"), in: "system.slice", refused: "flags"},
		{example: aks, config: kube("/kubereserved.slice"), version: 1, in: "kubereserved.slice", made: "kubereserved.slice", refused: "kubeReservedCgroup"},
		{example: aks, config: kube("/podruntime.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: aks, config: kube("/system.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: aks, config: kube("/"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: aks, config: kube("/system.slice/kubereserved.slice"), in: "kubereserved.slice", made: "kubereserved.slice"},
		{example: aks, config: system("/system"), in: "system.slice"},
		{example: aks, config: system("/system.slice"), in: "system.slice"},
		{example: aks, config: system("system.slice"), in: "system.slice"},
		{example: aks, config: system("/system.slice"), version: 1, in: "system.slice", refused: "systemReservedCgroup"},
		{example: aks, config: system("/kubereserved.slice"), in: "system.slice", refused: "systemReservedCgroup"},
		{example: aks, config: enforced, in: "system.slice", refused: "enforceNodeAllocatable"},
		{example: aks, flags: flag("enforce-node-allocatable", "pods,system-reserved-compressible"), in: "system.slice", refused: "flags"},
		{example: aks, config: enforced, flags: flag("enforce-node-allocatable", "pods"), in: "system.slice"},

		{example: native, in: "system.slice"},
		{example: native, config: kube("/podruntime.slice"), in: "podruntime.slice", made: "podruntime.slice"},
		{example: native, config: kube("/system.slice"), in: "system.slice"},
		{example: native, config: system("/daemons.slice"), in: "system.slice", made: "daemons.slice"},
		{example: native, config: kubeletsetting.Merge(kubeletsetting.Merge(kube("/a_b.slice"), system("/c.slice")), enforced), in: "a_b.slice", made: "a_b.slice c.slice"},
		{example: native, config: kubeletsetting.Merge(kubeletsetting.Merge(kube("/a.slice"), system("a.slice")), enforced), in: "a.slice", made: "a.slice"},
		{example: native, config: kube("/kube-reserved.slice"), in: "kube-reserved.slice", below: "kube.slice/", made: "kube-reserved.slice"},
		{example: native, config: kubeletsetting.Merge(kubeletsetting.Merge(kube("/kube-reserved"), system("/system")), enforced), in: "kube-reserved.slice", below: "kube.slice/", made: "kube-reserved.slice"},
		{example: native, config: kube("a-b-c"), in: "a-b-c.slice", below: "a.slice/a-b.slice/", made: "a-b-c.slice"},
		{example: native, config: kube("/kube.slice/reserved.slice"), in: "reserved.slice", made: "reserved.slice"},
		{example: native, config: kube("/kubelet"), in: "kubelet.slice", made: "kubelet.slice"},
		{example: native, config: kube("/a--b.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: kube("/-.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: kube("/user-1000.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: kube("/"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: system("/"), in: "system.slice", refused: "systemReservedCgroup"},
		{example: native, config: only(kube("/")), in: "system.slice"},
		{example: native, config: kube("/kubepods.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: kube("/x%i.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: kube("/a.slice\nExecStart=x.slice"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: native, config: system("/user.slice"), in: "system.slice", refused: "systemReservedCgroup"},
		{example: native, config: enforced, in: "system.slice", refused: "enforceNodeAllocatable"},

		// What is not enforced is where it can be, and in no way elsewhere.
		{example: native, config: only(kube("/kube-reserved")), in: "system.slice"},
		{example: native, config: only(kube("/kube-reserved.slice")), in: "kube-reserved.slice", below: "kube.slice/", made: "kube-reserved.slice"},
		{example: native, config: kubeletsetting.Merge(kube("/kube-reserved"), map[string]any{"enforceNodeAllocatable": []any{"none"}}), in: "system.slice"},
		{example: native, config: only(kubeletsetting.Merge(kube("/kube+let"), system("/user.slice"))), in: "system.slice"},
		{example: native, config: only(kube("/podruntime.slice")), in: "podruntime.slice", made: "podruntime.slice"},
		{example: native, config: kubeletsetting.Merge(only(kube("/podruntime.slice")), map[string]any{"failCgroupV1": false}), version: 1, in: "podruntime.slice", made: "podruntime.slice"},
		{example: native, config: kubeletsetting.Merge(kube("/kube+let"), map[string]any{"enforceNodeAllocatable": []any{"system-reserved"}}), in: "system.slice", refused: "enforceNodeAllocatable"},
		{example: native, config: only(kube("/kube+let")), flags: flag("enforce-node-allocatable", "pods,kube-reserved"), in: "system.slice", refused: "kubeReservedCgroup"},
		{example: aks, config: only(kube("/podruntime.slice")), in: "system.slice"},
		{example: aks, config: only(system("/system.slice/x")), version: 1, in: "system.slice"},
		{example: aks, flags: flag("kube-reserved-cgroup", "/kube-reserved"), in: "system.slice"},
		{example: aks, flags: append(flag("kube-reserved-cgroup", "/x"), append(flag("enforce-node-allocatable", "kube-reserved"), flag("enforce-node-allocatable", "pods")...)...), in: "system.slice", refused: "flags"},
	}
}

// Which control groups are made, which are there anyway, and which no node can have: then the problem is at the setting.
func TestReservedControlGroups(t *testing.T) {
	for _, c := range reservations() {
		config := reserving(t, c.example, c.config, c.flags)
		known := facts.Facts{CgroupVersion: c.version}
		p, problems := New(config, known)
		for _, v := range violations(config, known) {
			t.Errorf("%v, %v: %s", c.config, c.flags, v)
		}
		var refused []string
		for _, problem := range nodeconfig.Fatal(problems) {
			refused = append(refused, problem.Path)
		}
		if (c.refused == "") != (len(refused) == 0) || slices.ContainsFunc(refused, func(path string) bool { return !strings.Contains(path, c.refused) }) {
			t.Errorf("%s, %v, %v: refused at %q, want %q", c.example, c.config, c.flags, refused, c.refused)
		}
		var made []string
		for _, r := range p.Resources {
			if u, ok := r.Spec.(*resource.Unit); ok && strings.HasSuffix(u.Unit, ".slice") {
				made = append(made, u.Unit)
			}
		}
		if got := strings.Join(made, " "); got != c.made {
			t.Errorf("%s, %v, %v: %q are made, want %q", c.example, c.config, c.flags, got, c.made)
		}
		argv, _, err := kubeletCommand(p)
		if err != nil || !slices.Contains(argv, "--runtime-cgroups=/"+c.below+c.in+"/containerd.service") {
			t.Errorf("%s, %v, %v: %v, the kubelet's arguments are %q", c.example, c.config, c.flags, err, argv)
		}
		for _, unit := range []string{concern.ContainerdUnit, concern.KubeletUnit} {
			f := fileIn(p, resource.UnitDir+"/"+unit+".d/"+familyOf(config).Runtime.Reserved.File)
			if placed := f != nil && strings.Contains(string(f.Content), "\n[Service]\nSlice="+c.in+"\n"); placed != (c.in != concern.SystemSlice) {
				t.Errorf("%s, %v, %v: %s is placed: %v", c.example, c.config, c.flags, unit, placed)
			}
		}
	}
}

// A reservation that is enforced without a control group is one mistake, so it is one problem.
func TestReservationWithoutControlGroupIsOneProblem(t *testing.T) {
	for _, name := range []string{"kube-reserved", "system-reserved", "system-reserved-compressible"} {
		for _, config := range []*nodeconfig.NodeConfig{
			reserving(t, "native/minimal.yaml", map[string]any{"enforceNodeAllocatable": []any{name}}, nil),
			reserving(t, "aks/minimal.json", nil, []nodeconfig.Flag{{Name: "enforce-node-allocatable", Value: name}}),
		} {
			_, problems := New(config, facts.Facts{})
			if fatal := nodeconfig.Fatal(problems); len(fatal) != 1 || !strings.Contains(fatal[0].Reason, "control group") {
				t.Errorf("%s: %v", name, fatal)
			}
		}
	}
}

// A kubelet that is a snap has a separate control group, and nothing moves into another one.
func TestReservedControlGroupOfASnap(t *testing.T) {
	for _, enforced := range []bool{true, false} {
		config := map[string]any{"kubeReservedCgroup": "/podruntime.slice"}
		if enforced {
			config["enforceNodeAllocatable"] = []any{"kube-reserved"}
		}
		p, problems := New(contract(t, "eksctl/minimal.yaml", func(c *nodeconfig.NodeConfig) { c.Kubelet.Config = config }), facts.Facts{OS: facts.OS{ID: "ubuntu"}})
		refused := slices.ContainsFunc(problems, func(p nodeconfig.Problem) bool { return p.Path == "$.kubelet.config.kubeReservedCgroup" && p.Fatal })
		if refused != enforced || planned(p, "Unit:podruntime.slice") || planned(p, resource.ID("File:"+concern.ContainerdDropIns+"20-reserved.conf")) {
			t.Errorf("enforced: %t: %v", enforced, problems)
		}
	}
}

// The slice runs before containerd, with the kubelet's exit code, and a change of it takes a reboot. A slice of the
// contract's own is as the contract has it.
func TestSliceForKubernetes(t *testing.T) {
	config := map[string]any{"kubeReservedCgroup": "/podruntime.slice", "systemReservedCgroup": "/daemons.slice"}
	p, _ := New(reserving(t, "native/minimal.yaml", config, nil), ubuntu(t))
	slice := resourceAt(p, "Unit:podruntime.slice")
	if slice.ExitCode != exitcode.KubeletStartFailed || slice.Phase != resource.Base {
		t.Errorf("%+v", slice)
	}
	for unit, want := range map[resource.ID]string{"Unit:" + concern.ContainerdUnit: "Unit:podruntime.slice", "Unit:" + concern.KubeletUnit: "Unit:daemons.slice"} {
		if requires := resourceAt(p, unit).Requires; !slices.Contains(requires, resource.ID(want)) {
			t.Errorf("%s requires %q, and not %s", unit, requires, want)
		}
	}
	for _, unit := range []string{concern.ContainerdUnit, concern.KubeletUnit} {
		r := resourceAt(p, resource.ID("File:"+resource.UnitDir+"/"+unit+".d/10-reserved.conf"))
		if r.Effects.Class != resource.Reboot || !slices.Equal(r.Effects.Restarts, []string{unit}) {
			t.Errorf("%s: %+v", unit, r.Effects)
		}
	}
	own := "[Slice]\nMemoryMax=1G\n"
	p, problems := New(contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Kubelet.Config = config
		c.Units = []nodeconfig.Unit{{Name: "podruntime.slice", Content: own, Enabled: true, State: nodeconfig.UnitStarted}}
	}), ubuntu(t))
	if f := fileIn(p, resource.UnitDir+"/podruntime.slice"); f == nil || string(f.Content) != own || len(nodeconfig.Fatal(problems)) > 0 {
		t.Errorf("%v, %v", f, problems)
	}
}
