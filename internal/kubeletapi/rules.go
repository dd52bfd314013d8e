package kubeletapi

import (
	"strings"
	"sync"
	"time"
)

// rule is a kubelet's requirement for a setting, beyond its type. After a violation the kubelet ends at its start, or ignores the
// value.
type rule struct {
	// field is the setting: names with dots between, "*" for each item of a list or value of a map, "--name" for a flag without a
	// field.
	field string
	check check
	// least and most are limits of numbers, and of durations in nanoseconds.
	least, most int64
	// words are strings for the check, with blanks between.
	words string
	// with are other settings that the check uses. The rule applies if any of them is set.
	with string
	// on and off are feature gates: the rule applies only if the gate is on, or off.
	on, off string
	// since and until are minors. 0 means no limit.
	since, until int
	// zero is true if 0 in the file means the default, and is accepted. A flag's 0 is checked.
	zero bool
	// ignored is true if the kubelet starts although the rule is violated.
	ignored bool
	// needed is true if the rule also applies to an unset value.
	needed bool
	// want describes the requirement, if the check has no description.
	want string
	// source is the rule's place in Kubernetes' source.
	source string
}

// The sources: files of k8s.io/kubernetes, unless another module is named. The versions are those of the generator of table.txt.
const (
	inValidation = "pkg/kubelet/apis/config/validation/validation.go: ValidateKubeletConfiguration"
	inLinux      = "pkg/kubelet/apis/config/validation/validation_linux.go: validateKubeletOSConfiguration"
	inMemory     = "pkg/kubelet/apis/config/validation/validation_reserved_memory.go: validateReservedMemoryConfiguration"
	inRun        = "cmd/kubelet/app/server.go: run"
	inResources  = "cmd/kubelet/app/server.go: parseResourceList"
	inCPUs       = "cmd/kubelet/app/server.go: getReservedCPUs"
	inTLS        = "cmd/kubelet/app/server.go: InitializeTLS; k8s.io/component-base cli/flag"
	inClient     = "cmd/kubelet/app/server.go: buildKubeletClientConfig; k8s.io/client-go kubernetes: NewForConfig"
	inAuth       = "cmd/kubelet/app/auth.go: BuildAuthz"
	inKubelet    = "pkg/kubelet/kubelet.go: NewMainKubelet"
	inServer     = "pkg/kubelet/server/server.go: ListenAndServeKubeletServer"
	inEviction   = "pkg/kubelet/eviction/helpers.go: ParseThresholdConfig"
	inContainers = "pkg/kubelet/eviction/helpers.go: UpdateContainerFsThresholds"
	inAllocation = "pkg/kubelet/cm/node_container_manager_linux.go: validateNodeAllocatable"
	inQOS        = "pkg/kubelet/cm/container_manager.go: ParseQOSReserved"
	inCPUManager = "pkg/kubelet/cm/cpumanager: NewManager"
	inCPUOptions = "pkg/kubelet/cm/cpumanager/policy_options.go: NewStaticPolicyOptions"
	inMemManager = "pkg/kubelet/cm/memorymanager/memory_manager.go: NewManager"
	inTopology   = "pkg/kubelet/cm/topologymanager/topology_manager.go: NewManager"
	inTopoOption = "pkg/kubelet/cm/topologymanager/policy_options.go: NewPolicyOptions"
	inLogs       = "pkg/kubelet/logs/container_log_manager.go: NewContainerLogManager"
	inSysctl     = "pkg/kubelet/sysctl/allowlist.go: NewAllowlist"
	inPulls      = "pkg/kubelet/images/pullmanager: ValidateAllowlistImagesPatterns"
	inLogging    = "k8s.io/component-base logs/api/v1/options.go: Validate"
	inTracing    = "k8s.io/component-base tracing/api/v1/config.go: ValidateTracingConfiguration"
	inProvider   = "pkg/credentialprovider/plugin/config.go: validateCredentialProviderConfig"
	inHidden     = "k8s.io/component-base metrics/options.go: ValidateShowHiddenMetricsVersion"
)

const (
	ms, second  = int64(time.Millisecond), int64(time.Second)
	most32      = 1<<31 - 1
	signals     = "memory.available nodefs.available nodefs.inodesFree imagefs.available imagefs.inodesFree allocatableMemory.available pid.available"
	splitted    = signals + " containerfs.available containerfs.inodesFree"
	resources   = "cpu memory ephemeral-storage pid"
	quotaGate   = "CustomCPUCFSQuotaPeriod"
	priorities  = "GracefulNodeShutdownBasedOnPodPriority"
	backOffGate = "KubeletCrashLoopBackOffMax"
	secrets     = "KubeletEnsureSecretPulledImages"
	alphaCPUs   = "CPUManagerPolicyAlphaOptions"
	betaCPUs    = "CPUManagerPolicyBetaOptions"
	alphaTopo   = "TopologyManagerPolicyAlphaOptions"
	betaTopo    = "TopologyManagerPolicyBetaOptions"
	fullCores   = "cpuManagerPolicyOptions.full-pcpus-only"
	acrossNUMA  = "cpuManagerPolicyOptions.distribute-cpus-across-numa"
	bySocket    = "cpuManagerPolicyOptions.align-by-socket"
	acrossCore  = "cpuManagerPolicyOptions.distribute-cpus-across-cores"
	strictCPUs  = "cpuManagerPolicyOptions.strict-cpu-reservation"
	byCache     = "cpuManagerPolicyOptions.prefer-align-cpus-by-uncorecache"
	closest     = "topologyManagerPolicyOptions.prefer-closest-numa-nodes"
	mostNUMA    = "topologyManagerPolicyOptions.max-allowable-numa-nodes"
)

