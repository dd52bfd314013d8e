//go:build crosscheck

package kubelet

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// change is one of a contract's kubelet settings: a field of its configuration, a flag, or the configuration of its credential
// providers.
type change struct {
	field, flag string
	value       any
}

func (c change) String() string {
	value, _ := json.Marshal(c.value)
	switch {
	case c.flag != "":
		return fmt.Sprintf("--%s=%s", c.flag, c.value)
	case c.field != "":
		return c.field + ": " + string(value)
	}
	return "credential providers: " + string(value)
}

// The routes of settings to a kubelet.
const (
	native = iota
	aks
	eksctl
	// aksFlags is AKS's contract without a configuration file: the kubelet then has other defaults.
	aksFlags
	// eks is Slipway's own contract on an EKS node, whose kubelet merges two files.
	eks
)

// trial is a contract on a machine.
type trial struct {
	minor   int
	route   int
	changes []change
	machine machine
}

// generator makes trials. The same seed gives the same trials.
type generator struct {
	*rand.Rand
	*table
	minor  int
	fields []field
	// good are values of fields that the kubelet accepts if no other setting is changed, by the field's path.
	good map[string]list
	// asked are the questions that found these values.
	asked []question
}

func newGenerator(all *table, minor int, seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(minor))), table: all, minor: minor, good: make(map[string]list)}
	for _, f := range all.paths("KubeletConfiguration", "") {
		if f.name != "apiVersion" && f.name != "kind" && f.name != "featureGates" {
			g.fields = append(g.fields, f)
		}
	}
	return g
}

// learn asks the kubelet which values of each field it accepts, so that not all configurations of several fields are refused.
func (g *generator) learn(k *kubelet) ([]answer, error) {
	var changes []change
	for _, f := range g.fields {
		for range 40 {
			c, config := g.set(f), object{"kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1"}
			put(config, strings.Split(c.field, "."), c.value)
			data, err := json.Marshal(config)
			if err != nil {
				return nil, err
			}
			changes = append(changes, c)
			g.asked = append(g.asked, question{
				Config: string(data), Args: []string{"--config=/x", "--container-runtime-endpoint=unix:///x"},
				Machine: machine{CPUs: 4, NUMANodes: 1, CgroupVersion: 2, MemoryBytes: 4_000_000_000},
			})
		}
	}
	answers, err := k.ask(g.asked)
	for i, a := range answers {
		if a.Refused == "" {
			g.good[changes[i].field] = append(g.good[changes[i].field], changes[i].value)
		}
	}
	for path, values := range goodTogether {
		g.good[path] = append(g.good[path], values...)
	}
	return answers, err
}

func pick[T any](g *generator, all []T) T { return all[g.IntN(len(all))] }

// trial makes the trial with a number. Each field and flag gets its turn, alone and with others.
func (g *generator) trial(i int) trial {
	t := trial{minor: g.minor, machine: machine{
		CPUs: pick(g, []int{1, 2, 4, 8}), NUMANodes: 1, CgroupVersion: 2, MemoryBytes: pick(g, []int64{1 << 30, 4_000_000_000, 16_777_216_000}),
	}}
	if g.IntN(20) == 0 {
		t.machine.CgroupVersion = 1
	}
	switch g.IntN(10) {
	case 0:
		t.route = aks
	case 1:
		t.route = eksctl
	case 2:
		t.route = aksFlags
	case 3:
		t.route = eks
	}
	turn := i / 10
	switch i % 10 {
	case 0, 1, 2, 3:
		t.changes = append(t.changes, g.set(g.fields[(turn*4+i%10)%len(g.fields)]))
	case 4, 5, 6:
		t.changes = g.group(related[(turn*3+i%10)%len(related)])
	case 7:
		f := g.flags[turn%len(g.flags)]
		t.changes = append(t.changes, g.flag(f))
		if at := slices.IndexFunc(g.fields, func(o field) bool { return o.name == f.sets }); at >= 0 && g.IntN(2) == 0 {
			t.changes = append(t.changes, g.setGood(g.fields[at]))
		}
	case 8:
		t.changes = append(t.changes, change{value: g.providers()})
	default:
		for range 1 + g.IntN(4) {
			t.changes = append(t.changes, g.setGood(pick(g, g.fields)))
		}
		if g.IntN(3) == 0 {
			t.changes = append(t.changes, g.flag(pick(g, g.flags)))
		}
	}
	for g.IntN(4) == 0 {
		t.changes = append(t.changes, g.gate())
	}
	if t.route == aksFlags {
		t.changes = g.asFlags(t.changes)
	}
	return t
}

