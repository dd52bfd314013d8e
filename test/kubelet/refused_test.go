//go:build crosscheck

package kubelet

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// refused are configurations that end a kubelet, at least one for each of its rules.
var refused = []struct {
	// config is the kubelet's configuration in JSON, without its braces; flags are "name=value".
	config string
	flags  []string
	// providers are the members of a provider in a CredentialProviderConfig, in JSON.
	providers string
	// route is the route to the kubelet.
	route int
	// since and until are minors. 0 means no limit.
	since, until int
}{
	// ValidateKubeletConfiguration, in its order.
	{config: `"featureGates":{"NoSuchGate":true}`},
	{config: `"featureGates":{"AllAlpha":"yes"}`},
	{config: `"featureGates":{"DynamicResourceAllocation":false}`, since: 37},
	{config: `"nodeLeaseDurationSeconds":-1`},
	{config: `"systemCgroups":"/system.slice"`},
	{config: `"eventBurst":-1`},
	{config: `"eventRecordQPS":-1`},
	{config: `"healthzPort":65536`},
	{config: `"healthzPort":-1`},
	{config: `"cpuCFSQuotaPeriod":"50ms"`, until: 35},
	{config: `"cpuCFSQuotaPeriod":"2s"`, since: 36},
	{config: `"cpuCFSQuotaPeriod":"999us","featureGates":{"CustomCPUCFSQuotaPeriod":true}`},
	{config: `"imageGCHighThresholdPercent":101`},
	{config: `"imageGCLowThresholdPercent":-1`},
	{config: `"imageGCHighThresholdPercent":50,"imageGCLowThresholdPercent":50`},
	{config: `"imageGCLowThresholdPercent":86`},
	{config: `"imageMinimumGCAge":"-1s"`, since: 37},
	{config: `"imageMaximumGCAge":"-1s"`, since: 37},
	{config: `"imageMaximumGCAge":"1m"`, since: 37},
	{config: `"iptablesDropBit":32`},
	{config: `"iptablesMasqueradeBit":-1`},
	{config: `"kubeAPIBurst":-1`},
	{config: `"kubeAPIQPS":-1`},
	{config: `"nodeStatusMaxImages":-2`},
	{config: `"maxOpenFiles":-1`},
	{config: `"maxPods":-5`},
	{config: `"oomScoreAdj":1001`},
	{config: `"podsPerCore":-1`},
	{config: `"port":65536`},
	{config: `"port":-1`},
	{config: `"readOnlyPort":65536`},
	{config: `"registryBurst":-1`},
	{config: `"registryPullQPS":-1`},
	{config: `"maxParallelImagePulls":5,"serializeImagePulls":true`, since: 27},
	{config: `"maxParallelImagePulls":0,"serializeImagePulls":false`, since: 27},
	{config: `"serverTLSBootstrap":true,"featureGates":{"RotateKubeletServerCertificate":false}`, until: 35},
	{config: `"runOnce":true`, since: 37},
	{config: `"registerWithTaints":[{"key":"a b","effect":"NoSchedule"}]`},
	{config: `"registerWithTaints":[{"key":"a","effect":"Never"}]`},
	{config: `"registerWithTaints":[{"key":"a","value":"b/c","effect":"NoSchedule"}]`},
	{config: `"registerWithTaints":[{"key":"a","effect":"NoSchedule","timeAdded":"2026-01-01T00:00:00Z"}]`},
	{config: `"topologyManagerPolicy":"all"`},
	{config: `"topologyManagerScope":"node"`},
	{config: `"shutdownGracePeriod":"30s","shutdownGracePeriodCriticalPods":"31s"`},
	{config: `"shutdownGracePeriod":"500ms"`},
	{config: `"shutdownGracePeriod":"5s","shutdownGracePeriodCriticalPods":"500ms"`},
	{config: `"shutdownGracePeriod":"5s","shutdownGracePeriodByPodPriority":[{"priority":0,"shutdownGracePeriodSeconds":10}]`},
	{config: `"memorySwap":{"swapBehavior":"UnlimitedSwap"}`, since: 37},
	{config: `"crashLoopBackOff":{"maxContainerRestartPeriod":"1ms"}`, since: 37},
	{config: `"crashLoopBackOff":{"maxContainerRestartPeriod":"301s"}`, since: 37},
	{config: `"enforceNodeAllocatable":["system-reserved","system-reserved-compressible"],"systemReservedCgroup":"/system.slice","systemReserved":{"cpu":"100m"}`},
	{config: `"enforceNodeAllocatable":["pods","pods"]`, since: 37},
	{config: `"enforceNodeAllocatable":["system-reserved"],"systemReserved":{"cpu":"100m"}`},
	{config: `"enforceNodeAllocatable":["kube-reserved"],"kubeReserved":{"cpu":"100m"}`},
	{config: `"enforceNodeAllocatable":["none","pods"]`},
	{config: `"enforceNodeAllocatable":["all"]`},
	{config: `"cgroupsPerQOS":false`},
	{config: `"hairpinMode":"foo"`},
	{config: `"imagePullCredentialsVerificationPolicy":"Sometimes"`, since: 37},
	{config: `"preloadedImagesVerificationAllowlist":["example.com/x"]`, since: 37},
	{config: `"imagePullCredentialsVerificationPolicy":"NeverVerifyAllowlistedImages","preloadedImagesVerificationAllowlist":["example.com/*/x"]`, since: 37},
	{config: `"reservedSystemCPUs":"0-1","systemReservedCgroup":"/system.slice"`},
	{config: `"reservedSystemCPUs":"0-"`},
	{config: `"reservedMemory":[{"numaNode":0,"limits":{"cpu":"1"}}]`},
	{config: `"reservedMemory":[{"numaNode":0,"limits":{"memory":"0"}}]`},
	{config: `"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi"}},{"numaNode":0,"limits":{"memory":"1Gi"}}]`},
	{config: `"userNamespaces":{"idsPerPod":65535}`, since: 37},
	{config: `"userNamespaces":{"idsPerPod":65537}`, since: 37},
	{config: `"showHiddenMetricsForVersion":"1.20"`},
	{config: `"logging":{"format":"yaml"}`},
	{config: `"logging":{"vmodule":[{"filePattern":"","verbosity":1}]}`},
	{config: `"logging":{"format":"json","vmodule":[{"filePattern":"a","verbosity":1}]}`},
	{config: `"tracing":{"samplingRatePerMillion":1000001,"endpoint":"localhost:4317"}`, since: 37},
	{config: `"memoryThrottlingFactor":1.5`},
	{config: `"memoryReservationPolicy":"Hard"`, since: 37},
	{config: `"enableSystemLogQuery":true,"enableSystemLogHandler":false`, since: 37},
	{config: `"containerLogMaxWorkers":0`, since: 37},
	{config: `"containerLogMonitorInterval":"2s"`, since: 37},
	{config: `"containerLogMaxFiles":1`},
	{config: `"podLogsDir":"var/log"`, since: 37},
	{config: `"podLogsDir":"/var/log/"`, since: 37},
	{config: `"podLogsDir":"/var/lög"`, since: 37},
	{config: `"defaultPodSysctls":{"vm.swappiness":"1"},"featureGates":{"DefaultPodSysctls":true}`, since: 37},
	// The checks after it.
	{config: `"tlsCipherSuites":["TLS_FOO"]`},
	{config: `"tlsMinVersion":"TLS12"`},
	{config: `"tlsCurvePreferences":[1]`, since: 37},
	{config: `"authorization":{"mode":"RBAC"}`},
	{config: `"authentication":{"anonymous":{"enabled":false},"webhook":{"enabled":false},"x509":{"clientCAFile":""}}`},
	{config: `"reservedSystemCPUs":"0-4"`},
	{config: `"kubeReserved":{"memory":"1GB"}`},
	{config: `"kubeReserved":{"nvidia.com/gpu":"1"}`},
	{config: `"systemReserved":{"cpu":"-1"}`},
	{config: `"kubeReserved":{"cpu":"8"}`},
	{config: `"kubeReserved":{"memory":"10Gi"},"systemReserved":{"memory":"10Gi"}`},
	{config: `"evictionHard":{"memory.available":"lots"}`},
	{config: `"evictionHard":{"memory.used":"1Gi"}`},
	{config: `"evictionHard":{"memory.available":"101%"}`},
	{config: `"evictionHard":{"memory.available":"20Gi"}`},
	{config: `"evictionSoft":{"memory.available":"1Gi"}`},
	{config: `"evictionSoft":{"memory.available":"1Gi"},"evictionSoftGracePeriod":{"memory.available":"-1s"}`},
	{config: `"evictionMinimumReclaim":{"memory.available":"x"},"evictionHard":{"memory.available":"1Gi"}`},
	{config: `"qosReserved":{"memory":"101%"},"featureGates":{"QOSReserved":true}`},
	{config: `"cpuManagerPolicy":"static"`},
	{config: `"cpuManagerPolicy":"static","kubeReserved":{"cpu":"5"}`},
	{config: `"cpuManagerPolicy":"static","kubeReserved":{"cpu":"1"},"cpuManagerPolicyOptions":{"full-pcpus-only":"yes"}`},
	{config: `"cpuManagerPolicy":"none","cpuManagerPolicyOptions":{"full-pcpus-only":"true"}`},
	{config: `"cpuManagerPolicy":"dynamic"`},
	{config: `"memoryManagerPolicy":"Static"`},
	{config: `"memoryManagerPolicy":"Static","kubeReserved":{"memory":"1Gi"},"reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi"}}]`},
	{config: `"memoryManagerPolicy":"BestEffort"`},
	{config: `"topologyManagerPolicy":"restricted","topologyManagerPolicyOptions":{"no-such-option":"true"}`, since: 37},
	{config: `"syncFrequency":"-1s"`},
	{config: `"fileCheckFrequency":"-1s"`},
	{config: `"runtimeRequestTimeout":"-1s"`},
	{config: `"configMapAndSecretChangeDetectionStrategy":"Poll"`},
	{config: `"containerLogMaxSize":"50K"`},
	{config: `"allowedUnsafeSysctls":["vm.swappiness"]`},
	{config: `"allowedUnsafeSysctls":["*"]`},
	{config: `"address":"localhost"`},
	{config: `"readOnlyPort":10250`},
	{config: `"enforceNodeAllocatable":["pods","kube-reserved"],"kubeReservedCgroup":"/kubelet.slice"`},
	{config: `"failCgroupV1":"no"`, since: 37},
	{config: `"maxPods":"110"`},
	{config: `"syncFrequency":60`},
	// As flags.
	{flags: []string{"max-pods=-1"}},
	{flags: []string{"image-gc-high-threshold=70", "image-gc-low-threshold=80"}},
	{flags: []string{"image-gc-low-threshold=90"}},
	{config: `"imageGCLowThresholdPercent":70`, flags: []string{"image-gc-high-threshold=60"}},
	{flags: []string{"kube-reserved=cpu=1GB"}},
	{flags: []string{"kube-reserved=cpu"}},
	{flags: []string{"eviction-hard=memory.available<lots"}},
	{flags: []string{"eviction-hard=memory.available=1Gi"}},
	{flags: []string{"eviction-soft=memory.available<1Gi"}},
	{flags: []string{"cpu-manager-policy=static"}},
	{flags: []string{"reserved-cpus=0-9"}},
	{flags: []string{"tls-cipher-suites=TLS_FOO"}},
	{flags: []string{"kube-api-burst=0"}},
	{flags: []string{"sync-frequency=0s"}},
	{flags: []string{"node-ip=10.0.0.1,10.0.0.2"}},
	{flags: []string{"node-labels=kubernetes.io/x=y"}},
	{flags: []string{"register-with-taints=a=b"}},
	{flags: []string{"feature-gates=NoSuchGate=true"}},
	{flags: []string{"cloud-provider=aws"}, since: 37},
	{flags: []string{"minimum-container-ttl-duration=-1s"}},
	{flags: []string{"version"}},
	// As flags, without a file.
	{route: aksFlags, flags: []string{"anonymous-auth=false"}},
	{route: aksFlags, flags: []string{"port=10255"}},
	{route: aksFlags, flags: []string{"feature-gates=KubeletCrashLoopBackOffMax=false"}, since: 37},
	{route: aksFlags, flags: []string{"memory-manager-policy=Static", "kube-reserved=memory=924Mi", "reserved-memory=0:memory=1Gi"}},
	// The credential providers.
	{providers: `"matchImages":["*.azurecr.io"],"apiVersion":"credentialprovider.kubelet.k8s.io/v1"`},
	{providers: `"matchImages":["*.azurecr.io"],"apiVersion":"credentialprovider.kubelet.k8s.io/v1","defaultCacheDuration":"-1s"`},
	{providers: `"matchImages":["*.azurecr.io"],"apiVersion":"credentialprovider.kubelet.k8s.io/v9","defaultCacheDuration":"10m"`},
	{providers: `"matchImages":["*.azurecr.io"],"defaultCacheDuration":"10m"`},
	{providers: `"matchImages":[],"apiVersion":"credentialprovider.kubelet.k8s.io/v1","defaultCacheDuration":"10m"`},
	{providers: `"matchImages":["https://%zz"],"apiVersion":"credentialprovider.kubelet.k8s.io/v1","defaultCacheDuration":"10m"`},
	{providers: `"matchImages":["*.azurecr.io"],"apiVersion":"credentialprovider.kubelet.k8s.io/v1","defaultCacheDuration":"10m","tokenAttributes":{"requireServiceAccount":true}`, since: 37},
}

