package kubeletapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The table is complete as the generator writes it: a truncated table would report errors in valid contracts.
func TestTable(t *testing.T) {
	k := known()
	if k.oldest > OldestSupported || k.newest < NewestSupported {
		t.Errorf("the table has 1.%d to 1.%d", k.oldest, k.newest)
	}
	lines := func(section string) []string { return strings.Split(strings.Trim(section, "\n"), "\n") }
	fields, gates, requires, flags := lines(k.fields), lines(k.gates), lines(k.requires), lines(k.flags)
	if len(fields) < 165 || len(gates) < 600 || len(requires) < 80 || len(flags) < 200 {
		t.Errorf("%d fields, %d gates, %d pairs of gates, %d flags", len(fields), len(gates), len(requires), len(flags))
	}
	check := func(line, rest string, isKind func(string) bool) {
		if s := k.span(rest); !isKind(s.kind) || s.since > s.until {
			t.Errorf("%s: %+v", line, s)
		}
	}
	for _, line := range fields {
		words := strings.SplitN(line, " ", 3)
		check(line, words[2], func(kind string) bool {
			of := strings.TrimLeft(kind, "[]{}")
			inner, isStruct := strings.CutPrefix(of, ".")
			return isStruct && strings.Contains(k.fields, "\n"+inner+" ") || !isStruct && strings.Contains("sbiludDfqtx", of)
		})
	}
	isState := regexp.MustCompile(`^[pabgd][-+]!?$`).MatchString
	for _, line := range gates {
		_, rest, _ := strings.Cut(line, " ")
		check(line, rest, isState)
	}
	for _, line := range requires {
		name, rest, _ := strings.Cut(line, " ")
		check(line, rest, func(other string) bool { return k.has(k.gates, "", other) && k.has(k.gates, "", name) })
	}
	// The fields that flags set exist, and have rules by the same names.
	for _, line := range flags {
		name, rest, _ := strings.Cut(line, " ")
		s := k.span(rest)
		if _, kind := k.follow(strings.Split(s.field, ".")); s.field != "" && kind == "" {
			t.Errorf("--%s sets %s, which is no field", name, s.field)
		}
		check(line, rest, func(kind string) bool { return inWords(kind) != "" })
	}
	// Facts from other sources (Kubernetes' changelogs, and kubelet --help of 1.36.3).
	for _, c := range []struct {
		section     string
		owner, name string
		minor       int
		want        string
		unknownNext bool
	}{
		{k.fields, "KubeletConfiguration", "maxPods", 26, "i", false},
		{k.fields, "KubeletConfiguration", "podLogsDir", 30, "s", false},
		{k.fields, "KubeletConfiguration", "podLogsDir", 29, "", false},
		{k.fields, "KubeletConfiguration", "singleProcessOOMKill", 32, "b", false},
		{k.flags, "", "cloud-config", 33, "s", true},
		{k.flags, "", "container-runtime", 26, "s", true},
		{k.flags, "", "azure-container-registry-config", 29, "s", true},
		{k.flags, "", "pod-infra-container-image", 34, "s", true},
		{k.flags, "", "alsologtostderr", 25, "b", true},
		{k.flags, "", "housekeeping-interval", 37, "d", false},
		{k.flags, "", "config-dir", 27, "", false},
		{k.gates, "", "KubeletPSI", 33, "a-", false},
		{k.gates, "", "ReloadKubeletClientCAFile", 36, "b+", false},
		{k.gates, "", "AllAlpha", 37, "a-", false},
		{k.gates, "", "NodeSwap", 29, "b-", false},
		{k.gates, "", "NodeSwap", 30, "b+", false},
		{k.gates, "", "NodeSwap", 34, "g+!", false},
	} {
		if got := k.find(c.section, c.owner, c.name, "name", c.minor); got.kind != c.want {
			t.Errorf("%s in 1.%d: %+v", c.name, c.minor, got)
		}
		if next := k.find(c.section, c.owner, c.name, "name", c.minor+1); c.unknownNext && next.kind != "" {
			t.Errorf("%s is in 1.%d too", c.name, c.minor+1)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		minor  int
		config string
		want   []string // problems, "!" before fatal ones
	}{
		{36, `{"apiVersion":"x","kind":"y","maxPods":110,"podPidsLimit":-1,"evictionHard":{"memory.available":"100Mi"},"registerWithTaints":[{"key":"a","effect":"NoSchedule"}]}`, nil},
		{36, `{"logging":{"flushFrequency":"5s","verbosity":2,"options":{"json":{"infoBufferSize":"0"}}},"memoryManagerPolicy":"None","reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi","hugepages-1Gi":2}}]}`, []string{"$.reservedMemory"}},
		{36, `{"maxPods":null,"featureGates":null,"authentication":null}`, nil},
		{36, `{"maxPods":"110"}`, []string{"!$.maxPods"}},
		{36, `{"maxPods":110.5}`, []string{"!$.maxPods"}},
		{36, `{"maxPods":3000000000}`, []string{"!$.maxPods"}},
		{36, `{"podPidsLimit":3000000000}`, nil},
		{36, `{"syncFrequency":60,"fileCheckFrequency":"1 minute","httpCheckFrequency":"20s"}`, []string{"!$.fileCheckFrequency", "!$.syncFrequency"}},
		{36, `{"authentication":{"anonymous":{"enabled":"false"},"webhook":[]}}`, []string{"!$.authentication.anonymous.enabled", "!$.authentication.webhook"}},
		{36, `{"clusterDNS":"10.0.0.10","allowedUnsafeSysctls":[1]}`, []string{"!$.allowedUnsafeSysctls[0]", "!$.clusterDNS"}},
		{36, `{"maxpods":1,"nothing":{"a":1}}`, []string{"$.maxpods", "$.nothing"}},
		{29, `{"podLogsDir":"/x"}`, []string{"$.podLogsDir"}},
		{30, `{"podLogsDir":"/x"}`, nil},
		{36, `{"featureGates":{"NodeSwap":true,"nodeswap":true}}`, []string{"!$.featureGates.nodeswap"}},
		{36, `{"featureGates":{"NodeSwap":"true"}}`, []string{"!$.featureGates.NodeSwap"}},
		{36, `{"featureGates":["NodeSwap"]}`, []string{"!$.featureGates"}},
		{29, `{"featureGates":{"KubeletPSI":true}}`, []string{"!$.featureGates.KubeletPSI"}},
		{99, `{"featureGates":{"Newer":true},"newer":1,"maxPods":"x"}`, []string{"$.featureGates.Newer", "!$.maxPods", "$.newer"}},
		{36, `{"memorySwap":{"swapBehavior":"LimitedSwap"},"containerLogMaxSize":"10Mi","kubeReserved":{"cpu":1}}`, []string{"!$.kubeReserved.cpu"}},
		{36, `{"imageGCHighThresholdPercent":75}`, []string{"!$.imageGCHighThresholdPercent"}},
		{36, `{"imageGCLowThresholdPercent":90}`, []string{"!$.imageGCLowThresholdPercent"}},
		{36, `{"imageGCHighThresholdPercent":70,"imageGCLowThresholdPercent":70}`, []string{"!$.imageGCHighThresholdPercent"}},
		{36, `{"imageGCHighThresholdPercent":70,"imageGCLowThresholdPercent":69}`, nil},
		{36, `{"imageGCHighThresholdPercent":101,"imageGCLowThresholdPercent":-1}`, []string{"!$.imageGCHighThresholdPercent", "!$.imageGCLowThresholdPercent"}},
		{36, `{"imageGCHighThresholdPercent":"high"}`, []string{"!$.imageGCHighThresholdPercent"}},
		{36, `{"containerLogMaxSize":"50K"}`, []string{"!$.containerLogMaxSize"}},
		{36, `{"containerLogMaxSize":"1.5Mi"}`, []string{"!$.containerLogMaxSize"}},
		{36, `{"containerLogMaxSize":"1500m"}`, []string{"!$.containerLogMaxSize"}},
		{36, `{"containerLogMaxSize":"1.5M","containerLogMaxFiles":2}`, nil},
		{36, `{"containerLogMaxSize":"","containerLogMaxFiles":1}`, []string{"!$.containerLogMaxFiles"}},
		{36, `{"containerLogMaxSize":"50k","cpuManagerPolicy":"","topologyManagerPolicy":""}`, nil},
		{36, `{"cpuManagerPolicy":"dynamic","topologyManagerPolicy":"all"}`, []string{"!$.cpuManagerPolicy", "!$.topologyManagerPolicy"}},
		{36, `{"cpuCFSQuotaPeriod":"2s"}`, []string{"!$.cpuCFSQuotaPeriod"}},
		{36, `{"cpuCFSQuotaPeriod":"50ms"}`, nil},
		{35, `{"cpuCFSQuotaPeriod":"100ms"}`, nil},
		{35, `{"cpuCFSQuotaPeriod":"50ms"}`, []string{"!$.cpuCFSQuotaPeriod"}},
		{35, `{"cpuCFSQuotaPeriod":"50ms","featureGates":{"CustomCPUCFSQuotaPeriod":true}}`, nil},
		{35, `{"cpuCFSQuotaPeriod":"50ms","featureGates":{"AllAlpha":true}}`, nil},
		{35, `{"cpuCFSQuotaPeriod":"50ms","featureGates":{"CustomCPUCFSQuotaPeriod":false}}`, []string{"!$.cpuCFSQuotaPeriod"}},
		{36, `{"allowedUnsafeSysctls":["net.core.somaxconn","net.*","net/ipv4/conf/eth0.1/rp_filter","kernel.sem","kernel.shm*","kernel.msgmax","fs.mqueue.*"]}`, nil},
		{36, `{"allowedUnsafeSysctls":["a b;$(x)\n"]}`, []string{"!$.allowedUnsafeSysctls[0]"}},
		{36, `{"allowedUnsafeSysctls":["net.core.somaxconn","*","net","vm.swappiness","kernel.semaphore","net.*.x","net.Core",""]}`, []string{
			"!$.allowedUnsafeSysctls[1]", "!$.allowedUnsafeSysctls[2]", "!$.allowedUnsafeSysctls[3]", "!$.allowedUnsafeSysctls[4]",
			"!$.allowedUnsafeSysctls[5]", "!$.allowedUnsafeSysctls[6]", "!$.allowedUnsafeSysctls[7]"}},
	} {
		dec := json.NewDecoder(strings.NewReader(c.config))
		dec.UseNumber()
		var document map[string]any
		if err := dec.Decode(&document); err != nil {
			t.Fatal(err)
		}
		if got := listed(config(c.minor, document)); !slices.Equal(got, c.want) {
			t.Errorf("1.%d %s: got %q, want %q", c.minor, c.config, got, c.want)
		}
	}
}

func TestFlag(t *testing.T) {
	for _, c := range []struct {
		minor       int
		name, value string
		out         bool
		want        []string
	}{
		{36, "max-pods", "110", false, nil},
		{36, "max_pods", "110", false, nil},
		{36, "max-pods", "many", false, []string{"!$"}},
		{36, "max-pod", "110", false, []string{"!$"}},
		{36, "anonymous-auth", "", false, []string{"!$"}},
		{36, "enable-server", "False", false, nil},
		{36, "sync-frequency", "1", false, []string{"!$"}},
		{33, "cloud-config", "/x", false, nil},
		{34, "cloud-config", "/x", true, []string{"$"}},
		{27, "config-dir", "/x", true, []string{"$"}},
		{36, "feature-gates", "NodeSwap=true,QOSReserved=false,", false, nil},
		{36, "feature-gates", "NodeSwap", false, []string{"!$"}},
		{36, "feature-gates", "NodeSwop=true", false, []string{"!$"}},
		{99, "newer", "1", false, []string{"$"}},
		{36, "eviction-hard", "memory.available<100Mi", false, nil},
		{36, "kube-api-qps", "-1", false, []string{"!$"}},
	} {
		out, problems := LeftOut(c.minor, c.name), Check(Settings{Minor: c.minor, At: "$", Flags: []Flag{{"$", c.name, c.value}}})
		if got := listed(problems); out != c.out || !slices.Equal(got, c.want) {
			t.Errorf("1.%d --%s=%s: left out: %v, %v", c.minor, c.name, c.value, out, problems)
		}
	}
}

func config(minor int, config map[string]any) []nodeconfig.Problem {
	return Check(Settings{Minor: minor, At: "$", Config: config})
}

func listed(problems []nodeconfig.Problem) []string {
	var list []string
	for _, p := range problems {
		path := p.Path
		if p.Fatal {
			path = "!" + path
		}
		list = append(list, path)
	}
	return list
}

// A problem does not repeat a value, and suggests the right name.
func TestReasons(t *testing.T) {
	problems := config(36, map[string]any{"maxPods": "canary", "maxpods": "canary", "featureGates": map[string]any{"NodeSwop": "canary"}})
	more := Check(Settings{Minor: 36, At: "$", Flags: []Flag{{"$", "max-pod", "canary"}}})
	for _, p := range append(problems, more...) {
		if strings.Contains(p.Reason, "canary") || p.Kind == "" {
			t.Errorf("%+v", p)
		}
	}
	if reason := more[0].Reason; !strings.HasSuffix(reason, "did you mean max-pods?") {
		t.Error(reason)
	}
}

// Thousands of unknown names are one more problem, not thousands of them, and similar names are not searched for each. The problem
// is fatal if one of the names is fatal.
func TestManyUnknownNames(t *testing.T) {
	gates, fields := make(map[string]any), make(map[string]any)
	var pairs []string
	flags := Settings{Minor: 36, At: "$"}
	for i := range document.MaxUnknown + 800 {
		name := fmt.Sprintf("Unknown%d", i)
		gates[name], fields[name] = true, true
		pairs = append(pairs, name+"=true")
		flags.Flags = append(flags.Flags, Flag{"$[0]", name, ""})
	}
	gate := Settings{Minor: 36, At: "$", Flags: []Flag{{"$[0]", "feature-gates", strings.Join(pairs, ",")}}}
	for name, c := range map[string]struct {
		problems []nodeconfig.Problem
		stops    bool
	}{
		"gates": {config(36, map[string]any{"featureGates": gates}), true}, "fields": {config(36, fields), false},
		"flags": {Check(flags), true}, "a flag's gates": {Check(gate), true}, "a newer kubelet's": {config(99, map[string]any{"featureGates": gates}), false},
	} {
		last := c.problems[len(c.problems)-1]
		if len(c.problems) != document.MaxUnknown+1 || last.Path != "$" || last.Fatal != c.stops || !strings.HasPrefix(last.Reason, "has 800 more names") {
			t.Errorf("%s: %d problems, the last: %s", name, len(c.problems), last)
		}
	}
}

// FuzzConfig: no configuration makes a check panic.
func FuzzConfig(f *testing.F) {
	f.Add(36, `{"logging":{"vmodule":[{"filePattern":1}]},"evictionHard":[],"shutdownGracePeriodByPodPriority":[{}, null]}`)
	f.Add(-1, `{"featureGates":{"":null},"":{}}`)
	f.Fuzz(func(t *testing.T, minor int, document string) {
		var config map[string]any
		if json.Unmarshal([]byte(document), &config) != nil {
			return
		}
		for _, p := range Check(Settings{Minor: minor, At: "$", Config: config, Machine: Machine{4, 16 << 30, 1}}) {
			if p.Path == "" || p.Reason == "" || p.Kind == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// FuzzSysctls compares with the kubelet's pattern (k8s.io/kubernetes pkg/apis/policy/validation).
func FuzzSysctls(f *testing.F) {
	const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	kubelets := regexp.MustCompile("^(" + segment + `[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`)
	former := regexp.MustCompile(`^(net[./]|fs[./]mqueue[./]|kernel[./]shm|kernel[./]msg|kernel[./]sem\*?$)`)
	own := regexp.MustCompile(`^(net[./]|fs\.mqueue\.|fs/mqueue/|kernel[./](sem|(shm(all|max|mni|_rmid_forced)?)|(msg(max|mnb|mni)?))\*?$)`)
	for _, s := range []string{"net.ipv4.*", "net", "net.*", "net.a-*", "net.-*", "net.a**", "net.a_.b", "net/ipv4/a.b", "net.", "net..a", "net.a b", "net.a\n", "net.a-", "kernel.sem", "kernel.sems", "kernel.shm*", "net." + strings.Repeat("a", 250)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for minor, own := range map[int]*regexp.Regexp{28: former, 29: own} {
			got := isNamespaced(&judge{checker: newChecker(minor)}, nil, value{v: s})
			if want := len(s) <= 253 && kubelets.MatchString(s) && own.MatchString(s); got != want {
				t.Errorf("1.%d: %q: %t, want %t", minor, s, got, want)
			}
		}
	})
}

// has reports whether the table has a name.
func (t *table) has(section, owner, name string) bool {
	return t.start(section, owner, name) < len(section)
}
