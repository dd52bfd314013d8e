package nodeconfig

// NodeConfig describes one Kubernetes node completely. Its zero value is a node with every field unset.
type NodeConfig struct {
	// APIVersion is "slipway.dev/v1".
	APIVersion string `json:"apiVersion"`
	// Kind is "NodeConfig".
	Kind string `json:"kind"`
	// Metadata names the document; nothing in it changes the node.
	Metadata Metadata `json:"metadata,omitzero"`
	// Cluster is the cluster to join: its version, its API server and its certificate authority.
	Cluster Cluster `json:"cluster,omitzero"`
	// Join is how the node proves that it may join.
	Join Join `json:"join,omitzero"`
	// Kubelet configures the kubelet.
	Kubelet Kubelet `json:"kubelet,omitzero"`
	// Runtime configures the container runtime.
	Runtime Runtime `json:"runtime,omitzero"`
	// Network configures pod and host networking.
	Network Network `json:"network,omitzero"`
	// System configures the operating system: kernel settings, memory, storage, devices.
	System System `json:"system,omitzero"`
	// Trust adds certificate authorities to the system's own.
	Trust Trust `json:"trust,omitzero"`
	// Proxy is the HTTP proxy for everything on the node.
	Proxy Proxy `json:"proxy,omitzero"`
	// Access is who may log in, and how.
	Access Access `json:"access,omitzero"`
	// Cloud describes the machine's cloud, for the cloud provider's components.
	Cloud Cloud `json:"cloud,omitzero"`
	// Checks bounds and verifies the provisioning itself.
	Checks Checks `json:"checks,omitzero"`
	// Components describes what the image must contain, and other sources of these components.
	Components Components `json:"components,omitzero"`
	// Files are the author's own files: at most 128, together with Units at most 1 MiB.
	Files []File `json:"files,omitempty"`
	// Units are the author's own systemd units, and settings for existing units: at most 64.
	Units []Unit `json:"units,omitempty"`
	// Commands are the author's own shell commands: at most 64. The agent runs each text unchanged, by "/bin/bash -c", in this
	// order, once for each contract, before the container runtime and the kubelet start.
	Commands []ShellCommand `json:"commands,omitempty"`
}

// Metadata names a document.
type Metadata struct {
	// Name is a label for people; it appears in the status.
	Name string `json:"name,omitempty"`
	// Revision orders the documents of one node: a node never goes back to a lower one. It is 0 or more; the author of the
	// documents increments it. (The node itself counts its generations.)
	Revision int64 `json:"revision,omitempty"`
}

// Cluster is the cluster to join.
type Cluster struct {
	// Name is the cluster's name, if the cloud or a credential plug-in needs it.
	Name string `json:"name,omitempty"`
	// KubernetesVersion is the version of the node's kubelet, such as "1.34.2", or "installed" for that of the kubelet on the
	// image.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// KubernetesMinor is the minor version of an installed kubelet, such as "1.34". If the installed one differs, a warning says
	// so.
	KubernetesMinor string `json:"kubernetesMinor,omitempty"`
	// Server is the API server's URL, as in a kubeconfig: "https://HOST[:PORT]".
	Server string `json:"server,omitempty"`
	// CertificateAuthority is the PEM (or the base64 of it) that verifies the API server's certificate and the kubelet's clients.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// CertificateAuthorityHashes pin the CA: each is "sha256:" and the SHA-256 of a certificate's public key in hexadecimal, as
	// kubeadm prints it. One of them must be the hash of one of the CA's certificates. If certificateAuthority is not set, the
	// agent fetches the CA from the cluster, which needs a bootstrap token.
	CertificateAuthorityHashes []string `json:"certificateAuthorityHashes,omitempty"`
	// UnsafeSkipCAVerification accepts any CA that the cluster has signed with the token, as kubeadm does. An attacker who knows
	// the token could present another CA. It is for a contract with neither certificateAuthority nor certificateAuthorityHashes:
	// the agent fetches the CA from the cluster, which needs a bootstrap token.
	UnsafeSkipCAVerification bool `json:"unsafeSkipCAVerification,omitempty"`
	// ServerCertificate is the API server's own certificate, PEM or base64 of it, for components that need it on disk. It is
	// public.
	ServerCertificate string `json:"serverCertificate,omitempty"`
	// Kubeadm is true if kubeadm manages the cluster. The node then takes settings of the kubelet's configuration that the contract
	// does not set from the cluster's ConfigMap kubelet-config, as kubeadm join does.
	Kubeadm bool `json:"kubeadm,omitempty"`
	// DNSDomain is the cluster's domain; default "cluster.local".
	DNSDomain string `json:"dnsDomain,omitempty"`
	// DNSServiceIPs are the addresses of the cluster's DNS service.
	DNSServiceIPs []string `json:"dnsServiceIPs,omitempty"`
	// ServiceCIDRs are the cluster's service ranges. Without DNSServiceIPs, the tenth address of each range is the address of its
	// DNS service.
	ServiceCIDRs []string `json:"serviceCIDRs,omitempty"`
}

