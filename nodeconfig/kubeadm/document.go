package kubeadm

import "github.com/slipway-dev/slipway/nodeconfig"

// Document is a JoinConfiguration or a kubeconfig. A field that is missing here has no field in a NodeConfig; the tables of this
// package have its consequence.
type Document struct {
	// APIVersion is "kubeadm.k8s.io/v1beta4" or "kubeadm.k8s.io/v1beta3", or "v1" for a kubeconfig.
	APIVersion string `json:"apiVersion"`
	// Kind is "JoinConfiguration", or "Config" for a kubeconfig.
	Kind string `json:"kind"`
	// Discovery identifies the cluster to join, and how the node verifies it (JoinConfiguration).
	Discovery Discovery `json:"discovery,omitzero"`
	// NodeRegistration is how the node registers (JoinConfiguration).
	NodeRegistration NodeRegistration `json:"nodeRegistration,omitzero"`
	// CurrentContext names the context that the node uses (kubeconfig).
	CurrentContext string `json:"current-context,omitzero"`
	// Contexts are pairs of a cluster and a user (kubeconfig).
	Contexts []Context `json:"contexts,omitzero"`
	// Clusters are API servers (kubeconfig).
	Clusters []Cluster `json:"clusters,omitzero"`
	// Users are credentials (kubeconfig).
	Users []User `json:"users,omitzero"`
}

// Discovery identifies the cluster to join, and how the node verifies it.
type Discovery struct {
	// BootstrapToken finds the cluster's CA with a token.
	BootstrapToken BootstrapToken `json:"bootstrapToken,omitzero"`
	// TLSBootstrapToken is the token with which the node joins; default bootstrapToken.token.
	TLSBootstrapToken nodeconfig.Secret `json:"tlsBootstrapToken,omitzero"`
}

// BootstrapToken finds the cluster's CA with a token.
type BootstrapToken struct {
	// Token is "abcdef.0123456789abcdef". The cluster has signed its CA with it.
	Token nodeconfig.Secret `json:"token,omitzero"`
	// APIServerEndpoint is the API server's address: "HOST:PORT".
	APIServerEndpoint string `json:"apiServerEndpoint,omitzero"`
	// CACertHashes pin the cluster's CA: each is "sha256:" and the hash of a certificate's public key.
	CACertHashes []string `json:"caCertHashes,omitzero"`
	// UnsafeSkipCAVerification accepts any CA that the cluster has signed with the token, if there are no caCertHashes.
	UnsafeSkipCAVerification bool `json:"unsafeSkipCAVerification,omitzero"`
}

// NodeRegistration is how the node registers.
type NodeRegistration struct {
	// Name is the node's name; default the host's name.
	Name string `json:"name,omitzero"`
	// CRISocket is the container runtime's socket. Slipway's nodes use containerd.
	CRISocket string `json:"criSocket,omitzero"`
	// Taints are set when the node registers.
	Taints []nodeconfig.Taint `json:"taints,omitzero"`
	// KubeletExtraArgs are flags of the kubelet: a map (v1beta3), or a list of names and values (v1beta4).
	KubeletExtraArgs any `json:"kubeletExtraArgs,omitzero"`
}

// Context is a pair of a cluster and a user.
type Context struct {
	// Name is the context's.
	Name string `json:"name,omitzero"`
	// Context is the pair.
	Context Pair `json:"context,omitzero"`
}

// Pair names a cluster and a user.
type Pair struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster,omitzero"`
	// User is the user's name.
	User string `json:"user,omitzero"`
}

// Cluster is an API server.
type Cluster struct {
	// Name is its name in contexts.
	Name string `json:"name,omitzero"`
	// Cluster is its URL and CA.
	Cluster Server `json:"cluster,omitzero"`
}

// Server is an API server's URL and CA.
type Server struct {
	// Server is its URL.
	Server string `json:"server,omitzero"`
	// CertificateAuthorityData is the base64 of the PEM that verifies its certificate.
	CertificateAuthorityData string `json:"certificate-authority-data,omitzero"`
}

// User is a credential.
type User struct {
	// Name is its name in contexts.
	Name string `json:"name,omitzero"`
	// User is the credential.
	User Credential `json:"user,omitzero"`
}

// Credential is a bootstrap token, a client certificate with its key, or a plug-in.
type Credential struct {
	// Token is a bootstrap token.
	Token nodeconfig.Secret `json:"token,omitzero"`
	// ClientCertificateData is the base64 of a client certificate in PEM.
	ClientCertificateData string `json:"client-certificate-data,omitzero"`
	// ClientKeyData is the base64 of the certificate's key in PEM.
	ClientKeyData nodeconfig.Secret `json:"client-key-data,omitzero"`
	// Exec is a credential plug-in.
	Exec *nodeconfig.ExecCredential `json:"exec,omitzero"`
}
