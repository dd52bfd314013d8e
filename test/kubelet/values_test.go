//go:build crosscheck

package kubelet

import (
	"encoding/json"
	"strings"
)

type (
	number = json.Number
	object = map[string]any
	list   = []any
)

// texts are those of a list, split at blanks; "”" is the empty text.
func texts(words string) list {
	var all list
	for word := range strings.FieldsSeq(words) {
		all = append(all, strings.ReplaceAll(word, "''", ""))
	}
	return all
}

// ofKind are values at the limits of each type, and of others.
var ofKind = map[string]list{
	"b": {true, false, nil, "true", number("1")},
	"i": numbers("0 1 -1 2 3 4 10 31 32 99 100 101 1000 1001 -1000 -1001 65535 65536 2147483647 2147483648 -2147483648 1.5 1.0 1e2"),
	"l": numbers("0 1 -1 2 1000 65535 65536 131072 131073 4294967295 4294967296 9223372036854775807 9223372036854775808 1.5"),
	"u": numbers("0 1 -1 10 4294967295 4294967296 2147483647 2147483648"),
	"f": numbers("0 1 0.5 0.9 0.8 1.0 1.0001 -0.1 2 1e-07 1e400"),
	"d": append(texts("0s 0 1s 999ms 1ms 999us 100ms 50ms -1s -1ns 1ns 2s 2.9s 3s 5s 10s 30s 1m0s 300s 301s 5m1s 1h 2m 720h 2562047h 2562048h + 1 1d 1.s .5s 1µs 1e3s +5s 1s1s ''"),
		" 1s", "1 s", "1s ", number("5"), nil),
	"q": append(texts("0 1 1Gi 100Mi -1 -100Mi 1e3 1E3 1.5Gi 1GB 1Gib 1m 0.1 100u 1n +1 .5Gi 1. 1.Gi 1e3Mi 0x10 1_000 1K 1k 1000000Ti 8Ei 9223372036854775807 9223372036854775808 1E 10E 1e 1e- e3 Gi - ''"),
		" 1Gi", "1 Gi", number("5"), number("1.5"), nil),
	"s": append(texts("'' x X / /x /x/ /x/../y x/y none None static default 1 -1 é"), " ", " x", "x y", nil),
	"x": {"5s", number("5000000000"), "0s", number("0"), number("-1"), "-1s", "x", "", nil, true},
}

// strange are values of other types.
var strange = list{nil, true, number("7"), "7", "text", list{}, object{}, list{"x"}, object{"x": "y"}, list{object{}}, number("-3.5")}

