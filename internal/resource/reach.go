package resource

// Reach is how to reach the servers of a node's downloads: the proxies, the trusted certificates, and the identity.
type Reach struct {
	// Authorities are the contract's certificate authorities, in PEM: the machine may not trust them yet.
	Authorities string `json:"authorities,omitempty"`
	// Direct are hosts that are reached without the proxies.
	Direct []string `json:"direct,omitempty"`
	// Identity is the identity for an Azure registry that refuses anonymous access. It may be nil.
	Identity *RegistryIdentity `json:"identity,omitempty"`
	// HTTP and HTTPS are proxies, which may have a password.
	HTTP  Hidden `json:"http,omitzero"`
	HTTPS Hidden `json:"https,omitzero"`
}

// RegistryIdentity is a managed identity of Azure's.
type RegistryIdentity struct {
	// Registry is the host and port of the only registry that gets the identity.
	Registry string `json:"registry"`
	ClientID string `json:"clientID"`
	TenantID string `json:"tenantID"`
	// ResourceManager is the cloud's, for registries that accept no other token.
	ResourceManager string `json:"resourceManager,omitempty"`
}

// Kept is the part that may be kept: without proxies, which may have a password, and without the machine's identity,
// which an image would keep from its first cluster.
func (r Reach) Kept() Reach {
	r.HTTP, r.HTTPS, r.Identity = Hidden{}, Hidden{}, nil
	return r
}

// Anonymous is the same without the identity.
func (r Reach) Anonymous() Reach {
	r.Identity = nil
	return r
}

// IsZero reports whether all fields are empty.
func (r Reach) IsZero() bool {
	return r.Authorities == "" && r.HTTP.IsZero() && r.HTTPS.IsZero() && len(r.Direct) == 0 && r.Identity == nil
}
