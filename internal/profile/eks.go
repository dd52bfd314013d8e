package profile

const (
	// HeldPause is what EKS's images call the sandbox image that they hold in containerd's store (Amazon EKS AMI: cache-pause-container).
	HeldPause = "localhost/kubernetes/pause:latest"
	// PauseArchive is where they hold it as an archive, too.
	PauseArchive = "/etc/eks/pause.tar"
	// regionsPause is the sandbox image in a region's registry (Amazon EKS AMI: --pause-container-version).
	regionsPause = "eks/pause:3.5"
)

// eks is a node of a cluster of Amazon's EKS on Amazon Linux 2023: the places of EKS's images (Amazon EKS AMI: nodeadm, and the
// files below templates/al2023/runtime), so that collectors of logs, problem detectors and runbooks find its files. It has these
// on other images, too. docs/compatibility.md lists what differs from the node that nodeadm makes. How the agent is found and
// started, and where results are published, is as in the family standard.
var eks = Profile{
	Name:  "eks",
	Cloud: "aws",
	Paths: Paths{
		Containerd:       "/usr/bin/containerd",
		Runc:             "/usr/sbin/runc",
		Kubelet:          "/usr/bin/kubelet",
		VolumePlugins:    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
		Manifests:        "/etc/kubernetes/manifests",
		KubeletEnv:       "/etc/eks/kubelet/environment",
		KubeletConfig:    "/etc/kubernetes/kubelet/config.json",
		KubeletDropIn:    "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf",
		KubeletTemporary: "/mnt/slipway/kubelet",
		Kubeconfig:       "/var/lib/kubelet/kubeconfig",
		BootstrapConfig:  "/var/lib/kubelet/bootstrap-kubeconfig",
		CA:               "/etc/kubernetes/pki/ca.crt",
		CAMode:           0o644,
		ServerCert:       "/etc/kubernetes/pki/apiserver.crt",
		ClientCert:       "/etc/kubernetes/pki/kubelet-client.crt",
		ClientKey:        "/etc/kubernetes/pki/kubelet-client.key",
		CloudConfig:      "/etc/kubernetes/azure.json",
		CustomCloud:      "/etc/kubernetes/azure-environment.json",
		CredentialConfig: "/etc/eks/image-credential-provider/config.json",
		Sysctls:          "/etc/sysctl.d/99-slipway.conf",
		Forwarding:       "/etc/sysctl.d/99-kubernetes-cri.conf",
		Features:         "/etc/slipway/features.env",
	},
	Kubelet: Kubelet{
		Environment: []Variable{
			{Name: "NODEADM_KUBELET_ARGS", Holds: Flags},
			{Name: "KUBELET_CONFIG_DROPIN_DIR_ALPHA", Holds: DropIns}, // Kubernetes 1.28, cmd/kubelet/app/server.go
			{Name: "AZURE_ENVIRONMENT_FILEPATH", Holds: CustomCloud},
		},
		Watchdog:       DropIn{"20-watchdog.conf", 0o644, "Kubernetes: SystemdWatchdog"},
		Prepare:        "kubelet-prepare.service",
		ConfigDefaults: true,
		Settings:       eksSettings,
		Capacity:       "EKS",
		OtherPods:      110, // nodeadm: defaultMaxPods
		NodeIP:         true,
		ServiceFamily:  true,
		ImageProvider:  ecr,
		Entries:        Entries{Cluster: "kubernetes", Context: "kubelet", BootstrapContext: "kubelet"}, // nodeadm: kubeconfig.template.yaml
	},
	Command: Command{
		Flags:        []Flag{{Name: "cloud-provider", Value: "external"}},
		Unflagged:    []string{"runtime-request-timeout", "volume-plugin-dir"},
		SandboxImage: regionsPause,
	},
	GPU: GPU{
		Present:      map[string]string{"nvidia.com/gpu.present": "true"}, // nodeadm: NvidiaGPULabel
		PresentSince: 35,
	},
	Runtime: Runtime{
		Names:           []string{"runc"},
		NVIDIA:          "nvidia",
		NVIDIAInstalled: true,
		CgroupDriver:    "systemd",
		CDI:             true,
		SandboxImage:    HeldPause,
		RegistryDirs:    []string{"/etc/docker/certs.d"},
		DiscardLayers:   true,
		OpenFiles:       Limit{65536, 1048576},
		Slice:           "runtime.slice", // Amazon EKS AMI: runtime.slice
		Reserved:        Reserved{DropIn: DropIn{"00-runtime-slice.conf", 0o644, "Amazon EKS AMI: 00-runtime-slice.conf"}},
		Forward:         DropIn{"10-forward.conf", 0o644, "Docker docs, packet filtering: Docker on a router"},
		Limits:          DropIn{"10-limits.conf", 0o600, "systemd.exec(5), process properties"},
	},
	Host: Host{
		// The two find no NodeConfig of theirs, and fail. The images' other services of nodeadm are for the machine's network alone.
		Bootstrappers:     []string{"nodeadm-config.service", "nodeadm-run.service"},
		ForeignInterfaces: true,               // Amazon VPC CNI
		Environment:       "environment.conf", // nodeadm: instance.environment
		MetadataComment:   standard.Host.MetadataComment,
	},
	Sources:     standard.Sources,
	Publication: standard.Publication,
	Agent:       standard.Agent,
	Empty: asStandard(map[string]string{
		"Kubelet.ClusterDefaults": eksctl.Empty["Kubelet.ClusterDefaults"],
		"Kubelet.Kubeconfig":      "the command line is in one variable",
		"Kubelet.Config":          "the command line is in one variable",
		"Kubelet.Runtime":         "the command line is in one variable",
		"Kubelet.RuntimeKind":     "the command line is in one variable",
		"Command.DropIn":          "the command line is in one variable",
		"Command.Metadata":        "the command line is in one variable",
		"Command.Variables":       "the command line is in one variable",
		"Command.Helper":          "eksctl leaves no variables for commands on Amazon Linux 2023",
		"Command.Local":           "the agent writes what the machine knows into the files themselves",
		"Command.MaxPods":         "the number of pods is in the configuration",
		"Command.Snap":            "Amazon Linux has no snaps",
		"GPU.Labels":              standard.Empty["GPU"],
		"GPU.Marker":              standard.Empty["GPU"],
		"GPU.Tagged":              "no tag of a machine asks for services",
		"GPU.Prebaked":            "no image of this family has a driver for another node's devices",
		"Runtime.Registry":        eksctl.Empty["Runtime.Registry"],
		"Host.ResolvedList":       "nodeadm leaves it to the kubelet, and /etc/resolv.conf of Amazon Linux 2023 is systemd-resolved's list", // AL2023 user guide, networking
		"Contract":                eksctl.Empty["Contract"],
	},
		"Agent.Launcher", "Agent.Logs", "Agent.Output", "Agent.Preload", "Agent.Scripts", "Attested", "Components",
		"Host.CNIPackages", "Host.CloudAuthorities", "Host.DHCPDomains", "Host.DeniedModules", "Host.Isolated",
		"Host.Probes", "Host.ResolverLink", "Host.Rings", "Host.Units", "Host.UpdatesAtJoin", "Kubelet.CgroupDriver",
		"Kubelet.KeepsBootstrap", "Kubelet.SelfSigned", "Kubelet.ServingLabels", "LocalDNS", "Paths.Installed",
		"Publication.Events", "Publication.ExitCode", "Runtime.Mirror", "Runtime.Moved", "Runtime.Reserved.Kubernetes",
		"Runtime.Reserved.System", "Sources.CloudAuthorities", "Sources.DeniedModules", "Sources.Installed",
		"Sources.Resolver", "Sources.Units",
	),
}

