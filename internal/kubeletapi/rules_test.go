package kubeletapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// settings are those of a case: flags as on a command line, with their names as paths.
func settings(t *testing.T, minor int, document string, flags ...string) Settings {
	t.Helper()
	s := Settings{Minor: minor, At: "$", Machine: Machine{CPUs: 4, MemoryBytes: 8 << 30, CgroupVersion: 2}}
	dec := json.NewDecoder(strings.NewReader(document))
	dec.UseNumber()
	if err := dec.Decode(&s.Config); err != nil {
		t.Fatal(err)
	}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		s.Flags = append(s.Flags, Flag{"--" + name, name, value})
	}
	return s
}

// ruleCases have a value that each kind of rule refuses, and a similar one that is accepted. The differential test of test/kubelet
// tests each row.
var ruleCases = []struct {
	minor  int
	config string
	flags  []string
	want   []string
}{
	// Numbers, durations, words and other texts.
	{36, `{"maxPods":-1,"oomScoreAdj":1001,"port":65536,"podsPerCore":0}`, nil, []string{"!$.maxPods", "!$.oomScoreAdj", "!$.port"}},
	{36, `{"port":0,"nodeLeaseDurationSeconds":0,"syncFrequency":"0s"}`, nil, nil},
	{36, `{}`, []string{"port=0", "sync-frequency=0s", "kube-api-burst=0"}, []string{"!--kube-api-burst", "!--port", "!--sync-frequency"}},
	{36, `{"userNamespaces":{"idsPerPod":65537}}`, nil, []string{"!$.userNamespaces.idsPerPod"}},
	{36, `{"tlsCurvePreferences":[23,23,1]}`, nil, []string{"!$.tlsCurvePreferences", "!$.tlsCurvePreferences[2]"}},
	{36, `{"memoryThrottlingFactor":1.5}`, nil, []string{"!$.memoryThrottlingFactor"}},
	{29, `{"containerLogMonitorInterval":"1s"}`, nil, []string{"$.containerLogMonitorInterval"}},
	{30, `{"containerLogMonitorInterval":"1s","podLogsDir":"var//log"}`, nil, []string{"!$.containerLogMonitorInterval", "!$.podLogsDir"}},
	{36, `{"hairpinMode":"","topologyManagerScope":"node","tlsMinVersion":"VersionTLS12"}`, nil, []string{"!$.topologyManagerScope", "$.topologyManagerScope"}},
	{36, `{}`, []string{"version=0"}, nil},
	{36, `null`, []string{"help=false", "version=false"}, nil},
	{36, `{}`, []string{"help=false", "version=false"}, []string{"!--help"}},
	{36, `{}`, []string{"help=true", "version=raw"}, []string{"!--help", "!--version"}},
	{36, `{}`, []string{"hairpin-mode=", "tls-min-version="}, []string{"!--hairpin-mode"}},
	{36, `{"tlsCipherSuites":["TLS_AES_128_GCM_SHA256","AES",null]}`, nil, []string{"!$.tlsCipherSuites[1]", "!$.tlsCipherSuites[2]"}},
	{36, `{"address":"::","healthzBindAddress":"localhost","clusterDNS":["10.0.0.10","10.0.0.10 10.0.0.11","010.0.0.1"]}`, nil, []string{"$.clusterDNS[1]", "$.healthzBindAddress"}},
	{36, `{"address":"any"}`, nil, []string{"!$.address"}},
	{36, `{"address":"any","enableServer":false}`, nil, nil},
	{36, `{"registerWithTaints":[{"key":"a","effect":"NoSchedule"},{"key":"","value":"-","effect":"x","timeAdded":"2026-01-01T00:00:00Z"}]}`, nil,
		[]string{"!$.registerWithTaints[1].effect", "!$.registerWithTaints[1].key", "!$.registerWithTaints[1].timeAdded", "!$.registerWithTaints[1].value"}},
	{36, `{}`, []string{"register-with-taints=a=b:NoSchedule,c:NoExecute,d-"}, nil},
	{36, `{}`, []string{"register-with-taints=a:NoSchedule,a:NoSchedule"}, []string{"!--register-with-taints"}},
	{36, `{"showHiddenMetricsForVersion":"1.35"}`, nil, nil},
	{36, `{"showHiddenMetricsForVersion":"1.36","tracing":{"endpoint":"http://x","samplingRatePerMillion":1000001}}`, nil, []string{"!$.showHiddenMetricsForVersion", "!$.tracing.endpoint", "!$.tracing.samplingRatePerMillion"}},
	{36, `{"logging":{"format":"json","vmodule":[{"filePattern":"a=b","verbosity":1}]}}`, nil, []string{"!$.logging.vmodule", "!$.logging.vmodule[0].filePattern"}},
	{36, `{"logging":{"vmodule":[null,{"filePattern":"a"}]}}`, nil, []string{"!$.logging.vmodule[0].filePattern"}},
	{36, `{"registerWithTaints":[null],"shutdownGracePeriodByPodPriority":[null]}`, nil, []string{"!$.registerWithTaints[0].key"}},
	{36, `{}`, []string{"vmodule=a=1,b"}, []string{"!--vmodule"}},
	{36, `{"logging":{"vmodule":[{"filePattern":""}]}}`, []string{"vmodule="}, []string{"!$.logging.vmodule[0].filePattern"}},
	{36, `{"logging":{"vmodule":[{"filePattern":""}]}}`, []string{"vmodule=a=1", "vmodule=b=1"}, []string{"!--vmodule"}},
	{36, `{"logging":{"vmodule":[{"filePattern":"a"}]}}`, []string{"vmodule=a=1"}, nil},
	{37, `{"allowedUnsafeSysctls":["kernel.shmfoo","kernel.shm*","user.max_user_namespaces"]}`, nil, []string{"!$.allowedUnsafeSysctls[0]"}},
	{28, `{"allowedUnsafeSysctls":["kernel.shmfoo","user.x"]}`, nil, []string{"!$.allowedUnsafeSysctls[1]"}},
	{37, `{"featureGates":{"DefaultPodSysctls":true},"defaultPodSysctls":{"net.core.somaxconn":"1","net/core/somaxconn":"2","vm.swappiness":"1"}}`, nil, []string{"!$.defaultPodSysctls", `!$.defaultPodSysctls["vm.swappiness"]`}},
	{36, `{"imagePullCredentialsVerificationPolicy":"NeverVerifyAllowlistedImages","preloadedImagesVerificationAllowlist":["registry.example:5000/a/b","a/*","a/b:tag","*","A_/b","a__b/c-d.e"]}`, nil,
		[]string{"!$.preloadedImagesVerificationAllowlist[2]", "!$.preloadedImagesVerificationAllowlist[3]", "!$.preloadedImagesVerificationAllowlist[4]"}},

	// Feature gates.
	{36, `{"featureGates":{"NodeSwap":false}}`, nil, []string{"!$.featureGates.NodeSwap"}},
	{37, `{"featureGates":{"CPUManagerPolicyOptions":false}}`, []string{"feature-gates=CPUManagerPolicyOptions=true"}, []string{"!$.featureGates.CPUManagerPolicyOptions"}},
	{26, `{}`, []string{"node-ip=10.0.0.1,fd00::1", "cloud-provider=external"}, []string{"!--node-ip"}},
	{26, `{}`, []string{"node-ip=10.0.0.1,x", "cloud-provider=external"}, nil},
	{31, `{"featureGates":{"CPUManager":false}}`, []string{"feature-gates=CPUManager=true"}, nil},
	{33, `{"featureGates":{"NodeSwap":false},"memorySwap":{"swapBehavior":"LimitedSwap"}}`, nil, []string{"!$.memorySwap.swapBehavior"}},
	{29, `{"memorySwap":{"swapBehavior":"UnlimitedSwap"}}`, nil, []string{"!$.memorySwap.swapBehavior"}},
	{29, `{"featureGates":{"AllBeta":true},"memorySwap":{"swapBehavior":"UnlimitedSwap"}}`, nil, nil},
	{30, `{"memorySwap":{"swapBehavior":"UnlimitedSwap"}}`, nil, []string{"!$.memorySwap.swapBehavior"}},
	{36, `{"featureGates":{"DRAAdminAccess":true,"DynamicResourceAllocation":true}}`, nil, nil},
	{34, `{"crashLoopBackOff":{"maxContainerRestartPeriod":"10s"}}`, nil, []string{"!$.crashLoopBackOff.maxContainerRestartPeriod"}},
	{34, `{"crashLoopBackOff":{"maxContainerRestartPeriod":"10s"}}`, []string{"feature-gates=KubeletCrashLoopBackOffMax=true"}, nil},
	{35, `{"crashLoopBackOff":{"maxContainerRestartPeriod":"301s"}}`, nil, []string{"!$.crashLoopBackOff.maxContainerRestartPeriod"}},
	{35, `{"featureGates":{"KubeletCrashLoopBackOffMax":true},"crashLoopBackOff":{"maxContainerRestartPeriod":"10s"}}`, []string{"feature-gates=KubeletCrashLoopBackOffMax=false"}, []string{"!$.crashLoopBackOff.maxContainerRestartPeriod"}},
	{36, `{"logging":{"options":{"json":{"splitStream":true}}}}`, nil, []string{"$.logging.options.json.splitStream"}},
	{36, `{}`, []string{"log-json-split-stream=true"}, []string{"!--log-json-split-stream"}},

	// Settings that depend on others, and flags that win over the file.
	{36, `{"imageGCHighThresholdPercent":90}`, []string{"image-gc-low-threshold=95"}, []string{"!$.imageGCHighThresholdPercent"}},
	{36, `{"imageGCHighThresholdPercent":90,"imageGCLowThresholdPercent":95}`, []string{"image-gc-low-threshold=85"}, nil},
	{36, `{"imageMaximumGCAge":"1m"}`, nil, []string{"!$.imageMaximumGCAge"}},
	{36, `{"maxParallelImagePulls":5}`, nil, nil},
	{36, `{"maxParallelImagePulls":5}`, []string{"serialize-image-pulls=true"}, []string{"!$.maxParallelImagePulls"}},
	{36, `{"shutdownGracePeriodCriticalPods":"10s"}`, nil, []string{"!$.shutdownGracePeriodCriticalPods"}},
	{36, `{"shutdownGracePeriod":"10s","shutdownGracePeriodByPodPriority":[{"priority":0,"shutdownGracePeriodSeconds":10}]}`, nil, []string{"!$.shutdownGracePeriodByPodPriority"}},
	{36, `{"authentication":{"webhook":{"enabled":false}}}`, nil, []string{"!$.authentication.webhook.enabled"}},
	{36, `{"authentication":{"webhook":{"enabled":false}}}`, []string{"client-ca-file=/ca.crt"}, nil},
	{36, `null`, []string{"anonymous-auth=false"}, []string{"!--anonymous-auth"}},
	{36, `null`, []string{"anonymous-auth=false", "client-ca-file=/ca.crt"}, nil},
	{36, `null`, []string{"feature-gates=AllBeta=false"}, []string{"!--feature-gates", "!--feature-gates"}},
	{36, `null`, []string{"feature-gates=KubeletCrashLoopBackOffMax=false"}, []string{"!--feature-gates"}},
	{34, `null`, []string{"feature-gates=AllBeta=false"}, nil},
	{28, `{}`, []string{"cloud-provider=aws", "feature-gates=DisableCloudProviders=true"}, []string{"!--cloud-provider"}},
	{28, `{}`, []string{"cloud-provider=other", "feature-gates=DisableCloudProviders=true"}, nil},
	{36, `null`, []string{"client-ca-file=/ca.crt", "authentication-token-webhook=false"}, nil},
	{36, `null`, []string{"port=10255"}, []string{"!--port"}},
	{36, `null`, []string{"port=10255", "read-only-port=0"}, nil},
	{36, `null`, []string{"eviction-minimum-reclaim=memory.available=1Gi"}, []string{"--eviction-minimum-reclaim"}},
	{36, `{"cgroupsPerQOS":false}`, nil, []string{"!$.cgroupsPerQOS"}},
	{36, `{"cgroupsPerQOS":false,"enforceNodeAllocatable":["none"]}`, nil, nil},
	{30, `{"cgroupsPerQOS":false,"enforceNodeAllocatable":["none"]}`, nil, []string{"!$.cgroupsPerQOS"}},
	{36, `{"enforceNodeAllocatable":["pods","pods"]}`, nil, []string{"!$.enforceNodeAllocatable"}},
	{36, `{"systemReserved":{"cpu":"1"},"enforceNodeAllocatable":["system-reserved"]}`, nil, []string{"!$.enforceNodeAllocatable"}},
	{36, `{"systemReservedCgroup":"/system.slice","enforceNodeAllocatable":["system-reserved"]}`, nil, []string{"!$.enforceNodeAllocatable"}},

	// Reservations and eviction, on a machine of 4 processors and 8 GiB.
	{36, `{"kubeReserved":{"cpu":"2","memory":"1GB","gpu":"1"}}`, nil, []string{"!$.kubeReserved.gpu", "!$.kubeReserved.memory"}},
	{36, `{"kubeReserved":{"cpu":"3"},"systemReserved":{"cpu":"1001m"}}`, nil, []string{"!$.kubeReserved"}},
	{36, `{"kubeReserved":{"cpu":"3"},"systemReserved":{"cpu":"1000m"}}`, nil, nil},
	{36, `{"kubeReserved":{"memory":"8092Mi"}}`, nil, nil},
	{36, `{"kubeReserved":{"memory":"8092Mi"},"evictionHard":{"memory.available":"2%"}}`, nil, []string{"!$.kubeReserved"}},
	{36, `{"evictionHard":{"memory.available":"NaN%","nodefs.available":"NaN%"}}`, nil, []string{"!$.evictionHard"}},
	{36, `{"evictionHard":{"memory.available":"NaN%"},"kubeReserved":{"memory":"1"}}`, nil, nil},
	{36, `{}`, []string{"system-reserved=memory=9Gi"}, []string{"!--system-reserved"}},
	{36, `{"reservedSystemCPUs":"0-3"}`, nil, nil},
	{36, `{"reservedSystemCPUs":"0,4"}`, nil, []string{"!$.reservedSystemCPUs"}},
	{36, `{"reservedSystemCPUs":"3-1"}`, nil, []string{"!$.reservedSystemCPUs"}},
	{36, `{"reservedSystemCPUs":"0","kubeReserved":{"cpu":"9"}}`, nil, []string{"$.kubeReserved.cpu"}},
	{36, `{"evictionHard":{"memory.available":"0%","nodefs.available":"101%","disk":"1Gi"}}`, nil, []string{"!$.evictionHard.disk", `!$.evictionHard["nodefs.available"]`}},
	{28, `{"evictionHard":{"containerfs.available":"5%"}}`, nil, []string{`!$.evictionHard["containerfs.available"]`}},
	{29, `{"evictionHard":{"containerfs.available":"5%"}}`, nil, []string{`$.evictionHard["containerfs.available"]`}},
	{36, `{"evictionSoft":{"memory.available":"1Gi","nodefs.available":"100%"}}`, nil, []string{`!$.evictionSoft["memory.available"]`}},
	{36, `{"evictionSoft":{"memory.available":"1Gi"}}`, []string{"eviction-soft-grace-period=memory.available=90s"}, nil},
	{36, `{}`, []string{"eviction-soft=memory.available<1Gi"}, []string{"!--eviction-soft"}},
	{36, `{"evictionMinimumReclaim":{"memory.available":"0%"},"evictionSoftGracePeriod":{"nodefs.available":"1m"}}`, nil, []string{`!$.evictionMinimumReclaim["memory.available"]`, `$.evictionSoftGracePeriod["nodefs.available"]`}},

	// The managers.
	{36, `{"cpuManagerPolicy":"static"}`, nil, []string{"!$.cpuManagerPolicy"}},
	{36, `{"cpuManagerPolicy":"static","kubeReserved":{"cpu":"0"},"systemReserved":{"cpu":"0.1m"}}`, nil, nil},
	{37, `{"cpuManagerPolicy":"static","systemReserved":{"cpu":"0.1m"}}`, nil, []string{"!$.cpuManagerPolicy"}},
	{36, `{"cpuManagerPolicy":"static","reservedSystemCPUs":"0"}`, nil, nil},
	{36, `{"cpuManagerPolicyOptions":{"full-pcpus-only":"true"}}`, nil, []string{"!$.cpuManagerPolicyOptions"}},
	{32, `{"cpuManagerPolicy":"static","reservedSystemCPUs":"0","cpuManagerPolicyOptions":{"distribute-cpus-across-numa":"true","x":"1"}}`, nil, []string{"!$.cpuManagerPolicyOptions.x", `!$.cpuManagerPolicyOptions["distribute-cpus-across-numa"]`}},
	{33, `{"cpuManagerPolicy":"static","reservedSystemCPUs":"0","cpuManagerPolicyOptions":{"distribute-cpus-across-numa":"yes"}}`, nil, []string{`!$.cpuManagerPolicyOptions["distribute-cpus-across-numa"]`}},
	{36, `{"topologyManagerPolicyOptions":{"max-allowable-numa-nodes":"7"}}`, nil, []string{"$.topologyManagerPolicyOptions"}},
	{36, `{"topologyManagerPolicy":"restricted","topologyManagerPolicyOptions":{"max-allowable-numa-nodes":"7"}}`, nil, []string{`!$.topologyManagerPolicyOptions["max-allowable-numa-nodes"]`}},
	{36, `{"memoryManagerPolicy":"Static"}`, nil, []string{"!$.memoryManagerPolicy"}},
	{36, `{"memoryManagerPolicy":"Static","kubeReserved":{"memory":"924Mi"},"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi"}}]}`, nil, nil},
	{36, `{"memoryManagerPolicy":"Static","kubeReserved":{"memory":"924Mi"}}`, []string{"reserved-memory=0:memory=1Gi"}, nil},
	{36, `{"memoryManagerPolicy":"Static","kubeReserved":{"memory":"924Mi"},"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi","hugepages-2Mi":"2Mi"}}]}`, nil, []string{"!$.memoryManagerPolicy"}},
	{36, `{"memoryManagerPolicy":"Static","kubeReserved":{"memory":"924Mi"},"evictionHard":{"nodefs.available":"5%"},"reservedMemory":[{"limits":{"memory":"1Gi"}}]}`, nil, []string{"!$.memoryManagerPolicy"}},
	{36, `null`, []string{"memory-manager-policy=Static", "kube-reserved=memory=1Gi", "reserved-memory=0:memory=1Gi"}, nil},
	{36, `null`, []string{"memory-manager-policy=Static", "kube-reserved=memory=924Mi", "reserved-memory=0:memory=1Gi"}, []string{"!--memory-manager-policy"}},
	{37, `{"featureGates":{"AllAlpha":true}}`, nil, []string{"!$.featureGates.AllAlpha", "!$.featureGates.AllAlpha", "!$.featureGates.AllAlpha", "!$.featureGates.AllAlpha"}},
	{37, `{"featureGates":{"AllAlpha":true}}`, []string{"feature-gates=AllAlpha=false"}, nil},
	{36, `{"reservedMemory":[{"limits":{"cpu":"1"}}]}`, []string{"reserved-memory="}, []string{"!$.reservedMemory[0].limits.cpu", "$.reservedMemory"}},
	{36, `{"reservedMemory":[{"limits":{"memory":"0","cpu":"1"}},{"numaNode":0,"limits":{"memory":"1"}}]}`, nil, []string{"!$.reservedMemory", "!$.reservedMemory[0].limits.cpu", "!$.reservedMemory[0].limits.memory", "$.reservedMemory"}},
}