// rows are the rules for a kubelet's settings.
var rows = [...]rule{
	// Numbers.
	{field: "containerLogMaxFiles", check: within, least: 2, most: most32, source: inLogs},
	{field: "containerLogMaxWorkers", check: within, least: 1, most: most32, since: 30, source: inValidation},
	{field: "eventBurst", check: within, most: most32, source: inValidation},
	{field: "eventRecordQPS", check: within, most: most32, source: inValidation},
	{field: "healthzPort", check: within, most: 65535, source: inValidation},
	{field: "imageGCHighThresholdPercent", check: within, most: 100, source: inValidation},
	{field: "imageGCLowThresholdPercent", check: within, most: 100, source: inValidation},
	{field: "iptablesDropBit", check: within, most: 31, source: inValidation},
	{field: "iptablesMasqueradeBit", check: within, most: 31, source: inValidation},
	{field: "kubeAPIBurst", check: within, most: most32, source: inValidation},
	{field: "kubeAPIQPS", check: within, most: most32, source: inValidation},
	{field: "logging.verbosity", check: within, most: most32, source: inLogging},
	{field: "logging.vmodule.*.verbosity", check: within, most: most32, source: inLogging},
	{field: "maxOpenFiles", check: within, most: 1<<63 - 1, source: inValidation},
	{field: "maxParallelImagePulls", check: within, least: 1, most: most32, since: 27, source: inValidation},
	{field: "maxPods", check: within, most: most32, source: inValidation},
	{field: "nodeLeaseDurationSeconds", check: within, least: 1, most: most32, zero: true, source: inValidation},
	{field: "nodeStatusMaxImages", check: within, least: -1, most: most32, source: inValidation},
	{field: "oomScoreAdj", check: within, least: -1000, most: 1000, source: inValidation},
	{field: "podsPerCore", check: within, most: most32, source: inValidation},
	{field: "port", check: within, least: 1, most: 65535, zero: true, source: inValidation},
	{field: "readOnlyPort", check: within, most: 65535, source: inValidation},
	{field: "registryBurst", check: within, most: most32, source: inValidation},
	{field: "registryPullQPS", check: within, most: most32, source: inValidation},
	{field: "tlsCurvePreferences.*", check: oneOf, words: "23 24 25 29 4587 4588 4589", since: 36, source: inTLS},
	{field: "tlsCurvePreferences", check: isUnique, since: 36, want: "has a curve twice", source: inTLS},
	{field: "tracing.samplingRatePerMillion", check: within, most: 1e6, source: inTracing},
	{field: "userNamespaces.idsPerPod", check: multipleOf, least: 1 << 16, most: 1<<32 - 1, since: 33, want: "want a multiple of 65536, up to 4294901760", source: inLinux},
	{field: "memoryThrottlingFactor", check: isShare, want: "want more than 0, and at most 1", source: inValidation},

	// Durations.
	{field: "containerLogMonitorInterval", check: within, least: 3 * second, most: 1<<63 - 1, since: 30, want: "want a duration of at least 3s", source: inValidation},
	{field: "cpuCFSQuotaPeriod", check: within, least: ms, most: second, on: quotaGate, want: "want a duration from 1ms to 1s", source: inValidation},
	{field: "cpuCFSQuotaPeriod", check: within, least: 100 * ms, most: 100 * ms, off: quotaGate, source: inValidation},
	{field: "crashLoopBackOff.maxContainerRestartPeriod", check: within, least: second, most: 300*second + ms - 1, since: 32, on: backOffGate, want: "want a duration from 1s to 300s", source: inValidation},
	{field: "evictionSoftGracePeriod.*", check: isDuration, most: 1<<63 - 1, want: "want a duration such as 90s", source: inEviction},
	{field: "imageMaximumGCAge", check: within, most: 1<<63 - 1, since: 29, want: "want a duration that is not negative", source: inValidation},
	{field: "imageMinimumGCAge", check: within, most: 1<<63 - 1, since: 36, want: "want a duration that is not negative", source: inValidation},
	{field: "logging.flushFrequency", check: within, least: 1, most: 1<<63 - 1, since: 35, zero: true, want: "want a duration of more than 0s", source: inLogging},
	{field: "shutdownGracePeriod", check: within, least: second, most: 1<<63 - 1, zero: true, on: "GracefulNodeShutdown", want: "want 0s, or a duration of at least 1s", source: inValidation},
	{field: "shutdownGracePeriodCriticalPods", check: within, least: second, most: 1<<63 - 1, zero: true, on: "GracefulNodeShutdown", want: "want 0s, or a duration of at least 1s", source: inValidation},
	{field: "syncFrequency", check: within, least: 1, most: 1<<63 - 1, zero: true, want: "want a duration of more than 0s", source: inKubelet},

	{field: "--minimum-container-ttl-duration", check: within, most: 1<<63 - 1, want: "want a duration that is not negative", source: "pkg/kubelet/container/container_gc.go: NewContainerGC"},
	{field: "fileCheckFrequency", check: isTicked, with: "staticPodPath", want: "want a duration of more than 0s", source: "pkg/kubelet/config/file.go"},
	{field: "runtimeRequestTimeout", check: within, least: 1, most: 1<<63 - 1, zero: true, want: "want a duration of more than 0s", source: "k8s.io/cri-client pkg: NewRemoteRuntimeService"},

	// Words.
	{field: "--cloud-provider", check: isNoneOf, words: "aws azure gce vsphere", on: "DisableCloudProviders", until: 28, want: "want external, or none", source: inKubelet},
	{field: "--cloud-provider", check: oneOf, words: "external", zero: true, on: "DisableCloudProviders", since: 29, source: inKubelet},
	{field: "--container-runtime", check: oneOf, words: "remote", until: 26, source: inRun},
	{field: "--help", check: isNoHelp, want: "ends the kubelet; leave it out", source: "cmd/kubelet/app/server.go: NewKubeletCommand, kubeletConfigFlagPrecedence"},
	{field: "--hostname-override", check: isNotBlank, want: "want a name", source: "k8s.io/component-helpers node/util: GetHostname"},
	{field: "--root-dir", check: isGiven, want: "want a directory", source: inKubelet},
	{field: "--version", check: isFalse, want: "ends the kubelet; leave it out", source: "cmd/kubelet/app/server.go: NewKubeletCommand"},
	{field: "authorization.mode", check: oneOf, words: "AlwaysAllow Webhook", source: inAuth},
	{field: "configMapAndSecretChangeDetectionStrategy", check: oneOf, words: "Get Cache Watch", source: inKubelet},
	{field: "cpuManagerPolicy", check: oneOf, words: "none static", source: inCPUManager},
	{field: "enforceNodeAllocatable.*", check: oneOf, words: "pods system-reserved kube-reserved none", until: 31, source: inValidation},
	{field: "enforceNodeAllocatable.*", check: oneOf, words: "pods system-reserved kube-reserved system-reserved-compressible kube-reserved-compressible none", since: 32, source: inValidation},
	{field: "hairpinMode", check: oneOf, words: "promiscuous-bridge hairpin-veth none", source: inValidation},
	{field: "imagePullCredentialsVerificationPolicy", check: oneOf, words: "NeverVerify NeverVerifyPreloadedImages NeverVerifyAllowlistedImages AlwaysVerify", since: 33, on: secrets, source: inValidation},
	{field: "logging.format", check: oneOf, words: "text json", source: inLogging},
	{field: "memoryManagerPolicy", check: oneOf, words: "None Static", on: "MemoryManager", source: inMemManager},
	{field: "memoryReservationPolicy", check: oneOf, words: "None TieredReservation", since: 36, source: inValidation},
	{field: "memorySwap.swapBehavior", check: oneOf, words: "LimitedSwap UnlimitedSwap", zero: true, on: "NodeSwap", until: 29, source: inValidation},
	{field: "memorySwap.swapBehavior", check: oneOf, words: "LimitedSwap NoSwap", zero: true, on: "NodeSwap", since: 30, source: inValidation},
	{field: "tlsCipherSuites.*", check: oneOf, words: cipherSuites, want: "want a cipher suite as Go names it, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", source: inTLS},
	{field: "tlsMinVersion", check: oneOf, words: "VersionTLS10 VersionTLS11 VersionTLS12 VersionTLS13", zero: true, source: inTLS},
	{field: "topologyManagerPolicy", check: oneOf, words: "none best-effort restricted single-numa-node", source: inValidation},
	{field: "topologyManagerScope", check: oneOf, words: "container pod", source: inValidation},

	// Other texts.
	{field: "--node-ip", check: isNodeIPs, want: "want an address, or one IPv4 and one IPv6 address", source: "k8s.io/component-helpers node/util: ParseNodeIPArgument"},
	{field: "--node-ip", check: isOneIP, with: "--cloud-provider", until: 26, want: "want one address where --cloud-provider is given", source: "cmd/kubelet/app/server.go: RunKubelet"},
	{field: "--node-ip", check: isOneIP, with: "--cloud-provider", since: 27, off: "CloudDualStackNodeIPs", source: "pkg/util/node: ParseNodeIPArgument"},
	{field: "address", check: isListenAddress, with: "enableServer readOnlyPort", want: "want an IP address, such as 0.0.0.0", source: inServer},
	{field: "allowedUnsafeSysctls.*", check: isNamespaced, want: "is no kernel parameter that the kernel has for each pod, such as net.core.somaxconn or net.ipv4.*", source: inSysctl},
	{field: "containerLogMaxSize", check: isWholeQuantity, want: "want a size such as 50Mi, with one of the units Ki, Mi, Gi, k, M and G", source: inLogs},
	{field: "defaultPodSysctls.*", check: isSysctl, since: 37, on: "DefaultPodSysctls", want: "is no kernel parameter that the kernel has for each pod, such as net.core.somaxconn", source: inValidation},
	{field: "defaultPodSysctls", check: isUniqueSysctls, since: 37, on: "DefaultPodSysctls", want: "has a kernel parameter twice, with dots and with slashes", source: inValidation},
	{field: "logging.vmodule.*.filePattern", check: isFilePattern, want: "want a name of a file, without = and ,", source: inLogging},
	{field: "podLogsDir", check: isCleanPath, since: 30, want: "want an absolute path of ASCII characters, without .. and // and a / at its end", source: inValidation},
	{field: "preloadedImagesVerificationAllowlist.*", check: isImagePattern, since: 33, on: secrets, want: "want an image without tag and digest, or a path that ends with /*", source: inPulls},
	{field: "registerWithTaints.*.effect", check: oneOf, words: "NoSchedule PreferNoSchedule NoExecute", zero: true, source: inValidation},
	{field: "registerWithTaints.*.key", check: isTaintKey, want: "want a name of letters, digits, dashes, dots and underscores, or a DNS name and a name with a / between", source: inValidation},
	{field: "registerWithTaints.*.timeAdded", check: isAbsent, want: "is not for a kubelet to say; leave it out", source: inValidation},
	{field: "registerWithTaints.*.value", check: isTaintValue, want: "want at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends", source: inValidation},
	{field: "reservedSystemCPUs", check: isCPUSet, want: "want numbers of processors and ranges of them, such as 0-1,4", source: inValidation},
	{field: "runOnce", check: isZero, since: 32, want: "want false: this kubelet has no such mode", source: inValidation},
	{field: "showHiddenMetricsForVersion", check: isPreviousMinor, want: "want the minor version before the kubelet's, such as 1.35 for 1.36", source: inHidden},
	{field: "tracing.endpoint", check: isEndpoint, want: "want host:port, or an address that begins with dns:, unix: or unix-abstract:", source: inTracing},

	// Settings that need a feature gate.
	{field: "cpuManagerPolicyOptions", check: isAbsent, off: "CPUManagerPolicyOptions", until: 32, source: inRun},
	{field: "crashLoopBackOff.maxContainerRestartPeriod", check: isAbsent, off: backOffGate, since: 32, source: inValidation},
	{field: "defaultPodSysctls", check: isZero, off: "DefaultPodSysctls", since: 37, source: inValidation},
	{field: "enableSystemLogQuery", check: isZero, off: "NodeLogQuery", since: 27, source: inValidation},
	{field: "imageMaximumGCAge", check: isNothing, off: "ImageMaximumGCAge", since: 29, source: inValidation},
	{field: "imagePullCredentialsVerificationPolicy", check: isZero, off: secrets, since: 33, source: inValidation},
	{field: "logging.format", check: isNoneOf, words: "json", off: "LoggingBetaOptions", source: inLogging},
	{field: "logging.options.json.infoBufferSize", check: isNothing, off: "LoggingAlphaOptions", source: inLogging},
	{field: "logging.options.json.splitStream", check: isNoFlag, off: "LoggingAlphaOptions", source: inLogging},
	{field: "logging.options.text.infoBufferSize", check: isNothing, off: "LoggingAlphaOptions", since: 30, source: inLogging},
	{field: "logging.options.text.splitStream", check: isNoFlag, off: "LoggingAlphaOptions", since: 30, source: inLogging},
	{field: "memoryReservationPolicy", check: isNoneOf, words: "TieredReservation", off: "MemoryQoS", since: 36, source: inValidation},
	{field: "memorySwap.swapBehavior", check: isZero, off: "NodeSwap", source: inValidation},
	{field: "memoryThrottlingFactor", check: isFormerFactor, off: "MemoryQoS", since: 37, source: inValidation},
	{field: "preloadedImagesVerificationAllowlist", check: isZero, off: secrets, since: 33, source: inValidation},
	{field: "seccompDefault", check: isZero, off: "SeccompDefault", until: 26, source: "cmd/kubelet/app/server.go: RunKubelet"},
	{field: "--seccomp-default", check: isZero, off: "SeccompDefault", until: 26, source: "cmd/kubelet/app/options/options.go: ValidateKubeletFlags"},
	{field: "serverTLSBootstrap", check: isZero, off: "RotateKubeletServerCertificate", source: inValidation},
	{field: "shutdownGracePeriod", check: isNotPositive, off: "GracefulNodeShutdown", source: inValidation},
	{field: "shutdownGracePeriodByPodPriority", check: isZero, off: priorities, source: inValidation},
	{field: "shutdownGracePeriodCriticalPods", check: isNotPositive, off: "GracefulNodeShutdown", source: inValidation},
	{field: "topologyManagerPolicy", check: isNoneOf, words: "best-effort restricted single-numa-node", off: "TopologyManager", until: 26, source: inValidation},
	{field: "topologyManagerPolicyOptions", check: isAbsent, on: "TopologyManager", off: "TopologyManagerPolicyOptions", source: inRun},
	{field: "topologyManagerScope", check: isNoneOf, words: "pod", off: "TopologyManager", until: 26, source: inValidation},
	{field: "tracing", check: isAbsent, off: "KubeletTracing", until: 33, source: inValidation},

	// Settings that depend on others.
	{field: "imageGCHighThresholdPercent", check: isOverLow, with: "imageGCLowThresholdPercent", want: "want more than imageGCLowThresholdPercent, which is 80 if it is not given", source: inValidation},
	{field: "imageGCLowThresholdPercent", check: isUnderHigh, with: "imageGCHighThresholdPercent", want: "want less than imageGCHighThresholdPercent, which is 85 if it is not given", source: inValidation},
	{field: "imageMaximumGCAge", check: isOverMinimum, with: "imageMinimumGCAge", since: 29, want: "want more than imageMinimumGCAge, which is 2m if it is not given", source: inValidation},
	{field: "shutdownGracePeriodCriticalPods", check: isAtMostTotal, with: "shutdownGracePeriod", on: "GracefulNodeShutdown", want: "want at most shutdownGracePeriod, of which it is a part", source: inValidation},
	{field: "shutdownGracePeriodByPodPriority", check: isWithoutPeriods, with: "shutdownGracePeriod shutdownGracePeriodCriticalPods", on: priorities, want: "goes with neither shutdownGracePeriod nor shutdownGracePeriodCriticalPods; leave one out", source: inValidation},
	{field: "maxParallelImagePulls", check: isOneInTurn, with: "serializeImagePulls", since: 27, want: "want 1 where serializeImagePulls is true", source: inValidation},
	{field: "iptablesDropBit", check: isOtherBit, with: "iptablesMasqueradeBit makeIPTablesUtilChains", until: 27, want: "want another bit than iptablesMasqueradeBit, which is 14 if it is not given, as iptablesDropBit is 15", source: inKubelet},
	{field: "authentication.webhook.enabled", check: isAuthenticating, with: "authentication.anonymous.enabled authentication.x509.clientCAFile", want: "want true, or another way to authenticate: authentication.x509.clientCAFile or authentication.anonymous.enabled", source: "cmd/kubelet/app/auth.go: BuildAuthn"},
	{field: "readOnlyPort", check: isOtherPort, with: "port enableServer", want: "want another port than port, which is 10250 if it is not given", source: inServer},
	{field: "systemCgroups", check: isNoneOf, words: "/", want: "want a control group below the root", source: "pkg/kubelet/cm/container_manager_linux.go: setupNode"},
	{field: "systemCgroups", check: isWithAll, with: "cgroupRoot", want: "takes cgroupRoot too", source: inValidation},
	{field: "reservedSystemCPUs", check: isWithout, with: "systemReservedCgroup kubeReservedCgroup", want: "goes with neither systemReservedCgroup nor kubeReservedCgroup; leave one out", source: inValidation},
	{field: "preloadedImagesVerificationAllowlist", check: isForAllowlist, with: "imagePullCredentialsVerificationPolicy", since: 33, on: secrets, want: "takes NeverVerifyAllowlistedImages as imagePullCredentialsVerificationPolicy", source: inValidation},
	{field: "enableSystemLogQuery", check: isWithHandler, with: "enableSystemLogHandler", since: 27, want: "takes enableSystemLogHandler too", source: inValidation},
	{field: "logging.vmodule", check: isForText, with: "logging.format", want: "is for the format text alone", source: inLogging},
	{field: "kubeAPIBurst", check: isBurst, with: "kubeAPIQPS", want: "want more than 0 where kubeAPIQPS is", source: inClient},
	{field: "--exit-on-lock-contention", check: isWithAll, with: "--lock-file", want: "takes --lock-file too", source: inRun},

	// Enforced reservations.
	{field: "enforceNodeAllocatable", check: isAlone, words: "none", want: "has none, which goes with nothing else", source: inValidation},
	{field: "enforceNodeAllocatable", check: isUnique, since: 31, want: "has a value twice", source: inValidation},
	{field: "enforceNodeAllocatable", check: isNotBoth, words: "system-reserved system-reserved-compressible", since: 32, want: "has system-reserved and system-reserved-compressible; leave one out", source: inValidation},
	{field: "enforceNodeAllocatable", check: isNotBoth, words: "kube-reserved kube-reserved-compressible", since: 32, want: "has kube-reserved and kube-reserved-compressible; leave one out", source: inValidation},
	{field: "enforceNodeAllocatable", check: hasCgroup, words: "system-reserved system-reserved-compressible", with: "systemReservedCgroup", want: "has system-reserved, which takes a control group: use systemReservedCgroup", source: inValidation},
	{field: "enforceNodeAllocatable", check: hasCgroup, words: "kube-reserved kube-reserved-compressible", with: "kubeReservedCgroup", want: "has kube-reserved, which takes a control group: use kubeReservedCgroup", source: inValidation},
	{field: "enforceNodeAllocatable", check: hasReservation, words: "system-reserved system-reserved-compressible", with: "systemReserved", want: "has system-reserved, and systemReserved is empty", source: "pkg/kubelet/cm/node_container_manager_linux.go: enforceExistingCgroup"},
	{field: "enforceNodeAllocatable", check: hasReservation, words: "kube-reserved kube-reserved-compressible", with: "kubeReserved", want: "has kube-reserved, and kubeReserved is empty", source: "pkg/kubelet/cm/node_container_manager_linux.go: enforceExistingCgroup"},
	{field: "cgroupsPerQOS", check: isEnforceable, with: "enforceNodeAllocatable", want: "want true, or enforceNodeAllocatable without pods, which it has if it is not given", source: inValidation},

	// Reservations and eviction.
	{field: "kubeReserved.*", check: isKey, words: resources, source: inResources},
	{field: "kubeReserved.*", check: isQuantity, with: "reservedSystemCPUs", want: "want a quantity that is not negative, such as 200m or 1Gi", source: inResources},
	{field: "systemReserved.*", check: isKey, words: resources, source: inResources},
	{field: "systemReserved.*", check: isQuantity, with: "reservedSystemCPUs", want: "want a quantity that is not negative, such as 200m or 1Gi", source: inResources},
	{field: "qosReserved.*", check: isKey, words: "memory", source: inQOS},
	{field: "qosReserved.*", check: isWholePercent, words: "memory", want: "want a whole percentage from 0% to 100%", source: inQOS},
	{field: "evictionHard.*", check: isKey, words: signals, until: 28, source: inEviction},
	{field: "evictionHard.*", check: isKey, words: splitted, since: 29, source: inEviction},
	{field: "evictionHard.*", check: isThreshold, want: "want a quantity of more than 0 such as 100Mi, or a percentage from 0% to 100%", source: inEviction},
	{field: "evictionMinimumReclaim.*", check: isKey, words: signals, until: 28, source: inEviction},
	{field: "evictionMinimumReclaim.*", check: isKey, words: splitted, since: 29, source: inEviction},
	{field: "evictionMinimumReclaim.*", check: isReclaim, want: "want a quantity that is not negative such as 100Mi, or a percentage of more than 0%", source: inEviction},
	{field: "evictionSoft.*", check: isKey, words: signals, until: 28, source: inEviction},
	{field: "evictionSoft.*", check: isKey, words: splitted, since: 29, source: inEviction},
	{field: "evictionSoft.*", check: isThreshold, want: "want a quantity of more than 0 such as 100Mi, or a percentage from 0% to 100%", source: inEviction},
	{field: "evictionSoft.*", check: hasGracePeriod, with: "evictionSoftGracePeriod", want: "takes a grace period for the same signal: use evictionSoftGracePeriod", source: inEviction},
	{field: "evictionSoftGracePeriod.*", check: isKey, words: signals, until: 28, source: inEviction},
	{field: "evictionSoftGracePeriod.*", check: isKey, words: splitted, since: 29, source: inEviction},
	{field: "kubeReserved", check: hasRoom, words: "cpu", with: "systemReserved reservedSystemCPUs", want: "keeps back more processors than the machine has, with systemReserved", source: inAllocation},
	{field: "kubeReserved", check: hasRoom, words: "memory", with: "systemReserved evictionHard", want: "keeps back more memory than the machine has, with systemReserved and the threshold memory.available of evictionHard", source: inAllocation},
	{field: "reservedSystemCPUs", check: hasCPUs, want: "has processors that the machine lacks", source: inCPUs},

	// The managers of processors, memory and topology.
	{field: "cpuManagerPolicy", check: hasReservedCPU, with: "kubeReserved systemReserved reservedSystemCPUs", want: "static takes processors that are kept back: use cpu in kubeReserved or systemReserved, or reservedSystemCPUs", source: inCPUManager},
	{field: "cpuManagerPolicyOptions", check: isForStatic, with: "cpuManagerPolicy", want: "takes cpuManagerPolicy static", source: inCPUManager},
	{field: "cpuManagerPolicyOptions.*", check: isKey, words: "full-pcpus-only distribute-cpus-across-numa align-by-socket", until: 30, source: inCPUOptions},
	{field: "cpuManagerPolicyOptions.*", check: isKey, words: "full-pcpus-only distribute-cpus-across-numa align-by-socket distribute-cpus-across-cores", since: 31, until: 31, source: inCPUOptions},
	{field: "cpuManagerPolicyOptions.*", check: isKey, words: "full-pcpus-only distribute-cpus-across-numa align-by-socket distribute-cpus-across-cores strict-cpu-reservation prefer-align-cpus-by-uncorecache", since: 32, source: inCPUOptions},
	{field: "cpuManagerPolicyOptions.*", check: isBool, want: `want "true" or "false"`, source: inCPUOptions},
	{field: fullCores, check: isAbsent, off: betaCPUs, until: 32, source: inCPUOptions},
	{field: acrossNUMA, check: isAbsent, off: alphaCPUs, until: 32, source: inCPUOptions},
	{field: acrossNUMA, check: isAbsent, off: betaCPUs, since: 33, source: inCPUOptions},
	{field: bySocket, check: isAbsent, off: alphaCPUs, source: inCPUOptions},
	{field: acrossCore, check: isAbsent, off: alphaCPUs, since: 31, source: inCPUOptions},
	{field: strictCPUs, check: isAbsent, off: alphaCPUs, since: 32, until: 32, source: inCPUOptions},
	{field: strictCPUs, check: isAbsent, off: betaCPUs, since: 33, until: 34, source: inCPUOptions},
	{field: byCache, check: isAbsent, off: alphaCPUs, since: 32, until: 33, source: inCPUOptions},
	{field: byCache, check: isAbsent, off: betaCPUs, since: 34, until: 35, source: inCPUOptions},
	{field: acrossCore, check: isWithoutTrue, with: fullCores + " " + acrossNUMA, since: 31, want: "goes with neither full-pcpus-only nor distribute-cpus-across-numa; leave one out", source: inCPUOptions},
	{field: byCache, check: isWithoutTrue, with: acrossCore + " " + acrossNUMA, since: 32, want: "goes with neither distribute-cpus-across-cores nor distribute-cpus-across-numa; leave one out", source: inCPUOptions},
	{field: bySocket, check: isWithoutSingle, with: "topologyManagerPolicy", want: "does not go with topologyManagerPolicy single-numa-node", source: "pkg/kubelet/cm/cpumanager/policy_options.go: ValidateStaticPolicyOptions"},
	{field: "topologyManagerPolicyOptions.*", check: isTopologyKey, words: "prefer-closest-numa-nodes", until: 30, source: inTopoOption},
	{field: "topologyManagerPolicyOptions.*", check: isTopologyKey, words: "prefer-closest-numa-nodes max-allowable-numa-nodes", since: 31, source: inTopoOption},
	{field: closest, check: isTopologyBool, want: `want "true" or "false"`, source: inTopoOption},
	{field: closest, check: isTopologyAbsent, off: alphaTopo, until: 27, source: inTopoOption},
	{field: closest, check: isTopologyAbsent, off: betaTopo, since: 28, until: 31, source: inTopoOption},
	{field: mostNUMA, check: isTopologyCount, least: 8, since: 31, want: "want a whole number of at least 8", source: inTopoOption},
	{field: mostNUMA, check: isTopologyAbsent, off: betaTopo, since: 31, until: 34, source: inTopoOption},
	{field: "memoryManagerPolicy", check: hasReservedMemory, on: "MemoryManager", with: "reservedMemory kubeReserved systemReserved evictionHard", want: "Static takes in reservedMemory exactly the memory of kubeReserved, systemReserved and the threshold memory.available of evictionHard, which is 100Mi if evictionHard is not given, and no huge pages", source: inMemManager},
	{field: "reservedMemory.*.limits.*", check: isMemoryKey, want: "want memory, or huge pages such as hugepages-1Gi", source: inMemory},
	{field: "reservedMemory.*.limits.*", check: isNotZero, want: "want more than 0", source: inMemory},
	{field: "reservedMemory", check: isUniqueMemory, want: "has the same kind of memory of a NUMA node twice", source: inMemory},

	// The machine's control groups.
	{field: "memorySwap.swapBehavior", check: hasCgroupV2, words: "LimitedSwap", on: "NodeSwap", since: 30, want: "LimitedSwap takes control groups of version 2, and this machine has version 1", source: inRun},
	{field: "singleProcessOOMKill", check: hasCgroupV2, words: "false", since: 32, want: "false takes control groups of version 2, and this machine has version 1", source: inLinux},

	// Values that the kubelet ignores.
	{field: "clusterDNS.*", check: isAddress, ignored: true, want: "is not one IP address; the kubelet leaves it out, and pods do not ask it", source: inKubelet},
	{field: "healthzBindAddress", check: isAddress, ignored: true, want: "is not an IP address; the kubelet starts without its health endpoint", source: inRun},
	{field: "evictionHard.*", check: isNotKey, words: "containerfs.available containerfs.inodesFree", since: 29, ignored: true, want: "is ignored: the kubelet takes the threshold of nodefs or imagefs", source: inContainers},
	{field: "evictionSoft.*", check: isNotKey, words: "containerfs.available containerfs.inodesFree", since: 29, ignored: true, want: "is ignored: the kubelet takes the threshold of nodefs or imagefs", source: inContainers},
	{field: "evictionSoftGracePeriod.*", check: hasThreshold, with: "evictionSoft", ignored: true, want: "is ignored: evictionSoft has no threshold for the signal", source: inEviction},
	{field: "evictionMinimumReclaim.*", check: hasAnyThreshold, with: "evictionSoft evictionHard", ignored: true, want: "is ignored: there is no threshold for the signal", source: inEviction},
	{field: "kubeReserved.cpu", check: isWithout, with: "reservedSystemCPUs", ignored: true, want: "is ignored: reservedSystemCPUs says which processors are kept back", source: inRun},
	{field: "systemReserved.cpu", check: isWithout, with: "reservedSystemCPUs", ignored: true, want: "is ignored: reservedSystemCPUs says which processors are kept back", source: inRun},
	{field: "qosReserved", check: isZero, off: "QOSReserved", ignored: true, want: "is ignored without the feature gate QOSReserved", source: "pkg/kubelet/cm/qos_container_manager_linux.go"},
	{field: "logging.options.json.splitStream", check: isFlag, ignored: true, want: "is ignored in the file: the kubelet takes the flag --log-json-split-stream alone", source: "k8s.io/component-base logs/api/v1/options.go: addFlags"},
	{field: "logging.options.text.splitStream", check: isFlag, since: 30, ignored: true, want: "is ignored in the file: the kubelet takes the flag --log-text-split-stream alone", source: "k8s.io/component-base logs/api/v1/options.go: addFlags"},
	{field: "podCIDR", check: isZero, ignored: true, want: "is ignored: a node of a cluster gets its pods' addresses from the cluster", source: "pkg/kubelet/kubelet_node_status.go"},
	{field: "reservedMemory", check: isForMemory, with: "memoryManagerPolicy", ignored: true, want: "is ignored without memoryManagerPolicy Static", source: inMemManager},
	{field: "tlsCipherSuites", check: isBelowTLS13, with: "tlsMinVersion", ignored: true, want: "is ignored: with tlsMinVersion VersionTLS13 there is no choice", source: inTLS},
	{field: "topologyManagerPolicyOptions", check: isForTopology, with: "topologyManagerPolicy", since: 28, ignored: true, want: "is ignored without a topologyManagerPolicy", source: inTopology},
	{field: "topologyManagerScope", check: isForTopology, with: "topologyManagerPolicy", ignored: true, want: "is ignored without a topologyManagerPolicy", source: inTopology},
}

