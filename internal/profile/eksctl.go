package profile

// eksctl is a node in an eksctl node group of an EKS cluster. Its files are those of eksctl's design of the node bootstrap (eksctl,
// docs/current-001-node_bootstrap.md, of 2019) below /etc/eksctl, for Amazon Linux 2, and for Ubuntu, whose kubelet is a
// snap. docs/compatibility.md lists the differences. The family standard decides how the agent is found and started, and where
// results are published.
var eksctl = Profile{
	Name:  "eksctl",
	Cloud: "aws",
	Paths: Paths{
		Containerd:       "/usr/bin/containerd",
		Runc:             "/usr/sbin/runc", // Amazon EKS AMI: install-worker.sh; Ubuntu's package
		Kubelet:          "/usr/bin/kubelet",
		VolumePlugins:    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
		Manifests:        "/etc/kubernetes/manifests",
		KubeletEnv:       "/etc/eksctl/kubelet.env",
		KubeletConfig:    "/etc/eksctl/kubelet.yaml",
		KubeletTemporary: "/mnt/slipway/kubelet",
		Kubeconfig:       "/etc/eksctl/kubeconfig.yaml",
		BootstrapConfig:  "/etc/eksctl/bootstrap-kubeconfig.yaml",
		CA:               "/etc/eksctl/ca.crt",
		CAMode:           0o644,
		ServerCert:       "/etc/eksctl/apiserver.crt",
		ClientCert:       "/etc/eksctl/kubelet-client.crt",
		ClientKey:        "/etc/eksctl/kubelet-client.key",
		CloudConfig:      "/etc/eksctl/azure.json",
		CustomCloud:      "/etc/eksctl/azure-environment.json",
		CredentialConfig: "/etc/eks/image-credential-provider/config.json", // Amazon EKS AMI
		Sysctls:          "/etc/sysctl.d/99-slipway.conf",
		Forwarding:       "/etc/sysctl.d/99-kubernetes-cri.conf", // Amazon EKS AMI
		Features:         "/etc/slipway/features.env",
	},
	Kubelet: Kubelet{
		Environment: []Variable{
			{Name: "NODE_LABELS", Holds: Labels},
			{Name: "NODE_TAINTS", Holds: Taints},
			{Name: "MAX_PODS", Holds: MaxPods},
			{Name: "KUBELET_EXTRA_ARGS", Holds: Flags},
			{Name: "AZURE_ENVIRONMENT_FILEPATH", Holds: CustomCloud},
		},
		Watchdog:       DropIn{"20-watchdog.conf", 0o644, "Kubernetes: SystemdWatchdog"},
		Prepare:        "kubelet-prepare.service",
		ConfigDefaults: true,
		Settings:       eksctlSettings,
		NodeIP:         true,
		ImageProvider:  ecr,
		Entries:        Entries{Cluster: "default-cluster", Context: "default-context", BootstrapContext: "default-context"}, // as in the family standard
	},
	Command: Command{
		DropIn:   DropIn{"10-eksctl.al2.conf", 0o644, "eksctl: 10-eksclt.al2.conf"},
		Metadata: "/etc/eksctl/metadata.env",
		Variables: []Variable{
			{Name: "AWS_DEFAULT_REGION", Holds: Region},
			{Name: "AWS_EKS_CLUSTER_NAME", Holds: ClusterName},
			{Name: "AWS_EKS_ENDPOINT", Holds: Server},
			{Name: "AWS_EKS_ECR_ACCOUNT", Holds: RegistryAccount},
			{Name: "AWS_SERVICES_DOMAIN", Holds: RegistryDomain},
		},
		Helper:  "/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh", // eksctl: pkg/nodebootstrap/assets/scripts
		Local:   "/etc/eksctl/kubelet.local.env",
		MaxPods: "/etc/eksctl/max_pods.map",
		Flags: []Flag{
			{Name: "register-node", Value: "true"},
			// Kubernetes 1.27 removed the kubelet's built-in cloud provider (kubernetes/kubernetes#115838).
			{Name: "cloud-provider", Value: "aws", Until: 26},
			{Name: "cloud-provider", Value: "external", Since: 27},
			// They were Docker's, and went with it (kubernetes/kubernetes#106907).
			{Name: "network-plugin", Value: "cni", Until: 23},
			{Name: "cni-bin-dir", Value: "/opt/cni/bin", Until: 23},
			{Name: "cni-conf-dir", Value: "/etc/cni/net.d", Until: 23},
		},
		SandboxImage: regionsPause,
		Snap: Snap{
			Name: "kubelet-eks",
			// Where snapd has the program "kubelet" of the snap (snapd docs: /snap/bin/SNAP.PROGRAM; eksctl: snap alias).
			Program: "/snap/bin/kubelet-eks.kubelet",
			Script:  "/etc/eksctl/kubelet.snap.sh",
			DropIn:  DropIn{"10-eksctl.ubuntu.conf", 0o644, "eksctl: bootstrap.ubuntu.sh"},
		},
	},
	Runtime: Runtime{
		Names:        []string{"runc"},
		NVIDIA:       "nvidia",        // Amazon EKS AMI
		CgroupDriver: "systemd",       // Amazon EKS AMI, with containerd
		Slice:        "runtime.slice", // Amazon EKS AMI: runtime.slice
		Reserved:     Reserved{DropIn: DropIn{"20-reserved.conf", 0o644, "Kubernetes docs, Reserve Compute Resources for System Daemons"}},
		Forward:      DropIn{"10-forward.conf", 0o644, "Docker docs, packet filtering: Docker on a router"},
		Limits:       DropIn{"10-limits.conf", 0o600, "systemd.exec(5), process properties"},
	},
	Host: Host{
		ResolvedList:      ListOverStub, // eksctl 0.44: makeUbuntuConfig
		ForeignInterfaces: true,         // Amazon VPC CNI
		Environment:       standard.Host.Environment,
		MetadataComment:   standard.Host.MetadataComment,
	},
	Sources:     standard.Sources,
	Publication: standard.Publication,
	Contract:    Contract{},
	Agent:       standard.Agent,
	Empty: asStandard(map[string]string{
		"Command.Unflagged":       "every flag that Slipway gives is given",
		"Kubelet.ClusterDefaults": "no cluster of EKS is kubeadm's",
		"Contract":                "the contract is at the place of the family standard",
		"Kubelet.Kubeconfig":      "the command line is in one drop-in",
		"Kubelet.Config":          "the command line is in one drop-in",
		"Kubelet.Runtime":         "the command line is in one drop-in",
		"Kubelet.RuntimeKind":     "the command line is in one drop-in",
		"Runtime.Registry":        "each region has its own",
	},
		"Agent.Launcher", "Agent.Logs", "Agent.Output", "Agent.Preload", "Agent.Scripts", "Attested", "Components", "GPU",
		"Host.CNIPackages", "Host.CloudAuthorities", "Host.DHCPDomains", "Host.DeniedModules", "Host.Isolated",
		"Host.Bootstrappers", "Host.Probes", "Host.ResolverLink", "Host.Rings", "Host.Units", "Host.UpdatesAtJoin", "Kubelet.Capacity",
		"Kubelet.CgroupDriver", "Kubelet.KeepsBootstrap", "Kubelet.OtherPods", "Kubelet.SelfSigned",
		"Kubelet.ServiceFamily", "Kubelet.ServingLabels", "LocalDNS", "Paths.Installed", "Paths.KubeletDropIn",
		"Publication.Events", "Publication.ExitCode", "Runtime.CDI", "Runtime.DiscardLayers", "Runtime.Mirror",
		"Runtime.Moved", "Runtime.NVIDIAInstalled", "Runtime.OpenFiles", "Runtime.RegistryDirs",
		"Runtime.Reserved.Kubernetes", "Runtime.Reserved.System", "Runtime.SandboxImage", "Sources.CloudAuthorities",
		"Sources.DeniedModules", "Sources.Installed", "Sources.Resolver", "Sources.Units",
	),
}

// eksctlSettings are those of eksctl's kubelet.yaml that are not kubeadm's too. The address is the kubelet's own default.
func eksctlSettings(minor int) map[string]any {
	settings := map[string]any{
		"address":            "0.0.0.0",
		"authentication":     map[string]any{"webhook": map[string]any{"cacheTTL": "2m0s"}},
		"authorization":      map[string]any{"webhook": map[string]any{"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"}},
		"featureGates":       map[string]any{"RotateKubeletServerCertificate": true},
		"serverTLSBootstrap": true,
	}
	addEKSShutdown(settings, minor)
	return settings
}

// addEKSShutdown has the kubelet end its pods before the machine goes down, from the version on from which nodes of EKS do (nodeadm:
// withVersionToggles).
func addEKSShutdown(settings map[string]any, minor int) {
	if minor >= 34 {
		settings["shutdownGracePeriod"], settings["shutdownGracePeriodCriticalPods"] = "2m30s", "30s"
	}
}