func TestRules(t *testing.T) {
	for _, c := range ruleCases {
		got := listed(Check(settings(t, c.minor, c.config, c.flags...)))
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("1.%d %s %q: got %q, want %q", c.minor, c.config, c.flags, got, c.want)
		}
	}
}

// Rules that need an unknown property of the machine do not apply.
func TestUnknownMachine(t *testing.T) {
	s := settings(t, 36, `{"reservedSystemCPUs":"0-99","memoryManagerPolicy":"Static","systemReserved":{"memory":"1Ti"},"evictionHard":{"memory.available":"5%"},
		"reservedMemory":[{"limits":{"memory":"2Ti"}}],"memorySwap":{"swapBehavior":"LimitedSwap"}}`)
	s.Machine = Machine{}
	if problems := Check(s); len(problems) > 0 {
		t.Error(problems)
	}
	s.Machine.CgroupVersion = 1
	if got := listed(Check(s)); !slices.Equal(got, []string{"!$.memorySwap.swapBehavior"}) {
		t.Error(got)
	}
}

func TestCredentialProvider(t *testing.T) {
	const whole = `{"apiVersion":"kubelet.config.k8s.io/v1","kind":"CredentialProviderConfig","providers":[{"name":"p","apiVersion":"credentialprovider.kubelet.k8s.io/v1",
		"matchImages":["*.example"],"defaultCacheDuration":"0s"}]}`
	const tokens = `"tokenAttributes":{"serviceAccountTokenAudience":"a","requireServiceAccount":true,"cacheType":"Token"}`
	for _, c := range []struct {
		minor        int
		old, changed string
		want         []string
	}{
		{36, "", "", nil},
		{36, `"defaultCacheDuration":"0s"`, `"args":[]`, []string{"!$.providers[0].defaultCacheDuration"}},
		{36, `"0s"`, `"-1s"`, []string{"!$.providers[0].defaultCacheDuration"}},
		{36, `"name":"p"`, `"name":"a/b"`, []string{"!$.providers[0].name"}},
		{36, `["*.example"]`, `[]`, []string{"!$.providers[0].matchImages"}},
		{36, `["*.example"]`, `["a b"]`, []string{"!$.providers[0].matchImages[0]"}},
		{36, `"apiVersion":"kubelet.config.k8s.io/v1","kind":"CredentialProviderConfig",`, ``, []string{"!$.apiVersion", "!$.kind"}},
		{36, `"kubelet.config.k8s.io/v1"`, `"kubelet.config.k8s.io/v1beta1"`, nil},
		{36, `"0s"`, `"0s",` + tokens, nil},
		{36, `credentialprovider.kubelet.k8s.io/v1"`, `credentialprovider.kubelet.k8s.io/v1beta1",` + tokens, []string{"!$.providers[0].tokenAttributes"}},
		{33, `"0s"`, `"0s",` + tokens, []string{"!$.providers[0].tokenAttributes", "!$.providers[0].tokenAttributes.cacheType"}},
		{31, `"0s"`, `"0s","unknown":1`, []string{"$.providers[0].unknown"}},
		{32, `"0s"`, `"0s","unknown":1`, []string{"!$.providers[0].unknown"}},
		{36, `"providers":[`, `"providers":[{"name":"p","apiVersion":"credentialprovider.kubelet.k8s.io/v1","matchImages":["x"],"defaultCacheDuration":"1m"},`, []string{"!$.providers"}},
		{36, `"providers"`, `"provider"`, []string{"!$.provider", "!$.providers"}},
	} {
		s := settings(t, c.minor, strings.Replace(whole, c.old, c.changed, 1))
		config := s.Config
		s.Config = nil
		got := listed(CredentialProvider(s, "$", config))
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("1.%d %s: got %q, want %q", c.minor, c.changed, got, c.want)
		}
	}
}

