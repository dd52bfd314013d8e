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

// The table is what the generator writes, whole: a table that is cut off would make errors of good contracts.
func TestTable(t *testing.T) {
	k := known()
	if k.oldest > OldestSupported || k.newest < NewestSupported {
		t.Errorf("the table has 1.%d to 1.%d", k.oldest, k.newest)
	}
	if len(k.fields["KubeletConfiguration"]) < 120 || len(k.gates) < 350 || len(k.flags) < 180 {
		t.Errorf("%d fields, %d gates, %d flags", len(k.fields["KubeletConfiguration"]), len(k.gates), len(k.flags))
	}
	for owner, fields := range k.fields {
		for name, spans := range fields {
			for _, s := range spans {
				of := strings.TrimLeft(s.kind, "[]{}")
				if inner, isStruct := strings.CutPrefix(of, "."); isStruct && k.fields[inner] == nil || !isStruct && !strings.Contains("sbiludfqx", of) {
					t.Errorf("%s.%s is of an unknown kind %q", owner, name, s.kind)
				}
				if s.since > s.until {
					t.Errorf("%s.%s: %+v", owner, name, s)
				}
			}
		}
	}
	// What is known from elsewhere (Kubernetes' changelogs, and kubelet --help of 1.36.3).
	for _, c := range []struct {
		spans       map[string][]span
		name        string
		minor       int
		want        string
		unknownNext bool
	}{
		{k.fields["KubeletConfiguration"], "maxPods", 26, "i", false},
		{k.fields["KubeletConfiguration"], "podLogsDir", 30, "s", false},
		{k.fields["KubeletConfiguration"], "podLogsDir", 29, "", false},
		{k.fields["KubeletConfiguration"], "singleProcessOOMKill", 32, "b", false},
		{k.flags, "cloud-config", 33, "s", true},
		{k.flags, "container-runtime", 26, "s", true},
		{k.flags, "azure-container-registry-config", 29, "s", true},
		{k.flags, "pod-infra-container-image", 34, "s", true},
		{k.flags, "alsologtostderr", 25, "b", true},
		{k.flags, "housekeeping-interval", 37, "d", false},
		{k.flags, "config-dir", 27, "", false},
		{k.gates, "KubeletPSI", 33, "b", false},
		{k.gates, "ReloadKubeletClientCAFile", 36, "b", false},
		{k.gates, "AllAlpha", 37, "b", false},
	} {
		if got := k.find(c.spans, c.name, "name", c.minor); got.kind != c.want {
			t.Errorf("%s in 1.%d: %+v", c.name, c.minor, got)
		}
		if next := k.find(c.spans, c.name, "name", c.minor+1); c.unknownNext && next.kind != "" {
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
		{36, `{"logging":{"flushFrequency":"5s","verbosity":2,"options":{"json":{"infoBufferSize":"1Mi"}}},"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi","hugepages-1Gi":2}}]}`, nil},
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
		var config map[string]any
		if err := dec.Decode(&config); err != nil {
			t.Fatal(err)
		}
		if got := listed(Config(c.minor, "$", config)); !slices.Equal(got, c.want) {
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
		{36, "anonymous-auth", "False", false, nil},
		{36, "sync-frequency", "1", false, []string{"!$"}},
		{33, "cloud-config", "/x", false, nil},
		{34, "cloud-config", "/x", true, []string{"$"}},
		{27, "config-dir", "/x", true, []string{"$"}},
		{36, "feature-gates", "NodeSwap=true,KubeletPSI=false,", false, nil},
		{36, "feature-gates", "NodeSwap", false, []string{"!$"}},
		{36, "feature-gates", "NodeSwop=true", false, []string{"!$"}},
		{99, "newer", "1", false, []string{"$"}},
		{36, "eviction-hard", "memory.available<100Mi", false, nil},
		{36, "kube-api-qps", "-1", false, nil},
	} {
		check := New(c.minor)
		out, problems := check.Flag("$", c.name, c.value), check.Problems("$")
		if got := listed(problems); out != c.out || !slices.Equal(got, c.want) {
			t.Errorf("1.%d --%s=%s: left out: %v, %v", c.minor, c.name, c.value, out, problems)
		}
	}
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

// A problem does not repeat a value, and knows what was meant.
func TestReasons(t *testing.T) {
	problems := Config(36, "$", map[string]any{"maxPods": "canary", "maxpods": "canary", "featureGates": map[string]any{"NodeSwop": "canary"}})
	check := New(36)
	check.Flag("$", "max-pod", "canary")
	more := check.Problems("$")
	for _, p := range append(problems, more...) {
		if strings.Contains(p.Reason, "canary") || p.Kind == "" {
			t.Errorf("%+v", p)
		}
	}
	if reason := more[0].Reason; !strings.HasSuffix(reason, "did you mean max-pods?") {
		t.Error(reason)
	}
}

// Thousands of unknown names are one more problem, not thousands of them; what it takes to say what was meant is not
// spent on each. It is fatal where one of them is.
func TestManyUnknownNames(t *testing.T) {
	gates, fields := make(map[string]any), make(map[string]any)
	var pairs []string
	flags := New(36)
	for i := range document.MaxUnknown + 800 {
		name := fmt.Sprintf("Unknown%d", i)
		gates[name], fields[name] = true, true
		pairs = append(pairs, name+"=true")
		flags.Flag("$[0]", name, "")
	}
	gate := New(36)
	gate.Flag("$[0]", "feature-gates", strings.Join(pairs, ","))
	for name, c := range map[string]struct {
		problems []nodeconfig.Problem
		stops    bool
	}{
		"gates": {Config(36, "$", map[string]any{"featureGates": gates}), true}, "fields": {Config(36, "$", fields), false},
		"flags": {flags.Problems("$"), true}, "a flag's gates": {gate.Problems("$"), true}, "a newer kubelet's": {Config(99, "$", map[string]any{"featureGates": gates}), false},
	} {
		last := c.problems[len(c.problems)-1]
		if len(c.problems) != document.MaxUnknown+1 || last.Path != "$" || last.Fatal != c.stops || !strings.HasPrefix(last.Reason, "has 800 more names") {
			t.Errorf("%s: %d problems, the last: %s", name, len(c.problems), last)
		}
	}
}

// FuzzConfig: no configuration makes a check fail.
func FuzzConfig(f *testing.F) {
	f.Add(36, `{"logging":{"vmodule":[{"filePattern":1}]},"evictionHard":[],"shutdownGracePeriodByPodPriority":[{}, null]}`)
	f.Add(-1, `{"featureGates":{"":null},"":{}}`)
	f.Fuzz(func(t *testing.T, minor int, document string) {
		var config map[string]any
		if json.Unmarshal([]byte(document), &config) != nil {
			return
		}
		for _, p := range Config(minor, "$", config) {
			if p.Path == "" || p.Reason == "" || p.Kind == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// FuzzSysctls compares with the pattern that the kubelet has (k8s.io/kubernetes pkg/apis/policy/validation).
func FuzzSysctls(f *testing.F) {
	const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	kubelets := regexp.MustCompile("^(" + segment + `[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`)
	own := regexp.MustCompile(`^(net[./]|fs[./]mqueue[./]|kernel[./]shm|kernel[./]msg|kernel[./]sem\*?$)`)
	for _, s := range []string{"net.ipv4.*", "net", "net.*", "net.a-*", "net.-*", "net.a**", "net.a_.b", "net/ipv4/a.b", "net.", "net..a", "net.a b", "net.a\n", "net.a-", "kernel.sem", "kernel.sems", "kernel.shm*", "net." + strings.Repeat("a", 250)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := isNamespaced(s), len(s) <= 253 && kubelets.MatchString(s) && own.MatchString(s); got != want {
			t.Errorf("%q: %t, want %t", s, got, want)
		}
	})
}