// asFlags are the changes that flags can make.
func (g *generator) asFlags(changes []change) (all []change) {
	for _, c := range changes {
		if c.flag == "" {
			at := slices.IndexFunc(g.flags, func(f field) bool { return f.sets != "" && f.sets == c.field })
			if at < 0 {
				continue
			}
			c = change{flag: g.flags[at].name, value: plain(c.value, g.flags[at].kind)}
		}
		all = append(all, c)
	}
	return all
}

// group changes some of the fields that the kubelet checks together.
func (g *generator) group(names string) []change {
	var all []change
	for name := range strings.FieldsSeq(names) {
		at := slices.IndexFunc(g.fields, func(f field) bool { return f.name == name })
		if at < 0 || g.IntN(4) == 0 {
			continue
		}
		f := g.fields[at]
		if flag := slices.IndexFunc(g.flags, func(o field) bool { return o.sets == name }); flag >= 0 && g.IntN(6) == 0 {
			all = append(all, g.flag(g.flags[flag]))
			continue
		}
		all = append(all, g.setGood(f))
	}
	return all
}

func (g *generator) set(f field) change { return change{field: f.name, value: g.value(f.name, f.kind)} }

// setGood sets, in most cases, a value that the kubelet accepts alone.
func (g *generator) setGood(f field) change {
	if good := g.good[f.name]; len(good) > 0 && g.IntN(6) > 0 {
		return change{field: f.name, value: pick(g, good)}
	}
	return g.set(f)
}

func (g *generator) gate() change {
	name := pick(g, g.gates)
	switch g.IntN(20) {
	case 0:
		name = "Unknown"
	case 1, 2, 3, 4:
	default:
		name, _ = pick(g, usual).(string)
	}
	var value any = g.IntN(2) == 0
	if g.IntN(40) == 0 {
		value = pick(g, strange)
	}
	if g.IntN(10) == 0 {
		return change{flag: "feature-gates", value: fmt.Sprintf("%s=%v", name, value)}
	}
	return change{field: "featureGates." + name, value: value}
}

// value is a value of a kind, for a field with a path.
func (g *generator) value(path, kind string) any {
	if g.IntN(25) == 0 {
		return pick(g, strange)
	}
	if item, ok := strings.CutPrefix(kind, "[]"); ok {
		all := list{}
		for range g.IntN(4) {
			all = append(all, g.value(path, item))
		}
		return all
	}
	if item, ok := strings.CutPrefix(kind, "{}"); ok {
		names, values := list{"x", "", "a/b"}, list(nil)
		if k, ok := keys[path]; ok {
			names, values = k.names, k.values
		}
		all := object{}
		for range g.IntN(4) {
			name, _ := pick(g, names).(string)
			if all[name] = g.value(path+"."+name, item); values != nil && g.IntN(25) > 0 {
				all[name] = pick(g, values)
			}
		}
		return all
	}
	if inner, ok := strings.CutPrefix(kind, "."); ok {
		all := object{}
		for _, f := range g.structs[inner] {
			if g.IntN(5) > 0 {
				all[f.name] = g.value(path+"."+f.name, f.kind)
			}
		}
		return all
	}
	if known, ok := words[path]; ok && g.IntN(12) > 0 {
		return pick(g, known)
	}
	if all, ok := ofKind[kind]; ok {
		return pick(g, all)
	}
	return pick(g, ofKind["s"])
}

// notTried are flags with the paths of Slipway's own files, which a contract cannot change.
var notTried = []string{"config", "config-dir", "kubeconfig", "bootstrap-kubeconfig", "cert-dir", "lock-file", "exit-on-lock-contention"}