// Each row has a source, names existing fields, gates and minors, and describes its requirement.
func TestRows(t *testing.T) {
	k := known()
	for root, rows := range map[string][]rule{".KubeletConfiguration": rows[:], ".CredentialProviderConfig": providerRows[:]} {
		for i := range rows {
			r := &rows[i]
			for field := range strings.SplitSeq(strings.TrimSpace(r.field+" "+r.with), " ") {
				if flag, isFlag := strings.CutPrefix(field, "--"); isFlag && !k.has(k.flags, "", flag) || !isFlag && !k.hasField(root, field) {
					t.Errorf("there is no %s", field)
				}
			}
			for _, gate := range []string{r.on, r.off} {
				if gate != "" && !k.has(k.gates, "", gate) {
					t.Errorf("%s: there is no feature gate %s", r.field, gate)
				}
			}
			if r.source == "" || r.check == nil || r.reason() == "" || strings.HasSuffix(r.reason(), ".") || r.until != 0 && (r.until < r.since || r.until < OldestSupported) || r.since > NewestSupported {
				t.Errorf("%s: %+v", r.field, r)
			}
		}
	}
	if len(rows) > 256 || len(providerRows) > 256 {
		t.Error("there are more rows than a byte counts")
	}
}

// hasField reports whether a struct has a field, with "*" for an item and any name in a map.
func (t *table) hasField(kind, field string) bool {
	for name := range strings.SplitSeq(field, ".") {
		owner, isStruct := strings.CutPrefix(kind, ".")
		switch {
		case isStruct:
			p := t.find(t.fields, owner, name, "field", t.newest)
			for s := range t.spans(t.fields, owner, name) {
				p.kind = s.kind
			}
			if kind = p.kind; kind == "" {
				return false
			}
		case len(kind) > 2:
			kind = kind[2:]
		default:
			return false
		}
	}
	return true
}

// BenchmarkCheck checks a node's usual settings.
func BenchmarkCheck(b *testing.B) {
	s := Settings{Minor: 36, At: "$", Machine: Machine{CPUs: 4, MemoryBytes: 8 << 30, CgroupVersion: 2}, Config: map[string]any{
		"cgroupDriver": "systemd", "clusterDNS": []any{"10.0.0.10"}, "clusterDomain": "cluster.local", "rotateCertificates": true,
		"staticPodPath": "/etc/kubernetes/manifests", "kubeReserved": map[string]any{"cpu": "100m", "memory": "1Gi"}, "maxPods": json.Number("110"),
		"evictionHard": map[string]any{"memory.available": "100Mi", "nodefs.available": "10%"},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if problems := Check(s); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
