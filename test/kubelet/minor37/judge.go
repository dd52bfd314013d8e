package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	_ "unsafe" // for go:linkname

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // as cmd/kubelet does, for JSON logging
	metricsfeatures "k8s.io/component-base/metrics/features"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/kubernetes/pkg/kubelet/stats/pidlimit"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	netutils "k8s.io/utils/net"
)

// judge answers questions one after the other, because feature gates belong to the process, as in a kubelet.
type judge struct {
	// gates resets the feature gates to those of an unconfigured kubelet.
	gates func()
	// providers is the file with the configuration of credential providers, state a directory without a state of the managers.
	providers, state string
}

func newJudge(scratch string) *judge {
	// As cmd/kubelet/app/server.go and pkg/kubelet/server/server.go have it in their init.
	if err := errors.Join(logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate), metricsfeatures.AddFeatureGates(utilfeature.DefaultMutableFeatureGate)); err != nil {
		panic(err)
	}
	return &judge{gates: pristineGates(), providers: filepath.Join(scratch, "providers"), state: scratch}
}

// codecs are the kubelet's for its configuration (pkg/kubelet/kubeletconfig/configfiles).
var _, codecs, _ = kubeletscheme.NewSchemeAndCodecs(serializer.EnableStrict)

// pristineGates returns what makes the feature gates as they are now.
func pristineGates() func() {
	pristine := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	return func() {
		gates := pristine.DeepCopy()
		utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = gates, gates
	}
}

// start is a start of a kubelet as far as it has come.
type start struct {
	*judge
	q     Question
	flags *options.KubeletFlags
	kc    *kubeletconfig.KubeletConfiguration
}

// answer goes through the steps of a kubelet's start, and ends with the first that refuses.
func (j *judge) answer(q Question) (a Answer) {
	s := &start{judge: j, q: q}
	setCgroups(q.Machine.CgroupVersion == 2)
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"flags", s.parseFlags},
		{"configuration file", s.loadConfig},
		{"validation", func() error { return validation.ValidateKubeletConfiguration(s.kc, utilfeature.DefaultFeatureGate) }},
		{"dependencies", s.dependencies},
		{"run", s.run},
		{"container manager", s.containerManager},
		{"kubelet", s.kubelet},
		{"start of the container manager", s.startContainerManager},
	} {
		if err := attempt(step.run); err != nil {
			return Answer{Refused: err.Error(), By: step.name}
		}
	}
	return Answer{}
}

// attempt takes a panic as the refusal that it is.
func attempt(step func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return step()
}