// JoinMethod is how a node authenticates for the first time.
type JoinMethod string

// The join methods.
const (
	// JoinBootstrapToken is TLS bootstrapping with a bootstrap token.
	JoinBootstrapToken JoinMethod = "BootstrapToken"
	// JoinClientCertificate uses a client certificate and key from the contract.
	JoinClientCertificate JoinMethod = "ClientCertificate"
	// JoinExec runs a client-go credential plug-in.
	JoinExec JoinMethod = "Exec"
	// JoinAttested is TLS bootstrapping with the machine's attested identity, by AKS's client. If the client fails or the image has
	// none, the node joins with the bootstrap token, if the contract has one.
	JoinAttested JoinMethod = "Attested"
	// JoinAWS gets tokens for the machine's AWS identity from a credential plug-in of the image (EKS).
	JoinAWS JoinMethod = "AWS"
	// JoinNone does not join: only settings that need no cluster are applied, as when an image is baked.
	JoinNone JoinMethod = "None"
)

// Join is how the node proves that it may join.
type Join struct {
	// Method is the join method. If empty, it is inferred from the credentials in the contract.
	Method JoinMethod `json:"method,omitempty" words:"BootstrapToken,ClientCertificate,Exec,Attested,AWS,None"`
	// BootstrapToken is "abcdef.0123456789abcdef". With the method Attested it is the fallback.
	BootstrapToken Secret `json:"bootstrapToken,omitzero"`
	// DiscoveryToken is the bootstrap token with which the cluster has signed its CA, if the agent fetches the CA; default
	// bootstrapToken. The node does not join with it.
	DiscoveryToken Secret `json:"discoveryToken,omitzero"`
	// ClientCertificate is a ready client certificate.
	ClientCertificate *ClientCertificate `json:"clientCertificate,omitempty"`
	// Exec is a client-go credential plug-in, as in a kubeconfig's user.exec.
	Exec *ExecCredential `json:"exec,omitempty"`
	// Attested configures bootstrapping with an attested identity.
	Attested *AttestedBootstrap `json:"attested,omitempty"`
	// AWS names the cluster that the machine's AWS identity belongs to.
	AWS *AWSIdentity `json:"aws,omitempty"`
}

// AWSIdentity has the parameters of a token for an AWS identity.
type AWSIdentity struct {
	// ClusterName is the cluster's name in EKS.
	ClusterName string `json:"clusterName,omitempty"`
	// Region is the cluster's, such as "us-east-1".
	Region string `json:"region,omitempty"`
}

// ClientCertificate is a client certificate with its key, each PEM or base64 of it.
type ClientCertificate struct {
	// Certificate is the client certificate, PEM or base64 of it.
	Certificate string `json:"certificate,omitempty"`
	// Key is the certificate's private key, PEM or base64 of it.
	Key Secret `json:"key,omitzero"`
}

// ExecCredential is a client-go credential plug-in.
type ExecCredential struct {
	// APIVersion is the plug-in's; default "client.authentication.k8s.io/v1".
	APIVersion string `json:"apiVersion,omitempty"`
	// Command is the plug-in's absolute path.
	Command string `json:"command,omitempty"`
	// Args are its arguments. One of them may be a credential.
	Args []Secret `json:"args,omitempty"`
	// Env is added to its environment.
	Env []EnvVar `json:"env,omitempty"`
}

