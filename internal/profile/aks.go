package profile

import "github.com/slipway-dev/slipway/exitcode"

// aks is an AKS node, on AKS's images or on Slipway's. Sources: AKS node contract, sections "on the node", "containerd
// configuration rules" and "completion files", and the scripts and units of Azure's AgentBaker.
var aks = Profile{
	Name: "aks",
	Paths: Paths{
		Installed:        "/opt/azure/vhd-install.complete",
		Containerd:       "/usr/bin/containerd",
		Runc:             "/usr/bin/runc",
		Kubelet:          "/opt/bin/kubelet",
		VolumePlugins:    "/etc/kubernetes/volumeplugins",
		Manifests:        "/etc/kubernetes/manifests",
		KubeletEnv:       "/etc/default/kubelet",
		KubeletConfig:    "/etc/default/kubeletconfig.json",
		KubeletTemporary: "/mnt/aks/kubelet",
		Kubeconfig:       "/var/lib/kubelet/kubeconfig",
		BootstrapConfig:  "/var/lib/kubelet/bootstrap-kubeconfig",
		CA:               "/etc/kubernetes/certs/ca.crt",
		CAMode:           0o600,
		ServerCert:       "/etc/kubernetes/certs/apiserver.crt",
		ClientCert:       "/etc/kubernetes/certs/client.crt",
		ClientKey:        "/etc/kubernetes/certs/client.key",
		CloudConfig:      "/etc/kubernetes/azure.json",
		CustomCloud:      "/etc/kubernetes/akscustom.json",
		CredentialConfig: "/var/lib/kubelet/credential-provider-config.yaml",
		Sysctls:          "/etc/sysctl.d/999-sysctl-aks.conf",
		Forwarding:       "/etc/sysctl.d/99-force-bridge-forward.conf",
		Features:         "/opt/azure/containers/enabled_features.sh",
	},
	Kubelet: Kubelet{
		Environment: []Variable{
			{Name: "KUBELET_FLAGS", Holds: Flags},
			{Name: "KUBELET_REGISTER_SCHEDULABLE", Holds: Fixed, Value: "true"},
			{Name: "NETWORK_POLICY", Holds: NetworkPolicy},
			{Name: "KUBELET_IMAGE", Holds: Fixed},
			{Name: "KUBELET_NODE_LABELS", Holds: Labels},
			{Name: "AZURE_ENVIRONMENT_FILEPATH", Holds: CustomCloud},
		},
		Kubeconfig:   Arguments{DropIn{"10-tlsbootstrap.conf", 0o600, "AKS: 10-tlsbootstrap.conf"}, "KUBELET_TLS_BOOTSTRAP_FLAGS"},
		Config:       Arguments{DropIn{"10-componentconfig.conf", 0o600, "AKS: 10-componentconfig.conf"}, "KUBELET_CONFIG_FILE_FLAGS"},
		Runtime:      Arguments{DropIn{File: "10-containerd-base-flag.conf", Mode: 0o644}, "KUBELET_CONTAINERD_FLAGS"},
		RuntimeKind:  Arguments{DropIn{File: "10-container-runtime-flag.conf", Mode: 0o644}, "KUBELET_CONTAINER_RUNTIME_FLAG"},
		CgroupDriver: Arguments{DropIn{File: "10-cgroupv2.conf", Mode: 0o644}, "KUBELET_CGROUP_FLAGS"},
		Watchdog:     DropIn{"10-watchdog.conf", 0o644, "AKS: 10-watchdog.conf"},
		Prepare:      "kubelet-prepare.service",
		// AKS: ensureKubelet. After the first boot no agent runs on AKS's images, and their contract and user data, which
		// stay on the disk, have the token too.
		KeepsBootstrap: true,
		NodeIP:         true, // the cloud provider is external (AKS: --node-ip)
		// openssl makes them in configureKubeletServing.
		SelfSigned: Pair{"/etc/kubernetes/certs/kubeletserver.crt", "/etc/kubernetes/certs/kubeletserver.key"},
		// AKS: kubelet serving certificate rotation.
		ServingLabels: map[string]string{"kubernetes.azure.com/kubelet-serving-ca": "cluster"},
		Entries:       Entries{Cluster: "localcluster", Context: "localclustercontext", BootstrapContext: "bootstrap-context"},
	},
	Attested: Attested{
		Client:      "/opt/bin/aks-secure-tls-bootstrap-client",
		Unit:        "secure-tls-bootstrap.service",
		DropIn:      DropIn{"10-securetlsbootstrap.conf", 0o600, "AKS: 10-securetlsbootstrap.conf"},
		Environment: "/etc/default/secure-tls-bootstrap",
		Flags:       "BOOTSTRAP_FLAGS",
		CustomCloud: "AZURE_ENVIRONMENT_FILEPATH",
		Protocol:    "aks-tls-bootstrap",
		Resource:    "6dae42f8-4368-4678-94ff-3960e28e3630", // the application of AKS's API servers
		Log:         "/var/log/azure/aks/secure-tls-bootstrap.log",
	},
	LocalDNS: LocalDNS{
		Program:  "/opt/azure/containers/localdns/binary/coredns",
		Corefile: "/opt/azure/containers/localdns/localdns.corefile",
		// AKS: localdns-exporter.socket.
		ExporterPort:   9353,
		ExporterLabels: map[string]string{"kubernetes.azure.com/localdns-exporter": "enabled"},
		Source:         "AKS: local_dns_profile",
	},
	GPU: GPU{
		// AKS: configureManagedGPUExperience.
		Labels:   map[string]string{"kubernetes.azure.com/dcgm-exporter": "enabled"},
		Marker:   "/opt/azure/containers/managed-gpu-experience.enabled",
		Tagged:   true, // AKS: EnableManagedGPUExperience, SkipGpuDriverInstall
		Prebaked: true, // AKS: dkms-marker
	},
	Runtime: Runtime{
		Names: []string{"runc", "untrusted"}, // the second is a name that workloads of old may still ask for
		CDI:   true,                          // AKS: enable_cdi
		// AKS: configureContainerdRegistryHost and configureContainerdLegacyMooncakeMcrHost.
		Registry: "mcr.microsoft.com",
		Moved:    MovedRegistry{"AzureChinaCloud", "mcr.azk8s.cn", "https://mcr.azure.cn"},
		NVIDIA:   "nvidia-container-runtime", // AKS: enable_nvidia
		Mirror:   true,                       // AKS: acr-mirror
		// AKS: Node Memory Hardening.
		Reserved: Reserved{"kubereserved.slice", "system.slice", DropIn{"10-kubereserved-slice.conf", 0o644, "AKS: 10-kubereserved-slice.conf"}},
		Forward:  DropIn{"exec_start.conf", 0o644, "AKS: exec_start.conf"},
		Limits:   DropIn{"set_ulimits.conf", 0o600, "AKS: set_ulimits.conf"},
	},
	// AKS: installKubeletKubectlFromBootstrapProfileRegistry, K8S_REGISTRY_REPO, installCredentialProvider.
	Components: Components{"aks/packages/kubernetes", "oss/binaries/kubernetes/kubernetes-node", "azure-acr-credential-provider"},
	Host: Host{
		ResolverLink:     true,                                            // AKS: base preparation
		CNIPackages:      true,                                            // AKS: installNetworkPlugin
		DeniedModules:    []string{"algif_aead", "esp4", "esp6", "rxrpc"}, // AKS: kernel module mitigation
		UpdatesAtJoin:    true,                                            // AKS: nodePrep
		CloudAuthorities: true,                                            // AKS: init-aks-cloud.sh
		Units: []ImageUnit{
			{Unit: "aks-log-collector.timer", ExitCode: exitcode.UnitStartFailed},
			{Unit: "ensure-no-dup.service", Plugin: "kubenet"},
			{Unit: "node-exporter.service", ExitCode: exitcode.NodeExporterFailed},
			{Unit: "snapshot-update.timer", ExitCode: exitcode.UpdateTimerFailed},
		},
		// AKS: node preparation. The second is in /var/run, which is a link to /run.
		Isolated:    []string{"/opt/azure/outbound-check-skipped", "/run/outbound-check-skipped"},
		DHCPDomains: true, // AKS: UseDomains
		// With accelerated networking, each device is on a separate PCI bus (AKS images: the network's udev rule).
		Rings: Rings{Slot: "enP*", Default: 1024, Receive: 2048, CPUs: 4},
		// AKS images: ipv6_nftables. The link-local address is the same on every host of Azure.
		Probes: Probes{
			Unit: "ipv6_nftables.service", Table: "azureSLBProbe",
			Interface: "eth0", From: "fe80::1234:5678:9abc", As: "2603:1062:0:1:fe80:1234:5678:9abc",
		},
		// By this comment AKS knows the rule as its own, where it looks for rules of others before it allows eBPF host
		// routing (Azure container networking: azure-iptables-monitor; AKS: ensure_imds_restriction.sh).
		Environment:     standard.Host.Environment,
		MetadataComment: "AKS managed: added by AgentBaker ensureIMDSRestriction for IMDS restriction feature",
	},
	Sources: Sources{
		Installed:           "AKS: is_vhd",
		Features:            "AKS: enabled_features",
		Resolver:            "AKS: resolv.conf",
		Registry:            "AKS: bootstrap_profile_container_registry_server",
		Kubenet:             "AKS: kubenet",
		AzureCNI:            "AKS: 10-azure.conflist",
		SSH:                 "AKS: enable_ssh",
		PublicKeys:          "AKS: disable_pubkey_auth",
		Metadata:            "AKS: imds_restriction_config",
		CloudAuthorities:    "AKS: init-aks-cloud.sh",
		PrivateServer:       "AKS: enable_hosts_config_agent",
		Message:             "AKS: message_of_the_day",
		SearchDomains:       "AKS: custom_search_domain_config",
		Updates:             "AKS: enable_unattended_upgrade",
		DeniedModules:       "AKS: disable-<module>.conf",
		Passwords:           "AKS: linux_admin_username",
		Realm:               "AKS: custom_search_domain_config",
		SecondaryInterfaces: "AKS: standard_secondary_nic_count",
		Units:               "AKS: node preparation",
		GPU:                 "AKS: gpu_config",
	},
	// AKS node contract, completion files and guest agent events.
	Publication: Publication{
		Result:       "/var/log/azure/aks/provision.json",
		Complete:     "/opt/azure/containers/provision.complete",
		BaseComplete: "/opt/azure/containers/base_prep.complete",
		Log:          "/var/log/azure/aks-node-controller.log",
		Events:       Events{"/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events", "AKS.AKSNodeController."},
		ExitCode:     exitcode.ForAKS,
	},
	Contract: Contract{
		Dialects: []string{"aks"},
		JSON:     "/opt/azure/containers/aks-node-controller-config.json",
	},
	Agent: Agent{
		Root:     "/opt/azure",
		Program:  "/opt/azure/containers/aks-node-controller",
		Called:   "aks-node-controller",
		Unit:     "aks-node-controller.service",
		Launcher: "/opt/azure/containers/aks-node-controller-launcher.sh",
		Preload:  "/opt/azure/containers/provision_preload.sh", // AKS: nodeconfigutils, boothookTemplate
		Output:   "/var/log/azure/aks-node-controller.output",
		Logs:     "/var/log/azure",
		Scripts:  "/opt/azure/containers/provision_start.sh",
	},
	Empty: asStandard(map[string]string{
		"GPU.Present":                 "AKS names no such label",
		"GPU.PresentSince":            "AKS names no such label",
		"Command":                     "the unit has the command line, and drop-ins have its parts",
		"Kubelet.Settings":            "AKS's contract has all settings of its kubelets",
		"Kubelet.Runtime.Source":      "the file's name is AKS's, and says so",
		"Kubelet.RuntimeKind.Source":  "the file's name is AKS's, and says so",
		"Kubelet.CgroupDriver.Source": "the file's name is AKS's, and says so",
		"Kubelet.ConfigDefaults":      "AKS's contract has all settings of its kubelets",
		"Kubelet.ClusterDefaults":     "no cluster of AKS is kubeadm's",
		"Runtime.CgroupDriver":        "it follows needs_cgroupv2, or else is containerd's default",
		"Contract.YAML":               "AKS's contract is JSON",
		"Host.ResolvedList":           "AKS's contract names the file, or /etc/resolv.conf leads to it",
	},
		"Cloud", "Host.Bootstrappers", "Host.ForeignInterfaces", "Kubelet.Capacity", "Kubelet.ImageProvider", "Kubelet.OtherPods",
		"Kubelet.ServiceFamily", "Paths.KubeletDropIn", "Runtime.DiscardLayers", "Runtime.NVIDIAInstalled",
		"Runtime.OpenFiles", "Runtime.RegistryDirs", "Runtime.SandboxImage", "Runtime.Slice",
	),
}