// parseFlags is the first half of NewKubeletCommand's RunE, cmd/kubelet/app/server.go.
func (s *start) parseFlags() error {
	s.gates()
	fs := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	fs.SetOutput(nowhere{})
	s.flags = options.NewKubeletFlags()
	kc, err := options.NewKubeletConfiguration()
	if err != nil {
		return err
	}
	s.kc = kc
	s.flags.AddFlags(fs)
	options.AddKubeletConfigFlags(fs, s.kc)
	options.AddGlobalFlags(fs)
	fs.BoolP("help", "h", false, "")
	if err := fs.Parse(s.q.Args); err != nil {
		return fmt.Errorf("failed to parse kubelet flag: %w", err)
	}
	for _, name := range []string{"help", "version"} { // the kubelet says something and ends
		f := fs.Lookup(name)
		asked := f.Value.String() != "false"
		if err := f.Value.Set("false"); err != nil { // it is the process's
			return err
		}
		if asked {
			return fmt.Errorf("--%s", name)
		}
	}
	if words := fs.Args(); len(words) > 0 {
		return fmt.Errorf("unknown command %s", words[0])
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(s.kc.FeatureGates); err != nil {
		return err
	}
	return options.ValidateKubeletFlags(s.flags)
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// loadConfig is loadConfigFile and kubeletConfigFlagPrecedence, cmd/kubelet/app/server.go, without the file.
func (s *start) loadConfig() error {
	if s.flags.KubeletConfigFile == "" {
		return nil
	}
	if s.q.Config == "" {
		return errors.New("kubelet config file was empty")
	}
	kc, err := decode([]byte(s.q.Config))
	if err != nil {
		return err
	}
	complete(kc)
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	fs.SetOutput(nowhere{})
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.AddGlobalFlags(global)
	global.VisitAll(func(f *pflag.Flag) { fs.VarP(cliflag.NoOp{}, f.Name, f.Shorthand, f.Usage) })
	options.NewKubeletFlags().AddFlags(fs)
	options.AddKubeletConfigFlags(fs, kc)
	original := kc.FeatureGates
	if err := fs.Parse(s.q.Args); err != nil {
		return err
	}
	for name, on := range original {
		if _, given := kc.FeatureGates[name]; !given {
			kc.FeatureGates[name] = on
		}
	}
	s.kc = kc
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(kc.FeatureGates)
}

// dependencies is UnsecuredDependencies, cmd/kubelet/app/server.go.
func (s *start) dependencies() error {
	if _, err := cliflag.TLSCipherSuites(s.kc.TLSCipherSuites); err != nil {
		return err
	}
	if _, err := cliflag.TLSVersion(s.kc.TLSMinVersion); err != nil {
		return err
	}
	return moreDependencies(s.kc)
}

// run is run until it makes the container manager, cmd/kubelet/app/server.go.
func (s *start) run() error {
	// The flags are validated again, now with the feature gates of the file.
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(s.kc.FeatureGates); err != nil {
		return err
	}
	if err := options.ValidateKubeletServer(&options.KubeletServer{KubeletFlags: *s.flags, KubeletConfiguration: *s.kc}); err != nil {
		return err
	}
	if s.flags.ExitOnLockContention && s.flags.LockFilePath == "" {
		return errors.New("cannot exit on lock file contention: no lock file specified")
	}
	if err := hostname(s.flags.HostnameOverride); err != nil {
		return err
	}
	// kubeClientConfigOverrides
	client := &restclient.Config{Host: "https://localhost", QPS: float32(s.kc.KubeAPIQPS), Burst: int(s.kc.KubeAPIBurst)}
	client.ContentType = s.kc.ContentType
	if _, err := clientset.NewForConfig(client); err != nil {
		return fmt.Errorf("failed to initialize kubelet client: %w", err)
	}
	if err := authentication(s.kc); err != nil {
		return err
	}
	// PreInitRuntimeService asks the runtime for its version, and has this time for it (k8s.io/cri-client, pkg/remote).
	if timeout := s.kc.RuntimeRequestTimeout.Duration; timeout <= 0 {
		return fmt.Errorf("validate service connection: context deadline exceeded after %v", timeout)
	}
	return nil
}

// authentication is BuildAuth, cmd/kubelet/app/auth.go, with k8s.io/apiserver's pkg/authentication/authenticatorfactory. The
// file with the authority is the machine's.
func authentication(kc *kubeletconfig.KubeletConfiguration) error {
	if a := kc.Authentication; a.X509.ClientCAFile == "" && !a.Webhook.Enabled && !a.Anonymous.Enabled {
		return errors.New("no authentication method configured")
	}
	switch mode := kc.Authorization.Mode; mode {
	case kubeletconfig.KubeletAuthorizationModeAlwaysAllow, kubeletconfig.KubeletAuthorizationModeWebhook:
		return nil
	case "":
		return errors.New("no authorization mode specified")
	default:
		return fmt.Errorf("unknown authorization mode %s", mode)
	}
}

// parseResourceList is that of cmd/kubelet/app/server.go, which is not exported and whose package links each volume plug-in.
func parseResourceList(m map[string]string) (v1.ResourceList, error) {
	list := make(v1.ResourceList)
	for name, value := range m {
		switch v1.ResourceName(name) {
		case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, pidlimit.PIDs:
		default:
			return nil, fmt.Errorf("cannot reserve %q resource", name)
		}
		q, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, fmt.Errorf("failed to parse quantity %q for %q resource: %w", value, name, err)
		}
		if q.Sign() == -1 {
			return nil, fmt.Errorf("resource quantity for %q cannot be negative: %v", name, value)
		}
		if v1.ResourceName(name) == v1.ResourceCPU {
			roundCPU(&q)
		}
		list[v1.ResourceName(name)] = q
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// node is what the container manager is made of.
type node struct {
	kc                           *kubeletconfig.KubeletConfiguration
	info                         *MachineInfo
	capacity                     v1.ResourceList
	kubeReserved, systemReserved v1.ResourceList
	thresholds                   []evictionapi.Threshold
}

// reservedCPUs is getReservedCPUs, cmd/kubelet/app/server.go.
func reservedCPUs(info *MachineInfo, text string) (set CPUSet, err error) {
	if text == "" {
		return set, nil
	}
	online, err := onlineCPUs(info)
	if err != nil {
		return set, err
	}
	if set, err = parseCPUs(text); err == nil && !set.IsSubsetOf(online) {
		err = fmt.Errorf("reserved-cpus: %s is not a subset of online-cpus: %s", text, online)
	}
	return set, err
}

// node is what run makes of the configuration before it makes the container manager (cmd/kubelet/app/server.go).
func (s *start) node() (*node, error) {
	n := &node{kc: s.kc, info: s.q.Machine.info()}
	n.capacity = cadvisor.CapacityFromMachineInfo(n.info)
	reserved, err := reservedCPUs(n.info, s.kc.ReservedSystemCPUs)
	if err != nil {
		return nil, err
	}
	if reserved.Size() > 0 {
		delete(s.kc.KubeReserved, "cpu")
		if s.kc.SystemReserved == nil {
			s.kc.SystemReserved = make(map[string]string)
		}
		s.kc.SystemReserved["cpu"] = strconv.Itoa(reserved.Size())
	}
	if n.kubeReserved, err = parseResourceList(s.kc.KubeReserved); err != nil {
		return nil, fmt.Errorf("--kube-reserved value failed to parse: %w", err)
	}
	if n.systemReserved, err = parseResourceList(s.kc.SystemReserved); err != nil {
		return nil, fmt.Errorf("--system-reserved value failed to parse: %w", err)
	}
	if !s.flags.ExperimentalNodeAllocatableIgnoreEvictionThreshold {
		if n.thresholds, err = eviction.ParseThresholdConfig([]string{}, s.kc.EvictionHard, nil, nil, nil); err != nil {
			return nil, err
		}
	}
	if _, err := cm.ParseQOSReserved(s.kc.QOSReserved); err != nil {
		return nil, fmt.Errorf("--qos-reserved value failed to parse: %w", err)
	}
	return n, nil
}

//go:linkname hardEvictionReservation k8s.io/kubernetes/pkg/kubelet/cm.hardEvictionReservation
func hardEvictionReservation(thresholds []evictionapi.Threshold, capacity v1.ResourceList) v1.ResourceList

// reservation is GetNodeAllocatableReservation, pkg/kubelet/cm/node_container_manager_linux.go: a method of a type that is not exported.
func (n *node) reservation() v1.ResourceList {
	evicted := hardEvictionReservation(n.thresholds, n.capacity)
	result := make(v1.ResourceList)
	for name := range n.capacity {
		value := resource.NewQuantity(0, resource.DecimalSI)
		for _, list := range []v1.ResourceList{n.systemReserved, n.kubeReserved, evicted} {
			value.Add(list[name])
		}
		if !value.IsZero() {
			result[name] = *value
		}
	}
	return result
}

// containerManager is the second half of run and NewContainerManager (pkg/kubelet/cm/container_manager_linux.go). That needs the
// control groups, the swap and the CPUs of the machine that it runs on, so that its parts are called in its place.
func (s *start) containerManager() error {
	n, err := s.node()
	if err != nil {
		return err
	}
	if s.q.Machine.Swap && s.kc.FailSwapOn {
		return errors.New("running with swap on is not supported, please disable swap or set --fail-swap-on flag to false")
	}
	return managers(n, s.state)
}

// kubelet is RunKubelet and NewMainKubelet (pkg/kubelet/kubelet.go).
func (s *start) kubelet() error {
	if err := nodeIPs(s.flags); err != nil {
		return err
	}
	if s.flags.RootDirectory == "" {
		return errors.New("invalid root directory")
	}
	if s.kc.SyncFrequency.Duration <= 0 {
		return fmt.Errorf("invalid sync frequency %d", s.kc.SyncFrequency.Duration)
	}
	// sourceFile's run makes a ticker, which panics (pkg/kubelet/config/file.go).
	if s.kc.StaticPodPath != "" && s.kc.FileCheckFrequency.Duration <= 0 {
		return errors.New("non-positive interval for NewTicker: fileCheckFrequency")
	}
	enforced := s.kc.EnforceNodeAllocatable
	if s.flags.ExperimentalNodeAllocatableIgnoreEvictionThreshold {
		enforced = []string{}
	}
	if _, err := eviction.ParseThresholdConfig(enforced, s.kc.EvictionHard, s.kc.EvictionSoft, s.kc.EvictionSoftGracePeriod, s.kc.EvictionMinimumReclaim); err != nil {
		return err
	}
	switch s.kc.ConfigMapAndSecretChangeDetectionStrategy {
	case kubeletconfig.WatchChangeDetectionStrategy, kubeletconfig.TTLCacheChangeDetectionStrategy, kubeletconfig.GetChangeDetectionStrategy:
	default:
		return fmt.Errorf("unknown configmap and secret manager mode: %v", s.kc.ConfigMapAndSecretChangeDetectionStrategy)
	}
	if err := containerLogs(s.kc); err != nil {
		return fmt.Errorf("failed to initialize container log manager: %w", err)
	}
	gc := kubecontainer.GCPolicy{MinAge: s.flags.MinimumGCAge.Duration, MaxPerPodContainer: int(s.flags.MaxPerPodContainerCount), MaxContainers: int(s.flags.MaxContainerCount)}
	if _, err := kubecontainer.NewContainerGC(nil, gc, nil); err != nil {
		return err
	}
	if s.q.CredentialProviders != "" {
		if err := os.WriteFile(s.providers, []byte(s.q.CredentialProviders), 0o600); err != nil {
			return err
		}
		if err := credentialProviders(s.providers); err != nil {
			return fmt.Errorf("failed to register CRI auth plugins: %w", err)
		}
	}
	if _, err := sysctl.NewAllowlist(append(safeSysctls(), s.kc.AllowedUnsafeSysctls...)); err != nil {
		return err
	}
	if err := moreOfKubelet(s.flags, s.kc); err != nil {
		return err
	}
	return s.serve()
}

// named checks the names of programs: without a name, the path is the directory (RegisterCredentialProviderPlugins, exec.LookPath).
func named(config *kubeletconfig.CredentialProviderConfig) error {
	for _, p := range config.Providers {
		if p.Name == "" {
			return errors.New("error inspecting binary executable: is a directory")
		}
	}
	return nil
}

// serve is startKubelet: the servers end the kubelet when they cannot listen (pkg/kubelet/server/server.go).
func (s *start) serve() error {
	port := s.kc.ReadOnlyPort
	if (s.kc.EnableServer || port > 0) && netutils.ParseIPSloppy(s.kc.Address) == nil {
		return fmt.Errorf("failed to listen and serve: address %q", s.kc.Address)
	}
	if s.kc.EnableServer && port == s.kc.Port {
		return errors.New("failed to listen and serve: readOnlyPort is port")
	}
	return nil
}

// startContainerManager is the container manager's Start (pkg/kubelet/cm/container_manager_linux.go): validateNodeAllocatable,
// enforceNodeAllocatableCgroups and setupNode, all methods of a type that is not exported.
func (s *start) startContainerManager() error {
	n, err := s.node()
	if err != nil {
		return err
	}
	for name, reserved := range n.reservation() { // not of ephemeral storage: a question does not say how much there is
		left := n.capacity[name].DeepCopy()
		if left.Sub(reserved); left.Sign() < 0 {
			return fmt.Errorf("resource %q has a reservation of %s, %s of it more than the capacity", name, reserved.String(), left.String())
		}
	}
	// enforceExistingCgroup: "cgroup is not configured properly".
	for of, list := range map[string]v1.ResourceList{"system-reserved": n.systemReserved, "kube-reserved": n.kubeReserved} {
		for _, key := range []string{of, of + "-compressible"} {
			if slices.Contains(s.kc.EnforceNodeAllocatable, key) && list == nil {
				return fmt.Errorf("failed to enforce limits of %s: cgroup is not configured properly", key)
			}
		}
	}
	if s.kc.SystemCgroups == "/" {
		return errors.New(`system container cannot be root ("/")`)
	}
	return nil
}

// info is what cAdvisor would say of a machine: nodes of the same size, of processors with one thread, at the distances that firmware usually
// gives.
func (m Machine) info() *MachineInfo {
	info := &MachineInfo{NumCores: m.CPUs, NumSockets: 1, MemoryCapacity: m.MemoryBytes}
	nodes := max(m.NUMANodes, 1)
	each := int(math.Ceil(float64(m.CPUs) / float64(nodes)))
	for id := range nodes {
		n := Node{Id: id, Memory: m.MemoryBytes / uint64(nodes)}
		for cpu := id * each; cpu < min((id+1)*each, m.CPUs); cpu++ {
			n.Cores = append(n.Cores, Core{Id: cpu, Threads: []int{cpu}, SocketID: 0})
		}
		for other := range nodes {
			n.Distances = append(n.Distances, map[bool]uint64{true: 10, false: 20}[other == id])
		}
		info.Topology = append(info.Topology, n)
	}
	return info
}