// EnvVar is one environment variable. Its value may be a credential.
type EnvVar struct {
	// Name is the variable's name.
	Name string `json:"name"`
	// Value is the variable's value.
	Value Secret `json:"value,omitzero"`
}

// AttestedBootstrap configures AKS's secure TLS bootstrapping.
type AttestedBootstrap struct {
	// Resource is the audience of the access token; default AKS's API servers.
	Resource string `json:"resource,omitempty"`
	// IdentityID is the user-assigned identity of the token; default the kubelet's, in azure.json.
	IdentityID string `json:"identityID,omitempty"`
	// Timeouts limit the steps of the client, by step: validateKubeconfig, accessToken, instanceData, nonce, attestedData,
	// credential; default the client's own.
	Timeouts map[string]Duration `json:"timeouts,omitempty"`
}

// Kubelet configures the kubelet.
type Kubelet struct {
	// NodeName overrides the name the node registers with; default the host's name.
	NodeName string `json:"nodeName,omitempty"`
	// NodeIPs are the node's addresses, IPv4 first; default those of the primary interface. If the only address is "0.0.0.0" or
	// "::", the kubelet chooses an address of that family.
	NodeIPs []string `json:"nodeIPs,omitempty"`
	// Labels are set when the node registers. The agent makes a later change of them on the cluster's Node.
	Labels map[string]string `json:"labels,omitempty"`
	// Taints are set when the node registers. Only an administrator may change those of a Node later: the status has the command.
	Taints []Taint `json:"taints,omitempty"`
	// Config is an upstream KubeletConfiguration (kubelet.config.k8s.io/v1beta1), whole or in part, passed through as data. Without
	// it, some layouts have no configuration file.
	Config map[string]any `json:"config,omitempty"`
	// Flags are added to the kubelet's command line, in this order, after Slipway's own.
	Flags []Flag `json:"flags,omitempty"`
	// MaxPodsExpression computes the maximum number of pods (CEL, as EKS's nodeadm reads it).
	MaxPodsExpression string `json:"maxPodsExpression,omitempty"`
	// ImageCredentialProvider gives the kubelet credentials for image registries.
	ImageCredentialProvider *ImageCredentialProvider `json:"imageCredentialProvider,omitempty"`
	// DataDisk is where the kubelet's data lives: "OS" (default) or "Temporary".
	DataDisk string `json:"dataDisk,omitempty" words:"OS,Temporary"`
	// Capacity computes maxPods, kubeReserved and evictionHard by a cloud's rule. Values in kubelet.config are merged over the
	// result, map by map.
	Capacity *Capacity `json:"capacity,omitempty"`
	// MachineLabels are labels whose values come from the machine, by label: "InstanceID", "InstanceType", "Zone" or "Lifecycle".
	MachineLabels map[string]string `json:"machineLabels,omitempty"`
}

// Capacity selects the rule that computes a node's capacity (package capacity).
type Capacity struct {
	// Rule is the rule's name: "EKS".
	Rule string `json:"rule,omitempty"`
	// InstanceTypes are the instance types that the machine may have; a node without an agent knows no others. Default all known
	// types.
	InstanceTypes []string `json:"instanceTypes,omitempty"`
}

// Taint is a node's taint, as in core/v1.
type Taint struct {
	// Key is the taint's key.
	Key string `json:"key"`
	// Value is the taint's value; it may be empty.
	Value string `json:"value,omitempty"`
	// Effect is "NoSchedule", "PreferNoSchedule" or "NoExecute".
	Effect string `json:"effect"`
}

// String returns the taint in the format of --register-with-taints.
func (t Taint) String() string {
	if t.Value == "" {
		return t.Key + ":" + t.Effect
	}
	return t.Key + "=" + t.Value + ":" + t.Effect
}

// Flag is one command line flag. If its value may be a credential ([Flag.IsSecret]), it is neither shown nor marshalled.
type Flag struct {
	// Name is the flag's name without dashes.
	Name string `json:"name"`
	// Value is the part after the equals sign.
	Value string `json:"value,omitempty"`
}