// words are texts that a field accepts, and some that it does not, by its path.
var words = map[string]list{
	"cpuManagerPolicy":                          texts("none static '' Static dynamic none,static"),
	"memoryManagerPolicy":                       texts("None Static '' none static BestEffort"),
	"topologyManagerPolicy":                     texts("none best-effort restricted single-numa-node '' None all"),
	"topologyManagerScope":                      texts("container pod '' Pod node"),
	"hairpinMode":                               texts("none hairpin-veth promiscuous-bridge '' veth None"),
	"configMapAndSecretChangeDetectionStrategy": texts("Watch Cache Get '' watch Poll"),
	"authorization.mode":                        texts("AlwaysAllow Webhook '' AlwaysDeny webhook RBAC"),
	"tlsMinVersion":                             texts("VersionTLS10 VersionTLS11 VersionTLS12 VersionTLS13 '' VersionTLS14 TLS12 1.2 versiontls12"),
	"tlsCipherSuites":                           texts("TLS_AES_128_GCM_SHA256 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305 TLS_RSA_WITH_RC4_128_SHA TLS_RSA_WITH_AES_128_CBC_SHA ECDHE-RSA-AES128-GCM-SHA256 tls_aes_128_gcm_sha256 '' TLS_FOO TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
	"tlsCurvePreferences":                       numbers("0 22 23 24 25 26 29 4587 4588 4589 4590 -1 65535 65536 2147483648"),
	"memorySwap.swapBehavior":                   texts("NoSwap LimitedSwap UnlimitedSwap '' noswap"),
	"memoryReservationPolicy":                   texts("None TieredReservation '' none HardReservation"),
	"imagePullCredentialsVerificationPolicy":    texts("NeverVerify NeverVerifyPreloadedImages NeverVerifyAllowlistedImages AlwaysVerify '' never Always"),
	"preloadedImagesVerificationAllowlist":      texts("registry.io/image registry.io/org/* registry.io/* * registry.io/image:tag registry.io/image@sha256:0 https://registry.io/x registry.io/x*y /x '' a..b localhost:5000/x registry.io/*/x REGISTRY.io/x registry.io"),
	"enforceNodeAllocatable":                    texts("pods system-reserved kube-reserved none '' system-reserved-compressible kube-reserved-compressible Pods all pods"),
	"reservedSystemCPUs":                        append(texts("'' 0 0-1 1,3 0-3 3 4 0-4 7 8 0-7 1-0 a 0, ,0 0,0 0-1,1-2 -1 0- 0--1 0-1-2 +1 00 1000 99999999999"), " ", " 0", "0 - 1", "0, 1"),
	"allowedUnsafeSysctls":                      append(texts("net.core.somaxconn net.* kernel.shm* kernel.msgmax kernel.sem fs.mqueue.* net/ipv4/tcp_syncookies * net net. vm.swappiness kernel.semaphore net.*.x net.Core '' kernel.* fs.file-max user.max_user_namespaces net..x net.-x net.a_ net/ipv4/conf/eth0.1/rp_filter kernel/shm_rmid_forced kernel.sem* kernel.msg* fs.mqueue fs/mqueue/x"), "net.a b", " net.x", "net.x "),
	"showHiddenMetricsForVersion":               texts("'' 1.36 1.37 1.35 1.38 1.25 1.26 1.24 1.27 2.36 v1.36 1.36.0 1 x 1.x"),
	"logging.format":                            texts("text json '' JSON yaml"),
	"tracing.endpoint":                          append(texts("localhost:4317 unix:///run/x http://localhost:4317 dns:///x 127.0.0.1:4317 x :4317 '' dns:x https://x ftp://x %zz [::1]:4317"), "a b", " ", nil),
	"address":                                   texts("0.0.0.0 127.0.0.1 :: ::1 10.0.0.300 x '' 0.0.0.0:1 010.0.0.1 fe80::1%eth0 localhost 1.2.3"),
	"healthzBindAddress":                        texts("0.0.0.0 127.0.0.1 :: x '' 10.0.0.300"),
	"clusterDNS":                                texts("10.0.0.10 fd00::a 10.0.0.10,10.0.0.11 x '' 010.0.0.10 10.0.0.0/8"),
	"contentType":                               texts("application/json application/vnd.kubernetes.protobuf '' x application/yaml text/plain;"),
	"podCIDR":                                   texts("10.0.0.0/24 '' x 10.0.0.0 fd00::/64 10.0.0.0/24,fd00::/64 10.0.0.0/33"),
	"podLogsDir":                                texts("/var/log/pods /x '' x x/y /x/ /x/../y /x//y /é ./x / /x/."),
	"containerLogMaxSize":                       append(texts("10Mi 50Mi 0 -1 1 '' 10 1.5Mi 1.5M 1500m 50K 50k 1Gi 10MB 1e6 1E6 -10Mi 0.1Gi 9223372036854775808 8Ei 1n .5Mi 1. 100Ei"), " 10Mi"),
	"providerID":                                texts("aws:///x '' azure://x x"),
	"cgroupDriver":                              texts("systemd cgroupfs '' Systemd x"),
	"cgroupRoot":                                texts("'' /"),
	"systemCgroups":                             texts("'' / /system.slice x"),
	"kubeletCgroups":                            texts("'' / /kubelet kubelet.slice"),
	"kubeReservedCgroup":                        texts("'' /kube.slice kube.slice /kubelet.slice /kube-reserved /user.slice /"),
	"systemReservedCgroup":                      texts("'' /system.slice system.slice /system /a--b.slice"),
	"staticPodPath":                             texts("'' /etc/kubernetes/manifests x"),
	"staticPodURL":                              append(texts("'' http://localhost/x x https://x ://x %zz"), "a b"),
	"clusterDomain":                             append(texts("cluster.local '' x. UPPER -x x_y"), "x y"),
	"resolvConf":                                texts("/etc/resolv.conf '' /run/systemd/resolve/resolv.conf x"),
	"registerWithTaints.key":                    append(texts("a example.com/a '' /a a/ -a a/b/c UPPER é example.com/é "+strings.Repeat("a", 63)+" "+strings.Repeat("a", 64)+" "+strings.Repeat("a.", 120)+"a/b "+strings.Repeat("a.", 130)+"a/b"), "a b", nil),
	"registerWithTaints.value":                  append(texts("'' v V-1 -v v- v/v é "+strings.Repeat("v", 63)+" "+strings.Repeat("v", 64)), "v v", nil),
	"registerWithTaints.effect":                 append(texts("NoSchedule NoExecute PreferNoSchedule '' noSchedule None NoScheduleNoAdmit"), nil),
	"registerWithTaints.timeAdded":              {"2026-01-01T00:00:00Z", nil, "yesterday", "", number("1")},
	"logging.vmodule.filePattern":               append(texts("'' kubelet kube* a=b a,b a/b"), "a b", nil),
	"reservedMemory.numaNode":                   numbers("0 0 0 -1 2147483648"),
}

// keys are those of a map by its path, good and bad; "of" has their values.
var keys = map[string]struct{ names, values list }{
	"evictionHard":                 {signals, limits},
	"evictionSoft":                 {signals, limits},
	"evictionMinimumReclaim":       {signals, limits},
	"evictionSoftGracePeriod":      {signals, texts("0s 1m 1m30s -1s '' x 1 90 1d 0")},
	"kubeReserved":                 {resources, amounts},
	"systemReserved":               {resources, amounts},
	"qosReserved":                  {texts("memory memory cpu '' Memory pid"), texts("50% 0% 100% 101% -1% 50 % '' 50%% 1e1% 50.5% +5% 0x10%")},
	"reservedMemory.limits":        {texts("memory memory hugepages-2Mi hugepages-1Gi cpu hugepages- hugepages-x '' Memory"), append(texts("0 1Gi 100Mi 500Mi 600Mi 1.5 1500m -1Gi '' x 1GiB"), number("1"))},
	"cpuManagerPolicyOptions":      {texts("full-pcpus-only distribute-cpus-across-numa align-by-socket distribute-cpus-across-cores strict-cpu-reservation prefer-align-cpus-by-uncorecache '' x"), texts("true false '' x True 1 0 yes T")},
	"topologyManagerPolicyOptions": {texts("prefer-closest-numa-nodes max-allowable-numa-nodes '' x"), texts("true false '' x 1 8 7 9 0 -1 16 true1 0x8 +8")},
	"defaultPodSysctls":            {texts("net.core.somaxconn net/core/somaxconn net.ipv4.ip_forward kernel.shmmax kernel.sem vm.swappiness fs.mqueue.msg_max net.* '' net.Core kernel.shm* net net..x"), texts("1 0 '' x")},
	"staticPodURLHeader":           {texts("A '' a:b"), list{list{"x"}, list{}, list{""}, "x", nil}},
}

var (
	signals = texts("memory.available nodefs.available nodefs.inodesFree imagefs.available imagefs.inodesFree pid.available allocatableMemory.available containerfs.available containerfs.inodesFree memory.used '' Memory.available")
	limits  = append(texts("100Mi 10% 0 0% 100% 101% -1% 5% 15% -100Mi '' x % 10%% 1.5% .5% 1e1% 1e-1% +5% 10Gi 8Gi 1Ti 1m 500Mi 1GB 0x1% Inf% inf NaN% 99.99999% 1_0%"), " 5%", "5 %", " 100Mi")
	// resources and amounts are for reservations.
	resources = texts("cpu memory ephemeral-storage pid cpu memory hugepages-2Mi nvidia.com/gpu '' CPU storage")
	amounts   = append(texts("100m 500m 1 1500m 2 4 8 0 0m -1 -100m 100Mi 500Mi 1Gi 8Gi 100Gi 1000 '' x 1GB 1GiB 1.5 0.5 0.0001 1u 1n 10% 1e3 .5 5. 1e400 9223372036854775808"), " 1", "1 ")
)

// usual are gates that a rule uses, so they are tried often.
var usual = texts("AllAlpha AllBeta CustomCPUCFSQuotaPeriod MemoryQoS NodeSwap GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority NodeLogQuery ImageMaximumGCAge KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages RotateKubeletServerCertificate CPUManagerPolicyOptions CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions TopologyManagerPolicyOptions TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions DefaultPodSysctls KubeletTracing SeccompDefault MemoryManager TopologyManager CPUManager LoggingAlphaOptions LoggingBetaOptions ContextualLogging DisableCloudProviders KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders PodLevelResources LocalStorageCapacityIsolation KubeletInUserNamespace")

func numbers(words string) list {
	var all list
	for word := range strings.FieldsSeq(words) {
		all = append(all, number(word))
	}
	return all
}

// goodTogether are values that the kubelet accepts only with others, by their field's path. They are as frequent as good ones.
var goodTogether = map[string]list{
	"enforceNodeAllocatable": {list{"kube-reserved"}, list{"pods", "system-reserved"}, list{"system-reserved-compressible"}},
}

// related are fields that the kubelet checks together; a group is tried together.
var related = []string{
	"imageGCHighThresholdPercent imageGCLowThresholdPercent",
	"imageMaximumGCAge imageMinimumGCAge",
	"serializeImagePulls maxParallelImagePulls",
	"shutdownGracePeriod shutdownGracePeriodCriticalPods shutdownGracePeriodByPodPriority",
	"enforceNodeAllocatable kubeReservedCgroup systemReservedCgroup cgroupsPerQOS kubeReserved systemReserved",
	"reservedSystemCPUs kubeReserved systemReserved cpuManagerPolicy",
	"reservedSystemCPUs kubeReservedCgroup systemReservedCgroup",
	"cpuManagerPolicy cpuManagerPolicyOptions kubeReserved systemReserved",
	"cpuManagerPolicy cpuManagerPolicyOptions reservedSystemCPUs topologyManagerPolicy",
	"memoryManagerPolicy reservedMemory kubeReserved systemReserved evictionHard",
	"topologyManagerPolicy topologyManagerPolicyOptions topologyManagerScope",
	"evictionSoft evictionSoftGracePeriod evictionHard evictionMinimumReclaim",
	"evictionHard evictionMinimumReclaim mergeDefaultEvictionSettings enforceNodeAllocatable",
	"kubeReserved systemReserved evictionHard",
	"systemCgroups cgroupRoot",
	"enableSystemLogQuery enableSystemLogHandler",
	"imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist",
	"port readOnlyPort healthzPort enableServer",
	"address readOnlyPort enableServer",
	"authentication.anonymous.enabled authentication.webhook.enabled authentication.x509.clientCAFile",
	"authorization.mode authentication.anonymous.enabled",
	"iptablesDropBit iptablesMasqueradeBit makeIPTablesUtilChains",
	"memoryThrottlingFactor memoryReservationPolicy",
	"memorySwap.swapBehavior failSwapOn failCgroupV1 singleProcessOOMKill",
	"fileCheckFrequency staticPodPath syncFrequency runtimeRequestTimeout",
	"logging.format logging.options.json.splitStream logging.options.json.infoBufferSize logging.options.text.splitStream logging.options.text.infoBufferSize logging.vmodule",
	"logging.verbosity logging.flushFrequency",
	"tlsMinVersion tlsCipherSuites tlsCurvePreferences",
	"containerLogMaxSize containerLogMaxFiles containerLogMaxWorkers containerLogMonitorInterval",
	"kubeAPIQPS kubeAPIBurst eventRecordQPS eventBurst",
	"nodeLeaseDurationSeconds nodeStatusUpdateFrequency",
	"tracing.endpoint tracing.samplingRatePerMillion",
	"serverTLSBootstrap rotateCertificates",
}