// flag sets a flag to a value of its field, as a text.
func (g *generator) flag(f field) change {
	for slices.Contains(notTried, f.name) {
		f = pick(g, g.flags)
	}
	c := change{flag: f.name, value: ""}
	if g.IntN(15) == 0 {
		c.value, _ = pick(g, texts("'' x , = 1 true a=b a=b,c a<b -1 0 []")).(string)
		return c
	}
	kind := f.kind
	if at := slices.IndexFunc(g.fields, func(o field) bool { return o.name == f.sets }); at >= 0 {
		kind = g.fields[at].kind
	}
	switch f.name {
	case "node-ip":
		c.value, _ = pick(g, texts("10.0.0.1 fd00::1 :: 0.0.0.0 10.0.0.1,fd00::1 fd00::1,10.0.0.1 10.0.0.1,10.0.0.2 10.0.0.1,fd00::1,10.0.0.2 x 10.0.0.1,x ::,0.0.0.0 '' 127.0.0.1 10.0.0.1,::")).(string)
		return c
	case "node-labels":
		c.value, _ = pick(g, texts("a=b a=b,c=d a a=,b=c kubernetes.io/x=y k8s.io/x=y node.kubernetes.io/x=y kubelet.kubernetes.io/x=y kubernetes.io/os=linux node-role.kubernetes.io/x= topology.kubernetes.io/zone=z x/y/z=1 -a=b a=-b a=b/c x.kubernetes.io/y=z beta.kubernetes.io/instance-type=x failure-domain.beta.kubernetes.io/zone=z a=b=c")).(string)
		return c
	case "cloud-provider":
		c.value, _ = pick(g, texts("external '' aws gce azure x")).(string)
		return c
	case "hostname-override":
		c.value, _ = pick(g, append(texts("a A '' a.b a_b -a "), " ")).(string)
		return c
	}
	c.value = plain(g.value(f.sets, strings.TrimPrefix(kind, "ip")), f.kind)
	return c
}

// plain is a value in a flag's text.
func plain(value any, kind string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case list:
		var all []string
		for _, item := range v {
			all = append(all, plain(item, kind))
		}
		separator := ","
		if kind == "memory" {
			separator = ";"
		}
		return strings.Join(all, separator)
	case object:
		if kind == "taints" {
			return fmt.Sprintf("%s=%s:%s", plain(v["key"], ""), plain(v["value"], ""), plain(v["effect"], ""))
		}
		if kind == "memory" {
			return plain(v["numaNode"], "") + ":" + plain(v["limits"], "{}=")
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			sign := "="
			if strings.HasPrefix(kind, "{}") && len(kind) == 3 && kind[2] != '1' {
				sign = kind[2:]
			}
			all = append(all, name+sign+plain(v[name], ""))
		}
		return strings.Join(all, ",")
	}
	return fmt.Sprint(value)
}

// providers is a configuration of credential providers; most of it is valid.
func (g *generator) providers() any {
	all := list{}
	for range g.IntN(3) {
		p := object{
			"name": "acr-credential-provider", "matchImages": list{"*.azurecr.io"}, "defaultCacheDuration": "10m", "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
		}
		for range g.IntN(3) {
			f := pick(g, g.structs["CredentialProvider"])
			if p[f.name] = g.value("providers."+f.name, f.kind); g.IntN(6) == 0 {
				delete(p, f.name)
			}
		}
		all = append(all, p)
	}
	config := object{"kind": "CredentialProviderConfig", "apiVersion": "kubelet.config.k8s.io/v1", "providers": all}
	switch g.IntN(30) {
	case 0:
		delete(config, "providers")
	case 1:
		config["apiVersion"] = pick(g, texts("kubelet.config.k8s.io/v1beta1 kubelet.config.k8s.io/v1alpha1 v1 '' kubelet.config.k8s.io/v2"))
	case 2:
		config["kind"] = pick(g, texts("KubeletConfiguration '' x"))
	case 3:
		config["providers"] = pick(g, strange)
	case 4:
		config["unknown"] = "x"
	}
	return config
}
