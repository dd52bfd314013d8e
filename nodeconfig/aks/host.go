package aks

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/aksnodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// runtime translates containerd's settings. The metrics address and the registry header are AKS's
// constants (AKS node contract, containerd configuration).
func (t *translation) runtime() {
	r := &t.out.Runtime
	r.SandboxImage = deref(t.in.KubeBinaryConfig).PodInfraContainerImageUrl
	r.Containerd.DataDir = deref(t.in.KubeletConfig).ContainerDataDir
	r.Containerd.MetricsAddress = "0.0.0.0:10257"
	r.Containerd.RegistryHeaders = map[string]nodeconfig.Secret{"X-Meta-Source-Client": nodeconfig.NewSecret("azure/aks")}
	if deref(t.in.NeedsCgroupv2) {
		r.CgroupDriver = "systemd"
	}
	if t.in.IsKata {
		r.Sandboxes = []string{"kata"}
	}
	if t.in.EnableArtifactStreaming {
		r.LazyPull = "overlaybd" // AKS: artifact streaming uses overlaybd
	}
	limits := deref(deref(t.in.CustomLinuxOsConfig).UlimitConfig)
	if deref(t.in.CustomLinuxOsConfig).UlimitConfig != nil {
		r.Containerd.Limits = make(map[string]string) // AKS's scripts treat an empty message as set
	}
	for _, limit := range []struct{ name, field, value string }{
		{"NOFILE", "no_file", deref(limits.NoFile)},
		{"MEMLOCK", "max_locked_memory", deref(limits.MaxLockedMemory)},
	} {
		if limit.value != "" {
			r.Containerd.Limits[limit.name] = limit.value
			t.moved(entry("$.runtime.containerd.limits", limit.name), entry("$.custom_linux_os_config.ulimit_config", limit.field))
		}
	}
}

// enumWord returns an enumeration's value in the spelling of AKS's files: the last word of its name
// in lower case, or "" for the unspecified value.
func enumWord[E interface {
	~int32
	Names() []string
}](e E) string {
	if e == 0 {
		return ""
	}
	name := e.Names()[e]
	return strings.ToLower(name[strings.LastIndexByte(name, '_')+1:])
}

// baseSysctls are set on every AKS node (AKS node contract, sysctl rules).
var baseSysctls = map[string]string{
	"net.ipv4.tcp_retries2":             "8",
	"net.core.message_burst":            "80",
	"net.core.message_cost":             "40",
	"net.core.somaxconn":                "16384",
	"net.ipv4.tcp_max_syn_backlog":      "16384",
	"net.ipv4.neigh.default.gc_thresh1": "4096",
	"net.ipv4.neigh.default.gc_thresh2": "8192",
	"net.ipv4.neigh.default.gc_thresh3": "16384",
}

// sysctlNames maps the contract's fields to kernel parameters.
var sysctlNames = map[string]string{
	"net_core_somaxconn":                 "net.core.somaxconn",
	"net_core_netdev_max_backlog":        "net.core.netdev_max_backlog",
	"net_core_rmem_default":              "net.core.rmem_default",
	"net_core_rmem_max":                  "net.core.rmem_max",
	"net_core_wmem_default":              "net.core.wmem_default",
	"net_core_wmem_max":                  "net.core.wmem_max",
	"net_core_optmem_max":                "net.core.optmem_max",
	"net_ipv4_tcp_max_syn_backlog":       "net.ipv4.tcp_max_syn_backlog",
	"net_ipv4_tcp_max_tw_buckets":        "net.ipv4.tcp_max_tw_buckets",
	"net_ipv4_tcp_fin_timeout":           "net.ipv4.tcp_fin_timeout",
	"net_ipv4_tcp_keepalive_time":        "net.ipv4.tcp_keepalive_time",
	"net_ipv4_tcp_keepalive_probes":      "net.ipv4.tcp_keepalive_probes",
	"net_ipv4_tcpkeepalive_intvl":        "net.ipv4.tcp_keepalive_intvl",
	"net_ipv4_tcp_tw_reuse":              "net.ipv4.tcp_tw_reuse",
	"net_ipv4_ip_local_port_range":       "net.ipv4.ip_local_port_range",
	"net_ipv4_neigh_default_gc_thresh1":  "net.ipv4.neigh.default.gc_thresh1",
	"net_ipv4_neigh_default_gc_thresh2":  "net.ipv4.neigh.default.gc_thresh2",
	"net_ipv4_neigh_default_gc_thresh3":  "net.ipv4.neigh.default.gc_thresh3",
	"net_netfilter_nf_conntrack_max":     "net.netfilter.nf_conntrack_max",
	"net_netfilter_nf_conntrack_buckets": "net.netfilter.nf_conntrack_buckets",
	"fs_inotify_max_user_watches":        "fs.inotify.max_user_watches",
	"fs_file_max":                        "fs.file-max",
	"fs_aio_max_nr":                      "fs.aio-max-nr",
	"fs_nr_open":                         "fs.nr_open",
	"kernel_threads_max":                 "kernel.threads-max",
	"vm_max_map_count":                   "vm.max_map_count",
	"vm_swappiness":                      "vm.swappiness",
	"vm_vfs_cache_pressure":              "vm.vfs_cache_pressure",
}