// TestRefused checks that both refuse each of them, and that Slipway names a setting of the
// contract.
func TestRefused(t *testing.T) {
	b := readBases(t)
	for minor := range versions {
		k := startKubelet(t, minor)
		rows, passed := 0, 0
		for _, row := range refused {
			if row.since > minor || row.until > 0 && row.until < minor {
				continue
			}
			rows++
			one := trial{minor: minor, route: row.route, machine: machine{CPUs: 4, NUMANodes: 1, CgroupVersion: 2, MemoryBytes: 16 << 30}}
			given := []string{"flags", "config.providers"}
			var config object
			d := json.NewDecoder(strings.NewReader("{" + row.config + "}"))
			d.UseNumber()
			if err := d.Decode(&config); err != nil {
				t.Fatalf("%s: %v", row.config, err)
			}
			for name, value := range config {
				one.changes = append(one.changes, change{field: name, value: value})
				given = append(given, "$.kubelet.config."+name)
			}
			for _, f := range row.flags {
				name, value, _ := strings.Cut(f, "=")
				one.changes = append(one.changes, change{flag: name, value: value})
			}
			if row.providers != "" {
				one.changes = append(one.changes, change{value: json.RawMessage(`{"kind":"CredentialProviderConfig","apiVersion":"kubelet.config.k8s.io/v1","providers":[{"name":"x",` + row.providers + `}]}`)})
			}
			outcomes, err := b.compare(k, []trial{one})
			if err != nil {
				t.Fatal(err)
			}
			o := outcomes[0]
			if o.Refused == "" {
				t.Errorf("1.%d takes %v", minor, one.changes)
			}
			found := false
			for _, p := range o.fatal {
				found = found || slices.ContainsFunc(given, func(at string) bool { return strings.Contains(p.Path, at) })
			}
			if !found {
				passed++
				t.Errorf("1.%d: no problem at %v, but %v; the kubelet: %s: %s", minor, one.changes, o.fatal, o.By, o.Refused)
			}
		}
		t.Logf("1.%d: %d of %d pass as if nothing were wrong", minor, passed, rows)
	}
}