// ImageCredentialProvider is a kubelet image credential provider.
type ImageCredentialProvider struct {
	// BinDir holds the provider's binary.
	BinDir string `json:"binDir,omitempty"`
	// ConfigFile is the path of Config; default the layout's path.
	ConfigFile string `json:"configFile,omitempty"`
	// Config is an upstream CredentialProviderConfig (kubelet.config.k8s.io/v1), passed through. It may contain credentials: a
	// provider's environment and arguments.
	Config map[string]any `json:"config,omitempty"`
}

// Runtime configures the container runtime, which is containerd.
type Runtime struct {
	// SandboxImage is the pause image.
	SandboxImage string `json:"sandboxImage,omitempty"`
	// CgroupDriver is "systemd" or "cgroupfs", for runtime and kubelet alike. If empty, the installed versions choose.
	CgroupDriver string `json:"cgroupDriver,omitempty" words:"systemd,cgroupfs"`
	// Sandboxes names additional runtimes for isolated pods: "kata".
	Sandboxes []string `json:"sandboxes,omitempty"`
	// LazyPull names a snapshotter of the image that starts containers before their image is complete, or pulls it faster:
	// "overlaybd", AKS's, or "soci", EKS's.
	LazyPull string `json:"lazyPull,omitempty" words:"overlaybd,soci"`
	// Registries are image registries, by their host in image names: "docker.io", "registry.example:5000", or "_default" for all
	// without an entry. A registry's mirrors are tried before the registry itself.
	Registries map[string]Registry `json:"registries,omitempty"`
	// Containerd has the settings that only containerd has.
	Containerd Containerd `json:"containerd,omitzero"`
}

// Registry is how images of one registry are pulled.
type Registry struct {
	// Mirrors are tried first, in this order.
	Mirrors []RegistryHost `json:"mirrors,omitempty"`
	// Server is tried last; default the registry itself, as containerd reaches it.
	Server *RegistryHost `json:"server,omitempty"`
}

// RegistryHost is a server that images are pulled from.
type RegistryHost struct {
	// URL is the server's URL, "https://HOST[:PORT][/PATH]". For a registry's own server it may be omitted; default "https://" and
	// the registry's host.
	URL string `json:"url,omitempty"`
	// Capabilities are the operations that the server may do: "pull" fetches content by digest, "resolve" finds the digest of a
	// tag. Default both.
	Capabilities []string `json:"capabilities,omitempty"`
	// CertificateAuthority is the PEM (or the base64 of it) that verifies the server's certificate, in addition to the system's
	// own.
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// SkipVerify accepts any certificate of the server; it is for tests.
	SkipVerify bool `json:"skipVerify,omitempty"`
	// OverridePath means that the URL's path is the complete path of the server's API: no "/v2" is appended.
	OverridePath bool `json:"overridePath,omitempty"`
	// Username is the name for logging in to the server; it needs a password.
	Username Secret `json:"username,omitzero"`
	// Password belongs to the user name.
	Password Secret `json:"password,omitzero"`
}

// Containerd configures containerd.
type Containerd struct {
	// DataDir is containerd's root; default /var/lib/containerd.
	DataDir string `json:"dataDir,omitempty"`
	// MetricsAddress is the address of containerd's metrics, "HOST:PORT". If empty, containerd serves none.
	MetricsAddress string `json:"metricsAddress,omitempty"`
	// RegistryHeaders are sent with every registry request. One of them may be a credential. A plan shows only AKS's own
	// X-Meta-Source-Client with the value azure/aks.
	RegistryHeaders map[string]Secret `json:"registryHeaders,omitempty"`
	// Limits are the service's resource limits, by systemd's name without "Limit": NOFILE, MEMLOCK.
	Limits map[string]string `json:"limits,omitempty"`
	// Config is TOML that is merged over the generated configuration: tables by key; any other value replaces the generated one.
	// Settings of version 2, 3 or 4 of containerd's configuration are translated to the version of the machine's containerd. It may
	// contain credentials; then only root can read the whole configuration.
	Config Secret `json:"config,omitzero"`
	// BaseRuntimeSpec is merged over the OCI runtime specification with which containerd starts each container: maps by key; any
	// other value replaces the former one, and null removes it. It applies to all containers except those of sandboxes.
	BaseRuntimeSpec map[string]any `json:"baseRuntimeSpec,omitempty"`
}