const (
	sysctlPath     = "$.custom_linux_os_config.sysctl_config"
	localPortRange = "net.ipv4.ip_local_port_range"
	reservedPorts  = "net.ipv4.ip_local_reserved_ports"
	// reservedPort is excluded from the local ports (AKS node contract, sysctl rules).
	reservedPort = 65330
)

// system translates the operating system's settings.
func (t *translation) system() {
	sysctls := maps.Clone(baseSysctls)
	t.out.System.Sysctls = sysctls
	os := deref(t.in.CustomLinuxOsConfig)
	t.memory(os)
	t.gpu()
	if t.in.EnableUnattendedUpgrade {
		t.out.System.UnattendedUpgrades = new(true)
	}
	parameters := reflect.ValueOf(deref(os.SysctlConfig))
	for i := range parameters.NumField() {
		if parameters.Field(i).IsNil() {
			continue
		}
		name, _ := aksnodeconfig.Names(parameters.Type().Field(i))
		key, path := sysctlNames[name], sysctlPath+"."+name
		t.moved(entry("$.system.sysctls", key), at(path))
		switch v := parameters.Field(i).Elem(); v.Kind() {
		case reflect.Bool:
			sysctls[key] = map[bool]string{true: "1", false: "0"}[v.Bool()]
		case reflect.String:
			t.portRange(v.String(), path)
		default:
			sysctls[key] = strconv.FormatInt(v.Int(), 10)
		}
	}
}

// portRange translates the range of local ports, the contract's only parameter with two numbers.
func (t *translation) portRange(value, path string) {
	bounds := strings.Fields(value)
	if len(bounds) != 2 {
		t.Warn(nodeconfig.Invalid, path, "must be two ports with a space between them, such as \"32768 60999\"; left out")
		return
	}
	first, err1 := strconv.ParseUint(bounds[0], 10, 16)
	last, err2 := strconv.ParseUint(bounds[1], 10, 16)
	if err1 != nil || err2 != nil || first == 0 || first >= last {
		t.Warn(nodeconfig.Invalid, path, "must be a lower and then a higher port; left out")
		return
	}
	t.out.System.Sysctls[localPortRange] = fmt.Sprint(first, last)
	if last > reservedPort {
		t.out.System.Sysctls[reservedPorts] = strconv.Itoa(reservedPort)
	}
}

// memory translates swap and huge pages.
func (t *translation) memory(os aksnodeconfig.CustomLinuxOsConfig) {
	if os.EnableSwapConfig && os.SwapFileSize > 0 {
		t.out.System.SwapMB, t.out.System.SwapDisk = os.SwapFileSize, nodeconfig.PreferTemporary
	} else if os.EnableSwapConfig {
		t.without(&os, "$.custom_linux_os_config", isOneOf("enable_swap_config", "swap_file_size"), "enable_swap_config and swap_file_size count together only")
	}
	pages := make(map[string]string)
	for name, setting := range map[string]string{"enabled": os.TransparentHugepageSupport, "defrag": os.TransparentDefrag} {
		if setting != "" {
			pages[name] = setting
		}
	}
	if len(pages) > 0 {
		t.out.System.TransparentHugePages = pages
	}
}

// gpu translates the settings of graphics processors.
func (t *translation) gpu() {
	in := deref(t.in.GpuConfig)
	gpu := nodeconfig.GPU{
		InstallDriver:             in.ConfigGpuDriver,
		DevicePlugin:              in.GpuDevicePlugin,
		Managed:                   in.EnableManagedGpu,
		DynamicResourceAllocation: in.EnableManagedGpuDra,
		InstanceProfile:           in.GpuInstanceProfile,
		Strategy:                  in.MigStrategy,
	}
	if len(in.MigProfileLayout) > 0 {
		gpu.ProfileLayout = in.MigProfileLayout
	}
	if deref(in.EnableNvidia) {
		gpu.Vendor = "nvidia"
	}
	if says(reflect.ValueOf(gpu)) {
		t.out.System.GPU = &gpu
	}
}