// cipherSuites are those of crypto/tls, and two former names.
const cipherSuites = "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 " +
	"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA " +
	"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 " +
	"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 " +
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305 " +
	"TLS_RSA_WITH_RC4_128_SHA TLS_RSA_WITH_3DES_EDE_CBC_SHA TLS_RSA_WITH_AES_128_CBC_SHA TLS_RSA_WITH_AES_256_CBC_SHA TLS_RSA_WITH_AES_128_CBC_SHA256 " +
	"TLS_RSA_WITH_AES_128_GCM_SHA256 TLS_RSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_ECDSA_WITH_RC4_128_SHA TLS_ECDHE_RSA_WITH_RC4_128_SHA " +
	"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"

const (
	tokens     = "providers.*.tokenAttributes"
	tokensGate = "KubeletServiceAccountTokenForCredentialProviders"
)

// providerRows are the rules for an image credential provider's configuration.
var providerRows = [...]rule{
	{field: "apiVersion", check: oneOfGiven, needed: true, words: "kubelet.config.k8s.io/v1 kubelet.config.k8s.io/v1beta1 kubelet.config.k8s.io/v1alpha1", source: inProvider},
	{field: "kind", check: oneOfGiven, needed: true, words: "CredentialProviderConfig", source: inProvider},
	{field: "providers", check: isGiven, needed: true, want: "is missing; give at least one provider", source: inProvider},
	{field: "providers", check: isUniqueNames, since: 33, want: "has two providers of one name", source: inProvider},
	{field: "providers.*.apiVersion", check: oneOfGiven, words: "credentialprovider.kubelet.k8s.io/v1 credentialprovider.kubelet.k8s.io/v1beta1 credentialprovider.kubelet.k8s.io/v1alpha1", source: inProvider},
	{field: "providers.*.defaultCacheDuration", check: isGiven, want: "is missing; give how long a credential is kept, such as 10m", source: inProvider},
	{field: "providers.*.defaultCacheDuration", check: within, most: 1<<63 - 1, want: "want a duration that is not negative", source: inProvider},
	{field: "providers.*.matchImages", check: isGiven, want: `is missing; give patterns of images, such as "*.registry.example"`, source: inProvider},
	{field: "providers.*.matchImages.*", check: isMatchImage, want: "is not a registry, with a path or without", source: inProvider},
	{field: "providers.*.name", check: isFileName, want: "want the file name of the provider's program, without blanks and slashes", source: inProvider},
	{field: tokens, check: isAbsent, since: 33, off: tokensGate, source: inProvider},
	{field: tokens, check: isForConfigV1, since: 33, want: "takes the configuration's apiVersion kubelet.config.k8s.io/v1", source: inProvider},
	{field: tokens, check: isForV1, since: 33, want: "takes the provider's apiVersion credentialprovider.kubelet.k8s.io/v1", source: inProvider},
	{field: tokens, check: isApart, since: 33, want: "has an annotation in requiredServiceAccountAnnotationKeys and in optionalServiceAccountAnnotationKeys", source: inProvider},
	{field: tokens + ".cacheType", check: oneOfGiven, words: "ServiceAccount Token", since: 34, source: inProvider},
	{field: tokens + ".requireServiceAccount", check: isGiven, since: 33, want: "is missing; give true or false", source: inProvider},
	{field: tokens + ".requireServiceAccount", check: isRequired, since: 33, want: "want true where requiredServiceAccountAnnotationKeys has keys", source: inProvider},
	{field: tokens + ".serviceAccountTokenAudience", check: isGiven, since: 33, want: "is missing; give the audience of the tokens", source: inProvider},
	{field: tokens + ".optionalServiceAccountAnnotationKeys", check: isUnique, since: 33, want: "has a key twice", source: inProvider},
	{field: tokens + ".optionalServiceAccountAnnotationKeys.*", check: isAnnotation, since: 33, want: "is not the name of an annotation", source: inProvider},
	{field: tokens + ".requiredServiceAccountAnnotationKeys", check: isUnique, since: 33, want: "has a key twice", source: inProvider},
	{field: tokens + ".requiredServiceAccountAnnotationKeys.*", check: isAnnotation, since: 33, want: "is not the name of an annotation", source: inProvider},
}

// ruleSet is a table of rules, indexed by setting, because a configuration sets few of them.
type ruleSet struct {
	rows    []rule
	byField map[string][]uint8
	needed  []uint8
}

var (
	kubeletRules  = sync.OnceValue(func() *ruleSet { return newRuleSet(rows[:]) })
	providerRules = sync.OnceValue(func() *ruleSet { return newRuleSet(providerRows[:]) })
)

func newRuleSet(rows []rule) *ruleSet {
	set := &ruleSet{rows: rows, byField: make(map[string][]uint8)}
	for i := range rows {
		for field := range strings.SplitSeq(rows[i].field+" "+rows[i].with, " ") {
			if name := first(field); name != "" {
				set.byField[name] = append(set.byField[name], uint8(i))
			}
		}
		if rows[i].needed {
			set.needed = append(set.needed, uint8(i))
		}
	}
	return set
}

// first returns the top-level name of a field path.
func first(field string) string {
	name, _, _ := strings.Cut(field, ".")
	return name
}
