// Command minor answers whether a kubelet would start: with a configuration, a command line and a configuration of credential
// providers, on a machine that the question describes. It calls the kubelet's own code; it does not start a kubelet. Its module
// determines the version. minor.go differs between the versions; all other files are the same, by links.
//
// The checks that can end a kubelet at its start because of a value, and the called functions, in the order of the start:
//
//	flags                   cmd/kubelet/app/options: AddFlags, AddKubeletConfigFlags, ValidateKubeletFlags
//	feature gates           component-base/featuregate: SetFromMap, by flag and by file
//	configuration file      pkg/kubelet/kubeletconfig/util/codec: DecodeKubeletConfiguration, with the scheme's defaults; the flags over it
//	values                  pkg/kubelet/apis/config/validation: ValidateKubeletConfiguration
//	TLS                     component-base/cli/flag: TLSCipherSuites, TLSVersion, TLSCurvePreferences
//	client's limits         client-go/kubernetes: NewForConfig
//	host name               component-helpers/node/util: GetHostname (before 1.27: pkg/util/node)
//	authentication, mode    restated: cmd/kubelet/app/auth.go links the API server's library
//	request timeout         restated: pkg/kubelet PreInitRuntimeService asks a runtime
//	reserved processors     cm/cpumanager/topology: Discover, cpuset: Parse; restated around them: getReservedCPUs
//	reservations            restated: parseResourceList of cmd/kubelet/app, with resource.ParseQuantity
//	QoS reservations        cm: ParseQOSReserved
//	thresholds              eviction: ParseThresholdConfig
//	swap                    restated: NewContainerManager reads the machine's /proc/swaps
//	managers                cm/topologymanager, cm/cpumanager, cm/memorymanager: NewManager
//	addresses               component-helpers/node/util: ParseNodeIPArgument (before 1.27 restated, from RunKubelet)
//	containers' logs        logs: NewContainerLogManager
//	dead containers         container: NewContainerGC
//	credential providers    credentialprovider/plugin: reading and validation, which are not exported, by their link names
//	kernel parameters       sysctl: NewAllowlist
//	cloud provider          cloud-provider: IsExternal
//	sync, file check, watch restated: NewMainKubelet makes a client, informers and a runtime
//	servers                 restated: startKubelet listens
//	capacity                cm: hardEvictionReservation by its link name; restated around it: GetNodeAllocatableReservation, validateNodeAllocatable
//	enforced reservations   restated: enforceNodeAllocatableCgroups writes control groups
//
// cmd/kubelet/app is not linked: it contains every volume plug-in, and before 1.27 the clouds' SDKs.
//
// Not checked, because it depends on more of the machine than a question describes: named files and directories (certificates,
// authorities, manifests, logs), control groups that must exist, kernel parameters with protectKernelDefaults, ports that other
// programs use, the checkpoints of managers, the size of the disk, hugepages, NUMA nodes beyond the first, the endpoint of traces
// and of the runtime.
package main