// eksGates are the feature gates that a kubelet of EKS has on from a minor version on (nodeadm: withVersionToggles).
var eksGates = []struct {
	name  string
	since int
}{
	{"RotateKubeletServerCertificate", 0},
	{"DynamicResourceAllocation", 33},
	{"MutableCSINodeAllocatableCount", 34},
}

// eksCiphers are the cipher suites of a kubelet of EKS (nodeadm: defaultKubeletSubConfig).
var eksCiphers = []any{
	"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
	"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
	"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
	"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
	"TLS_RSA_WITH_AES_128_GCM_SHA256",
	"TLS_RSA_WITH_AES_256_GCM_SHA384",
}

// eksSettings are those of nodeadm's config.json that are not kubeadm's too, and that do not depend on the machine (nodeadm:
// internal/kubelet/config.go).
func eksSettings(minor int) map[string]any {
	gates := make(map[string]any)
	for _, gate := range eksGates {
		if minor >= gate.since {
			gates[gate.name] = true
		}
	}
	settings := map[string]any{
		"address":               "0.0.0.0",
		"authentication":        map[string]any{"webhook": map[string]any{"cacheTTL": "2m0s"}},
		"authorization":         map[string]any{"webhook": map[string]any{"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"}},
		"cgroupRoot":            "/",
		"featureGates":          gates,
		"hairpinMode":           "hairpin-veth",
		"kubeReservedCgroup":    "/runtime",
		"logging":               map[string]any{"verbosity": 2},
		"protectKernelDefaults": true,
		"readOnlyPort":          0,
		"serializeImagePulls":   false,
		"serverTLSBootstrap":    true,
		"systemReservedCgroup":  "/system",
		"tlsCipherSuites":       eksCiphers,
	}
	if minor >= 27 { // before, only a flag has it (k8s.io/kubelet v0.27, config/v1beta1/types.go)
		settings["containerRuntimeEndpoint"] = "unix:///run/containerd/containerd.sock"
	}
	addEKSShutdown(settings, minor)
	return settings
}
