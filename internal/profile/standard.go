package profile

// standard is a node with kubeadm's places, of any cluster and any cloud: the paths of its constants
// (k8s.io/kubernetes, cmd/kubeadm/app/constants), binaries as packaged, and the names of its drop-in of the kubelet's
// unit (k8s.io/release, cmd/krel/templates/latest/kubeadm/10-kubeadm.conf). No drop-in has that file's name, which
// would hide the package's.
var standard = Profile{
	Name: "standard",
	Paths: Paths{
		Containerd:       "/usr/bin/containerd",
		Runc:             "/usr/bin/runc",
		Kubelet:          "/usr/bin/kubelet",
		VolumePlugins:    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec",
		Manifests:        "/etc/kubernetes/manifests",
		KubeletEnv:       "/etc/default/kubelet",
		KubeletConfig:    "/var/lib/kubelet/config.yaml",
		KubeletTemporary: "/mnt/slipway/kubelet",
		Kubeconfig:       "/etc/kubernetes/kubelet.conf",
		BootstrapConfig:  "/etc/kubernetes/bootstrap-kubelet.conf",
		CA:               "/etc/kubernetes/pki/ca.crt",
		CAMode:           0o644,
		ServerCert:       "/etc/kubernetes/pki/apiserver.crt",
		ClientCert:       "/etc/kubernetes/pki/kubelet-client.crt",
		ClientKey:        "/etc/kubernetes/pki/kubelet-client.key",
		CloudConfig:      "/etc/kubernetes/azure.json",
		CustomCloud:      "/etc/kubernetes/azure-environment.json",
		CredentialConfig: "/etc/kubernetes/credential-provider.yaml",
		Sysctls:          "/etc/sysctl.d/99-slipway.conf",
		Forwarding:       "/etc/sysctl.d/99-kubernetes-cri.conf", // Kubernetes: container runtimes, prerequisites
		Features:         "/etc/slipway/features.env",
	},
	Kubelet: Kubelet{
		Environment: []Variable{
			{Name: "KUBELET_EXTRA_ARGS", Holds: Flags}, // kubeadm: "a file that the user can use for overrides"
			{Name: "KUBELET_NODE_LABELS", Holds: Labels},
			{Name: "AZURE_ENVIRONMENT_FILEPATH", Holds: CustomCloud}, // Azure's SDK, go-autorest
		},
		Kubeconfig:     Arguments{DropIn{"10-kubeconfig.conf", 0o644, "kubeadm: KUBELET_KUBECONFIG_ARGS"}, "KUBELET_KUBECONFIG_ARGS"},
		Config:         Arguments{DropIn{"10-config.conf", 0o644, "kubeadm: KUBELET_CONFIG_ARGS"}, "KUBELET_CONFIG_ARGS"},
		Runtime:        Arguments{DropIn{"10-runtime.conf", 0o644, "kubeadm: KUBELET_KUBEADM_ARGS"}, "KUBELET_KUBEADM_ARGS"},
		RuntimeKind:    Arguments{DropIn{"10-container-runtime.conf", 0o644, "Kubernetes: --container-runtime"}, "KUBELET_CONTAINER_RUNTIME_ARGS"},
		Watchdog:       DropIn{"10-watchdog.conf", 0o644, "Kubernetes: SystemdWatchdog"},
		Prepare:        "kubelet-prepare.service",
		ConfigDefaults: true, // kubeadm: componentconfigs, kubelet

		ClusterDefaults: true, // kubeadm: cmd/phases/join/kubelet.go
		// What the kubelet calls them in the kubeconfig that it writes when it joins (k8s.io/kubernetes v1.36.3
		// pkg/kubelet/certificate/bootstrap/bootstrap.go, writeKubeconfigFromBootstrapping).
		Entries: Entries{Cluster: "default-cluster", Context: "default-context", BootstrapContext: "default-context"},
	},
	Runtime: Runtime{
		Names:        []string{"runc"},
		CgroupDriver: "systemd",         // kubeadm's default
		Registry:     "registry.k8s.io", // kubeadm: imageRepository
		NVIDIA:       "nvidia",          // NVIDIA Container Toolkit: nvidia-ctk runtime configure
		Reserved:     Reserved{DropIn: DropIn{"10-reserved.conf", 0o644, "Kubernetes docs, Reserve Compute Resources for System Daemons"}},
		Forward:      DropIn{"10-forward.conf", 0o644, "Docker docs, packet filtering: Docker on a router"},
		Limits:       DropIn{"10-limits.conf", 0o600, "systemd.exec(5), process properties"},
	},
	Host: Host{
		ResolvedList:    AlwaysList, // kubeadm: componentconfigs, mutateResolverConfig
		Environment:     "20-slipway-environment.conf",
		MetadataComment: "slipway: pods do not reach the metadata service",
	},
	Sources: Sources{
		Features:            "systemd.exec(5), EnvironmentFile=",
		Registry:            "kubeadm: imageRepository",
		Kubenet:             "containerd: docs/cri/config.md, CNI config template",
		AzureCNI:            "Azure container networking: azure-vnet",
		SSH:                 "systemd.unit(5), stopped and disabled",
		PublicKeys:          "sshd_config(5), PubkeyAuthentication",
		Metadata:            "iptables-extensions(8), comment",
		PrivateServer:       "hosts(5)",
		Message:             "motd(5)",
		SearchDomains:       "resolved.conf(5), Domains=",
		Updates:             "APT::Periodic",
		Passwords:           "shadow(5)",
		Realm:               "realm(8), join",
		SecondaryInterfaces: "systemd.network(5)",
		GPU:                 "NVIDIA's documentation",
	},
	Publication: Publication{
		Result:       "/var/lib/slipway/provision.json",
		Complete:     "/var/lib/slipway/provision.complete",
		BaseComplete: "/var/lib/slipway/base.complete",
		Log:          "/var/log/slipway.log",
	},
	Contract: Contract{
		YAML: "/etc/slipway/config.yaml",
		JSON: "/etc/slipway/config.json",
	},
	Agent: Agent{
		Root:    "/opt/slipway",
		Program: "/opt/slipway/bin/slipway-node",
		Called:  "slipway-node",
		Unit:    AgentUnit,
	},
	Empty: map[string]string{
		"Paths.KubeletDropIn":         "one file has the contract's settings and the defaults",
		"Kubelet.Capacity":            "a contract that wants its numbers computed names the rule",
		"Kubelet.OtherPods":           "a type that the rule's table does not have is an error",
		"Kubelet.ServiceFamily":       "network.ipFamilies names the families",
		"Runtime.NVIDIAInstalled":     "the contract says that the node uses NVIDIA's devices",
		"Runtime.SandboxImage":        "containerd pulls it",
		"Runtime.RegistryDirs":        "containerd's usual directory is the only one",
		"Runtime.DiscardLayers":       "containerd keeps them by default",
		"Runtime.OpenFiles":           "they have containerd's own",
		"Host.ForeignInterfaces":      "networks differ, and their plug-ins or images see to it",
		"Runtime.Slice":               "they are in that of the system's services",
		"Kubelet.ImageProvider":       "contracts name the provider of their registries",
		"Command":                     "the unit has the command line, and drop-ins have its parts",
		"Kubelet.Settings":            "Slipway's defaults are kubeadm's",
		"Attested":                    "the client is AKS's, and so are the API servers that answer it",
		"GPU":                         "no label and no file is asked for, and an image starts what it holds",
		"LocalDNS":                    "no image of this family has CoreDNS, and the Corefile has domains of Azure's",
		"Paths.Installed":             "there is no file that all such images have",
		"Sources.Installed":           "no image is looked at",
		"Kubelet.CgroupDriver":        "the configuration file always has it",
		"Kubelet.KeepsBootstrap":      "kubeadm removes it when the node has joined",
		"Kubelet.NodeIP":              "kubeadm leaves it to the kubelet, which finds one",
		"Kubelet.SelfSigned":          "no script makes one: kubeadm, too, leaves the serving certificate to the kubelet",
		"Kubelet.ServingLabels":       "no label is asked for",
		"Runtime.Reserved.Kubernetes": "the contract names its own slice",
		"Runtime.Reserved.System":     "the contract names its own slice",
		"Runtime.Moved":               "runtime.registries says where a registry is",
		"Host.Isolated":               "nothing on the node looks for them",
		"Runtime.Mirror":              "the snapshotter reads from the registry itself",
		"Runtime.CDI":                 "containerd's own default stays; runtime.containerd.config changes it",
		"Components":                  "no registry or package is known that every cluster has",
		"Contract.Dialects":           "it has each dialect that no other family has",
		"Host.CNIPackages":            "kubeadm, too, expects the plug-ins to be there",
		"Host.UpdatesAtJoin":          "an image has what its contract says, for a node's contract that says nothing",
		"Host.CloudAuthorities":       "the contract says what a node trusts",
		"Sources.CloudAuthorities":    "no cloud is asked",
		"Host.DeniedModules":          "which modules a node needs is not known; files of the contract can deny some",
		"Sources.DeniedModules":       "no module is denied",
		"Host.Units":                  "an image enables its own",
		"Host.Bootstrappers":          "no image of the family makes a node by itself",
		"Cloud":                       "the contract names it",
		"Host.DHCPDomains":            "network.searchDomains names them",
		"Host.Rings":                  "the driver's default stays",
		"Host.Probes":                 "no load balancer is known",
		"Host.ResolverLink":           "the machine's resolver stays as it is; the kubelet reads another file",
		"Sources.Units":               "no unit is started unasked",
		"Sources.Resolver":            "no link is made",
		"Publication.Events":          "only Azure's guest agent collects events, for AKS",
		"Publication.ExitCode":        "the codes are Slipway's own",
		"Agent.Launcher":              "the unit is started",
		"Agent.Output":                "there is no launcher",
		"Agent.Logs":                  "the log is a file among others in /var/log",
		"Agent.Preload":               "no image has such a script",
		"Agent.Scripts":               "no image has such scripts",
	},
}

// asStandard adds to the reasons of a family those that the family standard has for the same empty cells.
func asStandard(reasons map[string]string, cells ...string) map[string]string {
	for _, cell := range cells {
		reasons[cell] = standard.Empty[cell]
	}
	return reasons
}
