// Code generated from aksnodeconfig/v1/os.proto. DO NOT EDIT.

package aksnodeconfig

// CustomLinuxOsConfig tunes the operating system.
type CustomLinuxOsConfig struct {
	// Kernel parameters.
	SysctlConfig *SysctlConfig `aks:"1,sysctl_config,sysctlConfig"`
	// Process limits of the container runtime.
	UlimitConfig *UlimitConfig `aks:"2,ulimit_config,ulimitConfig"`
	// Creates a swap file. Needs swap_file_size, too.
	EnableSwapConfig bool `aks:"3,enable_swap_config,enableSwapConfig"`
	// Size of the swap file in MB, each of 1000 KiB.
	SwapFileSize int32 `aks:"4,swap_file_size,swapFileSize"`
	// Use of transparent huge pages: "always", "madvise" or "never". Empty leaves it alone.
	TransparentHugepageSupport string `aks:"5,transparent_hugepage_support,transparentHugepageSupport"`
	// When the kernel compacts memory for huge pages. Empty leaves it alone.
	TransparentDefrag string `aks:"6,transparent_defrag,transparentDefrag"`
}

// SysctlConfig sets kernel parameters. What is unset is not written, except where a default is named.
type SysctlConfig struct {
	// net.core.somaxconn: longest queue of connections to accept. Unset means 16384.
	NetCoreSomaxconn *int32 `aks:"1,net_core_somaxconn,netCoreSomaxconn"`
	// net.core.netdev_max_backlog: packets queued between network card and kernel.
	NetCoreNetdevMaxBacklog *int32 `aks:"2,net_core_netdev_max_backlog,netCoreNetdevMaxBacklog"`
	// net.core.rmem_default: receive buffer of a socket, in bytes.
	NetCoreRmemDefault *int32 `aks:"3,net_core_rmem_default,netCoreRmemDefault"`
	// net.core.rmem_max: largest receive buffer, in bytes.
	NetCoreRmemMax *int32 `aks:"4,net_core_rmem_max,netCoreRmemMax"`
	// net.core.wmem_default: send buffer of a socket, in bytes.
	NetCoreWmemDefault *int32 `aks:"5,net_core_wmem_default,netCoreWmemDefault"`
	// net.core.wmem_max: largest send buffer, in bytes.
	NetCoreWmemMax *int32 `aks:"6,net_core_wmem_max,netCoreWmemMax"`
	// net.core.optmem_max: ancillary buffer of a socket, in bytes.
	NetCoreOptmemMax *int32 `aks:"7,net_core_optmem_max,netCoreOptmemMax"`
	// net.ipv4.tcp_max_syn_backlog: half-open connections remembered. Unset means 16384.
	NetIpv4TcpMaxSynBacklog *int32 `aks:"8,net_ipv4_tcp_max_syn_backlog,netIpv4TcpMaxSynBacklog"`
	// net.ipv4.tcp_max_tw_buckets: sockets kept in TIME_WAIT.
	NetIpv4TcpMaxTwBuckets *int32 `aks:"9,net_ipv4_tcp_max_tw_buckets,netIpv4TcpMaxTwBuckets"`
	// net.ipv4.tcp_fin_timeout: seconds an orphaned socket stays in FIN_WAIT_2.
	NetIpv4TcpFinTimeout *int32 `aks:"10,net_ipv4_tcp_fin_timeout,netIpv4TcpFinTimeout"`
	// net.ipv4.tcp_keepalive_time: idle seconds before the first keepalive probe.
	NetIpv4TcpKeepaliveTime *int32 `aks:"11,net_ipv4_tcp_keepalive_time,netIpv4TcpKeepaliveTime"`
	// net.ipv4.tcp_keepalive_probes: unanswered probes before a connection is dropped.
	NetIpv4TcpKeepaliveProbes *int32 `aks:"12,net_ipv4_tcp_keepalive_probes,netIpv4TcpKeepaliveProbes"`
	// net.ipv4.tcp_keepalive_intvl: seconds between probes. The field's odd spelling is the contract's.
	NetIpv4TcpkeepaliveIntvl *int32 `aks:"13,net_ipv4_tcpkeepalive_intvl,netIpv4TcpkeepaliveIntvl"`
	// net.ipv4.tcp_tw_reuse: reuse of TIME_WAIT sockets; written as 1 or 0.
	NetIpv4TcpTwReuse *bool `aks:"14,net_ipv4_tcp_tw_reuse,netIpv4TcpTwReuse"`
	// net.ipv4.ip_local_port_range: first and last ephemeral port, separated by a space. If the range
	// ends above 65330, that port is reserved.
	NetIpv4IpLocalPortRange *string `aks:"15,net_ipv4_ip_local_port_range,netIpv4IpLocalPortRange"`
	// net.ipv4.neigh.default.gc_thresh1: neighbours below which none is collected. Unset means 4096.
	NetIpv4NeighDefaultGcThresh1 *int32 `aks:"16,net_ipv4_neigh_default_gc_thresh1,netIpv4NeighDefaultGcThresh1"`
	// net.ipv4.neigh.default.gc_thresh2: soft limit of neighbours. Unset means 8192.
	NetIpv4NeighDefaultGcThresh2 *int32 `aks:"17,net_ipv4_neigh_default_gc_thresh2,netIpv4NeighDefaultGcThresh2"`
	// net.ipv4.neigh.default.gc_thresh3: hard limit of neighbours. Unset means 16384.
	NetIpv4NeighDefaultGcThresh3 *int32 `aks:"18,net_ipv4_neigh_default_gc_thresh3,netIpv4NeighDefaultGcThresh3"`
	// net.netfilter.nf_conntrack_max: connections tracked at most.
	NetNetfilterNfConntrackMax *int32 `aks:"19,net_netfilter_nf_conntrack_max,netNetfilterNfConntrackMax"`
	// net.netfilter.nf_conntrack_buckets: size of the connection table.
	NetNetfilterNfConntrackBuckets *int32 `aks:"20,net_netfilter_nf_conntrack_buckets,netNetfilterNfConntrackBuckets"`
	// fs.inotify.max_user_watches: inotify watches per user.
	FsInotifyMaxUserWatches *int32 `aks:"21,fs_inotify_max_user_watches,fsInotifyMaxUserWatches"`
	// fs.file-max: open files of the whole system. In JSON it may have 64 bits, as the kernel's has.
	FsFileMax *int64 `aks:"22,fs_file_max,fsFileMax"`
	// fs.aio-max-nr: asynchronous I/O requests of the whole system.
	FsAioMaxNr *int32 `aks:"23,fs_aio_max_nr,fsAioMaxNr"`
	// fs.nr_open: open files of one process.
	FsNrOpen *int32 `aks:"24,fs_nr_open,fsNrOpen"`
	// kernel.threads-max: threads of the whole system.
	KernelThreadsMax *int32 `aks:"25,kernel_threads_max,kernelThreadsMax"`
	// vm.max_map_count: memory mappings of one process.
	VmMaxMapCount *int32 `aks:"26,vm_max_map_count,vmMaxMapCount"`
	// vm.swappiness: how eagerly memory is swapped out.
	VmSwappiness *int32 `aks:"27,vm_swappiness,vmSwappiness"`
	// vm.vfs_cache_pressure: how eagerly directory and inode caches are dropped.
	VmVfsCachePressure *int32 `aks:"28,vm_vfs_cache_pressure,vmVfsCachePressure"`
}

// UlimitConfig sets limits of the containerd unit, which containers inherit.
type UlimitConfig struct {
	// LimitNOFILE: open files. Unset leaves it alone.
	NoFile *string `aks:"1,no_file,noFile"`
	// LimitMEMLOCK: locked memory. Unset leaves it alone.
	MaxLockedMemory *string `aks:"2,max_locked_memory,maxLockedMemory"`
}
